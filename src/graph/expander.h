// How ExpandFunctions works: one pass over the nodes of a graph or body, in which calls are replaced by what their
// bodies become in turn.
#ifndef TENSORBRAID_GRAPH_EXPANDER_H_
#define TENSORBRAID_GRAPH_EXPANDER_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "graph/control_flow.h"
#include "graph/function.h"
#include "graph/node.h"

namespace tensorbraid::expansion {

using FunctionAttr = std::shared_ptr<const AttrValue::Function>;

// Where the nodes of a body go.
struct Surroundings {
  std::string prefix;        // "call/"
  std::string device;        // as far as the body's nodes leave theirs open
  std::vector<Output> args;  // what stands for the arguments
  Node* pivot = nullptr;     // runs before all of the body, in the same frame and branch
  bool gates_args = false;   // whether what takes arguments has to wait for the pivot too
  int depth = 0;
};
// What stands for a node: its outputs, and what to wait for to wait for it.
struct Replacement {
  std::vector<Output> outputs;
  std::vector<Node*> done;
};
struct Placed {
  std::vector<Output> returns;
  std::vector<Node*> done;  // of everything that the body does
  bool has_effects = false;
};
// A call about to be replaced, with what stands for its inputs.
struct Call {
  const Node& node;
  std::string name;  // in `out_`
  std::string device;
  std::vector<Output> inputs;
  std::vector<Node*> controls;
  Node* pivot;  // of the surroundings, or null
  bool waited_for;
  int depth;
};

// What a function is for, which messages tell.
enum class Role { kCalled, kCondition, kWhileBody, kForBody };

// What goes around in a loop, and what a turn does with it. The functions are given what stands for the variables and a
// node that is there in every turn that they are for.
struct LoopParts {
  std::vector<Output> initial;
  std::vector<bool> invariant;                                                    // by variable; not all
  std::function<StatusOr<Placed>(const std::vector<Output>&, Node* pivot)> test;  // gives the condition
  std::function<StatusOr<Placed>(const std::vector<Output>&, Node* pivot)> turn;  // gives all variables anew
  int64_t parallel_iterations;
};

class Expander {
 public:
  explicit Expander(const Graph& graph) : graph_(graph), functions_(graph.impl().functions()) {
    out_->impl().set_functions(functions_);
  }
  StatusOr<std::unique_ptr<Graph>> Run();

 private:
  // A name for a node that was not in the graph: never one that a node still to be copied has.
  std::string NewName(const std::string& wanted) const;
  // Of a call, and with it the prefix of all that replaces it: never that of another call.
  std::string CallName(const Node& node, const Surroundings& around);
  Status Count(size_t nodes);
  StatusOr<Node*> Add(const Call& call, const std::string& name, const std::string& op, std::vector<Output> inputs,
                      std::map<std::string, AttrValue> attrs = {}, std::vector<Node*> controls = {});
  static std::string DeviceOf(const Node& node, const Surroundings& around);
  // Copies the marked nodes of `from` and replaces the calls among them. Gives what stands for each.
  StatusOr<std::vector<Replacement>> Copy(const Graph& from, const Surroundings& around,
                                          const std::vector<bool>& needed,
                                          const std::vector<Node*>& control_returns = {});
  StatusOr<Replacement> Argument(const Node& arg, const Surroundings& around, bool waited_for);
  StatusOr<Node*> CopyNode(const Node& node, const Surroundings& around, std::vector<Output> inputs,
                           std::vector<Node*> controls);
  StatusOr<FunctionBody> Body(const Call& call, const std::string& name, const std::map<std::string, AttrValue>& attrs,
                              const std::vector<Output>& args, size_t returns, Role role = Role::kCalled);
  StatusOr<FunctionBody> Body(const Call& call, const FunctionAttr& f, const std::vector<Output>& args, size_t returns,
                              Role role = Role::kCalled);
  // Puts a body into the graph, without what has no effect and no use.
  StatusOr<Placed> Place(const FunctionBody& body, const Surroundings& around);
  StatusOr<FunctionBody> Called(const Call& call);
  // What SymbolicGradient stands for: the function that computes the gradient where one was given, else the body with
  // the gradients of its returns, which come after its arguments, taken back through it.
  StatusOr<FunctionBody> GradientBody(const Call& call);
  StatusOr<Replacement> Replace(const Call& call);
  // A call by the body of what it calls.
  StatusOr<Replacement> Inline(const Call& call);
  // What waits for the call gets one node to wait for.
  StatusOr<Replacement> Finish(const Call& call, std::vector<Output> outputs, std::vector<Node*> done);
  StatusOr<Output> Constant(const Call& call, const std::string& name, Tensor value);
  StatusOr<Output> Truth(const Call& call, Output value, const std::string& name);
  // For each branch a scalar that says whether it is the one; exactly one is true.
  StatusOr<std::vector<Output>> Predicates(const Call& call, size_t branches);
  // If and Case: the inputs are switched to the branch that is taken, the outputs of all branches merged.
  StatusOr<Replacement> Branches(const Call& call);
  StatusOr<Replacement> Loop(const Call& call);
  // For: the turns are counted beforehand, and the body gets the index before its own variables.
  StatusOr<Replacement> ForLoop(const Call& call);
  // Whether a body gives its variables the dtypes they have.
  static Status CheckTurn(const FunctionBody& body, const std::vector<Output>& variables);
  // A loop in a frame of its own; outputs for all of `parts.initial`.
  StatusOr<Replacement> Turns(const Call& call, const LoopParts& parts);
  // A RemoteCall as a plain call on the device that it names, without that input.
  static StatusOr<Call> AtTarget(const Call& call);

  const Graph& graph_;
  const std::shared_ptr<const FunctionLibrary> functions_;
  std::unique_ptr<Graph> out_ = std::make_unique<Graph>();
  size_t added_ = 0;
  std::set<std::string> calls_;
};

// By op: how a call is replaced.
bool IsPlainCall(const Node& node);
bool IsIf(const Node& node);
bool IsCase(const Node& node);
bool IsGradient(const Node& node);
bool IsWhile(const Node& node);
bool IsFor(const Node& node);
bool IsRemoteCall(const Node& node);

}  // namespace tensorbraid::expansion

#endif  // TENSORBRAID_GRAPH_EXPANDER_H_
