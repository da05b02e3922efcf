#include "kernels/cpu/nn/bias_relu.h"

#include <string>
#include <vector>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "kernels/cpu/elementwise.h"

namespace tensorbraid::cpu {

void BiasRelu::ApplyShared(KernelContext& ctx, float* matrix, int64_t rows) const {
  Parallel(ctx, rows, 3 + 0.2 * static_cast<double>(channels),
           [&](int64_t begin, int64_t end) { Apply(matrix + begin * channels, end - begin); });
}

StatusOr<bool> ReadFusedRelu(const Node& node) {
  const auto& ops = node.attr<std::vector<std::string>>("fused_ops");
  const bool relu = ops.size() == 2 && ops[1] == "Relu";
  if (ops.empty() || ops[0] != "BiasAdd" || (ops.size() > 1 && !relu)) {
    return Unimplemented("fused_ops must be [BiasAdd] or [BiasAdd, Relu], got [", StrJoin(ops, ", "), "]");
  }
  if (node.inputs().size() != 3) {
    return InvalidArgument("BiasAdd takes one argument, the bias, got ", node.inputs().size() - 2);
  }
  return relu;
}

StatusOr<BiasRelu> MakeBiasRelu(const Tensor& bias, int64_t channels, bool relu) {
  if (bias.dtype() != kFloat32) return InvalidArgument("the bias must be float, got ", bias.dtype());
  if (bias.shape() != Shape({channels})) {
    return InvalidArgument("the bias must be a vector of ", channels, " elements, one for each channel, got shape ",
                           bias.shape());
  }
  return BiasRelu{bias.data<float>().data(), channels, relu};
}

}  // namespace tensorbraid::cpu
