#include "kernels/pjrt/variables.h"

#include <utility>

#include "core/text/strings.h"

namespace tensorbraid::pjrt {

StatusOr<Expr> WideVariable(const EmitContext& ctx, int i) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value value, ctx.variable(i));
  return Expr(ctx.builder(), value).Convert(ComputeDType(value.dtype));
}

StatusOr<stablehlo::Value> VariableOfType(const EmitContext& ctx, int i, DType dtype) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value value, ctx.variable(i));
  if (value.dtype == dtype) return value;
  return InvalidArgument(VariableText(ctx, i), " holds ", value.dtype, ", not ", dtype);
}

std::string VariableText(const EmitContext& ctx, int i) {
  // Control flow passes handles and references on, and so do the ops that change variables by reference.
  const Node* node = NodeOf(ctx.node().inputs()[i]);
  while (!node->inputs().empty() && node->type() != "Merge" && node->type() != "RefMerge") {
    node = NodeOf(node->inputs()[0]);
  }
  const AttrValue* const attr = node->FindAttr("shared_name");
  const std::string* const shared = attr == nullptr ? nullptr : attr->get<std::string>();
  return StrCat("variable '", shared == nullptr || shared->empty() ? node->name() : *shared, "'");
}

Status UpdateVariable(EmitContext& ctx, int i, const stablehlo::Value& value, EmitContext::GuardedUpdate guarded) {
  TF_RETURN_IF_ERROR(ctx.update_variable(i, value, std::move(guarded)));
  if (ctx.num_outputs() > 0) ctx.forward_input(0, 0);
  return OkStatus();
}

Status UpdateVariable(EmitContext& ctx, int i, const Expr& value) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value old, ctx.variable(i));
  return UpdateVariable(ctx, i, value.Convert(old.dtype).value());
}

}  // namespace tensorbraid::pjrt
