// Eigenvalues and eigenvectors: schemas and shape rules.
#include "graph/node.h"
#include "ops/builder.h"
#include "ops/linalg/matrices.h"
#include "ops/linalg/registration.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status EigShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(c, 0));
  c.set_output(0, m.With({m.rows}));
  c.set_output(1, c.attr<bool>("compute_v") ? m.With({m.rows, m.rows}) : Shape({0}));
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
            .Shape(EigShape));
  r.Add(Op("Eig")
            .Input("input: T")
            .Output("e: Tout")
            .Output("v: Tout")
            .Attr("compute_v: bool = true")
            .Attr("T: {float, double, complex64, complex128}")
            .Attr("Tout: {complex64, complex128}")
            .Shape(EigShape));
}

}  // namespace tensorbraid
