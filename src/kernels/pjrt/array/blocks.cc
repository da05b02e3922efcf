// Ops that mirror the borders of a tensor, move its elements in a circle, reverse parts of sequences, or move blocks of
// pixels to other dimensions.
#include "core/text/strings.h"
#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/rows.h"

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

// The matrix [rows, 2] of paddings or crops, row by row.
StatusOr<IntVector> PairsOf(const Tensor& t, int64_t rows, const char* what) {
  if (t.shape() != Shape({rows, 2})) {
    return InvalidArgument(what, " must have shape [", rows, ",2], got ", t.shape());
  }
  TF_ASSIGN_OR_RETURN(const Tensor flat, t.Reshaped({2 * rows}));
  TF_ASSIGN_OR_RETURN(IntVector pairs, IntegersOf(flat, what));
  for (const int64_t v : pairs) {
    if (v < 0) return InvalidArgument(what, " must not be negative, got ", t.ToString());
  }
  return pairs;
}

Status EmitMirrorPad(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(Value x, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Tensor paddings, ctx.static_input(1));
  TF_ASSIGN_OR_RETURN(const IntVector around, PairsOf(paddings, x.rank(), "paddings"));
  // REFLECT does not repeat the border.
  const int64_t border = ctx.attr<std::string>("mode") == "REFLECT" ? 1 : 0;
  Builder& b = ctx.builder();
  for (int d = 0; d < x.rank(); ++d) {
    const int64_t size = x.shape.dim(d), before = around[2 * d], after = around[2 * d + 1];
    const int64_t most = std::max<int64_t>(size - border, 0);
    if (before > most || after > most) {
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

// Gathers each sequence with its first elements in reverse order: as rows of [batches, sequence, rest].
Status EmitReverseSequence(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Value x, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Value lengths, ctx.input(1));
  const int rank = x.rank();
  const auto seq = ctx.attr<int64_t>("seq_dim"), batch = ctx.attr<int64_t>("batch_dim");
  if (lengths.rank() != 1) return InvalidArgument("seq_lengths must be a vector, got shape ", lengths.shape);
  if (seq == batch) return InvalidArgument("batch_dim == seq_dim, both are ", seq);
  if (seq < 0 || seq >= rank) return InvalidArgument("seq_dim ", seq, " is out of range for ", x.shape);
  if (batch < 0 || batch >= rank) return InvalidArgument("batch_dim ", batch, " is out of range for ", x.shape);
  const int64_t batches = x.shape.dim(static_cast<int>(batch)), size = x.shape.dim(static_cast<int>(seq));
  if (lengths.shape.dim(0) != batches) {
    return InvalidArgument("there must be one length for each of ", batches, " sequences, got ", lengths.shape.dim(0));
  }
  Builder& b = ctx.builder();
  const Expr length = Expr(b, lengths).Convert(kInt64);
  ctx.fail_where((length < 0 || length > static_cast<double>(size)).value(), {length.value()},
                 [size](std::span<const int64_t> numbers) { return cpu::LengthOutOfRange(numbers[1], size); });
  if (x.shape.num_elements() == 0) {
    ctx.set_output(0, x);
    return OkStatus();
  }
  std::vector<int64_t> order = {batch, seq}, back(rank);
  for (int d = 0; d < rank; ++d) {
    if (d != seq && d != batch) order.push_back(d);
  }
  for (int i = 0; i < rank; ++i) back[order[i]] = i;
  const Value sequences = b.Transpose(x, order);
  const Shape places({batches, size});
  const Expr at(b, b.Iota(kInt64, places, 1)), reversed = length.Reshape({batches, 1}) - 1 - at;
  const Expr rows =
      Expr(b, b.Iota(kInt64, places, 0)) * static_cast<double>(size) + Select(reversed >= 0, reversed, at);
  const Expr out = GatherRows(Expr(b, sequences).Reshape({batches * size, x.shape.num_elements() / (batches * size)}),
                              rows.Reshape({batches * size}));
  ctx.set_output(0, b.Transpose(out.Reshape(sequences.shape).value(), back));
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

// The gradient of MirrorPad: adds the gradients of the copies to those of the elements.
Status EmitMirrorPadGrad(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(Expr x, WideInput(ctx, 0));
  const int rank = x.shape().rank();
  TF_ASSIGN_OR_RETURN(const Tensor paddings, ctx.static_input(1));
  TF_ASSIGN_OR_RETURN(const IntVector around, PairsOf(paddings, rank, "paddings"));
  const int64_t border = ctx.attr<std::string>("mode") == "REFLECT" ? 1 : 0;
  Builder& b = ctx.builder();
  for (int d = 0; d < rank; ++d) {
    const int64_t before = around[2 * d], after = around[2 * d + 1];
    const int64_t size = x.shape().dim(d) - before - after, most = std::max<int64_t>(size - border, 0);
    if (size < 0 || before > most || after > most) {
      return InvalidArgument("paddings ", before, " and ", after, " of dimension ", d, " do not fit ", x.shape());
    }
    Expr sum(b, Range(b, x.value(), d, before, before + size));
    // Adds part [begin, begin + count) of the copies to the elements from `at` on.
    const auto add = [&](int64_t begin, int64_t count, int64_t at) {
      if (count == 0) return;
      std::vector<int64_t> low(rank, 0), high(rank, 0);
      low[d] = at;
      high[d] = size - at - count;
      const Value copies = b.Reverse(Range(b, x.value(), d, begin, begin + count), {d});
      sum = sum + Expr(b, b.Pad(copies, b.Splat(copies.dtype, 0), low, high, std::vector<int64_t>(rank, 0)));
    };
    add(0, before, border);
    add(before + size, after, size - border - after);
    x = sum;
  }
  SetOutput(ctx, 0, x);
  return OkStatus();
}

// The first version of Reverse, which has a bool for each dimension instead of a list of axes.
Status EmitReverseFlagged(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Value x, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Tensor flags, ctx.static_input(1));
  if (flags.shape() != Shape({x.rank()})) {
    return InvalidArgument("dims must have an entry for each of ", x.rank(), " dimensions, got shape ", flags.shape());
  }
  std::vector<int64_t> dims;
  for (int d = 0; d < x.rank(); ++d) {
    if (flags.data<bool>()[d]) dims.push_back(d);
  }
  ctx.set_output(0, dims.empty() ? x : ctx.builder().Reverse(x, dims));
  return OkStatus();
}

Status EmitRoll(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(Value x, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Tensor shift, ctx.static_input(1));
  TF_ASSIGN_OR_RETURN(const Tensor axis, ctx.static_input(2));
  if (x.rank() < 1) return InvalidArgument("input must be 1-D or higher, got a scalar");
  if (shift.shape() != axis.shape()) {
    return InvalidArgument("shift and axis must have the same size, got shapes ", shift.shape(), " and ", axis.shape());
  }
  TF_ASSIGN_OR_RETURN(const IntVector steps, IntegersOf(shift, "shift"));
  TF_ASSIGN_OR_RETURN(const IntVector axes, IntegersOf(axis, "axis"));
  Builder& b = ctx.builder();
  for (size_t i = 0; i < axes.size(); ++i) {
    TF_ASSIGN_OR_RETURN(const int d, AxisOf(axes[i], x.rank()));
    const int64_t size = x.shape.dim(d);
    if (size == 0) continue;
    const int64_t first = (size - steps[i] % size) % size;  // the element that moves to place 0
    if (first != 0) x = b.Concatenate({Range(b, x, d, first, size), Range(b, x, d, 0, first)}, d);
  }
  ctx.set_output(0, x);
  return OkStatus();
}

// The block sizes, and the paddings or crops, of the spatial dimensions, which begin with dimension 1. The first
// versions of the ops have one block_size for two such dimensions, the others a vector block_shape.
struct Blocks {
  IntVector sizes, around;
  int64_t product = 1;
};

StatusOr<Blocks> BlocksOf(const EmitContext& ctx, const Shape& in) {
  Blocks blocks;
  if (ctx.num_inputs() == 2) {
    if (in.rank() != 4) return InvalidArgument("the input must have rank 4, got shape ", in);
    blocks.sizes.assign(2, ctx.attr<int64_t>("block_size"));
  } else {
    TF_ASSIGN_OR_RETURN(const Tensor sizes, ctx.static_input(1));
    if (sizes.shape().rank() != 1) return InvalidArgument("block_shape must be a vector, got shape ", sizes.shape());
    TF_ASSIGN_OR_RETURN(blocks.sizes, IntegersOf(sizes, "block_shape"));
  }
  const auto rank = static_cast<int64_t>(blocks.sizes.size());
  if (in.rank() < 1 + rank) {
    return InvalidArgument("the input must have rank ", 1 + rank, " or more, got shape ", in);
  }
  TF_ASSIGN_OR_RETURN(const Tensor around, ctx.static_input(ctx.num_inputs() - 1));
  TF_ASSIGN_OR_RETURN(blocks.around, PairsOf(around, rank, "paddings or crops"));
  for (const int64_t size : blocks.sizes) {
    if (size < 1 || __builtin_mul_overflow(blocks.product, size, &blocks.product)) {
      return InvalidArgument("block size ", size, " is out of range");
    }
  }
  return blocks;
}

Status EmitSpaceToBatch(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Value x, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Blocks blocks, BlocksOf(ctx, x.shape));
  const int spatial = static_cast<int>(blocks.sizes.size());
  std::vector<int64_t> low(x.rank(), 0), high(x.rank(), 0), permutation;
  // [batch, cells, block, cells, block, ..., rest] becomes [block, block, ..., batch, cells, cells, ..., rest].
  Shape split({x.shape.dim(0)}), shape({x.shape.dim(0) * blocks.product});
  for (int d = 0; d < spatial; ++d) {
    low[1 + d] = blocks.around[2 * d];
    high[1 + d] = blocks.around[2 * d + 1];
    const int64_t padded = x.shape.dim(1 + d) + low[1 + d] + high[1 + d];
    if (padded % blocks.sizes[d] != 0) {
      return InvalidArgument("the padded size ", padded, " of dimension ", 1 + d, " is not a multiple of block size ",
                             blocks.sizes[d]);
    }
    split.AddDim(padded / blocks.sizes[d]);
    split.AddDim(blocks.sizes[d]);
    shape.AddDim(padded / blocks.sizes[d]);
    permutation.push_back(2 + 2 * d);
  }
  permutation.push_back(0);
  for (int d = 0; d < spatial; ++d) permutation.push_back(1 + 2 * d);
  for (int d = 1 + spatial; d < x.rank(); ++d) {
    permutation.push_back(split.rank());
    split.AddDim(x.shape.dim(d));
    shape.AddDim(x.shape.dim(d));
  }
  Builder& b = ctx.builder();
  const Value padded = b.Pad(x, b.Splat(x.dtype, 0), low, high, std::vector<int64_t>(x.rank(), 0));
  ctx.set_output(0, b.Reshape(b.Transpose(b.Reshape(padded, split), permutation), shape));
  return OkStatus();
}

Status EmitBatchToSpace(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Value x, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Blocks blocks, BlocksOf(ctx, x.shape));
  const int spatial = static_cast<int>(blocks.sizes.size());
  if (x.shape.dim(0) % blocks.product != 0) {
    return InvalidArgument("the batch size of ", x.shape, " is not a multiple of the product of the block sizes, ",
                           blocks.product);
  }
  const int64_t batch = x.shape.dim(0) / blocks.product;
  // [block, block, ..., batch, cells, cells, ..., rest] becomes [batch, cells, block, cells, block, ..., rest].
  Shape split, whole({batch});
  std::vector<int64_t> permutation = {spatial}, starts = {0}, limits = {batch};
  for (int d = 0; d < spatial; ++d) split.AddDim(blocks.sizes[d]);
  split.AddDim(batch);
  for (int d = 0; d < spatial; ++d) {
    const int64_t size = x.shape.dim(1 + d) * blocks.sizes[d];
    const int64_t before = blocks.around[2 * d], after = blocks.around[2 * d + 1];
    if (before > size || after > size - before) {
      return InvalidArgument("crops ", before, " and ", after, " of dimension ", 1 + d, " are out of range for ",
                             x.shape);
    }
    split.AddDim(x.shape.dim(1 + d));
    whole.AddDim(size);
    permutation.push_back(spatial + 1 + d);
    permutation.push_back(d);
    starts.push_back(before);
    limits.push_back(size - after);
  }
  for (int d = 1 + spatial; d < x.rank(); ++d) {
    permutation.push_back(split.rank());
    split.AddDim(x.shape.dim(d));
    whole.AddDim(x.shape.dim(d));
    starts.push_back(0);
    limits.push_back(x.shape.dim(d));
  }
  Builder& b = ctx.builder();
  const Value spread = b.Reshape(b.Transpose(b.Reshape(x, split), permutation), whole);
  ctx.set_output(0, b.Slice(spread, starts, limits, std::vector<int64_t>(x.rank(), 1)));
  return OkStatus();
}

std::string RefuseVectors(const Node& node) {
  return node.attr<std::string>("data_format") == "NCHW_VECT_C" ? "has no emitter for data_format = NCHW_VECT_C" : "";
}

}  // namespace

void RegisterArrayBlocksEmitters(EmitterRegistry& r) {
  r.Add("MirrorPad", {{"T", kTensors}}, EmitMirrorPad).static_inputs = {"paddings"};
  r.Add("MirrorPadGrad", {{"T", kNumbers}}, EmitMirrorPadGrad).static_inputs = {"paddings"};
  r.Add("Reverse", {{"T", kTensors}}, EmitReverseFlagged).static_inputs = {"dims"};
  r.Add("Roll", {{"T", kTensors}}, EmitRoll).static_inputs = {"shift", "axis"};
  r.Add("ReverseSequence", {{"T", kTensors}}, EmitReverseSequence);
  r.Add("SpaceToBatch", {{"T", kTensors}}, EmitSpaceToBatch).static_inputs = {"paddings"};
  r.Add("SpaceToBatchND", {{"T", kTensors}}, EmitSpaceToBatch).static_inputs = {"block_shape", "paddings"};
  r.Add("BatchToSpace", {{"T", kTensors}}, EmitBatchToSpace).static_inputs = {"crops"};
  r.Add("BatchToSpaceND", {{"T", kTensors}}, EmitBatchToSpace).static_inputs = {"block_shape", "crops"};
  r.Add("SpaceToDepth", {{"T", kTensors}}, [](EmitContext& ctx) { return EmitDepth(ctx, true); }).refuse =
      RefuseVectors;
  r.Add("DepthToSpace", {{"T", kTensors}}, [](EmitContext& ctx) { return EmitDepth(ctx, false); }).refuse =
      RefuseVectors;
}

}  // namespace tensorbraid::pjrt
