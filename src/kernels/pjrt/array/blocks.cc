// Ops that mirror the borders of a tensor, or move blocks of pixels to other dimensions.
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

using stablehlo::Builder;
using stablehlo::Value;

// Elements [begin, end) of a dimension.
Value Range(Builder& b, const Value& x, int dim, int64_t begin, int64_t end) {
  std::vector<int64_t> starts(x.rank(), 0), limits(x.shape.dims().begin(), x.shape.dims().end());
  starts[dim] = begin;
  limits[dim] = end;
  return b.Slice(x, starts, limits, std::vector<int64_t>(x.rank(), 1));
}

Status EmitMirrorPad(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(Value x, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Tensor paddings, ctx.static_input(1));
  if (paddings.shape() != Shape({x.rank(), 2})) {
    return InvalidArgument("paddings must have shape [", x.rank(), ",2], got ", paddings.shape());
  }
  TF_ASSIGN_OR_RETURN(const Tensor flat, paddings.Reshaped({2 * x.rank()}));
  TF_ASSIGN_OR_RETURN(const IntVector around, IntegersOf(flat, "paddings"));
  // REFLECT does not repeat the border.
  const int64_t border = ctx.attr<std::string>("mode") == "REFLECT" ? 1 : 0;
  Builder& b = ctx.builder();
  for (int d = 0; d < x.rank(); ++d) {
    const int64_t size = x.shape.dim(d), before = around[2 * d], after = around[2 * d + 1];
    const int64_t most = std::max<int64_t>(size - border, 0);
    if (before < 0 || after < 0 || before > most || after > most) {
      return InvalidArgument("paddings ", before, " and ", after, " of dimension ", d, " must be at most ", most,
                             " for ", x.shape);
    }
    std::vector<Value> parts;
    if (before > 0) parts.push_back(b.Reverse(Range(b, x, d, border, border + before), {d}));
    parts.push_back(x);
    if (after > 0) parts.push_back(b.Reverse(Range(b, x, d, size - border - after, size - border), {d}));
    x = b.Concatenate(parts, d);
  }
  ctx.set_output(0, x);
  return OkStatus();
}

// SpaceToDepth (`to_depth`) and DepthToSpace. The channels of a block are [row, column, channel].
Status EmitDepth(EmitContext& ctx, bool to_depth) {
  TF_ASSIGN_OR_RETURN(const Value x, ctx.input(0));
  if (x.rank() != 4) return InvalidArgument("the input must have rank 4, got shape ", x.shape);
  const int64_t block = ctx.attr<int64_t>("block_size");
  const bool first = ctx.attr<std::string>("data_format") == "NCHW";
  const int rows = first ? 2 : 1, columns = first ? 3 : 2, channels = first ? 1 : 3;
  const int64_t height = x.shape.dim(rows), width = x.shape.dim(columns), depth = x.shape.dim(channels);
  if (to_depth ? height % block != 0 || width % block != 0 : depth % (block * block) != 0) {
    return InvalidArgument("blocks of ", block, " x ", block, " pixels do not divide the input ", x.shape);
  }
  // The dimensions of the input, split: [batch, height, row, width, column, channels] for to_depth, else [batch,
  // height, width, row, column, channels]; with NCHW, the channels and what they are split into come first.
  const int64_t batch = x.shape.dim(0);
  Builder& b = ctx.builder();
  Shape split, shape;
  std::vector<int64_t> permutation;
  if (to_depth) {
    const int64_t h = height / block, w = width / block;
    split = first ? Shape({batch, depth, h, block, w, block}) : Shape({batch, h, block, w, block, depth});
    permutation = first ? std::vector<int64_t>{0, 3, 5, 1, 2, 4} : std::vector<int64_t>{0, 1, 3, 2, 4, 5};
    shape = first ? Shape({batch, block * block * depth, h, w}) : Shape({batch, h, w, block * block * depth});
  } else {
    const int64_t d = depth / (block * block);
    split = first ? Shape({batch, block, block, d, height, width}) : Shape({batch, height, width, block, block, d});
    permutation = first ? std::vector<int64_t>{0, 3, 4, 1, 5, 2} : std::vector<int64_t>{0, 1, 3, 2, 4, 5};
    shape = first ? Shape({batch, d, height * block, width * block}) : Shape({batch, height * block, width * block, d});
  }
  ctx.set_output(0, b.Reshape(b.Transpose(b.Reshape(x, split), permutation), shape));
  return OkStatus();
}

std::string RefuseVectors(const Node& node) {
  return node.attr<std::string>("data_format") == "NCHW_VECT_C" ? "has no emitter for data_format = NCHW_VECT_C" : "";
}

}  // namespace

void RegisterArrayBlocksEmitters(EmitterRegistry& r) {
  r.Add("MirrorPad", {{"T", kTensors}}, EmitMirrorPad).static_inputs = {"paddings"};
  r.Add("SpaceToDepth", {{"T", kTensors}}, [](EmitContext& ctx) { return EmitDepth(ctx, true); }).refuse =
      RefuseVectors;
  r.Add("DepthToSpace", {{"T", kTensors}}, [](EmitContext& ctx) { return EmitDepth(ctx, false); }).refuse =
      RefuseVectors;
}

}  // namespace tensorbraid::pjrt
