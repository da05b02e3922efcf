// Which nodes run on a GPU if their program does not say where.
#ifndef TENSORBRAID_PLACEMENT_PREFERENCE_H_
#define TENSORBRAID_PLACEMENT_PREFERENCE_H_

#include <string>
#include <vector>

#include "graph/model/node.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// A node prefers a GPU if it can be in a program there (pjrt/emitter.h), with these exceptions: integers and bools that
// are scalars and do not come from other tensors, such as a global step; what makes the initial value of a variable;
// and what only nodes of the host use. Nodes that only pass tensors on prefer the place of their neighbours.
//
// For variables only their own dtype counts: a variable of floating or complex numbers prefers a GPU. So each step of
// each session finds a variable in the same place, whatever else the step runs. Immutable.
class GpuPreference {
 public:
  // `graph` is what a step runs, before it is placed.
  explicit GpuPreference(const Graph& graph);

  bool Prefers(const Node& node) const { return why_not_[node.id()].empty(); }
  // Why the node prefers the host, as a part of a sentence: "it has no emitter". Empty if it does not.
  const std::string& WhyNot(const Node& node) const { return why_not_[node.id()]; }
  // Whether the node holds a variable, whose preference is that of all nodes that use it.
  static bool IsVariable(const Node& node);

 private:
  std::vector<std::string> why_not_;  // by node id
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_PLACEMENT_PREFERENCE_H_
