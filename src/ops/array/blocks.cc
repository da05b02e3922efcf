// Array ops that mirror, reverse or roll elements, or move blocks between the spatial dimensions and the batch or depth
// dimension: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"

namespace tensorbraid {
namespace {

// The elements of a constant matrix [rank, 2], row by row. Empty if the value is not known while building the graph.
std::vector<int64_t> PairsOf(const Tensor& t, int rank) {
  if (!t.is_valid() || t.num_elements() != 2 * rank) return {};
  if (t.dtype() == kInt32) return {t.data<int32_t>().begin(), t.data<int32_t>().end()};
  if (t.dtype() == kInt64) return {t.data<int64_t>().begin(), t.data<int64_t>().end()};
  return {};
}

// `sign` is 1 for an op that adds paddings, and -1 for its gradient, which removes them.
Status PaddedShape(ShapeContext& c, int sign) {
  TF_RETURN_IF_ERROR(c.WithRank(1, 2).status());
  const Shape& in = c.input(0);
  if (!in.has_rank()) return OkStatus();
  Shape out = Shape::UnknownOfRank(in.rank());
  const std::vector<int64_t> pairs = PairsOf(c.input_value(1), in.rank());
  for (size_t i = 0; i < pairs.size() / 2; ++i) {
    const int d = static_cast<int>(i);
    if (pairs[2 * i] < 0 || pairs[2 * i + 1] < 0) {
      return InvalidArgument("paddings must not be negative, got ", c.input_value(1).ToString());
    }
    if (in.dim(d) < 0) continue;
    const int64_t size = in.dim(d) + sign * (pairs[2 * i] + pairs[2 * i + 1]);
    if (size < 0)
      return InvalidArgument("paddings ", c.input_value(1).ToString(), " exceed the size of dimension ", d, " of ", in);
    out.set_dim(d, size);
  }
  c.set_output(0, out);
  return OkStatus();
}

Status MirrorPadShape(ShapeContext& c) { return PaddedShape(c, /*sign=*/1); }
Status MirrorPadGradShape(ShapeContext& c) { return PaddedShape(c, /*sign=*/-1); }

// The gradient is the op `gradient_op` with the same paddings and mode.
template <const char* gradient_op>
Status MirrorGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = NodeBuilder(*op.graph(), gradient_op)
                          .Input(grads[0])
                          .Input(NodeOf(op)->inputs()[1])
                          .Attr("mode", *NodeOf(op)->FindAttr("mode"))
                          .Output();
  return OkStatus();
}
constexpr char kMirrorPad[] = "MirrorPad";
constexpr char kMirrorPadGrad[] = "MirrorPadGrad";
constexpr GradientFn MirrorPadGradient = MirrorGradient<kMirrorPadGrad>;
constexpr GradientFn MirrorPadGradGradient = MirrorGradient<kMirrorPad>;

Status ReverseGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = NodeBuilder(*op.graph(), "Reverse").Input(grads[0]).Input(NodeOf(op)->inputs()[1]).Output();
  return OkStatus();
}

Status ReverseSequenceGradient(const Operation& op, const std::vector<Output>& grads,
                               std::vector<Output>* input_grads) {
  (*input_grads)[0] = NodeBuilder(*op.graph(), "ReverseSequence")
                          .Input(grads[0])
                          .Input(NodeOf(op)->inputs()[1])
                          .Attr("seq_dim", *NodeOf(op)->FindAttr("seq_dim"))
                          .Attr("batch_dim", *NodeOf(op)->FindAttr("batch_dim"))
                          .Output();
  return OkStatus();
}

Status RollGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& inputs = NodeOf(op)->inputs();
  (*input_grads)[0] =
      NodeBuilder(*op.graph(), "Roll").Input(grads[0]).Input(Node1("Neg", inputs[1])).Input(inputs[2]).Output();
  return OkStatus();
}

Status SpaceToBatchShape(ShapeContext& c) {
  if (c.input(0).has_rank()) c.set_output(0, Shape::UnknownOfRank(c.input(0).rank()));
  return OkStatus();
}
Status BatchToSpaceShape(ShapeContext& c) { return SpaceToBatchShape(c); }

// The gradient is the inverse op, with the same remaining inputs and attributes: the op `one` if the attribute
// block_size is the size of all blocks, and the op `with_shape` if an input gives the shape of the blocks.
template <const char* one, const char* with_shape>
Status BlocksGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Node& node = *NodeOf(op);
  NodeBuilder back(*op.graph(), node.FindAttr("block_size") != nullptr ? one : with_shape);
  back.Input(grads[0]);
  for (size_t i = 1; i < node.inputs().size(); ++i) back.Input(node.inputs()[i]);
  for (const char* attr : {"block_size", "data_format"}) {
    if (const AttrValue* value = node.FindAttr(attr)) back.Attr(attr, *value);
  }
  (*input_grads)[0] = back.Output();
  return OkStatus();
}
constexpr char kSpaceToBatch[] = "SpaceToBatch";
constexpr char kSpaceToBatchNd[] = "SpaceToBatchND";
constexpr char kBatchToSpace[] = "BatchToSpace";
constexpr char kBatchToSpaceNd[] = "BatchToSpaceND";
constexpr char kSpaceToDepth[] = "SpaceToDepth";
constexpr char kDepthToSpace[] = "DepthToSpace";
constexpr GradientFn SpaceToBatchGradient = BlocksGradient<kBatchToSpace, kBatchToSpaceNd>;
constexpr GradientFn BatchToSpaceGradient = BlocksGradient<kSpaceToBatch, kSpaceToBatchNd>;
constexpr GradientFn SpaceToDepthGradient = BlocksGradient<kDepthToSpace, kDepthToSpace>;
constexpr GradientFn DepthToSpaceGradient = BlocksGradient<kSpaceToDepth, kSpaceToDepth>;

Status DepthShape(ShapeContext& c, bool to_depth) {
  TF_ASSIGN_OR_RETURN(Shape s, c.WithRank(0, 4));
  const auto& format = c.attr<std::string>("data_format");
  if (format == "NCHW_VECT_C") return OkStatus();
  const int64_t block = c.attr<int64_t>("block_size");
  const int first = format == "NHWC" ? 1 : 2;
  const int depth = format == "NHWC" ? 3 : 1;
  // Multiplies (`grow`) or divides the size of dimension d.
  const auto change = [&](int d, int64_t by, bool grow) -> Status {
    if (s.dim(d) == Shape::kUnknownDim) return OkStatus();
    if (!grow && s.dim(d) % by != 0) {
      return InvalidArgument("dimension ", d, " of ", c.input(0), " is not a multiple of ", by);
    }
    int64_t size = grow ? 0 : s.dim(d) / by;
    if (grow && __builtin_mul_overflow(s.dim(d), by, &size))
      return InvalidArgument("block size ", block, " is too large");
    s.set_dim(d, size);
    return OkStatus();
  };
  int64_t area;
  if (__builtin_mul_overflow(block, block, &area)) return InvalidArgument("block size ", block, " is too large");
  TF_RETURN_IF_ERROR(change(first, block, !to_depth));
  TF_RETURN_IF_ERROR(change(first + 1, block, !to_depth));
  TF_RETURN_IF_ERROR(change(depth, area, to_depth));
  c.set_output(0, s);
  return OkStatus();
}

Status SpaceToDepthShape(ShapeContext& c) { return DepthShape(c, /*to_depth=*/true); }
Status DepthToSpaceShape(ShapeContext& c) { return DepthShape(c, /*to_depth=*/false); }

}  // namespace

void RegisterArrayBlocksOps(OpRegistry& r) {
  r.Add(Op("MirrorPad")
            .Input("input: T")
            .Input("paddings: Tpaddings")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Tpaddings: {int32, int64} = DT_INT32")
            .Attr("mode: {'REFLECT', 'SYMMETRIC'}")
            .Shape(MirrorPadShape)
            .Gradient(MirrorPadGradient));
  r.Add(Op("MirrorPadGrad")
            .Input("input: T")
            .Input("paddings: Tpaddings")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Tpaddings: {int32, int64} = DT_INT32")
            .Attr("mode: {'REFLECT', 'SYMMETRIC'}")
            .Shape(MirrorPadGradShape)
            .Gradient(MirrorPadGradGradient));
  r.Add(Op("Reverse")
            .Input("tensor: T")
            .Input("dims: bool")
            .Output("output: T")
            .Attr("T: {uint8, int8, uint16, int16, uint32, int32, uint64, int64, bool, bfloat16, half, float, double, "
                  "complex64, complex128, string}")
            .Shape(UnchangedShape)
            .Gradient(ReverseGradient));
  r.Add(Op("ReverseSequence")
            .Input("input: T")
            .Input("seq_lengths: Tlen")
            .Output("output: T")
            .Attr("seq_dim: int")
            .Attr("batch_dim: int = 0")
            .Attr("T: type")
            .Attr("Tlen: {int32, int64} = DT_INT64")
            .Shape(UnchangedShape)
            .Gradient(ReverseSequenceGradient));
  r.Add(Op("Roll")
            .Input("input: T")
            .Input("shift: Tshift")
            .Input("axis: Taxis")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Tshift: {int32, int64}")
            .Attr("Taxis: {int32, int64}")
            .Shape(UnchangedShape)
            .Gradient(RollGradient));
  r.Add(Op("SpaceToBatch")
            .Input("input: T")
            .Input("paddings: Tpaddings")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Tpaddings: {int32, int64} = DT_INT32")
            .Attr("block_size: int >= 2")
            .Shape(SpaceToBatchShape)
            .Gradient(SpaceToBatchGradient));
  r.Add(Op("SpaceToBatchND")
            .Input("input: T")
            .Input("block_shape: Tblock_shape")
            .Input("paddings: Tpaddings")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Tblock_shape: {int32, int64} = DT_INT32")
            .Attr("Tpaddings: {int32, int64} = DT_INT32")
            .Shape(SpaceToBatchShape)
            .Gradient(SpaceToBatchGradient));
  r.Add(Op("BatchToSpace")
            .Input("input: T")
            .Input("crops: Tidx")
            .Output("output: T")
            .Attr("T: type")
            .Attr("block_size: int >= 2")
            .Attr("Tidx: {int32, int64} = DT_INT32")
            .Shape(BatchToSpaceShape)
            .Gradient(BatchToSpaceGradient));
  r.Add(Op("BatchToSpaceND")
            .Input("input: T")
            .Input("block_shape: Tblock_shape")
            .Input("crops: Tcrops")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Tblock_shape: {int32, int64} = DT_INT32")
            .Attr("Tcrops: {int32, int64} = DT_INT32")
            .Shape(BatchToSpaceShape)
            .Gradient(BatchToSpaceGradient));
  r.Add(Op("SpaceToDepth")
            .Input("input: T")
            .Output("output: T")
            .Attr("T: type")
            .Attr("block_size: int >= 2")
            .Attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
            .Shape(SpaceToDepthShape)
            .Gradient(SpaceToDepthGradient));
  r.Add(Op("DepthToSpace")
            .Input("input: T")
            .Output("output: T")
            .Attr("T: type")
            .Attr("block_size: int >= 2")
            .Attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
            .Shape(DepthToSpaceShape)
            .Gradient(DepthToSpaceGradient));
}

}  // namespace tensorbraid
