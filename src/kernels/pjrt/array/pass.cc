// Ops that pass a tensor on, some after a check of its shape.
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// The value of input 0, also if it is a reference. A known tensor stays known.
Status EmitValue(EmitContext& ctx) {
  if (ctx.is_static(0)) {
    ctx.forward_input(0, 0);
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(const stablehlo::Value x, ctx.input(0));
  ctx.set_output(0, x);
  return OkStatus();
}

Status EmitEnsureShape(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Shape in, ctx.input_shape(0));
  const Shape& wanted = ctx.attr<Shape>("shape");
  if (!wanted.IsCompatibleWith(in)) {
    return InvalidArgument("the tensor has shape ", in, ", which is not compatible with the expected shape ", wanted);
  }
  return EmitValue(ctx);
}

// The same bits as elements of another size: a last dimension is added or removed.
Status EmitBitcast(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value x, ctx.input(0));
  const auto type = ctx.attr<DType>("type");
  const auto from = static_cast<int64_t>(DTypeSize(x.dtype)), to = static_cast<int64_t>(DTypeSize(type));
  Shape shape = x.shape;
  if (from > to) {
    shape.AddDim(from / to);
  } else if (from < to) {
    const int last = shape.rank() - 1;
    if (last < 0 || shape.dim(last) != to / from) {
      return InvalidArgument("the last dimension of ", x.shape, " must have size ", to / from, " to bitcast to ", type);
    }
    shape = Shape(x.shape.dims().first(last));
  }
  ctx.set_output(0, x.dtype == type ? x : ctx.builder().Op("bitcast_convert", {x}, type, shape));
  return OkStatus();
}

// Zeros also without `init`, as on the CPU.
Status EmitEmpty(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Tensor sizes, ctx.static_input(0));
  if (sizes.shape().rank() != 1) return InvalidArgument("the shape must be a vector, got shape ", sizes.shape());
  TF_ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(sizes, "the shape"));
  ctx.set_output(0, ctx.builder().Splat(ctx.node().output_type(0), 0, shape));
  return OkStatus();
}

}  // namespace

void RegisterArrayPassEmitters(EmitterRegistry& r) {
  r.Add("Snapshot", {{"T", kTensors}}, EmitValue);
  r.Add("GuaranteeConst", {{"T", kTensors}}, EmitValue);
  r.Add("Bitcast", {{"T", kReals}, {"type", kReals}}, EmitBitcast);
  r.Add("Empty", {{"dtype", kTensors}}, EmitEmpty).static_inputs = {"shape"};
  r.Add("DataFormatDimMap", {}, nullptr).static_inputs = {"x"};
  r.Add("DataFormatVecPermute", {}, nullptr).static_inputs = {"x"};
  r.Add("EnsureShape", {{"T", kTensors}}, EmitEnsureShape);
}

}  // namespace tensorbraid::pjrt
