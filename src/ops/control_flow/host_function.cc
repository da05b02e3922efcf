// Ops that call functions of the program (tensorbraid/graph/host_function.h): schemas.
#include <string_view>

#include "ops/builder.h"

namespace tensorbraid {

void RegisterControlFlowHostFunctionOps(OpRegistry& r) {
  for (const char* name : {"PyFunc", "PyFuncStateless", "EagerPyFunc"}) {
    Op op(name);
    op.Input("input: Tin")
        .Output("output: Tout")
        .Attr("token: string")
        .Attr("Tin: list(type) >= 0")
        .Attr("Tout: list(type) >= 0");
    if (std::string_view(name) == "EagerPyFunc") op.Attr("is_async: bool = false");
    if (std::string_view(name) != "PyFuncStateless") op.Stateful();
    r.Add(op.Shape(UnknownShape).NotDifferentiable());
  }
}

}  // namespace tensorbraid
