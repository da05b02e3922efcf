// Reference edges: which tensors of a graph are a variable itself, and when their value may be read.
//
// A reference is read when the node that uses its value starts, so that the node sees every update that its inputs and
// control inputs follow. If that node is on another task or device, a transfer reads the variable on that node's
// behalf. ReferenceReads finds the nodes that must have run before the transfer reads. docs/design/0019 has the whole
// rule.
#ifndef TENSORBRAID_GRAPH_MODEL_REFERENCES_H_
#define TENSORBRAID_GRAPH_MODEL_REFERENCES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/model/node.h"

namespace tensorbraid {

// Whether the node forwards input `input` as it is, so that a reference stays a reference. True for Identity-like ops
// and control-flow ops. This includes plain ops such as Switch and Merge, whose inputs are not declared as references
// (unlike those of RefSwitch and RefMerge): TensorFlow forwards the variable's buffer through these, too.
bool ForwardsInput(const Node& node, int input);

// Finds the tensors that are references at run time, although some of them are declared as values. Immutable.
class ReferenceTensors {
 public:
  // Called for inputs that are not declared as references: whether a reference stays one when it is input `input` of
  // `consumer`. False where a copy of its value arrives. Without this function (nullptr), a reference always stays one.
  using Stays = std::function<bool(const Node& consumer, int input)>;
  explicit ReferenceTensors(const Graph& graph, Stays stays = nullptr);

  bool Contains(const Output& tensor) const;
  // The variables that the tensor may be, as numbers below num_variables(); several if a Merge or a RefSelect chooses
  // one. Empty if Contains() is false. Nodes that create a variable of the same name on the same device count as one
  // variable.
  const std::vector<int>& VariablesOf(const Output& tensor) const;
  int num_variables() const { return static_cast<int>(numbers_.size()); }

 private:
  bool AddAll(const Node& node, const std::vector<int>& variables);

  std::map<std::string, int> numbers_;       // keyed by device and name of the variable
  std::vector<std::vector<int>> variables_;  // for each node: the variables of all outputs that are references
};

// Finds out when a reference may be read for a node on another task or device than the variable: after which inputs and
// control inputs of that node. Not thread-safe.
class ReferenceReads {
 public:
  // Both arguments must outlive the object.
  ReferenceReads(const Graph& graph, const ReferenceTensors& references) : graph_(graph), references_(references) {}

  // Input `input` of `reader` is a reference. Returns the nodes among the inputs and control inputs of `reader` that
  // must have run before the reference is read. There are two kinds: nodes that follow an update of the variable, and
  // nodes that a control edge orders behind an op that waits for other sessions (a queue, a barrier, an accumulator).
  // The second kind is needed because `reader` must also see the updates that those sessions made. Each node is
  // returned once, in the order of ids. Usually there is none.
  std::vector<Node*> After(const Node& reader, int input);

 private:
  // Fills consumers_, updates_ and follows_wait_; does nothing after the first call.
  void Index();
  // For each node, indexed by id: whether it is one of `from` or edges lead to it from one of these.
  std::vector<bool> Reach(std::vector<int> from) const;
  // For each node, indexed by id: whether it is an update of the variable or follows one.
  const std::vector<bool>& FollowsUpdate(int variable);

  const Graph& graph_;
  const ReferenceTensors& references_;
  std::vector<std::vector<int>> consumers_;  // for each node: ids of the nodes that its data and control edges lead to
  std::vector<std::vector<int>> updates_;    // for each variable: ids of the nodes that change it
  std::vector<bool> follows_wait_;           // for each node: whether a control edge orders it behind an op that waits
  std::map<int, std::vector<bool>> follows_update_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MODEL_REFERENCES_H_
