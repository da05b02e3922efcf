// Patches of images and volumes: schemas, shape rules, gradients.
#include "ops/image/patches.h"

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// The number of patches along a dimension of `in` elements.
int64_t PatchesAlong(int64_t in, int64_t window, int64_t stride, bool same) {
  if (in < 0) return Shape::kUnknownDim;
  if (same) return (in + stride - 1) / stride;
  return in < window ? 0 : (in - window) / stride + 1;
}

// Sets the shape [batch, patches along each spatial dimension, elements of a patch].
Status PatchesShape(ShapeContext& c, int rank) {
  TF_ASSIGN_OR_RETURN(const Shape in, c.WithRank(0, rank));
  TF_ASSIGN_OR_RETURN(const PatchWindow window, PatchWindow::Of(c.node(), rank));
  const auto& padding = c.attr<std::string>("padding");
  Shape out = in;
  int64_t depth = in.dim(rank - 1);
  for (int i = 1; i < rank - 1; ++i) {
    const auto d = static_cast<size_t>(i);
    const int64_t length = (window.sizes[d] - 1) * window.rates[d] + 1;
    out.set_dim(i, PatchesAlong(in.dim(i), length, window.strides[d], padding == "SAME"));
    if (depth >= 0 && __builtin_mul_overflow(depth, window.sizes[d], &depth)) {
      return InvalidArgument("a patch of ksizes ", AttrValue(window.sizes).ToString(),
                             " has too many elements for input shape ", in);
    }
  }
  out.set_dim(rank - 1, depth);
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status ImagePatchesShape(ShapeContext& c) { return PatchesShape(c, 4); }
Status VolumePatchesShape(ShapeContext& c) { return PatchesShape(c, 5); }

// Each element of a patch is a copy of an input element, or 0 outside of the image. The gradient of an input element is
// the sum of the gradients of its copies. To find the copies, patches are also taken from an image with elements 1, 2,
// 3, ...: each element of these patches is the position of the input element plus 1, or 0 outside of the image.
Status PatchesGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  Graph& graph = *op.graph();
  const Node& node = *NodeOf(op);
  const Output images = node.inputs()[0];
  const int rank = node.op().name == "ExtractImagePatches" ? 4 : 5;
  const Output shape = ShapeOf(images, kInt64);
  const auto element = [&](int i) { return StridedSlice(shape, {i}, {i + 1}, {1}); };
  const Output batch = element(0), depth = element(rank - 1);
  const Output positions = ReduceProd(Slice(shape, {1}, {rank - 2}));
  const Output one = Operand(Tensor::Vector<int64_t>({1})).ToOutput(graph);
  const Output spatial = Slice(shape, {1}, {rank - 2});
  const Operand zero(Tensor::Scalar<int64_t>(0)), unit(Tensor::Scalar<int64_t>(1));
  const auto reshape = [&](Output x, const std::vector<Operand>& sizes) {
    return NodeBuilder(graph, "Reshape").Input(x).Input(Concat(sizes, 0)).Output();
  };
  const Output numbered = reshape(Range(graph, unit, positions + unit), {one, spatial, one});
  NodeBuilder patches(graph, node.op().name);
  patches.Input(numbered);
  for (const char* attr : {"ksizes", "strides", "rates", "padding"}) {
    if (const AttrValue* value = node.FindAttr(attr)) patches.Attr(attr, *value);
  }
  const Output all = Operand(Tensor::Vector<int64_t>({-1})).ToOutput(graph);
  // Position -1 is outside of the image; UnsortedSegmentSum drops elements with this position.
  const Output at = NodeBuilder(graph, "Reshape").Input(patches.Output()).Input(all).Output() - unit;
  // [batch, elements of all patches, depth] -> [elements, batch, depth], summed by position, and back.
  const Output flat = Transpose(reshape(grads[0], {batch, ShapeOf(at, kInt64), depth}), {1, 0, 2});
  const Output sums = NodeBuilder(graph, "UnsortedSegmentSum").Input(flat).Input(at).Input(positions).Output();
  (*input_grads)[0] = NodeBuilder(graph, "Reshape").Input(Transpose(sums, {1, 0, 2})).Input(shape).Output();
  return OkStatus();
}

}  // namespace

StatusOr<PatchWindow> PatchWindow::Of(const Node& node, int rank) {
  const AttrValue* rates = node.FindAttr("rates");
  PatchWindow window{
      node.attr<std::vector<int64_t>>("ksizes"), node.attr<std::vector<int64_t>>("strides"),
      rates != nullptr ? *rates->get<std::vector<int64_t>>() : std::vector<int64_t>(static_cast<size_t>(rank), 1)};
  for (const auto* list : {&window.sizes, &window.strides, &window.rates}) {
    const char* const name = list == &window.sizes ? "ksizes" : list == &window.strides ? "strides" : "rates";
    if (list->size() != static_cast<size_t>(rank)) {
      return InvalidArgument(name, " must have ", rank, " elements, got ", list->size());
    }
    if (list->front() != 1 || list->back() != 1) {
      return InvalidArgument(name, " must be 1 for the batch and depth dimensions, got ", AttrValue(*list).ToString());
    }
    for (int64_t v : *list) {
      if (v < 1 || v > INT32_MAX) return InvalidArgument(name, " must be between 1 and ", INT32_MAX, ", got ", v);
    }
  }
  return window;
}

void RegisterImagePatchesOps(OpRegistry& r) {
  r.Add(Op("ExtractImagePatches")
            .Input("images: T")
            .Output("patches: T")
            .Attr("ksizes: list(int) >= 4")
            .Attr("strides: list(int) >= 4")
            .Attr("rates: list(int) >= 4")
            .Attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, "
                  "complex64, complex128, bool}")
            .Attr("padding: {'SAME', 'VALID'}")
            .Shape(ImagePatchesShape)
            .Gradient(PatchesGradient));
  r.Add(Op("ExtractVolumePatches")
            .Input("input: T")
            .Output("patches: T")
            .Attr("ksizes: list(int) >= 5")
            .Attr("strides: list(int) >= 5")
            .Attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
            .Attr("padding: {'SAME', 'VALID'}")
            .Shape(VolumePatchesShape)
            .Gradient(PatchesGradient));
}

}  // namespace tensorbraid
