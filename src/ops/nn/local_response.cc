// Local response normalization: schemas, shape rules, gradients.
#include "graph/model/node.h"
#include "ops/builder.h"

namespace tensorbraid {
namespace {

Status LocalResponseShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape shape, c.WithRank(0, 4));
  for (int i = 1; i < c.num_inputs(); ++i) {
    TF_ASSIGN_OR_RETURN(shape, shape.MergeWith(c.input(i)));
  }
  c.set_output(0, std::move(shape));
  return OkStatus();
}

Status LocalResponseGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Node& node = *NodeOf(op);
  (*input_grads)[0] = NodeBuilder(*op.graph(), "LRNGrad")
                          .Input(grads[0])
                          .Input(node.inputs()[0])
                          .Input(op.output(0))
                          .Attr("depth_radius", node.attr<int64_t>("depth_radius"))
                          .Attr("bias", node.attr<float>("bias"))
                          .Attr("alpha", node.attr<float>("alpha"))
                          .Attr("beta", node.attr<float>("beta"))
                          .Output();
  return OkStatus();
}

}  // namespace

void RegisterNnLocalResponseOps(OpRegistry& r) {
  r.Add(Op("LRN")
            .Input("input: T")
            .Output("output: T")
            .Attr("depth_radius: int = 5")
            .Attr("bias: float = 1.0")
            .Attr("alpha: float = 1.0")
            .Attr("beta: float = 0.5")
            .Attr("T: {half, bfloat16, float} = DT_FLOAT")
            .Shape(LocalResponseShape)
            .Gradient(LocalResponseGradient));
  r.Add(Op("LRNGrad")
            .Input("input_grads: T")
            .Input("input_image: T")
            .Input("output_image: T")
            .Output("output: T")
            .Attr("depth_radius: int = 5")
            .Attr("bias: float = 1.0")
            .Attr("alpha: float = 1.0")
            .Attr("beta: float = 0.5")
            .Attr("T: {half, bfloat16, float} = DT_FLOAT")
            .Shape(LocalResponseShape));
}

}  // namespace tensorbraid
