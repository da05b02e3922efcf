// The implementation of ExpandFunctions: one pass over the nodes of a graph or of a function body, which replaces each
// call by the expanded body of the called function.
#ifndef TENSORBRAID_GRAPH_FUNCTIONS_EXPANDER_H_
#define TENSORBRAID_GRAPH_FUNCTIONS_EXPANDER_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/threads/still_wanted.h"
#include "graph/control_flow/control_flow.h"
#include "graph/functions/expand_functions.h"
#include "graph/functions/function.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"

namespace tensorbraid::expansion {

using FunctionAttr = std::shared_ptr<const AttrValue::Function>;

// The context into which a function body is placed.
struct Surroundings {
  std::string prefix;        // of node names: "call/"; "" for the graph itself
  std::string device;        // completes the devices of the body's nodes
  std::vector<Output> args;  // the tensors that replace the _Arg nodes
  Node* pivot = nullptr;     // runs before every node of the body, in the same frame and branch; may be null
  bool gates_args = false;   // nodes that take arguments get a control edge from the pivot too
  Node* start = nullptr;     // runs before the nodes of the body that have or read state; may be null
  int depth = 0;
};
// What replaces a node: new outputs, and the nodes from which the control edges of the original node now come.
struct Replacement {
  std::vector<Output> outputs;
  std::vector<Node*> done;
};
// A function body that has been added to the new graph.
struct Placed {
  std::vector<Output> returns;
  std::vector<Node*> done;   // the body is done when all of these have run
  bool has_effects = false;  // some of these must run even if nothing uses the returns
};
// A call that is about to be replaced, with its inputs in the new graph.
struct Call {
  const Node& node;
  std::string name;  // unique in the new graph
  std::string device;
  std::vector<Output> inputs;
  std::vector<Node*> controls;
  Node* pivot;      // the pivot of the Surroundings of the call, or null
  bool waited_for;  // a control edge may lead from the call to another node
  int depth;
};

// What a function is used for; decides the text of error messages.
enum class Role { kCalled, kCondition, kWhileBody, kForBody };

// The variables of a loop, its condition and its body. `cond` and `body` add their nodes to the loop. Both get the
// current values of the variables, and a pivot that runs in every iteration in which these nodes run.
struct LoopParts {
  std::vector<Output> initial;
  std::vector<bool> invariant;  // one per variable; at least one is false
  std::function<StatusOr<Placed>(const std::vector<Output>&, Node* pivot)> cond;  // returns the condition
  std::function<StatusOr<Placed>(const std::vector<Output>&, Node* pivot)> body;  // returns new values of all variables
  int64_t parallel_iterations;
};

class Expander {
 public:
  Expander(const Graph& graph, const StillWanted& still_wanted, RemoteCalls remote_calls)
      : graph_(graph), functions_(ImplOf(graph).functions()), still_wanted_(still_wanted), remote_calls_(remote_calls) {
    ImplOf(*out_).set_functions(functions_);
  }
  StatusOr<std::unique_ptr<Graph>> Run();

 private:
  // Returns an unused name for a new node. It is also different from the names of nodes that are still to be copied.
  std::string NewName(const std::string& wanted) const;
  // Returns the name of a call, which is also the name prefix of its replacement. No other call gets the same name.
  std::string CallName(const Node& node, const Surroundings& around);
  // Counts added nodes. ResourceExhausted if there are too many, or the error of still_wanted_.
  Status Count(size_t nodes);
  StatusOr<Node*> Add(const Call& call, const std::string& name, const std::string& op, std::vector<Output> inputs,
                      std::map<std::string, AttrValue> attrs = {}, std::vector<Node*> controls = {});
  static std::string DeviceOf(const Node& node, const Surroundings& around);
  // Copies the nodes of `from` that `needed` marks and replaces the calls among them. Returns the replacement of each
  // node, by its id.
  StatusOr<std::vector<Replacement>> Copy(const Graph& from, const Surroundings& around,
                                          const std::vector<bool>& needed,
                                          const std::vector<Node*>& control_returns = {});
  // Returns a node that runs when all inputs of the call have been computed and its control inputs have run, or null if
  // none of the inputs depends on another node.
  StatusOr<Node*> Start(const Call& call);
  // Returns the control inputs for the nodes that pass references among `values` into a branch or a loop. With them, a
  // reference is not read before all inputs of the call have been computed.
  StatusOr<std::vector<Node*>> ControlsOfReads(const Call& call, const std::vector<Output>& values);
  StatusOr<Replacement> Argument(const Node& arg, const Surroundings& around, bool waited_for);
  StatusOr<Node*> CopyNode(const Node& node, const Surroundings& around, std::vector<Output> inputs,
                           std::vector<Node*> controls);
  StatusOr<FunctionBody> Body(const Call& call, const std::string& name, const std::map<std::string, AttrValue>& attrs,
                              const std::vector<Output>& args, size_t returns, Role role = Role::kCalled);
  StatusOr<FunctionBody> Body(const Call& call, const FunctionAttr& f, const std::vector<Output>& args, size_t returns,
                              Role role = Role::kCalled);
  // Adds a body to the graph, except nodes that have no effect and that nothing needs.
  StatusOr<Placed> Place(const FunctionBody& body, const Surroundings& around);
  StatusOr<FunctionBody> Called(const Call& call);
  // Returns the body of SymbolicGradient[f] for the given arguments. If the library names a gradient function, this is
  // its body. Else it is the body of f itself, extended by its gradients: it takes the arguments of f and then the
  // gradients of its returns, and returns the gradients of the arguments.
  StatusOr<FunctionBody> GradientBody(const Call& call, const FunctionAttr& f, const std::vector<Output>& args,
                                      size_t returns);
  StatusOr<Replacement> Replace(const Call& call);
  // Replaces a call by the body of the called function.
  StatusOr<Replacement> Inline(const Call& call);
  // Makes the replacement of a call. If something waits for the call, it gets a single node to wait for.
  StatusOr<Replacement> Finish(const Call& call, std::vector<Output> outputs, std::vector<Node*> done);
  StatusOr<Output> Constant(const Call& call, const std::string& name, Tensor value);
  StatusOr<Output> Truth(const Call& call, Output value, const std::string& name);
  // Returns a scalar bool for each branch that says whether this branch is taken; exactly one is true.
  StatusOr<std::vector<Output>> Predicates(const Call& call, size_t branches);
  // If and Case: switches the inputs to the branch that is taken and merges the outputs of all branches.
  StatusOr<Replacement> Branches(const Call& call);
  StatusOr<Replacement> Loop(const Call& call);
  // For: computes the number of iterations in advance; the body gets the index, followed by its own variables.
  StatusOr<Replacement> ForLoop(const Call& call);
  // InvalidArgument unless the body returns every variable with the dtype that the variable has.
  static Status CheckBodyTypes(const FunctionBody& body, const std::vector<Output>& variables);
  // Builds a loop in a frame of its own. The replacement has one output per element of `parts.initial`.
  StatusOr<Replacement> BuildLoop(const Call& call, const LoopParts& parts);
  // Turns a RemoteCall into a plain call on the device that its first input, the target, names. Drops the target.
  static StatusOr<Call> AtTarget(const Call& call);
  // Turns a RemoteCall into a plain call that runs after a check of its target. Drops the target.
  StatusOr<Call> OnThisTask(const Call& call);

  const Graph& graph_;
  const std::shared_ptr<const FunctionLibrary> functions_;
  std::unique_ptr<Graph> out_ = std::make_unique<Graph>();
  const StillWanted& still_wanted_;
  const RemoteCalls remote_calls_;
  size_t added_ = 0;
  std::set<std::string> calls_;  // the names of all calls so far
};

// Whether the tensor is a reference, declared or forwarded. If it comes from a Merge that joins branches, looks at the
// first branch alone.
bool MayBeReference(Output tensor);

// The op of a call decides how it is replaced.
bool IsPlainCall(const Node& node);
bool IsIf(const Node& node);
bool IsCase(const Node& node);
bool IsGradient(const Node& node);
bool IsWhile(const Node& node);
bool IsFor(const Node& node);
bool IsRemoteCall(const Node& node);

}  // namespace tensorbraid::expansion

#endif  // TENSORBRAID_GRAPH_FUNCTIONS_EXPANDER_H_
