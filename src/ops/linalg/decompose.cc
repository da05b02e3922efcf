// Cholesky, LU and QR decompositions, determinants and inverses: schemas, shape rules, gradients.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/linalg/matrices.h"
#include "ops/linalg/products.h"
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

// The gradient is symmetric (Hermitian), although the kernel reads only the lower triangle.
Status CholeskyGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output l = op.output(0);
  const Output product = AdjointProduct(l, grads[0]);
  const Output middle = Triangle(WithDiagonal(product, 0.5 * DiagonalOf(product)), /*lower=*/true);
  // l^-H middle l^-1
  const Output left = TriangularSolution(l, middle, /*lower=*/true, /*adjoint=*/true);
  const Output grad = Adjoint(TriangularSolution(l, Adjoint(left), /*lower=*/true, /*adjoint=*/true));
  (*input_grads)[0] = 0.5 * (grad + Adjoint(grad));
  return OkStatus();
}

Status MatrixInverseGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output inverse = op.output(0);
  const bool adjoint = NodeOf(op)->attr<bool>("adjoint");
  const Output right = BatchMatMul(grads[0], inverse, {.adj_x = adjoint, .adj_y = !adjoint});
  (*input_grads)[0] = Neg(BatchMatMul(inverse, right, {.adj_x = !adjoint}));
  return OkStatus();
}

Output InverseAdjoint(Output m) {
  return NodeBuilder(*m.graph(), "MatrixInverse").Input(m).Attr("adjoint", true).Output();
}

Status DeterminantGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = AsMatrices(grads[0] * op.output(0)) * InverseAdjoint(NodeOf(op)->inputs()[0]);
  return OkStatus();
}

// No gradient flows from the sign.
Status LogDeterminantGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  if (grads[1].valid()) (*input_grads)[0] = AsMatrices(grads[1]) * InverseAdjoint(NodeOf(op)->inputs()[0]);
  return OkStatus();
}

// The gradient for matrices with at least as many rows as columns. q has as many columns as the matrix.
Output TallQrGradient(Output q, Output r, Output dq, Output dr) {
  const Output qdq = AdjointProduct(q, dq);
  const Output rdr = ProductAdjoint(r, dr);
  const Output lower = Triangle(qdq - Adjoint(qdq) + (rdr - Adjoint(rdr)), /*lower=*/true);
  Output grad = Product(q, dr + TimesInverseAdjoint(lower, r, /*lower=*/false));
  grad = grad + TimesInverseAdjoint(dq - Product(q, qdq), r, /*lower=*/false);
  if (!IsComplex(q.dtype())) return grad;
  // For complex matrices there is one more term, because the diagonal of r is real.
  const Output diagonal = DiagonalOf(rdr - Adjoint(qdq));
  const Output imaginary = DiagonalMatrix(0.5 * (diagonal - Conjugated(diagonal)));
  return grad + TimesInverseAdjoint(Product(q, Adjoint(imaginary)), r, /*lower=*/false);
}

Status QrGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output a = NodeOf(op)->inputs()[0];
  const Shape& shape = a.shape();
  const int64_t rows = shape.has_rank() ? shape.dim(shape.rank() - 2) : Shape::kUnknownDim;
  const int64_t columns = shape.has_rank() ? shape.dim(shape.rank() - 1) : Shape::kUnknownDim;
  if (rows < 0 || columns < 0) {
    return Unimplemented("the gradient of ", NodeOf(op)->Describe(), " requires matrices of known size, got ", shape);
  }
  if (rows > columns && NodeOf(op)->attr<bool>("full_matrices")) {
    return Unimplemented("the gradient of ", NodeOf(op)->Describe(), " with full_matrices requires matrices with at ",
                         "most as many rows as columns, got ", shape);
  }
  const std::vector<Output> d = FilledGradients(op, grads);
  const Output q = op.output(0), r = op.output(1);
  if (rows >= columns) {
    (*input_grads)[0] = TallQrGradient(q, r, d[0], d[1]);
    return OkStatus();
  }
  // The first `rows` columns of a are a square matrix with the same q. The other columns of r are q^H times the other
  // columns of a.
  const Output rest = ColumnsOf(a, rows, 0), d_rest = ColumnsOf(d[1], rows, 0);
  const Output first =
      TallQrGradient(q, ColumnsOf(r, 0, rows), d[0] + ProductAdjoint(rest, d_rest), ColumnsOf(d[1], 0, rows));
  (*input_grads)[0] = Concat({first, Product(q, d_rest)}, -1);
  return OkStatus();
}

}  // namespace

void RegisterLinalgDecomposeOps(OpRegistry& r) {
  r.Add(Op("Cholesky")
            .Input("input: T")
            .Output("output: T")
            .Attr(kLinalgTypes)
            .Shape(SquareMatricesShape)
            .Gradient(CholeskyGradient));
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
            .Shape(SquareMatricesShape)
            .Gradient(MatrixInverseGradient));
  r.Add(Op("MatrixDeterminant")
            .Input("input: T")
            .Output("output: T")
            .Attr(kLinalgTypes)
            .Shape(DeterminantShape)
            .Gradient(DeterminantGradient));
  r.Add(Op("LogMatrixDeterminant")
            .Input("input: T")
            .Output("sign: T")
            .Output("log_abs_determinant: T")
            .Attr(kLinalgTypes)
            .Shape(DeterminantShape)
            .Gradient(LogDeterminantGradient));
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
            .Shape(QrShape)
            .Gradient(QrGradient));
}

}  // namespace tensorbraid
