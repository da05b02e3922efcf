// Kernels that combine sparse and dense tensors.
#include <complex>
#include <limits>

#include "core/text/strings.h"
#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/sparse/sparse.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The elements of an int32 or int64 tensor.
StatusOr<std::vector<int64_t>> AllIntegers(const Tensor& t, const char* what) {
  if (t.dtype() == kInt32) return std::vector<int64_t>(t.data<int32_t>().begin(), t.data<int32_t>().end());
  if (t.dtype() == kInt64) return std::vector<int64_t>(t.data<int64_t>().begin(), t.data<int64_t>().end());
  return InvalidArgument(what, " must be int32 or int64, got ", t.dtype());
}

// Inputs: sparse_indices (a scalar, a vector or a matrix), output_shape, sparse_values (a scalar or a vector) and
// default_value.
Status SparseToDense(KernelContext& ctx) {
  const Tensor &indices = ctx.input(0), &values = ctx.input(2), &rest = ctx.input(3);
  if (indices.shape().rank() > 2) {
    return InvalidArgument("sparse_indices must be a scalar, a vector or a matrix, got shape ", indices.shape());
  }
  const int64_t n = indices.shape().rank() > 0 ? indices.shape().dim(0) : 1;
  const int64_t rank = indices.shape().rank() > 1 ? indices.shape().dim(1) : 1;
  if (ctx.input(1).shape().rank() != 1 || ctx.input(1).num_elements() != rank) {
    return InvalidArgument("output_shape must be a vector of ", rank, " sizes, got shape ", ctx.input(1).shape());
  }
  TF_ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(ctx.input(1), "output_shape"));
  if (values.shape().rank() > 1 || (values.shape().rank() == 1 && values.num_elements() != n)) {
    return InvalidArgument("sparse_values has incorrect shape ", values.shape(), ", should be [] or [", n, "]");
  }
  if (!rest.shape().is_scalar()) return InvalidArgument("default_value should be a scalar, got shape ", rest.shape());
  TF_ASSIGN_OR_RETURN(const std::vector<int64_t> index, AllIntegers(indices, "sparse_indices"));
  const bool validate = ctx.node().attr<bool>("validate_indices");
  for (int64_t i = 0; i < n; ++i) {
    const std::span<const int64_t> all = index;
    const auto before = validate && i > 0 ? all.subspan((i - 1) * rank, rank) : all.first(0);
    TF_RETURN_IF_ERROR(CheckSparseIndex(i, before, all.subspan(i * rank, rank), shape));
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    E* to = MutableElements<E>(*out);
    RepeatElement(*Elements<E>(rest), out->num_elements(), to);
    const bool one = values.shape().rank() == 0;
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = 0;
      for (int64_t d = 0; d < rank; ++d) at = at * shape.dim(static_cast<int>(d)) + index[i * rank + d];
      to[at] = Elements<E>(values)[one ? 0 : i];
    }
    return OkStatus();
  });
}

template <typename T>
T Conjugate(const T& v) {
  if constexpr (requires { v.real(); }) {
    return std::conj(v);
  } else {
    return v;
  }
}

template <typename T>
struct Accumulator {
  using Type = ComputeType<T>;
};
template <>
struct Accumulator<int32_t> {
  using Type = uint32_t;  // so that overflow wraps
};

// The sizes of a product: [rows, inner] x [inner, columns].
struct ProductSizes {
  int64_t rows, inner, columns;
};

// Checks the operands of SparseTensorDenseMatMul. `index` points to the elements of a_indices.
StatusOr<ProductSizes> SizesOfProduct(KernelContext& ctx, const int64_t* index, bool adjoint_a, bool adjoint_b) {
  const Tensor &indices = ctx.input(0), &values = ctx.input(1), &shape = ctx.input(2), &b = ctx.input(3);
  if (shape.shape() != Shape({2})) return InvalidArgument("a_shape must have 2 sizes, got shape ", shape.shape());
  if (values.shape().rank() != 1) return InvalidArgument("a_values must be a vector, got shape ", values.shape());
  const int64_t num = values.num_elements();
  if (indices.shape() != Shape({num, 2})) {
    return InvalidArgument("a_indices must have shape [", num, ",2], got ", indices.shape());
  }
  if (b.shape().rank() != 2) return InvalidArgument("b must be a matrix, got shape ", b.shape());
  const auto sizes = shape.data<int64_t>();
  const int64_t rows = sizes[adjoint_a ? 1 : 0], inner = sizes[adjoint_a ? 0 : 1];
  const int64_t b_inner = b.shape().dim(adjoint_b ? 1 : 0), columns = b.shape().dim(adjoint_b ? 0 : 1);
  if (rows < 0 || inner < 0) return InvalidArgument("a_shape must not be negative, got ", shape.ToString());
  if (inner != b_inner) {
    return InvalidArgument("cannot multiply: the inner size of a is ", inner, ", but the inner size of b is ", b_inner);
  }
  for (int64_t i = 0; i < num; ++i) {
    const int64_t row = index[2 * i], column = index[2 * i + 1];
    if (row < 0 || row >= sizes[0] || column < 0 || column >= sizes[1]) {
      return InvalidArgument("index [", row, ",", column, "] (of element ", i, ") is out of bounds for ",
                             shape.ToString());
    }
  }
  return ProductSizes{rows, inner, columns};
}

// The product of a sparse a [m, k] and a dense b [k, n]. Either may be transposed and conjugated first.
template <typename T>
class SparseTensorDenseMatMulKernel final : public Kernel {
 public:
  explicit SparseTensorDenseMatMulKernel(const KernelConstruction& c)
      : adjoint_a_(c.attr<bool>("adjoint_a")), adjoint_b_(c.attr<bool>("adjoint_b")) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor &indices = ctx.input(0), &values = ctx.input(1), &b = ctx.input(3);
    std::vector<int64_t> widened;  // the indices, if they are int32
    if (indices.dtype() != kInt64) {
      TF_ASSIGN_OR_RETURN(widened, AllIntegers(indices, "a_indices"));
    }
    const int64_t* const index = indices.dtype() == kInt64 ? indices.data<int64_t>().data() : widened.data();
    TF_ASSIGN_OR_RETURN(const ProductSizes sizes, SizesOfProduct(ctx, index, adjoint_a_, adjoint_b_));
    const auto [rows, inner, columns] = sizes;
    const int64_t num = values.num_elements();
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {rows, columns}));
    using A = typename Accumulator<T>::Type;
    const T* v = values.data<T>().data();
    const T* pb = b.data<T>().data();
    T* to = out->inplace_data<T>().data();
    A* all;
    Tensor wide;  // the sums of 16-bit floats, as float32
    if constexpr (kIsHalf<T>) {
      TF_ASSIGN_OR_RETURN(wide, ctx.AllocateTemp(kFloat32, {rows, columns}));
      all = wide.inplace_data<float>().data();
    } else {
      all = reinterpret_cast<A*>(to);
    }
    // Split the columns over threads, so that no two threads write to the same element.
    Parallel(ctx, columns, 2.0 * static_cast<double>(num) + 0.3 * static_cast<double>(rows),
             [&, rows = rows, inner = inner, columns = columns](int64_t begin, int64_t end) {
               const int64_t width = end - begin;
               A* const sums = all + begin;
               for (int64_t r = 0; r < rows; ++r) std::fill_n(sums + r * columns, width, A{});
               for (int64_t i = 0; i < num; ++i) {
                 const int64_t row = index[2 * i + (adjoint_a_ ? 1 : 0)];
                 const int64_t k = index[2 * i + (adjoint_a_ ? 0 : 1)];
                 const A factor = static_cast<A>(adjoint_a_ ? Conjugate(v[i]) : v[i]);
                 A* sum = sums + row * columns;
                 if (adjoint_b_) {
                   for (int64_t j = 0; j < width; ++j) {
                     sum[j] += factor * static_cast<A>(Conjugate(pb[(begin + j) * inner + k]));
                   }
                 } else {
                   const T* from = pb + k * columns + begin;
#pragma GCC ivdep
                   for (int64_t j = 0; j < width; ++j) sum[j] += factor * static_cast<A>(from[j]);
                 }
               }
               if constexpr (kIsHalf<T>) {
                 for (int64_t r = 0; r < rows; ++r) {
                   std::transform(sums + r * columns, sums + r * columns + width, to + r * columns + begin,
                                  [](A sum) { return static_cast<T>(sum); });
                 }
               }
             });
    return OkStatus();
  }

 private:
  const bool adjoint_a_;
  const bool adjoint_b_;
};

// The sum of a dense b and a sparse a of the same shape. `add` adds elements to a tensor, each at its place.
Status AddSparseToDense(KernelContext& ctx, void (*add)(const Tensor&, const std::vector<int64_t>&, Tensor*)) {
  const Tensor &indices = ctx.input(0), &values = ctx.input(1), &shape = ctx.input(2), &b = ctx.input(3);
  if (indices.shape().rank() != 2) return InvalidArgument("a_indices must be a matrix, got shape ", indices.shape());
  if (values.shape().rank() != 1 || values.num_elements() != indices.shape().dim(0)) {
    return InvalidArgument("a_values must be a vector with a value for each of ", indices.shape().dim(0),
                           " indices, got shape ", values.shape());
  }
  if (shape.shape().rank() != 1) return InvalidArgument("a_shape must be a vector, got shape ", shape.shape());
  TF_ASSIGN_OR_RETURN(const Shape a_shape, ShapeFrom(shape, "a_shape"));
  if (a_shape != b.shape())
    return InvalidArgument("a and b must have the same shape, got ", a_shape, " and ", b.shape());
  const int rank = a_shape.rank();
  TF_RETURN_IF_ERROR(CheckIndexRank(indices, rank, "a_indices", "a_shape"));
  std::vector<int64_t> places(values.num_elements(), 0);
  TF_ASSIGN_OR_RETURN(const std::vector<int64_t> index, AllIntegers(indices, "a_indices"));
  for (size_t i = 0; i < places.size(); ++i) {
    for (int d = 0; d < rank; ++d) {
      const int64_t at = index[i * rank + d];
      if (at < 0 || at >= a_shape.dim(d)) {
        return InvalidArgument("element ", i, " has the invalid index ", at, " in dimension ", d, " of ", a_shape);
      }
      places[i] = places[i] * a_shape.dim(d) + at;
    }
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, b.shape()));
  CopyElements(static_cast<const char*>(b.raw_data()), static_cast<int64_t>(b.num_bytes()),
               static_cast<char*>(out->inplace_raw_data()));
  add(values, places, out);
  return OkStatus();
}

template <typename T>
void AddAtPlaces(const Tensor& values, const std::vector<int64_t>& places, Tensor* out) {
  const auto from = values.data<T>();
  T* const to = out->inplace_data<T>().data();
  for (size_t i = 0; i < places.size(); ++i) to[places[i]] = Plus(to[places[i]], from[i]);
}
template <typename T>
Status SparseTensorDenseAdd(KernelContext& ctx) {
  return AddSparseToDense(ctx, AddAtPlaces<T>);
}

enum class Cwise { kAdd, kMul, kDiv };

// Combines a[i] with b[places[i]] for all i. Returns the number of an element that is divided by zero, or -1. Only this
// function is compiled for each dtype.
template <Cwise kind, typename T>
int64_t CombineAtPlaces(const Tensor& sparse, const Tensor& dense, const std::vector<int64_t>& places, Tensor* out) {
  const auto a = sparse.data<T>();
  const auto b = dense.data<T>();
  const auto to = out->inplace_data<T>();
  for (size_t i = 0; i < places.size(); ++i) {
    using A = ComputeType<T>;
    const T right = b[places[i]];
    const A x = static_cast<A>(a[i]), y = static_cast<A>(right);
    if constexpr (kind == Cwise::kAdd) {
      to[i] = Plus(a[i], right);
    } else if constexpr (std::is_integral_v<T> && kind == Cwise::kMul) {
      to[i] = static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(y));
    } else if constexpr (std::is_integral_v<T>) {
      if (y == 0) return static_cast<int64_t>(i);
      to[i] = y == static_cast<T>(-1) && std::is_signed_v<T>
                  ? static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(x))
                  : static_cast<T>(x / y);
    } else if constexpr (kind == Cwise::kMul) {
      to[i] = static_cast<T>(x * y);
    } else {
      to[i] = static_cast<T>(x / y);
    }
  }
  return -1;
}
using PlaceCombiner = int64_t (*)(const Tensor&, const Tensor&, const std::vector<int64_t>&, Tensor*);

// Combines each element of a sparse tensor with the element at the same position of a dense tensor, which is broadcast
// to the shape of the sparse one.
Status CombineWithDense(KernelContext& ctx, PlaceCombiner combine) {
  TF_ASSIGN_OR_RETURN(const SparseView sparse, SparseView::OfInputs(ctx, 0));
  const Tensor& dense = ctx.input(3);
  const int lead = sparse.rank() - dense.shape().rank();
  bool fits = lead >= 0;
  for (int d = 0; fits && d < dense.shape().rank(); ++d) {
    fits = dense.shape().dim(d) == 1 || dense.shape().dim(d) == sparse.shape()[d + lead];
  }
  if (!fits) {
    return InvalidArgument("the op broadcasts dense to sparse only; got incompatible shapes ", dense.shape(), " and ",
                           ctx.input(2).ToString());
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {sparse.size()}));
  std::vector<int64_t> places(sparse.size(), 0);
  for (int64_t i = 0; i < sparse.size(); ++i) {
    for (int d = 0; d < dense.shape().rank(); ++d) {
      const int64_t size = dense.shape().dim(d);
      places[i] = places[i] * size + (size == 1 ? 0 : sparse.index(i)[d + lead]);
    }
  }
  const int64_t by_zero = combine(sparse.values(), dense, places, out);
  return by_zero < 0 ? OkStatus() : InvalidArgument("division by zero of element ", by_zero);
}

template <Cwise kind, typename T>
Status SparseDenseCwise(KernelContext& ctx) {
  return CombineWithDense(ctx, CombineAtPlaces<kind, T>);
}

}  // namespace

void RegisterSparseDenseKernels(KernelRegistry& r) {
  r.Add("SparseToDense", {}, SparseToDense);
  ForEachType<float, double, Float16, Bfloat16, int32_t, std::complex<float>, std::complex<double>>([&]<typename T>() {
    r.Add<SparseTensorDenseMatMulKernel<T>>(
        "SparseTensorDenseMatMul", {{"T", {DTypeOf<T>::value}}, {"Tindices", {kInt32, kInt64}}}, SparseProductCost);
  });
  ForEachNumberType([&]<typename T>() {
    constexpr DTypeSet t = {DTypeOf<T>::value};
    r.Add("SparseTensorDenseAdd", {{"T", t}, {"Tindices", {kInt32, kInt64}}}, SparseTensorDenseAdd<T>);
    r.Add("SparseDenseCwiseAdd", {{"T", t}}, SparseDenseCwise<Cwise::kAdd, T>);
    r.Add("SparseDenseCwiseMul", {{"T", t}}, SparseDenseCwise<Cwise::kMul, T>);
    r.Add("SparseDenseCwiseDiv", {{"T", t}}, SparseDenseCwise<Cwise::kDiv, T>);
  });
}

}  // namespace tensorbraid::cpu
