// Linear systems and products of banded matrices: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/node.h"
#include "ops/builder.h"
#include "ops/linalg/matrices.h"
#include "ops/linalg/registration.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status TridiagonalMatMulShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRankAtLeast(3, 2).status());
  c.set_output(0, c.input(3));
  return OkStatus();
}

Status TridiagonalSolveShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Matrices d, MatricesOf(c, 0));
  TF_ASSIGN_OR_RETURN(const Matrices b, MatricesOf(c, 1));
  if ((d.rows >= 0 && d.rows != 3) || (d.columns >= 0 && b.rows >= 0 && d.columns != b.rows)) {
    return InvalidArgument("diagonals must have shape [...,3,n] and rhs [...,n,k], got ", c.input(0), " and ",
                           c.input(1));
  }
  c.set_output(0, c.input(1));
  return OkStatus();
}

}  // namespace

void RegisterLinalgBandedOps(OpRegistry& r) {
  r.Add(Op("BandedTriangularSolve")
            .Input("matrix: T")
            .Input("rhs: T")
            .Output("output: T")
            .Attr("lower: bool = true")
            .Attr("adjoint: bool = false")
            .Attr(kLinalgTypes)
            .Shape(UnknownShape));
  r.Add(Op("TridiagonalSolve")
            .Input("diagonals: T")
            .Input("rhs: T")
            .Output("output: T")
            .Attr("partial_pivoting: bool = true")
            .Attr("perturb_singular: bool = false")
            .Attr("T: {double, float, complex64, complex128}")
            .Shape(TridiagonalSolveShape));
  r.Add(Op("TridiagonalMatMul")
            .Input("superdiag: T")
            .Input("maindiag: T")
            .Input("subdiag: T")
            .Input("rhs: T")
            .Output("output: T")
            .Attr("T: {double, float, complex64, complex128}")
            .Shape(TridiagonalMatMulShape));
}

}  // namespace tensorbraid
