// Projective transformation of images: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status TransformedShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape images, c.WithRank(0, 4));
  TF_ASSIGN_OR_RETURN(const Shape transforms, c.WithRank(1, 2));
  if (!Shape({transforms.dim(1)}).IsCompatibleWith({8})) {
    return InvalidArgument("transforms must have shape [n, 8], got ", transforms);
  }
  if (c.num_inputs() > 3) TF_RETURN_IF_ERROR(c.WithRank(3, 0).status());
  TF_ASSIGN_OR_RETURN(Shape size, c.input_as_shape(2));
  if (size.has_rank() && size.rank() != 2) {
    return InvalidArgument("output_shape must have two elements, got ", size.rank());
  }
  if (!size.has_rank()) size = Shape::UnknownOfRank(2);
  for (int i = 0; i < 2; ++i) {
    if (size.dim(i) == 0) return InvalidArgument("output_shape must be positive, got ", size);
  }
  c.set_output(0, {images.dim(0), size.dim(0), size.dim(1), images.dim(3)});
  return OkStatus();
}

// The gradient is transformed back by the inverse of each transformation.
Status TransformGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  Graph& graph = *op.graph();
  const Node& node = *NodeOf(op);
  const Output images = node.inputs()[0], transforms = node.inputs()[1];
  const auto reshape = [&](Output x, const std::vector<int64_t>& shape) {
    return NodeBuilder(graph, "Reshape").Input(x).Input(ConstantVector(graph, shape)).Output();
  };
  // A row of `transforms` has the first eight elements of a 3 x 3 matrix. The ninth element is 1.
  const Output ones = Node1("OnesLike", Slice(transforms, {0, 0}, {-1, 1}));
  const Output matrices = reshape(Concat({transforms, ones}, 1), {-1, 3, 3});
  const Output inverse = reshape(NodeBuilder(graph, "MatrixInverse").Input(matrices).Output(), {-1, 9});
  const Output normalized = inverse / Slice(inverse, {0, 8}, {-1, 1});
  NodeBuilder back(graph, node.op().name);
  back.Input(grads[0]).Input(Slice(normalized, {0, 0}, {-1, 8})).Input(Slice(ShapeOf(images), {1}, {2}));
  if (node.inputs().size() > 3) back.Input(Operand(Tensor::Scalar(0.0f)).ToOutput(graph));
  (*input_grads)[0] = back.Attr("interpolation", *node.FindAttr("interpolation"))
                          .Attr("fill_mode", *node.FindAttr("fill_mode"))
                          .Output();
  return OkStatus();
}

}  // namespace

void RegisterImageProjectiveOps(OpRegistry& r) {
  for (const bool fills : {false, true}) {
    Op op(fills ? "ImageProjectiveTransformV3" : "ImageProjectiveTransformV2");
    op.Input("images: dtype").Input("transforms: float").Input("output_shape: int32");
    if (fills) op.Input("fill_value: float");
    r.Add(op.Output("transformed_images: dtype")
              .Attr("dtype: {uint8, int32, int64, half, bfloat16, float, double}")
              .Attr("interpolation: string")
              .Attr("fill_mode: string = 'CONSTANT'")
              .Shape(TransformedShape)
              .Gradient(TransformGradient));
  }
}

}  // namespace tensorbraid
