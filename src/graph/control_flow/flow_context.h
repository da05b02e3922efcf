// Branches of conditionals and loops while a graph is built. A node that is added while a FlowContext is open belongs
// to it: inputs from outside are captured first (a branch gets them from a Switch, a loop from an Enter), and a node
// without inputs gets a control input, so that it runs only if the branch is taken, or once in each iteration.
//
// A loop whose gradient is computed has a second loop, its *gradient loop*, which runs the iterations backwards. A node
// of the gradient loop may use a tensor of the forward loop: the forward loop then pushes the tensor of each iteration
// to a list (TensorListPushBack), and the gradient loop pops it. Lists are values, and both ops have gradients, so a
// gradient loop can be differentiated like any other loop.
#ifndef TENSORBRAID_GRAPH_CONTROL_FLOW_FLOW_CONTEXT_H_
#define TENSORBRAID_GRAPH_CONTROL_FLOW_FLOW_CONTEXT_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/model/graph_impl.h"
#include "graph/model/node.h"

namespace tensorbraid {

// Names a tensor of a graph. Node ids change when a graph is sorted; pointers do not.
using OutputKey = std::pair<const Node*, int>;
inline OutputKey KeyOf(const Output& output) { return {NodeOf(output), output.index()}; }

// A value that a loop passes from one iteration to the next.
struct LoopVariable {
  Output enter;  // the value before the first iteration, in the loop
  Output merge;  // the value at the beginning of an iteration, also of the last one, which only evaluates the condition
  Output body;   // the value in the iterations whose condition is true
  Output exit;   // the value after the last iteration, outside of the loop
  Output next;   // the value that the body computes for the next iteration; not valid until the variable is closed
  Operation place;  // if valid, the op that the nodes of the variable are colocated with
};

struct FlowContext {
  enum class Kind : uint8_t { kBranch, kLoop };
  Kind kind;
  FlowContext* outer = nullptr;  // null: none
  // The node that nodes without inputs of the context wait for.
  Node* pivot = nullptr;
  std::map<OutputKey, Output> captured;  // the tensors from outside, and their values in the context
  // The nodes through which tensors enter: Switch, or Enter. A Switch of which both outputs are used is a gate of a
  // branch and of the branch `other`.
  std::set<const Node*> gates;
  // Of a branch:
  Output predicate;              // in the outer context
  int side = 0;                  // 1: the branch is taken if the predicate is true
  FlowContext* other = nullptr;  // the branch that is taken otherwise; see OtherSide
  // Of a loop:
  std::string name;   // the name scope of its nodes
  std::string frame;  // the attribute frame_name of each Enter
  int64_t parallel_iterations = 10;
  bool differentiable = true;
  // The scopes of control dependencies that were open when the loop was begun. They hold for the loop as a whole.
  size_t control_scopes = 0;
  Output condition;  // the output of the LoopCond; not valid while the condition is built
  std::vector<LoopVariable> variables;
  std::set<const Node*> machinery;  // Enter, Merge, Switch, NextIteration, Exit and LoopCond of the loop itself
  Output iterations;                // how many iterations the loop has made, outside of the loop; see IterationsOf
  std::map<OutputKey, Output> histories;  // for a tensor of the loop: the list of its values, outside of the loop
  // Of a gradient loop:
  FlowContext* forward = nullptr;
  std::map<const FlowContext*, FlowContext*> branches;  // for a branch of the forward loop: its gradient's branch
  std::map<OutputKey, Output> popped;                   // the values of tensors of the forward loop

  bool is_loop() const { return kind == Kind::kLoop; }
};

// The innermost branch or loop that a tensor belongs to; null: none. The outputs of a Switch belong to two branches.
FlowContext* ContextOf(const Output& tensor);
// The innermost loop around a context, which may be the context itself; null: none.
FlowContext* LoopOf(FlowContext* context);
// Whether `context` is `outer` or inside it. Everything is inside of null.
bool IsInside(const FlowContext* context, const FlowContext* outer);

// Nodes that are added while the guard lives belong to the context; null: to none.
class ScopedFlowContext {
 public:
  ScopedFlowContext(Graph& graph, FlowContext* context);
  ~ScopedFlowContext();
  ScopedFlowContext(const ScopedFlowContext&) = delete;
  ScopedFlowContext& operator=(const ScopedFlowContext&) = delete;

 private:
  GraphImpl& impl_;
  FlowContext* const before_;
};

// Returns the tensor as nodes of `context` can use it. Adds the nodes through which it enters the context, or those
// that keep its history if the context is in the gradient loop of the tensor's loop; `name` is the name of a node that
// they are named after. InvalidArgument if the tensor is in a branch or a loop that does not contain the context.
StatusOr<Output> VisibleIn(FlowContext* context, const Output& tensor, const std::string& name);

// Opens a branch of a conditional in the current context. `predicate` is a bool scalar that the context can use.
StatusOr<FlowContext*> AddBranch(Graph& graph, const Output& predicate, int side);
// The branch that is taken if `branch` is not. Adds it if it does not exist.
StatusOr<FlowContext*> OtherSide(FlowContext* branch);
// The output of a conditional: the live one of two tensors, the first of which belongs to the branch of side 0.
StatusOr<Output> AddMerge(Graph& graph, const Output& if_false, const Output& if_true);

struct LoopOptions {
  int64_t parallel_iterations = 10;
  bool differentiable = true;
};
// Begins a loop in the current context. The steps after it are, in this order: AddLoopVariable for each variable; the
// condition, in the loop as current context; SetLoopCondition; the body, in the loop as current context;
// CloseLoopVariable for each variable. More variables may be added at any later time.
FlowContext* BeginLoop(Graph& graph, const LoopOptions& options);
// Adds a variable that begins as `initial`, a tensor that the context around the loop can use. `shape` is the shape in
// all iterations. With a valid `place`, its nodes are colocated with this op. Returns its position in `variables`.
StatusOr<size_t> AddLoopVariable(FlowContext* loop, const Output& initial, const Shape& shape,
                                 const Operation& place = {});
Status SetLoopCondition(FlowContext* loop, const Output& condition);
// Sets what the variable becomes after an iteration: a tensor that the loop can use.
Status CloseLoopVariable(FlowContext* loop, size_t variable, const Output& next);
// Adds the nodes that a context of an imported graph may lack: a Switch or an Exit of a loop's variable, and the pivot.
Status CompleteContext(Graph& graph, FlowContext* context);
// An int32 scalar outside of the loop: how many iterations it has made.
StatusOr<Output> IterationsOf(FlowContext* loop);
// An int32 vector for a list op's element_shape; -1 for what is not known.
Output ShapeConstant(Graph& graph, const Shape& shape);
// An empty list of tensors of this dtype and shape.
StatusOr<Output> EmptyList(Graph& graph, DType dtype, const Shape& element);
// The branch of a gradient loop in which the gradients of a branch of its forward loop are computed.
StatusOr<FlowContext*> GradientBranch(FlowContext* gradient_loop, FlowContext* branch);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_CONTROL_FLOW_FLOW_CONTEXT_H_
