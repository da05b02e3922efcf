#include "cli/op_functions.h"

namespace tensorbraid {

std::span<const OpFunction> OpFunctions() {
  static constexpr OpFunction kFunctions[] = {
#include "cli/op_functions.inc"
  };
  return kFunctions;
}

const OpFunction* OpFunctionOf(std::string_view op) {
  for (const OpFunction& function : OpFunctions()) {
    if (function.op == op) return &function;
  }
  return nullptr;
}

}  // namespace tensorbraid
