// Singular value decompositions: schemas and shape rules.
#include "graph/node.h"
#include "ops/builder.h"
#include "ops/linalg/matrices.h"
#include "ops/linalg/registration.h"
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
            .Shape(SvdShape));
}

}  // namespace tensorbraid
