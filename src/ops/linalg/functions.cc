// Functions of matrices: schemas and shape rules.
#include "graph/node.h"
#include "ops/builder.h"
#include "ops/linalg/matrices.h"
#include "ops/linalg/registration.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {

void RegisterLinalgFunctionsOps(OpRegistry& r) {
  for (const char* name : {"MatrixSquareRoot"}) {
    r.Add(Op(name).Input("input: T").Output("output: T").Attr(kLinalgTypes).Shape(SquareMatricesShape));
  }
  r.Add(Op("MatrixLogarithm")
            .Input("input: T")
            .Output("output: T")
            .Attr("T: {complex64, complex128}")
            .Shape(SquareMatricesShape));
}

}  // namespace tensorbraid
