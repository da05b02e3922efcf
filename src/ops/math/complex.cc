// Complex numbers and their parts: schemas.
#include "graph/node.h"
#include "ops/builder.h"
#include "ops/math/registration.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {

void RegisterMathComplexOps(OpRegistry& r) {
  for (const char* name : {"Real", "Imag", "Angle"}) {
    r.Add(Op(name)
              .Input("input: T")
              .Output("output: Tout")
              .Attr("T: {complex64, complex128} = DT_COMPLEX64")
              .Attr("Tout: {float, double} = DT_FLOAT")
              .Shape(UnchangedShape));
  }
  r.Add(Op("ComplexAbs")
            .Input("x: T")
            .Output("y: Tout")
            .Attr("T: {complex64, complex128} = DT_COMPLEX64")
            .Attr("Tout: {float, double} = DT_FLOAT")
            .Shape(UnchangedShape));
  r.Add(Op("Complex")
            .Input("real: T")
            .Input("imag: T")
            .Output("out: Tout")
            .Attr("T: {float, double} = DT_FLOAT")
            .Attr("Tout: {complex64, complex128} = DT_COMPLEX64")
            .Shape(BroadcastShape));
  r.Add(Op("Conj")
            .Input("input: T")
            .Output("output: T")
            .Attr("T: {complex64, complex128, variant} = DT_COMPLEX64")
            .Shape(UnchangedShape));
}

}  // namespace tensorbraid
