// Kernels that change or return the shape of a tensor, fill or broadcast to a given shape, or turn the indices of
// elements into positions in a shape (UnravelIndex).
#include <numeric>

#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/list/tensor_list.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Sets output 0 to input 0 with another shape. They share the buffer.
Status Reshaped(KernelContext& ctx, const Shape& shape) {
  TF_ASSIGN_OR_RETURN(Tensor out, ctx.TakeInput(0).Reshaped(shape));
  ctx.set_output(0, std::move(out));
  return OkStatus();
}

Status Reshape(KernelContext& ctx) {
  const int64_t elements = ctx.input(0).num_elements();
  TF_ASSIGN_OR_RETURN(IntVector sizes, IntegersOf(ctx.input(1), "the shape"));
  if (ctx.input(1).shape().rank() != 1) {
    return InvalidArgument("the shape must be a vector, got shape ", ctx.input(1).shape());
  }
  int64_t known = 1;
  int64_t* inferred = nullptr;
  for (int64_t& size : sizes) {
    if (size == -1 && inferred == nullptr) {
      inferred = &size;
    } else if (size < 0) {
      return InvalidArgument("sizes must not be negative (one may be -1), got ", ctx.input(1).ToString());
    } else if (__builtin_mul_overflow(known, size, &known)) {
      return InvalidArgument("shape ", ctx.input(1).ToString(), " has too many elements");
    }
  }
  if (inferred != nullptr) {
    if (known == 0 ? elements != 0 : elements % known != 0) {
      return InvalidArgument("cannot reshape ", ctx.input(0).shape(), " to ", ctx.input(1).ToString(),
                             ": the requested shape requires a multiple of ", known, " values, but the input has ",
                             elements);
    }
    if (known != 0) {
      *inferred = elements / known;
    } else {
      // Any size is valid. Like TensorFlow, computes the size as if the dimensions of size 0 were absent.
      int64_t have = 1, named = 1;
      for (int64_t d : ctx.input(0).shape().dims()) have *= d == 0 ? 1 : d;
      for (int64_t d : sizes) {
        if (d > 0 && __builtin_mul_overflow(named, d, &named)) {
          return InvalidArgument("shape ", ctx.input(1).ToString(), " has too many elements");
        }
      }
      if (have % named != 0) {
        return InvalidArgument("cannot reshape ", ctx.input(0).shape(), " to ", ctx.input(1).ToString(),
                               ": without dimensions of size 0, ", have, " is not a multiple of ", named);
      }
      *inferred = have / named;
    }
  } else if (known != elements) {
    return InvalidArgument("cannot reshape ", ctx.input(0).shape(), " to ", ctx.input(1).ToString(),
                           ": Input to reshape is a tensor with ", elements, " values, but the requested shape has ",
                           known);
  }
  return Reshaped(ctx, Shape(std::span<const int64_t>(sizes.data(), sizes.size())));
}

Status ExpandDims(KernelContext& ctx) {
  const Shape in = ctx.input(0).shape();
  TF_ASSIGN_OR_RETURN(const int64_t dim, IntegerOf(ctx.input(1), "the axis"));
  TF_ASSIGN_OR_RETURN(const int axis, AxisOf(dim, in.rank() + 1));
  Shape out;
  for (int i = 0; i <= in.rank(); ++i) {
    if (i == axis) out.AddDim(1);
    if (i < in.rank()) out.AddDim(in.dim(i));
  }
  return Reshaped(ctx, out);
}

Status Squeeze(KernelContext& ctx) {
  const Shape in = ctx.input(0).shape();
  const auto& axes = ctx.node().attr<std::vector<int64_t>>("squeeze_dims");
  uint64_t named = 0;  // bit d is set if squeeze_dims has dimension d
  for (int64_t a : axes) {
    TF_ASSIGN_OR_RETURN(const int axis, AxisOf(a, in.rank()));
    if (in.dim(axis) != 1) return InvalidArgument("dimension ", axis, " of ", in, " does not have size 1");
    if (axis >= 64)
      return Unimplemented("cannot squeeze dimension ", axis, ": only the first 64 dimensions are supported");
    named |= uint64_t{1} << axis;
  }
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    if (axes.empty() ? in.dim(i) != 1 : (i >= 64 || (named >> i & 1) == 0)) out.AddDim(in.dim(i));
  }
  return Reshaped(ctx, out);
}

StatusOr<Tensor> IntegerTensor(DType dtype, const Shape& shape, std::span<const int64_t> values) {
  TF_ASSIGN_OR_RETURN(Tensor t, Tensor::Create(dtype, shape));
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == kInt64) {
      t.inplace_data<int64_t>()[i] = values[i];
    } else if (values[i] > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("a size of ", values[i], " does not fit in int32; set out_type to int64");
    } else {
      t.inplace_data<int32_t>()[i] = static_cast<int32_t>(values[i]);
    }
  }
  return t;
}

Status ShapeOp(KernelContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    const Shape& in = ctx.input(i).shape();
    TF_ASSIGN_OR_RETURN(Tensor t, IntegerTensor(ctx.node().output_type(i), {in.rank()}, in.dims()));
    ctx.set_output(i, std::move(t));
  }
  return OkStatus();
}

Status Size(KernelContext& ctx) {
  const int64_t n = ctx.input(0).num_elements();
  TF_ASSIGN_OR_RETURN(Tensor t, IntegerTensor(ctx.node().output_type(0), {}, {&n, 1}));
  ctx.set_output(0, std::move(t));
  return OkStatus();
}

Status Rank(KernelContext& ctx) {
  ctx.set_output(0, Tensor::Scalar<int32_t>(ctx.input(0).shape().rank()));
  return OkStatus();
}

template <typename E>
void FillElements(ThreadPool& pool, E value, Tensor* out) {
  E* to = MutableElements<E>(*out);
  pool.ParallelFor(out->num_elements(), 0.1 * sizeof(E),
                   [&](int64_t begin, int64_t end) { RepeatElement(value, end - begin, to + begin); });
}

Status Fill(KernelContext& ctx) {
  const Tensor value = ctx.input(1);
  if (value.num_elements() != 1) return InvalidArgument("the value must be a scalar, got shape ", value.shape());
  TF_ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(ctx.input(0), "the sizes"));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  return ForElementsOf(value.dtype(), [&]<typename E>() {
    FillElements<E>(ctx.pool(), *Elements<E>(value), out);
    return OkStatus();
  });
}

Status ZerosLike(KernelContext& ctx) {
  if (ctx.input(0).dtype() == DType::kVariant) return VariantZerosLike(ctx);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocateOutput({0}, 0, ctx.input(0).shape()));
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    FillElements<E>(ctx.pool(), ZeroElement<E>(), out);
    return OkStatus();
  });
}

template <typename T>
Status OnesLike(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocateOutput({0}, 0, ctx.input(0).shape()));
  FillElements<T>(ctx.pool(), T(1.0F), out);
  return OkStatus();
}

// The strides with which an input of shape `in` is read to broadcast it to `out`, one for each dimension of `out`. A
// stride is 0 where the input repeats.
StatusOr<IntVector> BroadcastStrides(const Shape& in, const Shape& out) {
  if (in.rank() > out.rank()) return InvalidArgument("shape ", in, " does not broadcast to ", out);
  IntVector strides(out.rank(), 0);
  int64_t stride = 1;
  for (int i = in.rank() - 1; i >= 0; --i) {
    const int o = i + out.rank() - in.rank();
    if (in.dim(i) != 1) {
      if (in.dim(i) != out.dim(o)) return InvalidArgument("shape ", in, " does not broadcast to ", out);
      strides[o] = stride;
    }
    stride *= in.dim(i);
  }
  return strides;
}

// Copies rows of the last dimension. `position` is the multi-index of the current output row.
template <typename E>
void Broadcast(const E* from, const IntVector& strides, const Shape& shape, E* to) {
  const int rank = shape.rank();
  if (rank == 0) {
    *to = *from;
    return;
  }
  const int64_t row = shape.dim(rank - 1);
  const int64_t rows = SizeOf(shape, 0, rank - 1);
  IntVector position(rank, 0);
  for (int64_t r = 0; r < rows; ++r, to += row) {
    int64_t offset = 0;
    for (int d = 0; d + 1 < rank; ++d) offset += position[d] * strides[d];
    if (strides[rank - 1] == 0) {
      RepeatElement(from[offset], row, to);
    } else {
      CopyElements(from + offset, row, to);
    }
    for (int d = rank - 2; d >= 0 && ++position[d] == shape.dim(d); --d) position[d] = 0;
  }
}

Status BroadcastTo(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(ctx.input(1), "the sizes"));
  TF_ASSIGN_OR_RETURN(const IntVector strides, BroadcastStrides(ctx.input(0).shape(), shape));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    Broadcast(Elements<E>(ctx.input(0)), strides, shape, MutableElements<E>(*out));
    return OkStatus();
  });
}

Status BroadcastArgs(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Shape a, ShapeFrom(ctx.input(0), "s0"));
  TF_ASSIGN_OR_RETURN(const Shape b, ShapeFrom(ctx.input(1), "s1"));
  TF_ASSIGN_OR_RETURN(const Shape both, BroadcastShapes(a, b));
  TF_ASSIGN_OR_RETURN(Tensor t, IntegerTensor(ctx.node().output_type(0), {both.rank()}, both.dims()));
  ctx.set_output(0, std::move(t));
  return OkStatus();
}

template <typename I>
Status OneHot(KernelContext& ctx) {
  const Shape& in = ctx.input(0).shape();
  TF_ASSIGN_OR_RETURN(const int64_t depth, IntegerOf(ctx.input(1), "the depth"));
  if (depth < 0) return InvalidArgument("the depth must not be negative, got ", depth);
  if (ctx.input(2).num_elements() != 1 || ctx.input(3).num_elements() != 1) {
    return InvalidArgument("on_value and off_value must be scalars, got shapes ", ctx.input(2).shape(), " and ",
                           ctx.input(3).shape());
  }
  int64_t axis = ctx.node().attr<int64_t>("axis");
  if (axis == -1) axis = in.rank();
  if (axis < 0 || axis > in.rank()) return InvalidArgument("axis ", axis, " is out of range for indices of shape ", in);
  Shape shape;
  for (int i = 0; i <= in.rank(); ++i) {
    if (i == axis) shape.AddDim(depth);
    if (i < in.rank()) shape.AddDim(in.dim(i));
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  const auto indices = ctx.input(0).data<I>();
  const int64_t inner = SizeOf(in, static_cast<int>(axis), in.rank());
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    E* to = MutableElements<E>(*out);
    RepeatElement(*Elements<E>(ctx.input(3)), out->num_elements(), to);
    const E on = *Elements<E>(ctx.input(2));
    for (int64_t i = 0; i < static_cast<int64_t>(indices.size()); ++i) {
      const auto index = static_cast<int64_t>(indices[i]);
      if (index >= 0 && index < depth) to[(i / inner * depth + index) * inner + i % inner] = on;
    }
    return OkStatus();
  });
}

// The axes over which the gradients of a broadcast op's operands are summed.
template <typename T>
Status BroadcastGradientArgs(KernelContext& ctx) {
  Shape shapes[2];
  for (int i = 0; i < 2; ++i) {
    if (ctx.input(i).shape().rank() != 1) {
      return InvalidArgument("input ", i, " must be a vector, got shape ", ctx.input(i).shape());
    }
    for (T d : ctx.input(i).data<T>()) shapes[i].AddDim(d);
  }
  TF_RETURN_IF_ERROR(BroadcastShapes(shapes[0], shapes[1]).status());
  const int rank = std::max(shapes[0].rank(), shapes[1].rank());
  for (int i = 0; i < 2; ++i) {
    std::vector<T> axes;
    if (shapes[0] != shapes[1]) {
      const Shape& own = shapes[i];
      for (int d = 0; d < rank; ++d) {
        const int at = d - (rank - own.rank());
        if (at < 0 || own.dim(at) == 1) axes.push_back(static_cast<T>(d));
      }
    }
    ctx.set_output(i, Tensor::Vector(axes));
  }
  return OkStatus();
}

template <typename I>
Status UnravelIndex(KernelContext& ctx) {
  const Tensor& indices = ctx.input(0);
  if (indices.shape().rank() > 1) {
    return InvalidArgument("indices must be a scalar or a vector, got shape ", indices.shape());
  }
  if (ctx.input(1).shape().rank() != 1) {
    return InvalidArgument("dims must be a vector, got shape ", ctx.input(1).shape());
  }
  const auto dims = ctx.input(1).data<I>();
  I total = 1;
  for (I d : dims) {
    if (d == 0) return InvalidArgument("dims must not contain 0, got ", ctx.input(1).ToString());
    if (d < 0 || __builtin_mul_overflow(total, d, &total)) {
      return InvalidArgument("Input dims product is causing integer overflow, got ", ctx.input(1).ToString());
    }
  }
  const int64_t num = indices.num_elements();
  const auto rank = static_cast<int64_t>(dims.size());
  Shape shape({rank});
  if (indices.shape().rank() == 1) shape.AddDim(num);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  for (int64_t i = 0; i < num; ++i) {
    I rest = indices.data<I>()[i];
    if (rest >= total) {
      return InvalidArgument("index ", rest, " is out of range for dims ", ctx.input(1).ToString());
    }
    for (int64_t d = rank - 1; d >= 0; --d) {
      out->inplace_data<I>()[d * num + i] = static_cast<I>(rest % dims[d]);
      rest = static_cast<I>(rest / dims[d]);
    }
  }
  return OkStatus();
}

}  // namespace

void RegisterArrayShapeKernels(KernelRegistry& r) {
  r.Add("Reshape", {}, Reshape, kNoCost);
  r.Add("ExpandDims", {}, ExpandDims, kNoCost);
  r.Add("Squeeze", {}, Squeeze, kNoCost);
  r.Add("Shape", {}, ShapeOp, kNoCost);
  r.Add("ShapeN", {}, ShapeOp, kNoCost);
  r.Add("Size", {}, Size, kNoCost);
  r.Add("Rank", {}, Rank, kNoCost);
  r.Add("Fill", {}, Fill);
  r.Add("ZerosLike", {}, ZerosLike);
  r.Add("OnesLike", {{"T", {kFloat32}}}, OnesLike<float>);
  r.Add("OnesLike", {{"T", {kFloat64}}}, OnesLike<double>);
  r.Add("OnesLike", {{"T", {kFloat16}}}, OnesLike<Float16>);
  r.Add("OnesLike", {{"T", {kBfloat16}}}, OnesLike<Bfloat16>);
  r.Add("OnesLike", {{"T", {kInt8, kUint8}}}, OnesLike<uint8_t>);
  r.Add("OnesLike", {{"T", {kInt16, kUint16}}}, OnesLike<uint16_t>);
  r.Add("OnesLike", {{"T", {kInt32, kUint32}}}, OnesLike<uint32_t>);
  r.Add("OnesLike", {{"T", {kInt64, kUint64}}}, OnesLike<uint64_t>);
  r.Add("OnesLike", {{"T", {kBool}}}, OnesLike<bool>);
  r.Add("OnesLike", {{"T", {DType::kComplex64}}}, OnesLike<std::complex<float>>);
  r.Add("OnesLike", {{"T", {DType::kComplex128}}}, OnesLike<std::complex<double>>);
  r.Add("BroadcastTo", {}, BroadcastTo);
  r.Add("BroadcastArgs", {}, BroadcastArgs);
  r.Add("BroadcastGradientArgs", {{"T", {kInt32}}}, BroadcastGradientArgs<int32_t>);
  r.Add("BroadcastGradientArgs", {{"T", {kInt64}}}, BroadcastGradientArgs<int64_t>);
  r.Add("OneHot", {{"TI", {kUint8}}}, OneHot<uint8_t>);
  r.Add("OneHot", {{"TI", {kInt8}}}, OneHot<int8_t>);
  r.Add("OneHot", {{"TI", {kInt32}}}, OneHot<int32_t>);
  r.Add("OneHot", {{"TI", {kInt64}}}, OneHot<int64_t>);
  r.Add("UnravelIndex", {{"Tidx", {kInt32}}}, UnravelIndex<int32_t>);
  r.Add("UnravelIndex", {{"Tidx", {kInt64}}}, UnravelIndex<int64_t>);
}

}  // namespace tensorbraid::cpu
