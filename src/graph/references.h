// Reference edges: which tensors of a graph are a variable itself, and when their value may be read.
//
// A reference is read when the node that uses its value starts, so that the node sees every update that its inputs and
// control inputs follow. If that node is on another task or device, a transfer reads the variable for it, and
// ReferenceReads says after which nodes. docs/design/0019 has the whole rule.
#ifndef TENSORBRAID_GRAPH_REFERENCES_H_
#define TENSORBRAID_GRAPH_REFERENCES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/node.h"

namespace tensorbraid {

// Whether the node forwards input `input` as it is, so that a reference stays a reference: Identity and the ops of
// control flow, also in the forms that do not declare a reference. (TensorFlow forwards the variable's buffer there.)
bool ForwardsInput(const Node& node, int input);

// Finds the tensors that are references at run time, although some of them are declared as values. Immutable.
class ReferenceTensors {
 public:
  // Whether a reference stays one when it is input `input` of `consumer`; false where a copy of its value arrives.
  using Stays = std::function<bool(const Node& consumer, int input)>;
  explicit ReferenceTensors(const Graph& graph, Stays stays = nullptr);

  bool Contains(const Output& tensor) const;
  // The variables that the tensor may be, as numbers below num_variables(); several if a Merge or a RefSelect chooses
  // one. Empty if Contains() is false. Nodes with the same name of the variable in the same place count as one.
  const std::vector<int>& VariablesOf(const Output& tensor) const;
  int num_variables() const { return static_cast<int>(numbers_.size()); }

 private:
  bool AddAll(const Node& node, const std::vector<int>& variables);

  std::map<std::string, int> numbers_;       // by device and name of the variable
  std::vector<std::vector<int>> variables_;  // by node id: of all outputs that are references
};

// For readers that are not where the variable is: which of their other inputs the read has to wait for. Not
// thread-safe.
class ReferenceReads {
 public:
  // Both arguments must outlive the object.
  ReferenceReads(const Graph& graph, const ReferenceTensors& references) : graph_(graph), references_(references) {}

  // The nodes among the inputs and control inputs of `reader` that must have run before input `input`, a reference, is
  // read for it: those that an update of the variable precedes, and those that a control edge orders behind an op that
  // waits for other sessions (a queue, a barrier, an accumulator), whose updates the reader must see, too. Each node
  // once, in the order of ids. Usually empty.
  std::vector<Node*> After(const Node& reader, int input);

 private:
  // Sets the members below but `follows_update_`, once.
  void Index();
  // By node id: whether the node is one of `from` or edges lead to it from there.
  std::vector<bool> Reach(std::vector<int> from) const;
  // By node id: whether the node is, or follows, an update of the variable.
  const std::vector<bool>& FollowsUpdate(int variable);

  const Graph& graph_;
  const ReferenceTensors& references_;
  std::vector<std::vector<int>> consumers_;  // by node id: ids of the nodes that data and control edges lead to
  std::vector<std::vector<int>> updates_;    // by variable: ids of the nodes that change it
  std::vector<bool> follows_wait_;           // by node id: whether a control edge orders it behind such an op
  std::map<int, std::vector<bool>> follows_update_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_REFERENCES_H_
