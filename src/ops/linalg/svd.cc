// Singular value decompositions: schemas, shape rules, gradients.
#include <cstdlib>

#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/linalg/matrices.h"
#include "ops/linalg/products.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status SvdShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Matrices m, MatricesOf(c, 0));
  const int64_t least = LeastSize(m.rows, m.columns);
  const bool full = c.attr<bool>("full_matrices");
  c.set_output(0, m.With({least}));
  c.set_output(1, {0});
  c.set_output(2, {0});
  if (!c.attr<bool>("compute_uv")) return OkStatus();
  c.set_output(1, m.With({m.rows, full ? m.rows : least}));
  c.set_output(2, m.With({m.columns, full ? m.columns : least}));
  return OkStatus();
}

// The gradient of matrices u s v^H with m rows and n columns, where n >= m. v has n columns if `full`, else m.
Output WideSvdGradient(Output s, Output u, Output v, Output ds, Output du, Output dv, int64_t m, int64_t n, bool full) {
  const Output f = ReciprocalDifferences(Square(s));
  const Output s_matrix = DiagonalMatrix(s);
  const Output v1 = ColumnsOf(v, 0, m), dv1 = ColumnsOf(dv, 0, m);
  const Output v_dv = AdjointProduct(v1, dv1);
  const Output f_u = f * AdjointProduct(u, du);
  const Output f_v = f * v_dv;
  const Output middle =
      DiagonalMatrix(ds) + Product(f_u + Adjoint(f_u), s_matrix) + Product(s_matrix, f_v + Adjoint(f_v));
  Output grad = Product(u, ProductAdjoint(middle, v1));
  const Output inverse = DiagonalMatrix(SafeReciprocal(s));
  if (m != n) {
    const Output dv1t = Adjoint(dv1);
    Output rest = dv1t - ProductAdjoint(Product(dv1t, v1), v1);
    if (full) rest = rest - ProductAdjoint(AdjointProduct(v1, ColumnsOf(dv, m, n)), ColumnsOf(v, m, n));
    grad = grad + Product(Product(u, inverse), rest);
  }
  if (!IsComplex(s.dtype())) return grad;
  // Complex matrices have one more term, because the phases of the singular vectors can change.
  const Output diagonal = DiagonalOf(v_dv);
  const Output phases = Product(inverse, DiagonalMatrix(Conjugated(diagonal) - diagonal));
  return grad + 0.5 * Product(u, ProductAdjoint(phases, v1));
}

Status SvdGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output a = NodeOf(op)->inputs()[0];
  if (!NodeOf(op)->attr<bool>("compute_uv") || (!grads[1].valid() && !grads[2].valid())) {
    if (!grads[0].valid()) return OkStatus();
    // Only the singular values have a gradient. It needs u and v without full_matrices.
    const Operation vectors =
        NodeBuilder(*op.graph(), "Svd").Input(a).Attr("compute_uv", true).Attr("full_matrices", false).Finish();
    (*input_grads)[0] = Product(vectors.output(1), ProductAdjoint(DiagonalMatrix(grads[0]), vectors.output(2)));
    return OkStatus();
  }
  const Shape& shape = a.shape();
  int64_t m = shape.has_rank() ? shape.dim(shape.rank() - 2) : Shape::kUnknownDim;
  int64_t n = shape.has_rank() ? shape.dim(shape.rank() - 1) : Shape::kUnknownDim;
  if (m < 0 || n < 0) {
    return Unimplemented("the gradient of ", NodeOf(op)->Describe(), " requires matrices of known size, got ", shape);
  }
  const bool full = NodeOf(op)->attr<bool>("full_matrices");
  if (full && std::abs(m - n) > 1) {
    return Unimplemented("the gradient of ", NodeOf(op)->Describe(), " with full_matrices requires matrices whose ",
                         "numbers of rows and columns differ by at most 1, got ", shape);
  }
  const std::vector<Output> d = FilledGradients(op, grads);
  const Output s = op.output(0), u = op.output(1), v = op.output(2);
  // The adjoint of a matrix with more rows than columns is v s u^H, with more columns than rows.
  (*input_grads)[0] = m <= n ? WideSvdGradient(s, u, v, d[0], d[1], d[2], m, n, full)
                             : Adjoint(WideSvdGradient(s, v, u, d[0], d[2], d[1], n, m, full));
  return OkStatus();
}

}  // namespace

void RegisterLinalgSvdOps(OpRegistry& r) {
  r.Add(Op("Svd")
            .Input("input: T")
            .Output("s: T")
            .Output("u: T")
            .Output("v: T")
            .Attr("compute_uv: bool = true")
            .Attr("full_matrices: bool = false")
            .Attr(kLinalgTypes)
            .Shape(SvdShape)
            .Gradient(SvdGradient));
}

}  // namespace tensorbraid
