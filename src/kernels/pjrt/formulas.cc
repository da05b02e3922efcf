#include "kernels/pjrt/formulas.h"

#include "core/text/strings.h"
#include "graph/model/op_registry.h"

namespace tensorbraid::pjrt {

void AddUnary(EmitterRegistry& r, std::string_view op, DTypeSet types, UnaryFormula formula,
              std::source_location location) {
  const EmitFn emit = [formula](EmitContext& ctx) -> Status {
    TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
    SetOutput(ctx, 0, formula(x));
    return OkStatus();
  };
  r.Add(op, {{"T", types}}, emit, location);
}

void AddBinary(EmitterRegistry& r, std::string_view op, DTypeSet types, BinaryFormula formula,
               std::source_location location) {
  const EmitFn emit = [formula](EmitContext& ctx) -> Status {
    TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
    TF_ASSIGN_OR_RETURN(const Expr y, WideInput(ctx, 1));
    TF_ASSIGN_OR_RETURN(const Shape shape, BroadcastShapes(x.shape(), y.shape()));
    SetOutput(ctx, 0, formula(x.BroadcastTo(shape), y.BroadcastTo(shape)));
    return OkStatus();
  };
  r.Add(op, {{"T", types}}, emit, location);
}

void AddSameShape(EmitterRegistry& r, std::string_view op, DTypeSet types, BinaryFormula formula,
                  std::source_location location) {
  const EmitFn emit = [formula](EmitContext& ctx) -> Status {
    TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
    TF_ASSIGN_OR_RETURN(const Expr y, WideInput(ctx, 1));
    if (x.shape() != y.shape()) {
      return InvalidArgument("inputs must have the same shape, got ", x.shape(), " and ", y.shape());
    }
    SetOutput(ctx, 0, formula(x, y));
    return OkStatus();
  };
  r.Add(op, {{"T", types}}, emit, location);
}

}  // namespace tensorbraid::pjrt
