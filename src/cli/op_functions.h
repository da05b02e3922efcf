// Which functions of include/tensorbraid/ops add the nodes of which ops.
#ifndef TENSORBRAID_CLI_OP_FUNCTIONS_H_
#define TENSORBRAID_CLI_OP_FUNCTIONS_H_

#include <span>
#include <string_view>

namespace tensorbraid {

struct OpFunction {
  std::string_view op;
  std::string_view name;    // within the namespace tensorbraid: "nn::Relu"
  std::string_view header;  // in include/tensorbraid/ops: "nn.h"
};

// All of them, in order of op. scripts/find_op_functions finds them in the sources.
std::span<const OpFunction> OpFunctions();

// The function of the op; null if it has none.
const OpFunction* OpFunctionOf(std::string_view op);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_OP_FUNCTIONS_H_
