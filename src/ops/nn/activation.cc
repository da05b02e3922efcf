// Activation functions and their gradient ops: schemas, shape rules, gradients.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// The gradient is the op `name`, applied to the gradient of the output and to the activation's input, or to its output
// if kOfOutput.
template <const char* name, bool kOfOutput>
Status ActivationGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = Node2(name, grads[0], kOfOutput ? op.output(0) : NodeOf(op)->inputs()[0]);
  return OkStatus();
}

// Gradient of a gradient op that is linear in its first input and piecewise constant in its second.
template <const char* name>
Status LinearGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output x = NodeOf(op)->inputs()[1];
  *input_grads = {Node2(name, grads[0], x), Node1("ZerosLike", x)};
  return OkStatus();
}

constexpr char kReluGrad[] = "ReluGrad";
constexpr char kRelu6Grad[] = "Relu6Grad";
constexpr char kEluGrad[] = "EluGrad";
constexpr char kSoftplusGrad[] = "SoftplusGrad";
constexpr char kSoftsignGrad[] = "SoftsignGrad";

// SeluGrad computes the derivative of Selu from its output y: y + scale * alpha where y < 0, else scale.
constexpr char kSeluGrad[] = "SeluGrad";

Status SeluGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = Node2(kSeluGrad, grads[0], op.output(0));
  return OkStatus();
}

Status SeluGradGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output dy = NodeOf(op)->inputs()[0], y = NodeOf(op)->inputs()[1];
  *input_grads = {Node2(kSeluGrad, grads[0], y), Select(Less(y, 0.0), grads[0] * dy, 0.0)};
  return OkStatus();
}

Output LeakyReluGrad(const Operation& op, Output g, Output x) {
  return NodeBuilder(*op.graph(), "LeakyReluGrad")
      .Input(g)
      .Input(x)
      .Attr("alpha", NodeOf(op)->attr<float>("alpha"))
      .Output();
}

Status LeakyReluGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = LeakyReluGrad(op, grads[0], NodeOf(op)->inputs()[0]);
  return OkStatus();
}

Status LeakyReluGradGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output x = NodeOf(op)->inputs()[1];
  *input_grads = {LeakyReluGrad(op, grads[0], x), Node1("ZerosLike", x)};
  return OkStatus();
}

// Gradient of EluGrad, which is dy * (y + 1) where y < 0, else dy.
Status EluGradGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output dy = NodeOf(op)->inputs()[0], y = NodeOf(op)->inputs()[1];
  *input_grads = {Node2(kEluGrad, grads[0], y), Select(Less(y, 0.0), grads[0] * dy, 0.0)};
  return OkStatus();
}

Status SoftplusGradGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output dy = NodeOf(op)->inputs()[0], x = NodeOf(op)->inputs()[1];
  *input_grads = {Node2(kSoftplusGrad, grads[0], x), grads[0] * dy / (Exp(-x) + 2.0 + Exp(x))};
  return OkStatus();
}

}  // namespace

void RegisterNnActivationOps(OpRegistry& r) {
  constexpr const char* kFloats = "T: {half, bfloat16, float, double}";
  struct Row {
    const char* name;
    const char* types;
    GradientFn gradient;
  };
  for (const Row& row :
       std::initializer_list<Row>{{"Relu", "T: {realnumbertype, qint8}", ActivationGradient<kReluGrad, true>},
                                  {"Relu6", "T: realnumbertype", ActivationGradient<kRelu6Grad, true>},
                                  {"Elu", kFloats, ActivationGradient<kEluGrad, true>},
                                  {"Softplus", kFloats, ActivationGradient<kSoftplusGrad, false>},
                                  {"Softsign", kFloats, ActivationGradient<kSoftsignGrad, false>}}) {
    r.Add(Op(row.name)
              .Input("features: T")
              .Output("activations: T")
              .Attr(row.types)
              .Shape(UnchangedShape)
              .Gradient(row.gradient));
  }
  for (const Row& row : std::initializer_list<Row>{{"ReluGrad", "T: realnumbertype", LinearGradient<kReluGrad>},
                                                   {"Relu6Grad", "T: realnumbertype", LinearGradient<kRelu6Grad>},
                                                   {"SoftplusGrad", kFloats, SoftplusGradGradient},
                                                   {"SoftsignGrad", kFloats, nullptr}}) {
    r.Add(Op(row.name)
              .Input("gradients: T")
              .Input("features: T")
              .Output("backprops: T")
              .Attr(row.types)
              .Shape(SameShapes)
              .Gradient(row.gradient));
  }
  r.Add(Op("EluGrad")
            .Input("gradients: T")
            .Input("outputs: T")
            .Output("backprops: T")
            .Attr(kFloats)
            .Shape(SameShapes)
            .Gradient(EluGradGradient));
  r.Add(Op("Selu")
            .Input("features: T")
            .Output("activations: T")
            .Attr("T: {half, bfloat16, float, double}")
            .Shape(UnchangedShape)
            .Gradient(SeluGradient));
  r.Add(Op("SeluGrad")
            .Input("gradients: T")
            .Input("outputs: T")
            .Output("backprops: T")
            .Attr("T: {half, bfloat16, float, double}")
            .Shape(SameShapes)
            .Gradient(SeluGradGradient));
  r.Add(Op("LeakyRelu")
            .Input("features: T")
            .Output("activations: T")
            .Attr("alpha: float = 0.2")
            .Attr("T: {half, bfloat16, float, double} = DT_FLOAT")
            .Shape(UnchangedShape)
            .Gradient(LeakyReluGradient));
  r.Add(Op("LeakyReluGrad")
            .Input("gradients: T")
            .Input("features: T")
            .Output("backprops: T")
            .Attr("alpha: float = 0.2")
            .Attr("T: {half, bfloat16, float, double} = DT_FLOAT")
            .Shape(SameShapes)
            .Gradient(LeakyReluGradGradient));
}

}  // namespace tensorbraid
