// Control flow inside a graph: which ops steer it, and which loop frame each node runs in.
//
// A loop is a frame. Enter takes a tensor into it, Exit out of it, NextIteration from one iteration to the next, and a
// Merge joins what enters with what comes around. The edge from a NextIteration to a Merge, a *back edge*, is the only
// one that may close a cycle; along every other edge node ids rise.
#ifndef TENSORBRAID_GRAPH_CONTROL_FLOW_H_
#define TENSORBRAID_GRAPH_CONTROL_FLOW_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "graph/node.h"

namespace tensorbraid {

enum class FlowKind : uint8_t {
  kNone,
  kSwitch,  // outputs that are not taken are dead
  kMerge,   // goes on with the first live input
  kEnter,
  kExit,
  kNextIteration,
  kLoopCond,
  kControlTrigger,  // runs whether or not what it waits for is dead
};
// Of an op, by value and reference forms alike.
FlowKind FlowKindOf(std::string_view op);
inline FlowKind FlowKindOf(const Node& node) { return FlowKindOf(node.type()); }

// Whether input i of `node` is a back edge.
bool IsBackEdge(const Node& node, int input);

// Back edges of a copy of a graph: Merge nodes are copied before what comes around to them. Not thread-safe.
class BackEdges {
 public:
  // Input `input` of `merge` will be the copy of `original`.
  void Add(Node* merge, int input, Output original) { edges_.emplace_back(merge, input, original); }
  // Sets them all; `mapped(original)` is the copy. The error of GraphImpl::CloseLoop.
  template <typename Mapped>
  Status Close(Mapped mapped) const {
    for (const auto& [merge, input, original] : edges_) {
      TF_RETURN_IF_ERROR(merge->graph()->impl().CloseLoop(merge, input, mapped(original)));
    }
    return OkStatus();
  }

 private:
  std::vector<std::tuple<Node*, int, Output>> edges_;
};

// One loop of a graph. Frame 0 is the graph outside of all loops.
struct Frame {
  std::string name;
  int parent = -1;
  int parallel_iterations = 1;
};

struct FrameAssignment {
  std::vector<Frame> frames;      // parents before their children
  std::vector<int> frame_of;      // by node id: where the node runs; an Enter in the parent, an Exit in the loop
  std::vector<int> out_frame_of;  // by node id: where its outputs are
  bool has_loops() const { return frames.size() > 1; }
};

// InvalidArgument, naming the nodes, when inputs of one node come from different frames, or an Exit is in no loop.
StatusOr<FrameAssignment> AssignFrames(const Graph& graph);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_CONTROL_FLOW_H_
