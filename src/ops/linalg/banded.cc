// Linear systems and products of banded matrices: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/linalg/matrices.h"
#include "ops/linalg/products.h"
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

// Moves the rows of matrices up or down by one; the last or first row becomes 0. In the slices of this file, entry 0 is
// an ellipsis, entry 1 is for the rows and entry 2 is for the columns. In end_mask, 2 means up to the last row and 4 up
// to the last column.
Output ShiftedUp(Output m) {
  const Output zero =
      Node1("ZerosLike", StridedSlice(m, {0, 0, 0}, {0, 1, 0}, {1, 1, 1}, {.end_mask = 4, .ellipsis_mask = 1}));
  return Concat({StridedSlice(m, {0, 1, 0}, {0, 0, 0}, {1, 1, 1}, {.end_mask = 6, .ellipsis_mask = 1}), zero}, -2);
}
Output ShiftedDown(Output m) {
  const Output zero =
      Node1("ZerosLike", StridedSlice(m, {0, 0, 0}, {0, 1, 0}, {1, 1, 1}, {.end_mask = 4, .ellipsis_mask = 1}));
  return Concat({zero, StridedSlice(m, {0, 0, 0}, {0, -1, 0}, {1, 1, 1}, {.end_mask = 4, .ellipsis_mask = 1})}, -2);
}

// The three diagonals have shape [..., 1, n]. The last element of the superdiagonal and the first element of the
// subdiagonal are not used.
Status TridiagonalMatMulGradient(const Operation& op, const std::vector<Output>& grads,
                                 std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  const Output g = grads[0];
  const Output rhs = Conjugated(in[3]);
  const auto of_diagonal = [&](Output factor) { return ExpandDims(ReduceSum(factor * g, -1), -2); };
  *input_grads = {of_diagonal(ShiftedUp(rhs)), of_diagonal(rhs), of_diagonal(ShiftedDown(rhs)),
                  ShiftedDown(Adjoint(in[0]) * g) + Adjoint(in[1]) * g + ShiftedUp(Adjoint(in[2]) * g)};
  return OkStatus();
}

// Row `i` of the diagonals [..., 3, n], in the shape [..., n, 1].
Output DiagonalColumn(Output diagonals, int64_t i) {
  const Output row = StridedSlice(diagonals, {0, i, 0}, {0, i + 1, 0}, {1, 1, 1}, {.end_mask = 4, .ellipsis_mask = 1});
  return MatrixTranspose(row);
}

// Solves with the transposed matrix. As in TensorFlow, no gradient is conjugated.
Status TridiagonalSolveGradient(const Operation& op, const std::vector<Output>& grads,
                                std::vector<Output>* input_grads) {
  const Output diagonals = NodeOf(op)->inputs()[0];
  const Output x = op.output(0);
  const Output transposed =
      MatrixTranspose(Concat({ShiftedUp(DiagonalColumn(diagonals, 2)), DiagonalColumn(diagonals, 1),
                              ShiftedDown(DiagonalColumn(diagonals, 0))},
                             -1));
  const Output grad_rhs = NodeBuilder(*op.graph(), "TridiagonalSolve")
                              .Input(transposed)
                              .Input(grads[0])
                              .Attr("partial_pivoting", NodeOf(op)->attr<bool>("partial_pivoting"))
                              .Attr("perturb_singular", NodeOf(op)->attr<bool>("perturb_singular"))
                              .Output();
  const auto of_diagonal = [&](Output factor) { return Neg(ReduceSum(grad_rhs * factor, -1)); };
  *input_grads = {Stack({of_diagonal(ShiftedUp(x)), of_diagonal(x), of_diagonal(ShiftedDown(x))}, -2), grad_rhs};
  return OkStatus();
}

// Computes the gradient of the full triangular matrix, as for MatrixTriangularSolve, and takes the bands from it. The
// rows of the input `a` are the bands.
Status BandedSolveGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const Output a = NodeOf(op)->inputs()[0], b = NodeOf(op)->inputs()[1];
  const bool adjoint = NodeOf(op)->attr<bool>("adjoint");
  const bool lower = NodeOf(op)->attr<bool>("lower");
  const Output grad_rhs = NodeBuilder(g, "BandedTriangularSolve")
                              .Input(a)
                              .Input(grads[0])
                              .Attr("lower", lower)
                              .Attr("adjoint", !adjoint)
                              .Output();
  const Output x = op.output(0);
  const Output full = Neg(adjoint ? ProductAdjoint(x, grad_rhs) : ProductAdjoint(grad_rhs, x));
  const Output bands = StridedSlice(ShapeOf(a), {-2}, {-1}, {1}, {.shrink_axis_mask = 1});
  const Output k = lower ? Stack({1 - bands, 0}) : Stack({0, bands - 1});
  const Output grad_a = NodeBuilder(g, "MatrixDiagPartV3")
                            .Input(full)
                            .Input(k)
                            .Input(Operand(0.0).ToOutput(g, a.dtype()))
                            .Attr("align", "LEFT_RIGHT")
                            .Output();
  *input_grads = {SumToBatch(grad_a, a, b), SumToBatch(grad_rhs, b, a)};
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
            .Shape(UnknownShape)
            .Gradient(BandedSolveGradient));
  r.Add(Op("TridiagonalSolve")
            .Input("diagonals: T")
            .Input("rhs: T")
            .Output("output: T")
            .Attr("partial_pivoting: bool = true")
            .Attr("perturb_singular: bool = false")
            .Attr("T: {double, float, complex64, complex128}")
            .Shape(TridiagonalSolveShape)
            .Gradient(TridiagonalSolveGradient));
  r.Add(Op("TridiagonalMatMul")
            .Input("superdiag: T")
            .Input("maindiag: T")
            .Input("subdiag: T")
            .Input("rhs: T")
            .Output("output: T")
            .Attr("T: {double, float, complex64, complex128}")
            .Shape(TridiagonalMatMulShape)
            .Gradient(TridiagonalMatMulGradient));
}

}  // namespace tensorbraid
