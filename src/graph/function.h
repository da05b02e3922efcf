// Library functions of a graph: TensorFlow's FunctionDefLibrary.
#ifndef TENSORBRAID_GRAPH_FUNCTION_H_
#define TENSORBRAID_GRAPH_FUNCTION_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/node.h"
#include "graph/op_registry.h"

namespace tensorbraid {

namespace proto {
class FunctionDef;
class FunctionDefLibrary;
class NodeDef;
}  // namespace proto

class FunctionLibrary;

// The body of a function for certain attributes, as a graph of its own.
struct FunctionBody {
  std::unique_ptr<Graph> graph;
  std::vector<Node*> args;      // _Arg nodes, one for each argument of the call in a row
  std::vector<Output> returns;  // what each output of the call is
  std::vector<Node*> control_returns;
};

// One definition. Immutable, so that any number of graphs may share it.
class Function {
 public:
  // InvalidArgument for a signature that no node could have. The body is looked at when it is instantiated: functions
  // that nobody calls may use what we do not have.
  static StatusOr<std::shared_ptr<const Function>> FromProto(const proto::FunctionDef& def);

  const std::string& name() const { return signature_.name; }
  // The op that a node which calls the function by name has.
  const OpDef& signature() const { return signature_; }
  // The definition as bytes; equal definitions have equal bytes.
  const std::string& definition() const { return definition_; }
  // The ops of the nodes and the functions in their attributes: whatever may be a function of the library.
  const std::set<std::string>& references() const { return references_; }
  // The ops of the nodes, each with the first node that has it.
  const std::map<std::string, std::string>& ops() const { return ops_; }

  // The body with `attrs` put in place of the signature's attributes; nothing is known of the arguments' shapes. Errors
  // name the function.
  StatusOr<FunctionBody> Instantiate(const std::map<std::string, AttrValue>& attrs,
                                     const std::shared_ptr<const FunctionLibrary>& library) const;

 private:
  Function() = default;

  OpDef signature_;
  std::string definition_;
  std::set<std::string> references_;
  std::map<std::string, std::string> ops_;
};

// Functions by name. A value: graphs hold it as shared_ptr<const>, and a graph that takes in more replaces its own.
class FunctionLibrary {
 public:
  // Null when there is none of that name.
  const Function* Find(std::string_view name) const;
  // The op of that name, else the signature of the function; null when there is neither.
  const OpDef* FindOp(std::string_view name) const;
  // A definition that is there already changes nothing. InvalidArgument when there is another one of its name, or an
  // op.
  Status Add(std::shared_ptr<const Function> function);
  // Says that `gradient` computes the gradient of `function`. InvalidArgument when another one does.
  Status AddGradient(const std::string& function, const std::string& gradient);
  // The function that computes the gradient; null when none was given.
  const std::string* FindGradient(const std::string& function) const;
  bool empty() const { return functions_.empty(); }
  size_t size() const { return functions_.size(); }

  // What the nodes of `graph` call or name in attributes, and what that needs in turn.
  FunctionLibrary ReachableFrom(const GraphImpl& graph) const;
  // InvalidArgument, naming the functions on the way, when one that the graph reaches may call itself.
  Status CheckNotRecursive(const GraphImpl& graph) const;

  void ToProto(proto::FunctionDefLibrary* out) const;

 private:
  std::map<std::string, std::shared_ptr<const Function>, std::less<>> functions_;
  std::map<std::string, std::string> gradients_;
};

// Whether the op is one of those that stand for the ends of a graph within the executor, which no client may use: their
// numbers are taken at their word.
bool IsExecutorOp(std::string_view op);

// The functions in a node's attributes, and its op.
std::set<std::string> References(const Node& node);
std::set<std::string> References(const proto::NodeDef& node);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_FUNCTION_H_
