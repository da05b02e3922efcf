// Control flow inside a graph: which ops are control flow ops, and in which loop frame each node runs.
//
// A loop is a frame. Enter passes a tensor into the frame, Exit passes one out of it, and NextIteration passes one to
// the next iteration. A Merge takes its value from an Enter in the first iteration and from a NextIteration in later
// ones. The edge from a NextIteration to a Merge is a *back edge*. Only a back edge may close a cycle; along every
// other edge, node ids rise.
#ifndef TENSORBRAID_GRAPH_CONTROL_FLOW_CONTROL_FLOW_H_
#define TENSORBRAID_GRAPH_CONTROL_FLOW_CONTROL_FLOW_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "graph/model/graph_impl.h"
#include "graph/model/node.h"

namespace tensorbraid {

enum class FlowKind : uint8_t {
  kNone,
  kSwitch,  // the outputs of the branches not taken are dead
  kMerge,   // forwards the first live input
  kEnter,
  kExit,
  kNextIteration,
  kLoopCond,
  kControlTrigger,  // runs even if its control inputs are dead
};
// Returns the kind of an op; an op and its reference form (such as Switch and RefSwitch) are of the same kind.
FlowKind FlowKindOf(std::string_view op);
inline FlowKind FlowKindOf(const Node& node) { return FlowKindOf(node.type()); }

// Whether input i of `node` is a back edge.
bool IsBackEdge(const Node& node, int input);

// Collects back edges while a graph is copied. A Merge is copied before the NextIteration that it takes a value from,
// so this input is set at the end. Not thread-safe.
class BackEdges {
 public:
  // Records that input `input` of `merge`, a node of the copy, must become the copy of `original`.
  void Add(Node* merge, int input, Output original) { edges_.emplace_back(merge, input, original); }
  // Sets all these inputs; `mapped(original)` returns the copy of an output. Returns the first error of
  // GraphImpl::CloseLoop.
  template <typename Mapped>
  Status Close(Mapped mapped) const {
    for (const auto& [merge, input, original] : edges_) {
      TF_RETURN_IF_ERROR(ImplOf(*merge->graph()).CloseLoop(merge, input, mapped(original)));
    }
    return OkStatus();
  }

 private:
  std::vector<std::tuple<Node*, int, Output>> edges_;
};

// One loop of a graph. Frame 0 is the part of the graph outside all loops.
struct Frame {
  std::string name;
  int parent = -1;
  int parallel_iterations = 1;
};

struct FrameAssignment {
  std::vector<Frame> frames;      // parents before their children
  std::vector<int> frame_of;      // for each node: frame in which it runs (an Enter: the parent; an Exit: the loop)
  std::vector<int> out_frame_of;  // for each node: frame that its outputs belong to
};

// InvalidArgument, naming the nodes, if the inputs of a node come from different frames, or an Exit or a NextIteration
// is not in a loop.
StatusOr<FrameAssignment> AssignFrames(const Graph& graph);

// For each node, indexed by id: whether its outputs belong to a loop or to a branch of a conditional, so that they do
// not exist in every step and cannot be used from outside. Returns the errors of AssignFrames.
StatusOr<std::vector<bool>> InsideControlFlow(const Graph& graph);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_CONTROL_FLOW_CONTROL_FLOW_H_
