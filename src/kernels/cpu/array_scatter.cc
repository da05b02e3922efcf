#include <algorithm>

#include "core/strings.h"
#include "kernels/cpu/array_families.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/slice_indices.h"

namespace tensorbraid {
namespace {

enum class Scatter { kUpdate, kAdd, kSub, kMin, kMax };

template <Scatter kind, typename T>
void Apply(T& to, const T& from) {
  if constexpr (kind == Scatter::kUpdate) {
    to = from;
  } else if constexpr (kIsShortFloat<T>) {
    float f = float(to);
    Apply<kind, float>(f, float(from));
    to = T(f);
  } else if constexpr (std::is_same_v<T, bool>) {
    to = kind == Scatter::kAdd ? to || from : to != from;
  } else if constexpr (kind == Scatter::kAdd) {
    to = to + from;
  } else if constexpr (kind == Scatter::kSub) {
    to = to - from;
  } else if constexpr (kind == Scatter::kMin) {
    to = std::min(to, from);
  } else {
    to = std::max(to, from);
  }
}

// Signed numbers are added as unsigned ones: what overflows wraps.
template <typename T>
using Wrap = std::conditional_t<std::is_integral_v<T> && std::is_signed_v<T>,
                                std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>, T>;

template <Scatter kind, typename T>
void ApplyRow(T* to, const T* from, int64_t n) {
  if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>) {
    if constexpr (kind == Scatter::kAdd || kind == Scatter::kSub) {
      for (int64_t i = 0; i < n; ++i) {
        Wrap<T> sum = static_cast<Wrap<T>>(to[i]);
        Apply<kind, Wrap<T>>(sum, static_cast<Wrap<T>>(from[i]));
        to[i] = static_cast<T>(sum);
      }
      return;
    }
  }
  for (int64_t i = 0; i < n; ++i) Apply<kind, T>(to[i], from[i]);
}

// The rows of a tensor of `shape` that the indices name; -1 for those that the policy lets go.
template <typename I>
StatusOr<std::vector<int64_t>> RowsOf(const Node& node, const Tensor& indices, const Shape& updates, const Shape& shape,
                                      int64_t* row_size) {
  const Shape& is = indices.shape();
  if (is.rank() < 1) return InvalidArgument("indices must have rank 1 or more, got a scalar");
  if (shape.rank() < 1) return InvalidArgument("the output must have rank 1 or more, got a scalar");
  const int64_t depth = is.dim(is.rank() - 1);
  if (depth > shape.rank()) {
    return InvalidArgument("indices of ", depth, " numbers are too long for ", shape);
  }
  Shape wanted(is.dims().first(is.rank() - 1));
  for (int d = static_cast<int>(depth); d < shape.rank(); ++d) wanted.AddDim(shape.dim(d));
  if (wanted != updates) {
    return InvalidArgument("updates must have shape ", wanted, " for indices ", is, " into ", shape, ", got ", updates);
  }
  const int64_t num = SizeOf(is, 0, is.rank() - 1);
  *row_size = SizeOf(shape, static_cast<int>(depth), shape.rank());
  if (shape.num_elements() == 0 && updates.num_elements() > 0) {
    return InvalidArgument("Indices and updates specified for empty output of shape ", shape);
  }
  TF_ASSIGN_OR_RETURN(const bool ignore, IgnoresBadIndices(node));
  std::vector<int64_t> rows(num, 0);
  if (*row_size == 0) return rows;
  const auto index = indices.data<I>();
  for (int64_t i = 0; i < num; ++i) {
    for (int d = 0; d < depth; ++d) {
      const auto at = static_cast<int64_t>(index[i * depth + d]);
      if (at < 0 || at >= shape.dim(d)) {
        if (!ignore) return NoSuchSlice<I>(indices, i, "shape", shape);
        rows[i] = -1;
        break;
      }
      rows[i] = rows[i] * shape.dim(d) + at;
    }
  }
  return rows;
}

template <Scatter kind, typename T>
void ScatterRows(const std::vector<int64_t>& rows, int64_t size, const Tensor& updates, Tensor* out) {
  const T* from = Elements<T>(updates);
  T* to = MutableElements<T>(*out);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] >= 0) ApplyRow<kind>(to + rows[i] * size, from + static_cast<int64_t>(i) * size, size);
  }
}

// indices, updates, shape: what goes to the same place adds up.
template <typename T, typename I>
Status ScatterNd(KernelContext& ctx) {
  if (ctx.input(2).shape().rank() != 1) {
    return InvalidArgument("the shape must be a vector, got shape ", ctx.input(2).shape());
  }
  TF_ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(ctx.input(2), "the sizes"));
  int64_t size = 0;
  TF_ASSIGN_OR_RETURN(const auto rows, RowsOf<I>(ctx.node(), ctx.input(0), ctx.input(1).shape(), shape, &size));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  std::fill_n(MutableElements<T>(*out), out->num_elements(), T{});
  ScatterRows<Scatter::kAdd, T>(rows, size, ctx.input(1), out);
  return OkStatus();
}

// A copy of input `i` as output 0, or the input itself when nobody else holds it.
StatusOr<Tensor*> Writable(KernelContext& ctx, int i) {
  if (ctx.input(i).IsUnique() && IsPlain(ctx.input(i).dtype()))
    return ctx.ForwardOrAllocateOutput({i}, 0, ctx.input(i).shape());
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(i).shape()));
  TF_RETURN_IF_ERROR(ForElementsOf(out->dtype(), [&]<typename E>() {
    CopyElements(Elements<E>(ctx.input(i)), out->num_elements(), MutableElements<E>(*out));
    return OkStatus();
  }));
  return out;
}

// tensor, indices, updates.
template <Scatter kind, typename T, typename I>
Status TensorScatter(KernelContext& ctx) {
  const Tensor indices = ctx.input(1), updates = ctx.input(2);
  int64_t size = 0;
  TF_ASSIGN_OR_RETURN(const auto rows, RowsOf<I>(ctx.node(), indices, updates.shape(), ctx.input(0).shape(), &size));
  TF_ASSIGN_OR_RETURN(Tensor * out, Writable(ctx, 0));
  ScatterRows<kind, T>(rows, size, updates, out);
  return OkStatus();
}

template <typename I>
Status TensorScatterUpdate(KernelContext& ctx) {
  return ForElementsOf(ctx.input(0).dtype(), [&]<typename E>() { return TensorScatter<Scatter::kUpdate, E, I>(ctx); });
}

// x, i, v: rows i of x by v. `i` may be a scalar (v is then a row) or a vector.
template <Scatter kind, typename T>
Status Inplace(KernelContext& ctx) {
  const Tensor at = ctx.input(1), v = ctx.input(2);
  const Shape& xs = ctx.input(0).shape();
  if (xs.rank() < 1) return InvalidArgument("x must have rank 1 or more, got a scalar");
  if (at.shape().rank() > 1) return InvalidArgument("i must be a scalar or a vector, got shape ", at.shape());
  Shape wanted = xs;
  if (at.shape().rank() == 1) {
    wanted.set_dim(0, at.num_elements());
  } else {
    wanted = Shape(xs.dims().subspan(1));
  }
  if (v.shape() != wanted) return InvalidArgument("v must have shape ", wanted, ", got ", v.shape());
  const int64_t num = xs.dim(0);
  std::vector<int64_t> rows;
  for (int32_t i : at.data<int32_t>()) {
    // Rows count round and round, as TensorFlow's do.
    if (num == 0) return InvalidArgument("x has no row ", i);
    rows.push_back((i % num + num) % num);
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, Writable(ctx, 0));
  ScatterRows<kind, T>(rows, SizeOf(xs, 1, xs.rank()), v, out);
  return OkStatus();
}

Status InplaceUpdate(KernelContext& ctx) {
  return ForElementsOf(ctx.input(0).dtype(), [&]<typename E>() { return Inplace<Scatter::kUpdate, E>(ctx); });
}

Status ParallelConcat(KernelContext& ctx) {
  const Shape& part = ctx.input(0).shape();
  if (part.rank() < 1 || part.dim(0) != 1) {
    return InvalidArgument("each value must have 1 as its first dimension, got shape ", part);
  }
  Shape shape = part;
  shape.set_dim(0, ctx.num_inputs());
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    if (ctx.input(i).shape() != part) {
      return InvalidArgument("all values must have one shape, got ", part, " and ", ctx.input(i).shape());
    }
  }
  const Shape& declared = ctx.node().attr<Shape>("shape");
  if (!declared.IsCompatibleWith(shape)) {
    return InvalidArgument("the values make ", shape, ", attribute 'shape' says ", declared);
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    E* to = MutableElements<E>(*out);
    for (int i = 0; i < ctx.num_inputs(); ++i, to += part.num_elements()) {
      CopyElements(Elements<E>(ctx.input(i)), part.num_elements(), to);
    }
    return OkStatus();
  });
}

Status ParallelConcatStart(KernelContext& ctx) {
  const Shape& shape = ctx.node().attr<Shape>("shape");
  if (!shape.is_fully_defined()) return InvalidArgument("the shape must be fully known, got ", shape);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    std::fill_n(MutableElements<E>(*out), out->num_elements(), ZeroElement<E>());
    return OkStatus();
  });
}

Status ParallelConcatUpdate(KernelContext& ctx) {
  const Tensor update = ctx.input(1);
  const Shape& whole = ctx.input(0).shape();
  if (whole.rank() < 1 || update.shape().rank() != whole.rank() || update.shape().dim(0) != 1 ||
      SizeOf(whole, 1, whole.rank()) != update.num_elements()) {
    return InvalidArgument("an update of shape ", update.shape(), " is no row of ", whole);
  }
  const int64_t loc = ctx.node().attr<int64_t>("loc");
  const int64_t row = loc < 0 ? loc + whole.dim(0) : loc;
  if (row < 0 || row >= whole.dim(0)) return InvalidArgument("row ", loc, " is out of range for ", whole);
  TF_ASSIGN_OR_RETURN(Tensor * out, Writable(ctx, 0));
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    ScatterRows<Scatter::kUpdate, E>({row}, update.num_elements(), update, out);
    return OkStatus();
  });
}

template <typename I>
void RegisterForIndices(KernelRegistry& r) {
  const DType index = DTypeOf<I>::value;
  const auto types = [&](DType t) {
    return std::map<std::string, std::vector<DType>>{{"T", {t}}, {"Tindices", {index}}};
  };
  r.Add("TensorScatterUpdate", {{"Tindices", {index}}}, TensorScatterUpdate<I>);
  if constexpr (!std::is_same_v<I, uint16_t>) {
    r.Add("ScatterNd", types(kString), ScatterNd<std::string, I>);
    r.Add("ScatterNd", types(kBool), ScatterNd<bool, I>);
    ForEachNumberType([&]<typename T>() { r.Add("ScatterNd", types(DTypeOf<T>::value), ScatterNd<T, I>); });
  }
  if constexpr (sizeof(I) > 2) {
    r.Add("ScatterNdNonAliasingAdd", types(kBool), TensorScatter<Scatter::kAdd, bool, I>);
    ForEachNumberType([&]<typename T>() {
      const auto t = types(DTypeOf<T>::value);
      r.Add("ScatterNdNonAliasingAdd", t, TensorScatter<Scatter::kAdd, T, I>);
      r.Add("TensorScatterAdd", t, TensorScatter<Scatter::kAdd, T, I>);
      r.Add("TensorScatterSub", t, TensorScatter<Scatter::kSub, T, I>);
      if constexpr (!std::is_same_v<T, std::complex<float>> && !std::is_same_v<T, std::complex<double>>) {
        r.Add("TensorScatterMin", t, TensorScatter<Scatter::kMin, T, I>);
        r.Add("TensorScatterMax", t, TensorScatter<Scatter::kMax, T, I>);
      }
    });
  }
}

}  // namespace

void RegisterArrayScatterKernels(KernelRegistry& r) {
  RegisterForIndices<int16_t>(r);
  RegisterForIndices<uint16_t>(r);
  RegisterForIndices<int32_t>(r);
  RegisterForIndices<int64_t>(r);
  r.Add("InplaceUpdate", {}, InplaceUpdate);
  ForEachNumberType([&]<typename T>() {
    r.Add("InplaceAdd", {{"T", {DTypeOf<T>::value}}}, Inplace<Scatter::kAdd, T>);
    r.Add("InplaceSub", {{"T", {DTypeOf<T>::value}}}, Inplace<Scatter::kSub, T>);
  });
  r.Add("ParallelConcat", {}, ParallelConcat);
  r.Add("_ParallelConcatStart", {}, ParallelConcatStart);
  r.Add("_ParallelConcatUpdate", {}, ParallelConcatUpdate);
}

}  // namespace tensorbraid
