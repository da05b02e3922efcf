// Fuses Conv2D or MatMul, the BiasAdd behind it and the Relu behind that into one node, whose kernel adds the bias
// while the product is in the cache. Fuses only where the kernel exists: for float32 on CPUs with the channels last.
#include <optional>
#include <string>
#include <vector>

#include "executor/passes/fuse_pairs.h"

namespace tensorbraid {
namespace {

const std::vector<std::string> kBias = {"BiasAdd"}, kBiasRelu = {"BiasAdd", "Relu"};

bool ChannelsAreLast(const Node& node) {
  const AttrValue* format = node.FindAttr("data_format");
  return format == nullptr || *format->get<std::string>() == "NHWC";
}

// Whether the bias is known to fit. Otherwise the nodes stay as the user wrote them, so that an error names them.
bool BiasFits(const Node& product, const Node& bias_add) {
  const Shape& shape = product.output_shape(0);
  const Shape& bias = bias_add.inputs()[1].shape();
  return shape.has_rank() && shape.rank() > 0 && shape.dim(shape.rank() - 1) >= 0 &&
         bias == Shape({shape.dim(shape.rank() - 1)});
}

// The name of the op that computes `first` and then `second`; empty if there is none.
std::string FusedOp(const Node& first, const Node& second) {
  if (second.type() == "BiasAdd" && (first.type() == "Conv2D" || first.type() == "MatMul")) {
    const bool fits = ChannelsAreLast(first) && ChannelsAreLast(second) && BiasFits(first, second);
    return fits ? "_Fused" + first.type() : "";
  }
  if (second.type() == "Relu" && (first.type() == "_FusedConv2D" || first.type() == "_FusedMatMul")) {
    return first.attr<std::vector<std::string>>("fused_ops") == kBias ? first.type() : "";
  }
  return "";
}

// The node that computes `first` and then `second`.
NodeSpec FusedNode(const std::string& op, const Node& first, const Node& second) {
  NodeSpec spec = LikeNode(first, op);
  if (second.type() == "BiasAdd") {
    spec.inputs.push_back(second.inputs()[1]);
    spec.attrs["num_args"] = int64_t{1};
    if (op == "_FusedConv2D") {
      spec.attrs["TArgs"] = std::vector<DType>{kFloat32};
      spec.attrs["num_host_args"] = int64_t{0};
    }
  }
  spec.attrs["fused_ops"] = second.type() == "BiasAdd" ? kBias : kBiasRelu;
  return spec;
}

}  // namespace

Status FuseBiases(Graph* graph, PassContext& context) {
  // When a Relu is visited, its BiasAdd may already be a fused node.
  return FusePairs(graph, context, [](const Node& first, const Node& second) -> std::optional<NodeSpec> {
    const std::string op = FusedOp(first, second);
    if (op.empty()) return std::nullopt;
    return FusedNode(op, first, second);
  });
}

}  // namespace tensorbraid
