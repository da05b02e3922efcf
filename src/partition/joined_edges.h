// Finds the tensors of growing tables that travel to another task together (docs/design/0037-joined-messages.md).
#ifndef TENSORBRAID_PARTITION_JOINED_EDGES_H_
#define TENSORBRAID_PARTITION_JOINED_EDGES_H_

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "graph/model/references.h"
#include "partition/wire_edges.h"

namespace tensorbraid {

// The tensors that one task sends to another one in one message. None of them depends on another one through other
// tasks, and each waits for what the others wait for (prerequisites.h).
struct JoinedGroup {
  std::string from, to;  // tasks
  std::vector<Output> tensors;
  int64_t bytes = -1;        // of the joined tensor; -1 if it is not known
  bool conditional = false;  // whether the tensors may be dead
};

class JoinedEdges {
 public:
  // Finds the tensors that lookups and updates of growing tables, and the accumulators of their gradients, take from
  // other tasks, and the rows that lookups give to them. A group has at least two. Tensors of loops are left out.
  // `tasks` are the tasks of the nodes and `conditional` whether their outputs may be dead, by node id. Returns the
  // errors of AssignFrames.
  static StatusOr<JoinedEdges> Find(const Graph& graph, const std::vector<std::string>& tasks,
                                    const std::vector<bool>& conditional, const ReferenceTensors& references,
                                    const WireEdges& wire);
  const std::vector<JoinedGroup>& groups() const { return groups_; }
  // The number of the group in which the tensor travels to the task; -1 if it travels alone.
  int GroupOf(const Output& tensor, const std::string& task) const;

 private:
  std::vector<JoinedGroup> groups_;
  std::map<std::tuple<int, int, std::string>, int> group_of_;  // keyed by node id, output and receiving task
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_PARTITION_JOINED_EDGES_H_
