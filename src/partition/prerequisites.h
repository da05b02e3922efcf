// Finds what must have happened before a tensor of a step exists (docs/design/0037-joined-messages.md).
#ifndef TENSORBRAID_PARTITION_PREREQUISITES_H_
#define TENSORBRAID_PARTITION_PREREQUISITES_H_

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "graph/control_flow/control_flow.h"
#include "graph/model/node.h"

namespace tensorbraid {

// Whether the node may have to wait for another step, or for a node that it has no edge from: for an element of a
// queue, for gradients, or for what a function of the program waits for. An op that only lets others go on does not
// wait.
bool MayWait(const Node& node);

// Sets of numbers. Equal sets have equal numbers. The number of the empty set is 0.
class NumberedSets {
 public:
  NumberedSets() { Number({}); }
  int Number(std::vector<int> elements);  // REQUIRES: they increase
  int With(int set, int element) { return Union(set, Number({element})); }
  int Union(int a, int b);
  int Intersection(int a, int b);
  int Without(int a, int b);  // the elements of a that b does not have
  const std::vector<int>& elements(int set) const { return *elements_[static_cast<size_t>(set)]; }

 private:
  std::map<std::vector<int>, int> numbers_;
  std::vector<const std::vector<int>*> elements_;  // by number
  std::map<std::pair<int, int>, int> unions_;
};

// Two sets of events for each tensor outside of loops. The tensor exists soon after all events of the first set, and
// never before one of them. It is alive if all events of the second set come true, and otherwise it is dead, as a
// tensor on the side of a Switch that is not taken.
//
// So if two tensors have the same sets, neither waits for anything that the other one does not wait for, whatever other
// steps do. And both are alive, or both are dead.
class Prerequisites {
 public:
  // REQUIRES: `frames` are those of `graph`, and both outlive this object.
  Prerequisites(const Graph& graph, const FrameAssignment& frames);

  // Numbers of the sets: equal numbers are equal sets.
  struct Sets {
    int waits = 0;     // nodes that may wait have ended; Merges and loops have given a value
    int branches = 0;  // a side of a Switch is taken; the value of a Merge or of a loop is alive
    friend auto operator<=>(const Sets&, const Sets&) = default;
  };
  // Nothing for a tensor of a loop, or if a loop depends on itself from outside.
  std::optional<Sets> Of(const Output& tensor) const;

 private:
  // What happens before the outputs of a node: surely, and perhaps. The sets differ in loops only.
  struct Waits {
    int surely = 0, perhaps = 0;
  };
  // A loop that is in no other loop, and what its Enters depend on.
  struct Loop {
    bool has_waits = false;  // whether one of its nodes may wait
    int perhaps = 0;
    std::optional<int> branches;
    bool branches_differ = false;
  };
  // A side that a Switch may take. A Merge or an Exit that is alive is the only side of its own.
  struct Side {
    int node, output;  // what the Switch decides by
    int side, sides;   // number of its output, of so many
    friend auto operator<=>(const Side&, const Side&) = default;
  };

  std::vector<const Node*> InOrder(const Graph& graph);
  Loop* LoopOf(int frame);  // null outside of loops
  Waits WaitsOf(const Node& node);
  int BranchesOf(const Node& node);
  int BranchesOf(const Output& tensor) const;
  int BranchesOfMerge(const Node& merge);
  void AddSides(const Node& node);
  int EventOf(const Side& side);

  const FrameAssignment& frames_;
  NumberedSets sets_;
  std::map<int, Loop> loops_;  // by frame
  // By the id of the node. The branches of a Switch are those of its inputs.
  std::vector<Waits> waits_;
  std::vector<int> branches_;
  std::vector<bool> is_known_;
  std::map<Side, int> events_;
  std::vector<Side> sides_;                           // by event
  std::map<std::pair<int, int>, int> of_switches_;    // the branches of the outputs of Switches, by node and output
  std::map<int, std::vector<Side>> sides_of_merges_;  // of the inputs of Merges after Switches, by node
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_PARTITION_PREREQUISITES_H_
