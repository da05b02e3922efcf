#include "kernels/pjrt/training/rule.h"

#include "core/text/strings.h"
#include "graph/model/op_registry.h"
#include "kernels/pjrt/variables.h"

namespace tensorbraid::pjrt {
namespace {

// The number of the input with this name. REQUIRES: the op has it.
int InputNamed(const Node& node, std::string_view name) {
  const auto& inputs = node.op().inputs;
  const auto it = std::find_if(inputs.begin(), inputs.end(), [&](const ArgDef& arg) { return arg.name == name; });
  return static_cast<int>(it - inputs.begin());
}

int GradientInput(const Node& node) {
  const int grad = InputNamed(node, "grad");
  return grad < static_cast<int>(node.op().inputs.size()) ? grad : InputNamed(node, "delta");
}

Status EmitRule(EmitContext& ctx, const UpdateRule& rule) {
  TF_ASSIGN_OR_RETURN(const Expr grad, WideInput(ctx, GradientInput(ctx.node())));
  RuleStep step{.ctx = ctx, .grad = grad, .scalars = {}, .variables = {}};
  for (const std::string& name : rule.scalars) {
    TF_ASSIGN_OR_RETURN(const Expr scalar, WideInput(ctx, InputNamed(ctx.node(), name)));
    if (!scalar.shape().is_scalar()) {
      return InvalidArgument(name, " is not a scalar: its shape is ", scalar.shape());
    }
    step.scalars.push_back(scalar.Convert(grad.dtype()));
  }
  std::vector<int> inputs;
  for (const std::string& name : rule.variables) {
    const int input = InputNamed(ctx.node(), name);
    TF_ASSIGN_OR_RETURN(const Expr variable, WideVariable(ctx, input));
    if (variable.dtype() != grad.dtype()) {
      return InvalidArgument("the variable ", name, " holds ", variable.dtype(), ", but the gradient is ",
                             grad.dtype());
    }
    if (variable.shape() != grad.shape()) {
      return InvalidArgument("the variable ", name, " has shape ", variable.shape(), ", but the gradient has shape ",
                             grad.shape());
    }
    for (const int other : inputs) {
      if (ctx.are_same_variable(other, input)) return InvalidArgument("the variable ", name, " is given twice");
    }
    inputs.push_back(input);
    step.variables.push_back(variable);
  }
  rule.step(step);
  for (size_t i = 0; i < inputs.size(); ++i) {
    TF_RETURN_IF_ERROR(UpdateVariable(ctx, inputs[i], step.variables[i]));
  }
  return OkStatus();
}

}  // namespace

void AddRule(EmitterRegistry& r, const UpdateRule& rule, DTypeSet types, std::source_location location) {
  for (const char* form : {"", "Resource"}) {
    const std::string op = form + rule.op;
    if (OpRegistry::Global().Find(op) == nullptr) continue;
    r.Add(
        op, {{"T", types}}, [rule](EmitContext& ctx) { return EmitRule(ctx, rule); }, location);
  }
}

}  // namespace tensorbraid::pjrt
