// Eigenvalues and eigenvectors: schemas, shape rules, gradients.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/linalg/matrices.h"
#include "ops/linalg/products.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status EigShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(c, 0));
  c.set_output(0, m.With({m.rows}));
  c.set_output(1, c.attr<bool>("compute_v") ? m.With({m.rows, m.rows}) : Shape({0}));
  return OkStatus();
}

// The eigenvectors. They are the second output of the op, or, if the op does not compute them, of a copy that does.
Output EigenvectorsOf(const Operation& op) {
  if (NodeOf(op)->attr<bool>("compute_v")) return op.output(1);
  NodeBuilder builder(*op.graph(), op.type());
  builder.Input(NodeOf(op)->inputs()[0]).Attr("compute_v", true);
  if (op.type() == "Eig") builder.Attr("Tout", op.output(0).dtype());
  return builder.Finish().output(1);
}

// The op reads only the lower triangle of its input, so the gradient is 0 above the main diagonal.
Status SelfAdjointEigGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output e = op.output(0);
  const Output v = EigenvectorsOf(op);
  Output middle = grads[0].valid() ? DiagonalMatrix(grads[0]) : Output();
  if (grads[1].valid() && NodeOf(op)->attr<bool>("compute_v")) {
    const Output of_vectors = ReciprocalDifferences(e) * AdjointProduct(v, grads[1]);
    middle = middle.valid() ? middle + of_vectors : of_vectors;
  }
  if (!middle.valid()) return OkStatus();
  const Output grad = Product(v, ProductAdjoint(middle, v));
  const Output lower = Triangle(grad + Adjoint(grad), /*lower=*/true);
  (*input_grads)[0] = WithDiagonal(lower, 0.5 * DiagonalOf(lower));
  return OkStatus();
}

// The gradient is defined for distinct eigenvalues only.
Status EigGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output v = EigenvectorsOf(op);
  const Output vt = Adjoint(v);
  Output middle = grads[0].valid() ? DiagonalMatrix(grads[0]) : Output();
  if (grads[1].valid() && NodeOf(op)->attr<bool>("compute_v")) {
    const Output product = Product(vt, grads[1]);
    const Output diagonal = DiagonalOf(product);
    const Output real = DiagonalMatrix(0.5 * (diagonal + Conjugated(diagonal)));
    const Output of_vectors =
        Conjugated(ReciprocalDifferences(op.output(0))) * (product - Product(Product(vt, v), real));
    middle = middle.valid() ? middle + of_vectors : of_vectors;
  }
  if (!middle.valid()) return OkStatus();
  (*input_grads)[0] = Cast(Node2("MatrixSolve", vt, Product(middle, vt)), NodeOf(op)->inputs()[0].dtype());
  return OkStatus();
}

}  // namespace

void RegisterLinalgEigenOps(OpRegistry& r) {
  r.Add(Op("SelfAdjointEigV2")
            .Input("input: T")
            .Output("e: T")
            .Output("v: T")
            .Attr("compute_v: bool = true")
            .Attr(kLinalgTypes)
            .Shape(EigShape)
            .Gradient(SelfAdjointEigGradient));
  r.Add(Op("Eig")
            .Input("input: T")
            .Output("e: Tout")
            .Output("v: Tout")
            .Attr("compute_v: bool = true")
            .Attr("T: {float, double, complex64, complex128}")
            .Attr("Tout: {complex64, complex128}")
            .Shape(EigShape)
            .Gradient(EigGradient));
}

}  // namespace tensorbraid
