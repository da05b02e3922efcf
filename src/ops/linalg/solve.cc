// Linear systems and least squares: schemas, shape rules, gradients.
#include <algorithm>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/linalg/matrices.h"
#include "ops/linalg/products.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// Shape rule for solving A X = B. `square`: A must be square. `broadcast`: the batch dimensions of A and B are
// broadcast.
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

Status SolveShape(ShapeContext& c) { return SolveShapeOf(c, /*square=*/true, /*broadcast=*/false); }
Status TriangularSolveShape(ShapeContext& c) { return SolveShapeOf(c, /*square=*/true, /*broadcast=*/true); }

Status SolveLsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  return SolveShapeOf(c, /*square=*/false, /*broadcast=*/false);
}

// The gradient for A, where `solution` is the solution X of A X = B, or of A^H X = B if `adjoint`. `grad_rhs` is the
// gradient for B.
Output MatrixGradient(Output solution, Output grad_rhs, bool adjoint) {
  return Neg(adjoint ? ProductAdjoint(solution, grad_rhs) : ProductAdjoint(grad_rhs, solution));
}

Status SolveGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const bool adjoint = NodeOf(op)->attr<bool>("adjoint");
  const Output grad_rhs = NodeBuilder(*op.graph(), "MatrixSolve")
                              .Input(NodeOf(op)->inputs()[0])
                              .Input(grads[0])
                              .Attr("adjoint", !adjoint)
                              .Output();
  *input_grads = {MatrixGradient(op.output(0), grad_rhs, adjoint), grad_rhs};
  return OkStatus();
}

Status TriangularSolveGradient(const Operation& op, const std::vector<Output>& grads,
                               std::vector<Output>* input_grads) {
  const Output a = NodeOf(op)->inputs()[0], b = NodeOf(op)->inputs()[1];
  const bool adjoint = NodeOf(op)->attr<bool>("adjoint");
  const bool lower = NodeOf(op)->attr<bool>("lower");
  const Output grad_rhs = TriangularSolution(a, grads[0], lower, !adjoint);
  const Output grad_a = Triangle(MatrixGradient(op.output(0), grad_rhs, adjoint), lower);
  *input_grads = {SumToBatch(grad_a, a, b), SumToBatch(grad_rhs, b, a)};
  return OkStatus();
}

// Least squares, where l is the regularizer. With at least as many rows as columns, the op computes
// X = (A^H A + l I)^-1 A^H B. Otherwise it computes X = A^H (A A^H + l I)^-1 B.
Status SolveLsGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output a = NodeOf(op)->inputs()[0], b = NodeOf(op)->inputs()[1];
  const Shape& shape = a.shape();
  if (!NodeOf(op)->attr<bool>("fast")) {
    return Unimplemented("the gradient of ", NodeOf(op)->Describe(), " requires fast = true");
  }
  const int64_t rows = shape.has_rank() ? shape.dim(shape.rank() - 2) : Shape::kUnknownDim;
  const int64_t columns = shape.has_rank() ? shape.dim(shape.rank() - 1) : Shape::kUnknownDim;
  if (rows < 0 || columns < 0) {
    return Unimplemented("the gradient of ", NodeOf(op)->Describe(), " requires matrices of known size, got ", shape);
  }
  const bool tall = rows >= columns;
  const Output gramian = tall ? AdjointProduct(a, a) : ProductAdjoint(a, a);
  const Output regularizer = Cast(NodeOf(op)->inputs()[2], a.dtype());
  const Output root = Node1("Cholesky", WithDiagonal(gramian, DiagonalOf(gramian) + regularizer));
  const auto solve = [&](Output rhs) {
    return TriangularSolution(root, TriangularSolution(root, rhs, /*lower=*/true, /*adjoint=*/false), /*lower=*/true,
                              /*adjoint=*/true);
  };
  if (tall) {
    const Output z = solve(grads[0]);
    const Output xz = ProductAdjoint(op.output(0), z);
    *input_grads = {ProductAdjoint(b, z) - Product(a, xz + MatrixTranspose(xz)), Product(a, z), Output()};
    return OkStatus();
  }
  const Output grad_b = solve(Product(a, grads[0]));
  const Output z = solve(b);
  const Output grad_a = ProductAdjoint(z, grads[0] - AdjointProduct(a, grad_b)) - Product(grad_b, AdjointProduct(z, a));
  *input_grads = {grad_a, grad_b, Output()};
  return OkStatus();
}

}  // namespace

void RegisterLinalgSolveOps(OpRegistry& r) {
  r.Add(Op("MatrixSolve")
            .Input("matrix: T")
            .Input("rhs: T")
            .Output("output: T")
            .Attr("adjoint: bool = false")
            .Attr(kLinalgTypes)
            .Shape(SolveShape)
            .Gradient(SolveGradient));
  r.Add(Op("MatrixTriangularSolve")
            .Input("matrix: T")
            .Input("rhs: T")
            .Output("output: T")
            .Attr("lower: bool = true")
            .Attr("adjoint: bool = false")
            .Attr("T: {bfloat16, double, float, half, complex64, complex128}")
            .Shape(TriangularSolveShape)
            .Gradient(TriangularSolveGradient));
  r.Add(Op("MatrixSolveLs")
            .Input("matrix: T")
            .Input("rhs: T")
            .Input("l2_regularizer: double")
            .Output("output: T")
            .Attr(kLinalgTypes)
            .Attr("fast: bool = true")
            .Shape(SolveLsShape)
            .Gradient(SolveLsGradient));
}

}  // namespace tensorbraid
