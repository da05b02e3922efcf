// Linear systems and least squares: schemas and shape rules.
#include <algorithm>

#include "core/text/strings.h"
#include "graph/node.h"
#include "ops/builder.h"
#include "ops/linalg/matrices.h"
#include "ops/linalg/registration.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// Shape rule for solving A X = B.
Status SolveShapeOf(ShapeContext& c, bool square, bool broadcast) {
  TF_ASSIGN_OR_RETURN(const Matrices a, square ? SquareMatricesOf(c, 0) : MatricesOf(c, 0));
  TF_ASSIGN_OR_RETURN(const Matrices b, MatricesOf(c, 1));
  if (a.rows >= 0 && b.rows >= 0 && a.rows != b.rows) {
    return InvalidArgument("matrix and rhs must have the same number of rows, got ", c.input(0), " and ", c.input(1));
  }
  if (!a.known || !b.known) return OkStatus();
  Shape batch;
  if (broadcast) {
    TF_ASSIGN_OR_RETURN(batch, BroadcastShapes(a.batch, b.batch));
  } else {
    TF_ASSIGN_OR_RETURN(batch, a.batch.MergeWith(b.batch));
  }
  batch.AddDim(square ? std::max(a.columns, b.rows) : a.columns);
  batch.AddDim(b.columns);
  c.set_output(0, std::move(batch));
  return OkStatus();
}

Status SolveShape(ShapeContext& c) { return SolveShapeOf(c, true, false); }
Status TriangularSolveShape(ShapeContext& c) { return SolveShapeOf(c, true, true); }

Status SolveLsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  return SolveShapeOf(c, false, false);
}

}  // namespace

void RegisterLinalgSolveOps(OpRegistry& r) {
  r.Add(Op("MatrixSolve")
            .Input("matrix: T")
            .Input("rhs: T")
            .Output("output: T")
            .Attr("adjoint: bool = false")
            .Attr(kLinalgTypes)
            .Shape(SolveShape));
  r.Add(Op("MatrixTriangularSolve")
            .Input("matrix: T")
            .Input("rhs: T")
            .Output("output: T")
            .Attr("lower: bool = true")
            .Attr("adjoint: bool = false")
            .Attr("T: {bfloat16, double, float, half, complex64, complex128}")
            .Shape(TriangularSolveShape));
  r.Add(Op("MatrixSolveLs")
            .Input("matrix: T")
            .Input("rhs: T")
            .Input("l2_regularizer: double")
            .Output("output: T")
            .Attr(kLinalgTypes)
            .Attr("fast: bool = true")
            .Shape(SolveLsShape));
}

}  // namespace tensorbraid
