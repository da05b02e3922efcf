// Kernels that join tensors along an axis (Concat, Pack), or split them (Split, Unpack).
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Joins inputs [first, last) into *out, which has `outer` rows. Each row consists of one block of each input, in order;
// blocks[i] is the number of elements in a block of input first + i.
template <typename E>
void JoinBlocks(KernelContext& ctx, int first, int last, int64_t outer, const IntVector& blocks, Tensor* out) {
  int64_t total = 0;
  for (int64_t b : blocks) total += b;
  E* const to = MutableElements<E>(*out);
  ctx.pool().ParallelFor(outer, 0.1 * static_cast<double>(total * static_cast<int64_t>(sizeof(E))) + 10,
                         [&](int64_t begin, int64_t end) {
                           E* at = to + begin * total;
                           for (int64_t o = begin; o < end; ++o) {
                             for (int i = first; i < last; ++i) {
                               const int64_t block = blocks[i - first];
                               CopyElements(Elements<E>(ctx.input(i)) + o * block, block, at);
                               at += block;
                             }
                           }
                         });
}

Status ConcatInputs(KernelContext& ctx, int first, int last, int axis_input) {
  const Shape& like = ctx.input(first).shape();
  TF_ASSIGN_OR_RETURN(const int64_t wanted, IntegerOf(ctx.input(axis_input), "the axis"));
  if (like.rank() == 0) return InvalidArgument("scalars cannot be concatenated");
  TF_ASSIGN_OR_RETURN(const int axis, AxisOf(wanted, like.rank()));
  Shape shape = like;
  int64_t joined = 0;
  IntVector blocks;
  for (int i = first; i < last; ++i) {
    Shape in = ctx.input(i).shape();
    blocks.push_back(in.rank() == like.rank() ? SizeOf(in, axis, in.rank()) : 0);
    if (in.rank() == like.rank()) {
      if (__builtin_add_overflow(joined, in.dim(axis), &joined)) {
        return InvalidArgument("the sum of the sizes of dimension ", axis, " is too large, with ", in);
      }
      in.set_dim(axis, like.dim(axis));
    }
    if (in != like) {
      return InvalidArgument("shapes ", like, " and ", ctx.input(i).shape(), " cannot be concatenated along dimension ",
                             axis);
    }
  }
  shape.set_dim(axis, joined);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    JoinBlocks<E>(ctx, first, last, SizeOf(shape, 0, axis), blocks, out);
    return OkStatus();
  });
}

Status Concat(KernelContext& ctx) { return ConcatInputs(ctx, 1, ctx.num_inputs(), 0); }
Status ConcatV2(KernelContext& ctx) { return ConcatInputs(ctx, 0, ctx.num_inputs() - 1, ctx.num_inputs() - 1); }

// The sizes in a shape tensor as text, such as "[2 3 5]".
template <typename I>
std::string SizesOf(const Tensor& shape) {
  std::vector<std::string> sizes;
  for (const I size : shape.data<I>()) sizes.push_back(StrCat(size));
  return StrCat("[", StrJoin(sizes, " "), "]");
}

template <typename I>
Status ConcatOffset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const int64_t wanted, IntegerOf(ctx.input(0), "the axis"));
  const Tensor& like = ctx.input(1);
  const int64_t rank = like.num_elements();
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    const Tensor& shape = ctx.input(i + 1);
    if (shape.shape().rank() != 1) return InvalidArgument("input ", i, " should be a vector, got ", shape.ToString());
    if (shape.num_elements() != rank) {
      return InvalidArgument("input ", i, " should contain ", rank, " elements, as input 0 does, got ",
                             shape.ToString());
    }
  }
  if (wanted < -rank || wanted >= rank) return InvalidArgument("Concat dim is out of range: ", wanted, " vs. ", rank);
  const auto axis = static_cast<int>(wanted < 0 ? wanted + rank : wanted);
  int64_t offset = 0;
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    const Tensor& shape = ctx.input(i + 1);
    for (int d = 0; d < rank; ++d) {
      if (d != axis && shape.data<I>()[d] != like.data<I>()[d]) {
        return InvalidArgument("All dimensions except ", axis, " must match. Input ", i, " has shape ",
                               SizesOf<I>(shape), " and doesn't match input 0 with shape ", SizesOf<I>(like), ".");
      }
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(i, shape.shape()));
    for (I& v : out->inplace_data<I>()) v = 0;
    out->inplace_data<I>()[axis] = static_cast<I>(offset);
    if (__builtin_add_overflow(offset, int64_t{shape.data<I>()[axis]}, &offset)) {
      return InvalidArgument("the sum of the sizes of dimension ", axis, " is too large, with ", shape.ToString());
    }
  }
  return OkStatus();
}

Status Pack(KernelContext& ctx) {
  const Shape& in = ctx.input(0).shape();
  TF_ASSIGN_OR_RETURN(const int axis, AxisOf(ctx.node().attr<int64_t>("axis"), in.rank() + 1));
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    if (ctx.input(i).shape() != in) {
      return InvalidArgument("shapes ", in, " and ", ctx.input(i).shape(), " differ and cannot be packed");
    }
  }
  Shape shape;
  for (int i = 0; i <= in.rank(); ++i) {
    if (i == axis) shape.AddDim(ctx.num_inputs());
    if (i < in.rank()) shape.AddDim(in.dim(i));
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  const IntVector blocks(ctx.num_inputs(), SizeOf(in, axis, in.rank()));
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    JoinBlocks<E>(ctx, 0, ctx.num_inputs(), SizeOf(in, 0, axis), blocks, out);
    return OkStatus();
  });
}

// Splits `in` along `axis` into outputs of the given sizes and reshapes each to `part_shape(size)`. Along dimension 0
// the outputs share the buffer of `in`.
template <typename F>
Status SplitInput(KernelContext& ctx, const Tensor& in, int axis, const IntVector& sizes, const F& part_shape) {
  int64_t at = 0;
  if (axis == 0) {
    for (int i = 0; i < ctx.num_outputs(); ++i) {
      TF_ASSIGN_OR_RETURN(Tensor part, in.Slice(at, at + sizes[i]).Reshaped(part_shape(sizes[i])));
      ctx.set_output(i, std::move(part));
      at += sizes[i];
    }
    return OkStatus();
  }
  const int64_t outer = SizeOf(in.shape(), 0, axis);
  const int64_t inner = SizeOf(in.shape(), axis + 1, in.shape().rank());
  const int64_t row = in.shape().dim(axis) * inner;
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(i, part_shape(sizes[i])));
    if (out->num_elements() == 0) continue;
    const int64_t block = sizes[i] * inner;
    TF_RETURN_IF_ERROR(ForElementsOf(out->dtype(), [&]<typename E>() {
      const E* from = Elements<E>(in) + at * inner;
      E* to = MutableElements<E>(*out);
      for (int64_t o = 0; o < outer; ++o) CopyElements(from + o * row, block, to + o * block);
      return OkStatus();
    }));
    at += sizes[i];
  }
  return OkStatus();
}

Status SplitKeepingRank(KernelContext& ctx, const Tensor& in, int axis, const IntVector& sizes) {
  if (sizes.size() == 1) {
    ctx.set_output(0, in);
    return OkStatus();
  }
  return SplitInput(ctx, in, axis, sizes, [&](int64_t size) {
    Shape part = in.shape();
    part.set_dim(axis, size);
    return part;
  });
}

Status Split(KernelContext& ctx) {
  const Tensor in = ctx.TakeInput(1);
  TF_ASSIGN_OR_RETURN(const int64_t wanted, IntegerOf(ctx.input(0), "the axis"));
  TF_ASSIGN_OR_RETURN(const int axis, AxisOf(wanted, in.shape().rank()));
  const int64_t num = ctx.num_outputs();
  if (in.shape().dim(axis) % num != 0) {
    return InvalidArgument("dimension ", axis, " of ", in.shape(), " cannot be split into ", num, " equal parts");
  }
  return SplitKeepingRank(ctx, in, axis, IntVector(num, in.shape().dim(axis) / num));
}

Status SplitV(KernelContext& ctx) {
  const Tensor in = ctx.TakeInput(0);
  TF_ASSIGN_OR_RETURN(IntVector sizes, IntegersOf(ctx.input(1), "the sizes"));
  if (ctx.input(2).num_elements() != 1) {
    return InvalidArgument("the axis must have exactly one element, got shape ", ctx.input(2).shape());
  }
  TF_ASSIGN_OR_RETURN(const int64_t wanted, IntegerOf(ctx.input(2), "the axis"));
  TF_ASSIGN_OR_RETURN(const int axis, AxisOf(wanted, in.shape().rank()));
  if (static_cast<int>(sizes.size()) != ctx.num_outputs()) {
    return InvalidArgument("there must be ", ctx.num_outputs(), " sizes, got ", sizes.size());
  }
  const int64_t have = in.shape().dim(axis);
  int64_t total = 0;
  int64_t* inferred = nullptr;
  for (int64_t& size : sizes) {
    if (size == -1 && inferred == nullptr) {
      inferred = &size;
    } else if (size < 0 || size > have) {
      return InvalidArgument("a size of ", size, " is out of range for dimension ", axis, " of ", in.shape());
    } else {
      total += size;
    }
  }
  if (inferred != nullptr && total <= have) {
    *inferred = have - total;
    total = have;
  }
  if (total != have) {
    return InvalidArgument("the sizes add up to ", total, ", but dimension ", axis, " of ", in.shape(), " has size ",
                           have);
  }
  return SplitKeepingRank(ctx, in, axis, sizes);
}

Status Unpack(KernelContext& ctx) {
  const Tensor in = ctx.TakeInput(0);
  TF_ASSIGN_OR_RETURN(const int axis, AxisOf(ctx.node().attr<int64_t>("axis"), in.shape().rank()));
  if (in.shape().dim(axis) != ctx.num_outputs()) {
    return InvalidArgument("cannot unpack dimension ", axis, " of ", in.shape(), " into ", ctx.num_outputs(),
                           " tensors");
  }
  return SplitInput(ctx, in, axis, IntVector(ctx.num_outputs(), 1), [&](int64_t) {
    Shape part;
    for (int d = 0; d < in.shape().rank(); ++d) {
      if (d != axis) part.AddDim(in.shape().dim(d));
    }
    return part;
  });
}

}  // namespace

void RegisterArrayJoinKernels(KernelRegistry& r) {
  r.Add("Concat", {}, Concat);
  r.Add("ConcatV2", {}, ConcatV2);
  r.Add("ConcatOffset", {{"shape_type", {kInt32}}}, ConcatOffset<int32_t>);
  r.Add("ConcatOffset", {{"shape_type", {kInt64}}}, ConcatOffset<int64_t>);
  r.Add("Pack", {}, Pack);
  r.Add("Split", {}, Split);
  r.Add("SplitV", {}, SplitV);
  r.Add("Unpack", {}, Unpack);
}

}  // namespace tensorbraid::cpu
