// Ops that repeat, transpose or reverse tensors.
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// Each dimension gets a dimension of size `multiple` before it, and is merged with it.
Status EmitTile(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value in, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Tensor multiples_tensor, ctx.static_input(1));
  if (multiples_tensor.shape().rank() != 1) {
    return InvalidArgument("Expected multiples to be 1-D, with one for each dimension, got shape ",
                           multiples_tensor.shape());
  }
  TF_ASSIGN_OR_RETURN(const IntVector multiples, IntegersOf(multiples_tensor, "the multiples"));
  if (static_cast<int>(multiples.size()) != in.rank()) {
    return InvalidArgument("there must be one multiple for each of ", in.rank(), " dimensions, got ", multiples.size());
  }
  Shape wide, out;
  std::vector<int64_t> dims;
  for (int i = 0; i < in.rank(); ++i) {
    int64_t size;
    if (multiples[i] < 0 || __builtin_mul_overflow(in.shape.dim(i), multiples[i], &size)) {
      return InvalidArgument("multiple ", multiples[i], " is out of range for a dimension of size ", in.shape.dim(i));
    }
    wide.AddDim(multiples[i]);
    dims.push_back(wide.rank());
    wide.AddDim(in.shape.dim(i));
    out.AddDim(size);
  }
  ctx.set_output(0, ctx.builder().Reshape(ctx.builder().BroadcastInDim(in, wide, dims), out));
  return OkStatus();
}

Status EmitTranspose(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value in, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Tensor perm, ctx.static_input(1));
  TF_ASSIGN_OR_RETURN(const IntVector named, IntegersOf(perm, "the permutation"));
  const int rank = in.rank();
  std::vector<bool> seen(rank, false);
  std::vector<int64_t> permutation;
  for (const int64_t dim : named) {
    const auto axis = AxisOf(dim, rank);
    if (!axis.ok() || seen[*axis]) break;
    seen[*axis] = true;
    permutation.push_back(*axis);
  }
  if (static_cast<int>(named.size()) != rank || static_cast<int>(permutation.size()) != rank) {
    return InvalidArgument(perm.ToString(), " is not a permutation of the dimensions of ", in.shape);
  }
  stablehlo::Value out = ctx.builder().Transpose(in, permutation);
  if (ctx.node().type() == "ConjugateTranspose") out = Conjugate(Expr(ctx.builder(), out)).value();
  ctx.set_output(0, out);
  return OkStatus();
}

Status EmitReverse(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value in, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Tensor axes, ctx.static_input(1));
  TF_ASSIGN_OR_RETURN(const IntVector named, IntegersOf(axes, "the axes"));
  std::vector<int64_t> dims;
  std::vector<bool> seen(in.rank(), false);
  for (const int64_t a : named) {
    TF_ASSIGN_OR_RETURN(const int axis, AxisOf(a, in.rank()));
    if (seen[axis]) return InvalidArgument("axis ", axis, " is given twice");
    seen[axis] = true;
    dims.push_back(axis);
  }
  ctx.set_output(0, dims.empty() ? in : ctx.builder().Reverse(in, dims));
  return OkStatus();
}

}  // namespace

void RegisterArrayRearrangeEmitters(EmitterRegistry& r) {
  r.Add("Tile", {{"T", kTensors}}, EmitTile).static_inputs = {"multiples"};
  r.Add("Transpose", {{"T", kTensors}}, EmitTranspose).static_inputs = {"perm"};
  r.Add("ConjugateTranspose", {{"T", kTensors}}, EmitTranspose).static_inputs = {"perm"};
  r.Add("InvertPermutation", {}, nullptr).static_inputs = {"x"};
  r.Add("ReverseV2", {{"T", kTensors}}, EmitReverse).static_inputs = {"axis"};
}

}  // namespace tensorbraid::pjrt
