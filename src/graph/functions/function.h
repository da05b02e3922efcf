// The library functions of a graph (TensorFlow's FunctionDefLibrary).
#ifndef TENSORBRAID_GRAPH_FUNCTIONS_FUNCTION_H_
#define TENSORBRAID_GRAPH_FUNCTIONS_FUNCTION_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/op_registry.h"

namespace tensorbraid {

namespace proto {
class FunctionDef;
class FunctionDefLibrary;
class NodeDef;
}  // namespace proto

class FunctionLibrary;

// The body of a function, instantiated with given attributes, as a graph of its own.
struct FunctionBody {
  std::unique_ptr<Graph> graph;
  std::vector<Node*> args;      // _Arg nodes, one per input of the call (list arguments are flattened)
  std::vector<Output> returns;  // one per output of the call
  std::vector<Node*> control_returns;
};

// The definition of one function. Immutable, so any number of graphs may share it.
class Function {
 public:
  // InvalidArgument if the signature is not valid or a node of the body has an op that is reserved for the executor.
  // The rest of the body is checked when it is instantiated, so functions that are never called may use ops that do not
  // exist.
  static StatusOr<std::shared_ptr<const Function>> FromProto(const proto::FunctionDef& def);

  const std::string& name() const { return signature_.name; }
  // The op definition of nodes that call the function by name.
  const OpDef& signature() const { return signature_; }
  // The serialized definition; equal definitions have equal bytes.
  const std::string& definition() const { return definition_; }
  // Every name in the body that may refer to a library function: the nodes' ops, and the functions in their attributes.
  const std::set<std::string>& references() const { return references_; }
  // The ops of the nodes, each with the name of the first node that has it.
  const std::map<std::string, std::string>& ops() const { return ops_; }

  // Returns the body, with `attrs` substituted for the attributes of the signature. The shapes of the arguments are
  // unknown. Errors name the function.
  StatusOr<FunctionBody> Instantiate(const std::map<std::string, AttrValue>& attrs,
                                     const std::shared_ptr<const FunctionLibrary>& library) const;

 private:
  Function() = default;

  OpDef signature_;
  std::string definition_;
  std::set<std::string> references_;
  std::map<std::string, std::string> ops_;
};

// Functions by name. Graphs hold a library as shared_ptr<const>; to add functions, a graph replaces its library by an
// extended copy.
class FunctionLibrary {
 public:
  // Returns null if the library has no function of that name.
  const Function* Find(std::string_view name) const;
  // Returns the registered op of that name, else the signature of the function; null if neither exists.
  const OpDef* FindOp(std::string_view name) const;
  // Adds a function. Does nothing if the library already has the same definition. InvalidArgument if the name belongs
  // to an op or to a function with a different definition.
  Status Add(std::shared_ptr<const Function> function);
  // Makes `gradient` the function that computes the gradient of `function`. InvalidArgument if `function` already has
  // another gradient function.
  Status AddGradient(const std::string& function, const std::string& gradient);
  // Returns the name of the function that computes the gradient of `function`; null if none was added.
  const std::string* FindGradient(const std::string& function) const;
  bool empty() const { return functions_.empty(); }
  size_t size() const { return functions_.size(); }

  // Returns the functions that the nodes of `graph` refer to (as op or in an attribute), directly or through functions.
  FunctionLibrary ReachableFrom(const GraphImpl& graph) const;
  // InvalidArgument if a function that the graph refers to may call itself; the error names the functions on the cycle.
  Status CheckNotRecursive(const GraphImpl& graph) const;

  void ToProto(proto::FunctionDefLibrary* out) const;

 private:
  std::map<std::string, std::shared_ptr<const Function>, std::less<>> functions_;
  std::map<std::string, std::string> gradients_;
};

// Whether the op is one of those that the runtime adds at the edges of a partition: _Arg, _Retval, _Send and _Recv.
// Clients must not use them, because the runtime trusts their attributes.
bool IsExecutorOp(std::string_view op);

// Returns the names of a node's op and of the functions in its attributes.
std::set<std::string> References(const Node& node);
std::set<std::string> References(const proto::NodeDef& node);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_FUNCTIONS_FUNCTION_H_
