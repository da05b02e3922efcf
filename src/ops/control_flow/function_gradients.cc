#include "ops/control_flow/function_gradients.h"

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "core/text/strings.h"
#include "graph/functions/function.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "ops/builder.h"

namespace tensorbraid {
namespace {

using FunctionAttr = std::shared_ptr<const AttrValue::Function>;

FunctionAttr GradientOf(const FunctionAttr& f) {
  AttrValue::Function gradient{.name = "SymbolicGradient", .attrs = {}};
  gradient.attrs.emplace("f", AttrValue(*f));
  return std::make_shared<const AttrValue::Function>(std::move(gradient));
}

// Whether a stateful op may run a second time: it reads a variable, checks something, or calls functions.
// CheckCanRunAgain looks at the ops of these functions, too.
bool CanRunAgain(const std::string& op) {
  static const auto* ops = new std::set<std::string>{"Assert",
                                                     "Case",
                                                     "If",
                                                     "KvResourceGather",
                                                     "KvResourceGatherV1",
                                                     "KvVarHandleOp",
                                                     "KvVarIsInitializedOp",
                                                     "KvVariableShape",
                                                     "ReadVariableOp",
                                                     "ResourceGather",
                                                     "ResourceGatherNd",
                                                     "StatefulPartitionedCall",
                                                     "VarHandleOp",
                                                     "VarIsInitializedOp",
                                                     "While"};
  return ops->contains(op);
}

// Returns Unimplemented if a function that the node calls, directly or through other functions, has a stateful op that
// may not run a second time.
Status CheckCanRunAgain(const Node& node) {
  const FunctionLibrary& library = *ImplOf(*node.graph()).functions();
  std::set<std::string> seen = References(node);
  std::vector<std::string> next(seen.begin(), seen.end());
  while (!next.empty()) {
    const Function* function = library.Find(next.back());
    next.pop_back();
    if (function == nullptr) continue;
    for (const auto& [op, first] : function->ops()) {
      const OpDef* def = OpRegistry::Global().Find(op);
      if (def == nullptr || !def->is_stateful || CanRunAgain(op)) continue;
      return Unimplemented("the gradient of ", node.Describe(), " would run ", op, " '", first, "' of function '",
                           function->name(), "' again, which may have another effect or result than the first run");
    }
    for (const std::string& name : function->references()) {
      if (seen.insert(name).second) next.push_back(name);
    }
  }
  return OkStatus();
}

// The arguments of the gradient of a call, and the dtypes and shapes of its results.
struct GradientCall {
  std::vector<Output> inputs;
  std::vector<DType> types;
  std::vector<Shape> shapes;
};

// The arguments of the functions that `op` calls are the inputs of `op` from number `first` to the last. (Input 0 of If
// and Case is the condition.)
StatusOr<GradientCall> PrepareGradient(const Operation& op, const std::vector<Output>& grads, size_t first) {
  const Node& node = *NodeOf(op);
  TF_RETURN_IF_ERROR(CheckCanRunAgain(node));
  GradientCall call;
  for (size_t i = first; i < node.inputs().size(); ++i) {
    const Output& in = node.inputs()[i];
    call.inputs.push_back(in);
    call.types.push_back(BaseType(in.dtype()));
    call.shapes.push_back(in.shape());
    if (in.dtype() != DType::kResource) continue;
    if (in.op().type() != "VarHandleOp") {
      return Unimplemented("the gradient of ", node.Describe(), " requires resources that are variables, but input ", i,
                           " is ", NodeOf(in)->Describe());
    }
    // The gradient for a handle is the gradient for the variable's value.
    call.types.back() = NodeOf(in)->attr<DType>("dtype");
    call.shapes.back() = Shape::Unknown();
  }
  for (const Output& grad : FilledGradients(op, grads)) call.inputs.push_back(grad);
  return call;
}

// Sets the gradients of the inputs from number `first` on to the results of `gradient`.
void SetGradients(const Operation& gradient, const GradientCall& call, size_t first, std::vector<Output>* input_grads) {
  for (size_t i = 0; gradient.valid() && i < call.types.size(); ++i) {
    const DType type = call.types[i];
    if (!IsFloating(type) && !IsComplex(type) && type != DType::kVariant) continue;
    (*input_grads)[first + i] = gradient.output(static_cast<int>(i));
  }
}

}  // namespace

Status CallGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  TF_ASSIGN_OR_RETURN(const GradientCall call, PrepareGradient(op, grads, /*first=*/0));
  auto f = NodeOf(op)->attr<FunctionAttr>("f");
  if (op.type() == "SymbolicGradient") f = GradientOf(f);
  const Operation gradient = NodeBuilder(*op.graph(), "SymbolicGradient")
                                 .InputList(call.inputs)
                                 .Attr("Tout", call.types)
                                 .Attr("f", AttrValue(*f))
                                 .Finish();
  SetGradients(gradient, call, /*first=*/0, input_grads);
  return OkStatus();
}

Status IfGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Node& node = *NodeOf(op);
  TF_ASSIGN_OR_RETURN(const GradientCall call, PrepareGradient(op, grads, /*first=*/1));
  NodeBuilder builder(*op.graph(), op.type());
  builder.Input(node.inputs()[0]).InputList(call.inputs).Attr("Tout", call.types).Attr("output_shapes", call.shapes);
  for (const char* branch : {"then_branch", "else_branch"}) {
    builder.Attr(branch, AttrValue(*GradientOf(node.attr<FunctionAttr>(branch))));
  }
  SetGradients(builder.Finish(), call, /*first=*/1, input_grads);
  return OkStatus();
}

Status CaseGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Node& node = *NodeOf(op);
  TF_ASSIGN_OR_RETURN(const GradientCall call, PrepareGradient(op, grads, /*first=*/1));
  std::vector<FunctionAttr> branches;
  for (const FunctionAttr& f : node.attr<std::vector<FunctionAttr>>("branches")) branches.push_back(GradientOf(f));
  const Operation gradient = NodeBuilder(*op.graph(), op.type())
                                 .Input(node.inputs()[0])
                                 .InputList(call.inputs)
                                 .Attr("Tout", call.types)
                                 .Attr("output_shapes", call.shapes)
                                 .Attr("branches", branches)
                                 .Finish();
  SetGradients(gradient, call, /*first=*/1, input_grads);
  return OkStatus();
}

}  // namespace tensorbraid
