#include "cli/op_functions.h"

namespace tensorbraid {

const std::vector<OpFunction>& OpFunctions() {
  static const auto& functions = *new std::vector<OpFunction>{
#include "cli/op_functions.inc"
  };
  return functions;
}

const OpFunction* OpFunctionOf(std::string_view op) {
  for (const OpFunction& function : OpFunctions()) {
    if (function.op == op) return &function;
  }
  return nullptr;
}

}  // namespace tensorbraid
