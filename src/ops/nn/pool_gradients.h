// The gradients of the pooling ops. The gradient of each is a node of another pooling op, with the same attributes.
#ifndef TENSORBRAID_OPS_NN_POOL_GRADIENTS_H_
#define TENSORBRAID_OPS_NN_POOL_GRADIENTS_H_

#include <initializer_list>
#include <vector>

#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

inline constexpr char kAvgPool[] = "AvgPool";
inline constexpr char kAvgPoolGrad[] = "AvgPoolGrad";
inline constexpr char kMaxPoolGrad[] = "MaxPoolGrad";
inline constexpr char kMaxPoolGradV2[] = "MaxPoolGradV2";
inline constexpr char kMaxPoolGradGrad[] = "MaxPoolGradGrad";
inline constexpr char kMaxPoolGradGradV2[] = "MaxPoolGradGradV2";
inline constexpr char kAvgPool3D[] = "AvgPool3D";
inline constexpr char kAvgPool3DGrad[] = "AvgPool3DGrad";
inline constexpr char kMaxPool3DGrad[] = "MaxPool3DGrad";
inline constexpr char kMaxPool3DGradGrad[] = "MaxPool3DGradGrad";

// Adds a node of the op `name` with these inputs, and with the attributes of `op` that the op `name` declares.
inline Output PoolNode(const char* name, const Operation& op, std::initializer_list<Output> inputs) {
  NodeBuilder builder(*op.graph(), name);
  for (const Output& input : inputs) builder.Input(input);
  const OpDef* def = OpRegistry::Global().Find(name);
  for (const auto& attr :
       {"ksize", "strides", "padding", "explicit_paddings", "data_format", "include_batch_in_index"}) {
    const AttrValue* value = NodeOf(op)->FindAttr(attr);
    if (value != nullptr && def->FindAttr(attr) != nullptr) builder.Attr(attr, *value);
  }
  return builder.Output();
}

// Gradient of a maximum: the op `name`, applied to the input, the output and the gradient of the output. The V2 ops
// have inputs for ksize and strides, which are passed on.
template <const char* name>
Status PoolGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const std::vector<Output>& in = NodeOf(op)->inputs();
  (*input_grads)[0] = in.size() == 1 ? PoolNode(name, op, {in[0], op.output(0), grads[0]})
                                     : PoolNode(name, op, {in[0], op.output(0), grads[0], in[1], in[2]});
  return OkStatus();
}

// Gradient of MaxPoolGrad and MaxPoolGradGrad, which are linear in their third input.
template <const char* name>
Status PoolGradGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const std::vector<Output>& in = NodeOf(op)->inputs();
  (*input_grads)[0] = Node1("ZerosLike", in[0]);
  (*input_grads)[1] = Node1("ZerosLike", in[1]);
  (*input_grads)[2] = in.size() == 3 ? PoolNode(name, op, {in[0], in[1], grads[0]})
                                     : PoolNode(name, op, {in[0], in[1], grads[0], in[3], in[4]});
  return OkStatus();
}

// Gradient of a mean: the op `name`, applied to the shape of the input and to the gradient of the output.
template <const char* name>
Status AvgPoolGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = PoolNode(name, op, {Node1("Shape", NodeOf(op)->inputs()[0]), grads[0]});
  return OkStatus();
}

template <const char* name>
Status AvgPoolGradGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[1] = PoolNode(name, op, {grads[0]});
  return OkStatus();
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_NN_POOL_GRADIENTS_H_
