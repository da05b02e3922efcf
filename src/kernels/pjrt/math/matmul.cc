// Matrix products.
#include "core/text/strings.h"
#include "graph/model/op_registry.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"
#include "kernels/pjrt/nn/bias_relu.h"

namespace tensorbraid::pjrt {
namespace {

// Whether the matrices in the last two dimensions can be multiplied.
Status CheckInnerSizes(const Shape& a, const Shape& b, bool transpose_a, bool transpose_b) {
  const int64_t columns = a.dim(a.rank() - (transpose_a ? 2 : 1)), rows = b.dim(b.rank() - (transpose_b ? 1 : 2));
  if (columns == rows) return OkStatus();
  return InvalidArgument("Matrix size-incompatible: ", a, transpose_a ? " transposed" : "", " times ", b,
                         transpose_b ? " transposed" : "");
}

// The product of inputs `left` and `right`, matrices that attributes may transpose. They are converted to `dtype`,
// unless it is invalid.
StatusOr<stablehlo::Value> ProductOf(EmitContext& ctx, int left, int right, DType dtype = DType::kInvalid) {
  TF_ASSIGN_OR_RETURN(stablehlo::Value a, ctx.input(left));
  TF_ASSIGN_OR_RETURN(stablehlo::Value b, ctx.input(right));
  if (dtype != DType::kInvalid) {
    a = ctx.builder().Convert(a, dtype);
    b = ctx.builder().Convert(b, dtype);
  }
  if (a.rank() != 2 || b.rank() != 2) {
    return InvalidArgument("inputs must be matrices, got ", a.shape, " and ", b.shape);
  }
  const bool transpose_a = ctx.attr<bool>("transpose_a"), transpose_b = ctx.attr<bool>("transpose_b");
  TF_RETURN_IF_ERROR(CheckInnerSizes(a.shape, b.shape, transpose_a, transpose_b));
  return ctx.builder().Dot(a, b, {.x_contracting = {transpose_a ? 0 : 1}, .y_contracting = {transpose_b ? 1 : 0}});
}

// Also for _FusedMatMul.
Status EmitMatMul(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(stablehlo::Value product, ProductOf(ctx, 0, 1));
  if (ctx.node().type() == "_FusedMatMul") {
    TF_ASSIGN_OR_RETURN(product, BiasReluOf(ctx, product, 1));
  }
  ctx.set_output(0, product);
  return OkStatus();
}

// The hint that an operand has many zeros is ignored.
Status EmitSparseMatMul(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value product, ProductOf(ctx, 0, 1, kFloat32));
  ctx.set_output(0, product);
  return OkStatus();
}

Status EmitSumOfMatMuls(EmitContext& ctx) {
  const int terms = ctx.num_inputs() / 2;
  TF_ASSIGN_OR_RETURN(stablehlo::Value sum, ProductOf(ctx, 0, terms));
  for (int i = 1; i < terms; ++i) {
    TF_ASSIGN_OR_RETURN(const stablehlo::Value product, ProductOf(ctx, i, terms + i));
    if (product.shape != sum.shape) {
      return InvalidArgument("product ", i, " has shape ", product.shape, ", but product 0 has ", sum.shape);
    }
    sum = ctx.builder().Binary("add", sum, product);
  }
  ctx.set_output(0, sum);
  return OkStatus();
}

// Products of batches of matrices. `broadcast`: whether the batch dimensions broadcast, or must be equal.
Status EmitBatchMatMul(EmitContext& ctx, bool broadcast) {
  TF_ASSIGN_OR_RETURN(stablehlo::Value x, ctx.input(0));
  TF_ASSIGN_OR_RETURN(stablehlo::Value y, ctx.input(1));
  const int rx = x.rank(), ry = y.rank();
  if (rx < 2 || ry < 2) return InvalidArgument("inputs must be matrices, got ", x.shape, " and ", y.shape);
  const bool adj_x = ctx.attr<bool>("adj_x"), adj_y = ctx.attr<bool>("adj_y");
  TF_RETURN_IF_ERROR(CheckInnerSizes(x.shape, y.shape, adj_x, adj_y));
  Shape batch_x(x.shape.dims().first(rx - 2)), batch_y(y.shape.dims().first(ry - 2));
  if (!broadcast && batch_x != batch_y) {
    return InvalidArgument("the batch dimensions of the inputs differ: ", x.shape, " and ", y.shape);
  }
  TF_ASSIGN_OR_RETURN(const Shape batch, BroadcastShapes(batch_x, batch_y));
  stablehlo::Builder& b = ctx.builder();
  const auto prepare = [&](const stablehlo::Value& v, bool adjoint) {
    Shape shape = batch;
    shape.AddDim(v.shape.dim(v.rank() - 2));
    shape.AddDim(v.shape.dim(v.rank() - 1));
    return b.BroadcastTo(adjoint ? Conjugate(Expr(b, v)).value() : v, shape);
  };
  x = prepare(x, adj_x);
  y = prepare(y, adj_y);
  stablehlo::Builder::DotDimensions dims;
  const int n = batch.rank();
  for (int i = 0; i < n; ++i) {
    dims.x_batch.push_back(i);
    dims.y_batch.push_back(i);
  }
  dims.x_contracting = {adj_x ? n : n + 1};
  dims.y_contracting = {adj_y ? n + 1 : n};
  ctx.set_output(0, b.Dot(x, y, dims));
  return OkStatus();
}

}  // namespace

void RegisterMathMatmulEmitters(EmitterRegistry& r) {
  r.Add("MatMul", {{"T", kNumbers}}, EmitMatMul);
  r.Add("_FusedMatMul", {{"T", {kFloat32}}}, EmitMatMul).refuse = RefuseFusedOps;
  r.Add("_SumOfMatMuls", {{"T", {kFloat32}}}, EmitSumOfMatMuls);
  const DTypeSet sparse = {kFloat32, kBfloat16};
  r.Add("SparseMatMul", {{"Ta", sparse}, {"Tb", sparse}}, EmitSparseMatMul);
  r.Add("BatchMatMul", {{"T", kNumbers}}, [](EmitContext& ctx) { return EmitBatchMatMul(ctx, false); });
  // Operands of one dtype; the others have no order of rounding that all plugins share.
  for (const DType dtype :
       {kFloat16, kBfloat16, kFloat32, kFloat64, kInt16, kInt32, kInt64, DType::kComplex64, DType::kComplex128}) {
    r.Add("BatchMatMulV3", {{"Ta", {dtype}}, {"Tb", {dtype}}, {"Tout", {dtype}}},
          [](EmitContext& ctx) { return EmitBatchMatMul(ctx, true); });
  }
  r.Add("BatchMatMulV2", {{"T", kNumbers}}, [](EmitContext& ctx) { return EmitBatchMatMul(ctx, true); });
}

}  // namespace tensorbraid::pjrt
