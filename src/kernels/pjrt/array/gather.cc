// Gathers from tensors and variables.
#include "ops/array/gather.h"

#include "core/text/strings.h"
#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/rows.h"
#include "runtime/variables/slice_indices.h"

namespace tensorbraid::pjrt {
namespace {

// The params of input 0, a tensor or a variable by handle.
StatusOr<Expr> ParamsOf(const EmitContext& ctx) {
  const bool is_handle = BaseType(ctx.node().declared_input_type(0)) == DType::kResource;
  TF_ASSIGN_OR_RETURN(const stablehlo::Value params, is_handle ? ctx.variable(0) : ctx.input(0));
  if (params.dtype != BaseType(ctx.node().output_type(0))) {
    return InvalidArgument("the variable holds ", params.dtype, ", not ", ctx.node().output_type(0));
  }
  return Expr(ctx.builder(), params);
}

// Slices along an axis. Input 2 names the axis; without input 2, it is the first one after the batch dimensions.
Status EmitGather(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr params, ParamsOf(ctx));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value indices, ctx.input(1));
  const Shape& ps = params.shape();
  const Shape& is = indices.shape;
  const AttrValue* const batch_dims = ctx.node().FindAttr("batch_dims");
  TF_ASSIGN_OR_RETURN(const int batch, NumBatchDims(batch_dims == nullptr ? 0 : *batch_dims->get<int64_t>(), ps, is));
  int64_t wanted_axis = batch;
  if (ctx.num_inputs() > 2) {
    TF_ASSIGN_OR_RETURN(const Tensor axis_tensor, ctx.static_input(2));
    TF_ASSIGN_OR_RETURN(wanted_axis, IntegerOf(axis_tensor, "the axis"));
  }
  TF_ASSIGN_OR_RETURN(const int axis, AxisOf(wanted_axis, ps.rank()));
  TF_ASSIGN_OR_RETURN(const Shape shape, GatheredShape(ps, is, axis, batch));
  const int64_t limit = ps.dim(axis);
  const int64_t batches = SizeOf(is, 0, batch), outer = SizeOf(ps, batch, axis), num = SizeOf(is, batch, is.rank()),
                inner = SizeOf(ps, axis + 1, ps.rank());

  stablehlo::Builder& b = ctx.builder();
  const Expr index = Expr(b, indices).Convert(kInt64);
  ctx.fail_where((index < 0 || index >= static_cast<double>(limit)).value(), {index.value()},
                 [is, ps, axis](std::span<const int64_t> numbers) {
                   return cpu::IndexOutOfRange(is, numbers[0], numbers[1], ps, axis);
                 });
  // The rows of [batches, outer, limit, inner] in the order of the result.
  Expr rows = index.Reshape({batches, 1, num}).BroadcastTo({batches, outer, num});
  if (batches * outer > 1) {
    const Shape blocks({batches, outer, 1});
    const Expr block =
        Expr(b, b.Iota(kInt64, blocks, 0)) * static_cast<double>(outer) + Expr(b, b.Iota(kInt64, blocks, 1));
    rows = rows + block * static_cast<double>(limit);
  }
  const Expr slices =
      GatherRows(params.Reshape({batches * outer * limit, inner}), rows.Reshape({batches * outer * num}));
  ctx.set_output(0, slices.Reshape(shape).value());
  return OkStatus();
}

// Slices whose leading coordinates are the rows of the indices.
Status EmitGatherNd(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr params, ParamsOf(ctx));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value indices, ctx.input(1));
  const Shape& ps = params.shape();
  const Shape& is = indices.shape;
  TF_ASSIGN_OR_RETURN(const Shape shape, SlicesShape(is, ps, "params of shape"));
  TF_ASSIGN_OR_RETURN(const bool ignore, IgnoresBadIndices(ctx.node()));
  if (SizeOf(is, 0, is.rank() - 1) > 0 && ps.num_elements() == 0) {
    return InvalidArgument("Requested more than 0 entries, but params is empty: it has shape ", ps);
  }
  const SelectedSlices slices = SelectSlices(ctx, indices, ps, ignore, "param shape");
  Expr out = GatherRows(params.Reshape({slices.num_slices, slices.size}), slices.numbers);
  if (ignore) out = Select(slices.exists.Reshape({slices.count, 1}), out, 0);
  ctx.set_output(0, out.Reshape(shape).value());
  return OkStatus();
}

}  // namespace

void RegisterArrayGatherEmitters(EmitterRegistry& r) {
  r.Add("Gather", {{"Tparams", kTensors}}, EmitGather);
  r.Add("GatherV2", {{"Tparams", kTensors}}, EmitGather).static_inputs = {"axis"};
  r.Add("GatherNd", {{"Tparams", kTensors}}, EmitGatherNd);
  r.Add("ResourceGather", {{"dtype", kTensors}}, EmitGather);
  r.Add("ResourceGatherNd", {{"dtype", kTensors}}, EmitGatherNd);
}

}  // namespace tensorbraid::pjrt
