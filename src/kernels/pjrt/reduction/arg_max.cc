// The index of the largest or smallest element along an axis: the first one if several are equal. NaNs are skipped,
// unless all elements are NaN.
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

Status EmitArg(EmitContext& ctx, bool max) {
  TF_ASSIGN_OR_RETURN(Expr x, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Tensor axis_tensor, ctx.static_input(1));
  TF_ASSIGN_OR_RETURN(const int64_t named, IntegerOf(axis_tensor, "the axis"));
  TF_ASSIGN_OR_RETURN(const int axis, AxisOf(named, x.shape().rank()));
  const int64_t size = x.shape().dim(axis);
  if (size == 0) return InvalidArgument("Reduction axis ", axis, " is empty in shape ", x.shape());
  Shape shape;
  for (int i = 0; i < x.shape().rank(); ++i) {
    if (i != axis) shape.AddDim(x.shape().dim(i));
  }
  stablehlo::Builder& b = ctx.builder();
  if (x.dtype() == kBool) x = x.Convert(kInt32);
  const Expr worst(b, max ? b.Lowest(x.dtype()) : b.Highest(x.dtype()));
  const bool floats = IsFloating(x.dtype());
  const Combination better = max ? Combination(Max) : Combination(Min);
  const Expr best = Reduce(floats ? Select(x == x, x, worst) : x, {axis}, worst, better);
  const Expr index(b, b.Iota(kInt64, x.shape(), axis));
  const Expr none = index.Number(static_cast<double>(size));
  const Expr first = Reduce(Select(x == best.BroadcastTo(x.shape()), index, none), {axis}, none, Min);
  SetOutput(ctx, 0, (floats ? Select(first == none, 0, first) : first).Reshape(shape));
  return OkStatus();
}

}  // namespace

void RegisterReductionArgMaxEmitters(EmitterRegistry& r) {
  const DTypeSet types = kReals | DTypeSet{kBool};
  r.Add("ArgMax", {{"T", types}}, [](EmitContext& ctx) { return EmitArg(ctx, true); }).static_inputs = {"dimension"};
  r.Add("ArgMin", {{"T", types}}, [](EmitContext& ctx) { return EmitArg(ctx, false); }).static_inputs = {"dimension"};
}

}  // namespace tensorbraid::pjrt
