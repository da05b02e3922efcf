// Kernels that rearrange a tensor by a table of places (MirrorPad, Reverse, Roll, ReverseSequence) or in blocks
// (SpaceToBatch, SpaceToDepth and their inverses).
#include <algorithm>
#include <cstring>

#include "core/text/strings.h"
#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/numbers.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// For each dimension of a tensor and each position along it, the corresponding position along this dimension of another
// tensor.
using Places = std::vector<std::vector<int64_t>>;

// Calls f(at, other) for each element of a tensor of shape `shape`, in order. `at` is the offset of the element, and
// `other` is the offset of the element of a tensor of shape `theirs` that corresponds to it according to `places`.
template <typename F>
void ForEachPlace(const Places& places, const Shape& shape, const Shape& theirs, const F& f) {
  const int rank = shape.rank();
  if (rank == 0) return f(0, 0);
  IntVector strides(rank, 1);
  for (int d = rank - 2; d >= 0; --d) strides[d] = strides[d + 1] * theirs.dim(d + 1);
  const int64_t row = shape.dim(rank - 1);
  const int64_t rows = SizeOf(shape, 0, rank - 1);
  IntVector position(rank, 0);
  int64_t at = 0;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t offset = 0;
    for (int d = 0; d + 1 < rank; ++d) offset += places[d][position[d]] * strides[d];
    for (int64_t i = 0; i < row; ++i) f(at++, offset + places[rank - 1][i]);
    for (int d = rank - 2; d >= 0 && ++position[d] == shape.dim(d); --d) position[d] = 0;
  }
}

// Passes on an input without elements. One of its dimensions is 0, but the others may have any size, so no table of
// places is computed for it.
Status PassEmptyInput(KernelContext& ctx) {
  ctx.set_output(0, ctx.TakeInput(0));
  return OkStatus();
}

// Sets output 0 to a tensor of shape `shape` whose elements are copied from their places in input 0.
Status CopyFromPlaces(KernelContext& ctx, const Places& places, const Shape& shape) {
  const Tensor& in = ctx.input(0);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    const E* from = Elements<E>(in);
    E* to = MutableElements<E>(*out);
    ForEachPlace(places, shape, in.shape(), [&](int64_t at, int64_t other) { to[at] = from[other]; });
    return OkStatus();
  });
}

// The matrix [rows, 2] of paddings or crops, row by row.
StatusOr<IntVector> PairsOf(const Tensor& t, int64_t rows, const char* what) {
  if (t.shape() != Shape({rows, 2})) {
    return InvalidArgument(what, " must have shape [", rows, ",2], got ", t.shape());
  }
  TF_ASSIGN_OR_RETURN(const Tensor flat, t.Reshaped({2 * rows}));
  TF_ASSIGN_OR_RETURN(IntVector pairs, IntegersOf(flat, what));
  for (int64_t v : pairs) {
    if (v < 0) return InvalidArgument(what, " must not be negative, got ", t.ToString());
  }
  return pairs;
}

// For each position of the padded tensor, the position of the same element in the tensor without padding, whose shape
// is `inner`. Sets `*outer` to the shape with padding.
StatusOr<Places> MirrorPlaces(const Node& node, const Shape& inner, const IntVector& around, Shape* outer) {
  const bool reflect = node.attr<std::string>("mode") == "REFLECT";  // does not repeat the border; SYMMETRIC does
  Places places(inner.rank());
  for (int d = 0; d < inner.rank(); ++d) {
    const int64_t size = inner.dim(d), before = around[2 * d], after = around[2 * d + 1];
    const int64_t most = std::max<int64_t>(reflect ? size - 1 : size, 0);
    if (before > most || after > most) {
      return InvalidArgument("paddings ", before, " and ", after, " of dimension ", d, " must be at most ", most,
                             " for ", inner);
    }
    int64_t total;
    if (__builtin_add_overflow(before, after, &total) || __builtin_add_overflow(total, size, &total)) {
      return InvalidArgument("dimension ", d, " of ", inner, " is too large to pad");
    }
    outer->AddDim(total);
    if (inner.num_elements() == 0) continue;  // this dimension may be huge, and no element moves
    for (int64_t i = -before; i < size + after; ++i) {
      const int64_t behind = i - size;
      places[d].push_back(i < 0 ? -i - (reflect ? 0 : 1) : i < size ? i : size - 1 - behind - (reflect ? 1 : 0));
    }
  }
  return places;
}

Status MirrorPad(KernelContext& ctx) {
  const Shape& in = ctx.input(0).shape();
  TF_ASSIGN_OR_RETURN(const IntVector around, PairsOf(ctx.input(1), in.rank(), "paddings"));
  Shape shape;
  TF_ASSIGN_OR_RETURN(const Places places, MirrorPlaces(ctx.node(), in, around, &shape));
  return CopyFromPlaces(ctx, places, shape);
}

// Adds element i of `from` to element places[i] of `to`, for all i.
template <typename T>
void AddToPlaces(const Tensor& from, const std::vector<int64_t>& places, Tensor* to) {
  const T* const add = from.data<T>().data();
  T* const sums = to->inplace_data<T>().data();
  for (size_t i = 0; i < places.size(); ++i) {
    T& sum = sums[places[i]];
    if constexpr (kIsHalf<T>) {
      sum = T(float(sum) + float(add[i]));
    } else {
      sum = static_cast<T>(sum + add[i]);
    }
  }
}

// The gradient of MirrorPad: sums the gradients of all copies of each element.
Status UnpadGradient(KernelContext& ctx, void (*add_to_places)(const Tensor&, const std::vector<int64_t>&, Tensor*)) {
  const Tensor& in = ctx.input(0);
  TF_ASSIGN_OR_RETURN(const IntVector around, PairsOf(ctx.input(1), in.shape().rank(), "paddings"));
  Shape inner, outer;
  for (int d = 0; d < in.shape().rank(); ++d) {
    const int64_t total = in.shape().dim(d);
    if (around[2 * d] > total || around[2 * d + 1] > total - around[2 * d]) {
      return InvalidArgument("paddings ", ctx.input(1).ToString(), " exceed the size of dimension ", d, " of ",
                             in.shape());
    }
    inner.AddDim(total - around[2 * d] - around[2 * d + 1]);
  }
  TF_ASSIGN_OR_RETURN(const Places places, MirrorPlaces(ctx.node(), inner, around, &outer));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, inner));
  std::memset(out->inplace_raw_data(), 0, out->num_bytes());
  if (out->num_elements() == 0 || in.num_elements() == 0) return OkStatus();
  std::vector<int64_t> targets(in.num_elements());
  ForEachPlace(places, in.shape(), inner, [&](int64_t at, int64_t other) { targets[at] = other; });
  add_to_places(in, targets, out);
  return OkStatus();
}

template <typename T>
Status MirrorPadGrad(KernelContext& ctx) {
  return UnpadGradient(ctx, AddToPlaces<T>);
}

// The first version of Reverse, which has a bool for each dimension instead of a list of axes.
Status ReverseFlagged(KernelContext& ctx) {
  const Shape& in = ctx.input(0).shape();
  if (ctx.input(1).shape() != Shape({in.rank()})) {
    return InvalidArgument("dims must have an entry for each of ", in.rank(), " dimensions, got shape ",
                           ctx.input(1).shape());
  }
  if (ctx.input(0).num_elements() == 0) return PassEmptyInput(ctx);
  Places places(in.rank());
  for (int d = 0; d < in.rank(); ++d) {
    const bool reversed = ctx.input(1).data<bool>()[d];
    for (int64_t i = 0; i < in.dim(d); ++i) places[d].push_back(reversed ? in.dim(d) - 1 - i : i);
  }
  return CopyFromPlaces(ctx, places, in);
}

Status Roll(KernelContext& ctx) {
  const Shape& in = ctx.input(0).shape();
  if (in.rank() < 1) return InvalidArgument("input must be 1-D or higher, got a scalar");
  for (const int i : {1, 2}) {
    if (ctx.input(i).shape().rank() > 1) {
      return InvalidArgument(i == 1 ? "shift" : "axis", " must be a scalar or a 1-D vector, got shape ",
                             ctx.input(i).shape());
    }
  }
  if (ctx.input(1).shape() != ctx.input(2).shape()) {
    return InvalidArgument("shift and axis must have the same size, got shapes ", ctx.input(1).shape(), " and ",
                           ctx.input(2).shape());
  }
  TF_ASSIGN_OR_RETURN(const IntVector shift, IntegersOf(ctx.input(1), "shift"));
  TF_ASSIGN_OR_RETURN(const IntVector axes, IntegersOf(ctx.input(2), "axis"));
  IntVector total(in.rank(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    TF_ASSIGN_OR_RETURN(const int axis, AxisOf(axes[i], in.rank()));
    const int64_t size = std::max<int64_t>(in.dim(axis), 1);
    const int64_t step = shift[i] % size + (shift[i] % size < 0 ? size : 0);
    total[axis] = total[axis] >= size - step ? total[axis] - (size - step) : total[axis] + step;
  }
  if (ctx.input(0).num_elements() == 0) return PassEmptyInput(ctx);
  Places places(in.rank());
  for (int d = 0; d < in.rank(); ++d) {
    for (int64_t i = 0; i < in.dim(d); ++i) places[d].push_back((i - total[d] + in.dim(d)) % in.dim(d));
  }
  return CopyFromPlaces(ctx, places, in);
}

// Reverses the first seq_lengths[i] elements of sequence i.
Status ReverseSequence(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  const Shape& shape = in.shape();
  const int rank = shape.rank();
  const int64_t seq = ctx.node().attr<int64_t>("seq_dim"), batch = ctx.node().attr<int64_t>("batch_dim");
  if (ctx.input(1).shape().rank() != 1) {
    return InvalidArgument("seq_lengths must be a vector, got shape ", ctx.input(1).shape());
  }
  if (seq == batch) return InvalidArgument("batch_dim == seq_dim, both are ", seq);
  if (seq < 0 || seq >= rank) return InvalidArgument("seq_dim ", seq, " is out of range for ", shape);
  if (batch < 0 || batch >= rank) return InvalidArgument("batch_dim ", batch, " is out of range for ", shape);
  TF_ASSIGN_OR_RETURN(const IntVector lengths, IntegersOf(ctx.input(1), "seq_lengths"));
  const int s = static_cast<int>(seq), b = static_cast<int>(batch);
  if (static_cast<int64_t>(lengths.size()) != shape.dim(b)) {
    return InvalidArgument("there must be one length for each of ", shape.dim(b), " sequences, got ", lengths.size());
  }
  for (int64_t length : lengths) {
    if (length < 0 || length > shape.dim(s)) return LengthOutOfRange(length, shape.dim(s));
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  const int low = std::min(s, b), high = std::max(s, b);
  const int64_t outer = SizeOf(shape, 0, low), first = shape.dim(low), middle = SizeOf(shape, low + 1, high),
                second = shape.dim(high), inner = SizeOf(shape, high + 1, rank);
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    const E* from = Elements<E>(in);
    E* to = MutableElements<E>(*out);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < first; ++i) {
        for (int64_t m = 0; m < middle; ++m) {
          for (int64_t j = 0; j < second; ++j, to += inner) {
            const int64_t length = lengths[s < b ? j : i];
            const int64_t at = s < b ? i : j;
            const int64_t source = at < length ? length - 1 - at : at;
            const int64_t x = s < b ? source : i, y = s < b ? j : source;
            CopyElements(from + (((o * first + x) * middle + m) * second + y) * inner, inner, to);
          }
        }
      }
    }
    return OkStatus();
  });
}

// The block sizes and the pairs of paddings (or crops) of the spatial dimensions. They come from either version of
// SpaceToBatch and BatchToSpace: the older one has a single block_size, the ND version a vector block_shape.
struct Blocks {
  IntVector sizes;
  IntVector around;
  int64_t product = 1;
};

StatusOr<Blocks> BlocksOf(KernelContext& ctx) {
  const Shape& in = ctx.input(0).shape();
  Blocks b;
  if (ctx.num_inputs() == 2) {  // two spatial dimensions, one size for both
    if (in.rank() != 4) return InvalidArgument("the input must have rank 4, got shape ", in);
    b.sizes.assign(2, ctx.node().attr<int64_t>("block_size"));
  } else {
    if (ctx.input(1).shape().rank() != 1) {
      return InvalidArgument("block_shape must be a vector, got shape ", ctx.input(1).shape());
    }
    TF_ASSIGN_OR_RETURN(b.sizes, IntegersOf(ctx.input(1), "block_shape"));
  }
  const auto rank = static_cast<int64_t>(b.sizes.size());
  if (in.rank() < 1 + rank) {
    return InvalidArgument("the input must have rank ", 1 + rank, " or more, got shape ", in);
  }
  TF_ASSIGN_OR_RETURN(b.around, PairsOf(ctx.input(ctx.num_inputs() - 1), rank, "paddings or crops"));
  for (int64_t size : b.sizes) {
    if (size < 1) return InvalidArgument("block sizes must be 1 or more, got ", size);
    if (__builtin_mul_overflow(b.product, size, &b.product))
      return InvalidArgument("the product of the block sizes is too large");
  }
  return b;
}

// Calls f(space_row, batch_row) for each row of the batch-side tensor [block * batch, grid..., rest...], in order. A
// row is the elements of rest... `space_row` is the number of the same row in the tensor [batch, space..., rest...], or
// -1 for a row of padding. `grid` has the number of blocks in each spatial dimension.
template <typename F>
void ForEachBlockRow(const Blocks& b, int64_t batch, const Shape& grid, const Shape& space, const F& f) {
  const int rank = static_cast<int>(b.sizes.size());
  const int64_t cells = SizeOf(grid, 0, rank);
  IntVector offset(rank, 0);
  int64_t row = 0;
  for (int64_t block = 0; block < b.product; ++block) {
    for (int64_t n = 0; n < batch; ++n) {
      IntVector cell(rank, 0);
      for (int64_t c = 0; c < cells; ++c, ++row) {
        int64_t at = n;
        for (int d = 0; d < rank && at >= 0; ++d) {
          const int64_t x = cell[d] * b.sizes[d] + offset[d] - b.around[2 * d];
          at = x < 0 || x >= space.dim(d) ? -1 : at * space.dim(d) + x;
        }
        f(at, row);
        for (int d = rank - 1; d >= 0 && ++cell[d] == grid.dim(d); --d) cell[d] = 0;
      }
    }
    for (int d = rank - 1; d >= 0 && ++offset[d] == b.sizes[d]; --d) offset[d] = 0;
  }
}

Status SpaceToBatch(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Blocks b, BlocksOf(ctx));
  const Tensor& in = ctx.input(0);
  const int rank = static_cast<int>(b.sizes.size());
  Shape grid, space, shape = in.shape();
  int64_t batch;
  if (__builtin_mul_overflow(in.shape().dim(0), b.product, &batch)) {
    return InvalidArgument("block sizes are too large for ", in.shape());
  }
  shape.set_dim(0, batch);
  for (int d = 0; d < rank; ++d) {
    int64_t padded;
    if (__builtin_add_overflow(b.around[2 * d], b.around[2 * d + 1], &padded) ||
        __builtin_add_overflow(padded, in.shape().dim(1 + d), &padded)) {
      return InvalidArgument("paddings are out of range");
    }
    if (padded % b.sizes[d] != 0) {
      return InvalidArgument("the padded size ", padded, " of dimension ", 1 + d, " is not a multiple of block size ",
                             b.sizes[d]);
    }
    grid.AddDim(padded / b.sizes[d]);
    space.AddDim(in.shape().dim(1 + d));
    shape.set_dim(1 + d, grid.dim(d));
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  const int64_t rest = SizeOf(shape, 1 + rank, shape.rank());
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    const E* from = Elements<E>(in);
    E* to = MutableElements<E>(*out);
    ForEachBlockRow(b, in.shape().dim(0), grid, space, [&](int64_t space_row, int64_t row) {
      if (space_row < 0) {
        RepeatElement(ZeroElement<E>(), rest, to + row * rest);
      } else {
        CopyElements(from + space_row * rest, rest, to + row * rest);
      }
    });
    return OkStatus();
  });
}

Status BatchToSpace(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Blocks b, BlocksOf(ctx));
  const Tensor& in = ctx.input(0);
  const int rank = static_cast<int>(b.sizes.size());
  if (in.shape().dim(0) % b.product != 0) {
    return InvalidArgument("the batch size of ", in.shape(), " is not a multiple of the product of the block sizes, ",
                           b.product);
  }
  Shape grid, space, shape = in.shape();
  shape.set_dim(0, in.shape().dim(0) / b.product);
  for (int d = 0; d < rank; ++d) {
    int64_t size;
    if (__builtin_mul_overflow(in.shape().dim(1 + d), b.sizes[d], &size) || b.around[2 * d] > size ||
        b.around[2 * d + 1] > size - b.around[2 * d]) {
      return InvalidArgument("crops ", b.around[2 * d], " and ", b.around[2 * d + 1], " of dimension ", 1 + d,
                             " are out of range for ", in.shape());
    }
    grid.AddDim(in.shape().dim(1 + d));
    space.AddDim(size - b.around[2 * d] - b.around[2 * d + 1]);
    shape.set_dim(1 + d, space.dim(d));
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  const int64_t rest = SizeOf(shape, 1 + rank, shape.rank());
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    const E* from = Elements<E>(in);
    E* to = MutableElements<E>(*out);
    ForEachBlockRow(b, shape.dim(0), grid, space, [&](int64_t space_row, int64_t row) {
      if (space_row >= 0) CopyElements(from + row * rest, rest, to + space_row * rest);
    });
    return OkStatus();
  });
}

// SpaceToDepth moves blocks of space to the depth dimension (row by row within a block); DepthToSpace moves them back.
template <bool kToDepth>
Status ExchangeDepth(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  const auto& format = ctx.node().attr<std::string>("data_format");
  const int64_t block = ctx.node().attr<int64_t>("block_size");
  if (format == "NCHW_VECT_C") return InvalidArgument("data format ", format, " is not supported on this device");
  if (in.shape().rank() != 4) return InvalidArgument("the input must have rank 4, got shape ", in.shape());
  const bool last = format == "NHWC";
  const int h = last ? 1 : 2, w = h + 1, c = last ? 3 : 1;
  Shape shape = in.shape();
  int64_t area, height, width, depth;
  if (__builtin_mul_overflow(block, block, &area)) return InvalidArgument("block size ", block, " is too large");
  if constexpr (kToDepth) {
    if (shape.dim(h) % block != 0 || shape.dim(w) % block != 0) {
      return InvalidArgument("height and width of ", shape, " are not multiples of block size ", block);
    }
    height = shape.dim(h) / block;
    width = shape.dim(w) / block;
    depth = shape.dim(c);
    int64_t deep;
    if (__builtin_mul_overflow(depth, area, &deep)) return InvalidArgument("block size ", block, " is too large");
    shape.set_dim(c, deep);
    shape.set_dim(h, height);
    shape.set_dim(w, width);
  } else {
    if (shape.dim(c) % area != 0)
      return InvalidArgument("the depth of ", shape, " is not a multiple of block size ", block, " squared");
    height = shape.dim(h);
    width = shape.dim(w);
    depth = shape.dim(c) / area;
    int64_t tall, wide;
    if (__builtin_mul_overflow(height, block, &tall) || __builtin_mul_overflow(width, block, &wide)) {
      return InvalidArgument("block size ", block, " is too large");
    }
    shape.set_dim(c, depth);
    shape.set_dim(h, tall);
    shape.set_dim(w, wide);
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  const int64_t batch = shape.dim(0);
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    const E* from = Elements<E>(in);
    E* to = MutableElements<E>(*out);
    const auto move = [&](int64_t deep, int64_t flat) { kToDepth ? to[deep] = from[flat] : to[flat] = from[deep]; };
    for (int64_t n = 0; n < batch; ++n) {
      for (int64_t y = 0; y < height * block; ++y) {
        for (int64_t x = 0; x < width * block; ++x) {
          const int64_t cell = y % block * block + x % block;
          for (int64_t d = 0; d < depth; ++d) {
            if (last) {
              move(((n * height + y / block) * width + x / block) * depth * area + cell * depth + d,
                   ((n * height * block + y) * width * block + x) * depth + d);
            } else {
              move(((n * area * depth + cell * depth + d) * height + y / block) * width + x / block,
                   ((n * depth + d) * height * block + y) * width * block + x);
            }
          }
        }
      }
    }
    return OkStatus();
  });
}

}  // namespace

void RegisterArrayBlocksKernels(KernelRegistry& r) {
  r.Add("MirrorPad", {}, MirrorPad);
  ForEachNumberType([&]<typename T>() { r.Add("MirrorPadGrad", {{"T", {DTypeOf<T>::value}}}, MirrorPadGrad<T>); });
  r.Add("Reverse", {}, ReverseFlagged);
  r.Add("Roll", {}, Roll);
  r.Add("ReverseSequence", {}, ReverseSequence);
  r.Add("SpaceToBatch", {}, SpaceToBatch);
  r.Add("SpaceToBatchND", {}, SpaceToBatch);
  r.Add("BatchToSpace", {}, BatchToSpace);
  r.Add("BatchToSpaceND", {}, BatchToSpace);
  r.Add("SpaceToDepth", {}, ExchangeDepth</*kToDepth=*/true>);
  r.Add("DepthToSpace", {}, ExchangeDepth</*kToDepth=*/false>);
}

}  // namespace tensorbraid::cpu
