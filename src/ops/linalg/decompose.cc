// Cholesky, LU and QR decompositions, determinants and inverses: schemas and shape rules.
#include "graph/node.h"
#include "ops/builder.h"
#include "ops/linalg/matrices.h"
#include "ops/linalg/registration.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status CholeskyGradShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(SquareMatricesShape(c));
  TF_ASSIGN_OR_RETURN(Shape merged, c.input(0).MergeWith(c.input(1)));
  c.set_output(0, std::move(merged));
  return OkStatus();
}

Status DeterminantShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(c, 0));
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, m.With({}));
  return OkStatus();
}

Status LuShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(c, 0));
  c.set_output(0, m.With({m.rows, m.rows}));
  c.set_output(1, m.With({m.rows}));
  return OkStatus();
}

Status QrShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Matrices m, MatricesOf(c, 0));
  const int64_t inner = c.attr<bool>("full_matrices") ? m.rows : LeastSize(m.rows, m.columns);
  c.set_output(0, m.With({m.rows, inner}));
  c.set_output(1, m.With({inner, m.columns}));
  return OkStatus();
}

}  // namespace

void RegisterLinalgDecomposeOps(OpRegistry& r) {
  for (const char* name : {"Cholesky"}) {
    r.Add(Op(name).Input("input: T").Output("output: T").Attr(kLinalgTypes).Shape(SquareMatricesShape));
  }
  r.Add(Op("CholeskyGrad")
            .Input("l: T")
            .Input("grad: T")
            .Output("output: T")
            .Attr("T: {half, float, double}")
            .Shape(CholeskyGradShape));
  r.Add(Op("MatrixInverse")
            .Input("input: T")
            .Output("output: T")
            .Attr("adjoint: bool = false")
            .Attr(kLinalgTypes)
            .Shape(SquareMatricesShape));
  r.Add(Op("MatrixDeterminant").Input("input: T").Output("output: T").Attr(kLinalgTypes).Shape(DeterminantShape));
  r.Add(Op("LogMatrixDeterminant")
            .Input("input: T")
            .Output("sign: T")
            .Output("log_abs_determinant: T")
            .Attr(kLinalgTypes)
            .Shape(DeterminantShape));
  r.Add(Op("Lu")
            .Input("input: T")
            .Output("lu: T")
            .Output("p: output_idx_type")
            .Attr(kLinalgTypes)
            .Attr("output_idx_type: {int32, int64} = DT_INT32")
            .Shape(LuShape));
  r.Add(Op("Qr")
            .Input("input: T")
            .Output("q: T")
            .Output("r: T")
            .Attr("full_matrices: bool = false")
            .Attr(kLinalgTypes)
            .Shape(QrShape));
}

}  // namespace tensorbraid
