// Adds the nodes by which groups of tensors travel to other tasks.
#ifndef TENSORBRAID_PARTITION_JOINED_SENDS_H_
#define TENSORBRAID_PARTITION_JOINED_SENDS_H_

#include <vector>

#include "partition/joined_edges.h"
#include "partition/passage.h"

namespace tensorbraid {

class JoinedSends {
 public:
  JoinedSends() = default;
  explicit JoinedSends(JoinedEdges edges) : edges_(std::move(edges)), joins_(edges_.groups().size()) {}

  int GroupOf(const Output& tensor, const std::string& task) const { return edges_.GroupOf(tensor, task); }
  // Adds a tensor, which is in the part of the sender, to a group. Returns the node that has it in the part of the
  // receiver. The first tensor of a group takes the next number of an edge.
  StatusOr<Node*> Add(const GraphParts& parts, int group, const Output& tensor, int64_t* next_edge);
  // Adds the _Send of each group. Comes after all tensors.
  Status Finish(const GraphParts& parts) const;

 private:
  struct Join {
    int64_t edge = 0;
    Node* recv = nullptr;         // null until the first tensor is added
    std::vector<Output> tensors;  // in the part of the sender
  };
  Passage PassageOf(size_t group) const;

  JoinedEdges edges_;
  std::vector<Join> joins_;  // by the number of the group
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_PARTITION_JOINED_SENDS_H_
