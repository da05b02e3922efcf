// Systems of equations with triangular matrices. StableHLO solves no others.
#include "core/text/strings.h"
#include "graph/model/op_registry.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// Solves A X = B, or A^H X = B if `adjoint`. Batch dimensions are broadcast.
Status EmitTriangularSolve(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(stablehlo::Value a, ctx.input(0));
  TF_ASSIGN_OR_RETURN(stablehlo::Value rhs, ctx.input(1));
  const int ra = a.rank(), rb = rhs.rank();
  if (ra < 2) return InvalidArgument("matrix must have rank 2 or more, got shape ", a.shape);
  const int64_t n = a.shape.dim(ra - 1);
  if (a.shape.dim(ra - 2) != n) return InvalidArgument("matrix must be square, got shape ", a.shape);
  if (rb < 2) return InvalidArgument("rhs must have rank 2 or more, got shape ", rhs.shape);
  if (rhs.shape.dim(rb - 2) != n) {
    return InvalidArgument("matrix and rhs have incompatible shapes: ", a.shape, " and ", rhs.shape);
  }
  TF_ASSIGN_OR_RETURN(const Shape batch,
                      BroadcastShapes(Shape(a.shape.dims().first(ra - 2)), Shape(rhs.shape.dims().first(rb - 2))));
  const auto with_batch = [&](int64_t rows, int64_t columns) {
    Shape shape = batch;
    shape.AddDim(rows);
    shape.AddDim(columns);
    return shape;
  };
  const Shape shape = with_batch(n, rhs.shape.dim(rb - 1));
  stablehlo::Builder& b = ctx.builder();
  if (shape.num_elements() == 0) {
    ctx.set_output(0, b.Splat(rhs.dtype, 0, shape));
    return OkStatus();
  }
  const bool adjoint = ctx.attr<bool>("adjoint"), lower = ctx.attr<bool>("lower");
  ctx.set_output(
      0, b.Op("triangular_solve", {b.BroadcastTo(a, with_batch(n, n)), b.BroadcastTo(rhs, shape)}, rhs.dtype, shape,
              StrCat("left_side = true, lower = ", lower ? "true" : "false", ", transpose_a = #stablehlo<transpose ",
                     adjoint ? "ADJOINT" : "NO_TRANSPOSE", ">, unit_diagonal = false")));
  return OkStatus();
}

}  // namespace

void RegisterLinalgSolveEmitters(EmitterRegistry& r) {
  r.Add("MatrixTriangularSolve", {{"T", {kFloat32, kFloat64, DType::kComplex64, DType::kComplex128}}},
        EmitTriangularSolve);
}

}  // namespace tensorbraid::pjrt
