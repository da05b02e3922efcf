// Kernels that search or sort the rows of a tensor: LowerBound, UpperBound, TopK and NthElement.
#include <algorithm>
#include <limits>
#include <numeric>

#include "core/text/strings.h"
#include "kernels/cpu/array/store_integers.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/numbers.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

template <typename T>
bool Below(const T& a, const T& b) {
  if constexpr (kIsHalf<T>) return float(a) < float(b);
  if constexpr (!kIsHalf<T>) return a < b;
}

Status CheckBound(KernelContext& ctx) {
  const Tensor& sorted = ctx.input(0);
  const Tensor& values = ctx.input(1);
  if (sorted.shape().rank() != 2 || values.shape().rank() != 2) {
    return InvalidArgument("sorted_inputs and values must be matrices, got ", sorted.shape(), " and ", values.shape());
  }
  if (sorted.shape().dim(0) != values.shape().dim(0)) {
    return InvalidArgument("sorted_inputs ", sorted.shape(), " and values ", values.shape(),
                           " must have the same number of rows");
  }
  const int64_t columns = sorted.shape().dim(1);
  if (ctx.node().output_type(0) == kInt32 && columns > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("rows of ", columns, " elements require out_type int64");
  }
  return OkStatus();
}

// For each value of a row, the number of elements of the sorted row that are less, or, for UpperBound, less or equal.
template <typename T, bool kUpper>
Status Bound(KernelContext& ctx) {
  TF_RETURN_IF_ERROR(CheckBound(ctx));
  const Tensor& sorted = ctx.input(0);
  const Tensor& values = ctx.input(1);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, values.shape()));
  const int64_t columns = sorted.shape().dim(1), num = values.shape().dim(1);
  const T* s = sorted.data<T>().data();
  const T* v = values.data<T>().data();
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    const T* row = s + i / num * columns;
    const T* at = kUpper ? std::upper_bound(row, row + columns, v[i], Below<T>)
                         : std::lower_bound(row, row + columns, v[i], Below<T>);
    if (out->dtype() == kInt32) {
      out->inplace_data<int32_t>()[i] = static_cast<int32_t>(at - row);
    } else {
      out->inplace_data<int64_t>()[i] = at - row;
    }
  }
  return OkStatus();
}

// Descending order for NthElement. NaN is treated as the largest value, so that every row has a total order.
template <typename T>
bool Above(const T& a, const T& b) {
  if constexpr (kIsHalf<T>) {
    return Above(float(a), float(b));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b) return a != a && b == b;
    return a > b;
  } else {
    return a > b;
  }
}

// The number k of elements to take from each row. Checks the inputs.
StatusOr<int64_t> CheckTopK(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  int64_t k;
  if (ctx.num_inputs() == 1) {
    k = ctx.node().attr<int64_t>("k");
  } else {
    if (!ctx.input(1).shape().is_scalar()) return InvalidArgument("k must be a scalar, got ", ctx.input(1).shape());
    TF_ASSIGN_OR_RETURN(k, IntegerOf(ctx.input(1), "k"));
  }
  if (k < 0) return InvalidArgument("Need k >= 0, got ", k);
  if (in.shape().rank() < 1) return InvalidArgument("the input must have rank 1 or more, got a scalar");
  const int64_t columns = in.shape().dim(in.shape().rank() - 1);
  if (k > columns) {
    return InvalidArgument("the input must have last dimension >= k = ", k, ", got ", columns);
  }
  const DType index = ctx.node().output_type(1);
  const int64_t most = index == kInt16   ? std::numeric_limits<int16_t>::max()
                       : index == kInt32 ? std::numeric_limits<int32_t>::max()
                                         : std::numeric_limits<int64_t>::max();
  if (columns > most) return InvalidArgument("rows of ", columns, " elements require a wider index_type than ", index);
  return k;
}

// Elements are sorted as int64, uint64, float or double, so that the functions below are compiled only for these types.
template <typename T>
using SortType = std::conditional_t<!std::is_integral_v<T>, ComputeType<T>,
                                    std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <typename T>
bool HasNan(const T* row, int64_t columns) {
  if constexpr (std::is_integral_v<T>) return false;
  return std::any_of(row, row + columns, [](T v) { return float(v) != float(v); });
}

// TensorFlow's order of elements: descending by value, equal elements by index. A NaN is neither above nor below any
// element, so with NaNs this is no order, and the result follows from the steps of TensorFlow's algorithms. The
// functions below repeat these steps: a search for the maximum if k is 1, a heap if k is less than the length of the
// row, and std::sort for a whole row.
template <typename T>
class TopOrder {
 public:
  explicit TopOrder(const T* row) : row_(row) {}
  bool Above(int64_t a, int64_t b) const { return row_[a] > row_[b]; }
  bool Before(int64_t a, int64_t b) const { return Above(a, b) || (!Above(b, a) && a < b); }
  bool IsNan(int64_t i) const { return HasNan(row_ + i, 1); }
  bool Equal(int64_t a, int64_t b) const { return row_[a] == row_[b]; }

 private:
  const T* const row_;
};

template <typename T>
int64_t Largest(const TopOrder<T>& row, int64_t columns) {
  int64_t best = 0;
  for (int64_t i = 1; i < columns; ++i) {
    if (row.Above(i, best) || (row.IsNan(best) && !row.IsNan(i))) best = i;
  }
  return best;
}

// The indices of the k largest elements: in descending order of the elements if `sorted`, otherwise as a heap with the
// least element at its front.
template <typename T>
std::vector<int64_t> TopHeap(const TopOrder<T>& row, int64_t columns, int64_t k, bool sorted) {
  const auto before = [&](int64_t a, int64_t b) { return row.Before(a, b); };
  // As in TensorFlow, the heap first has k + 1 elements, and the least of them is dropped.
  std::vector<int64_t> heap(k + 1);
  std::iota(heap.begin(), heap.end(), 0);
  std::make_heap(heap.begin(), heap.end(), before);
  std::pop_heap(heap.begin(), heap.end(), before);
  heap.pop_back();
  for (int64_t i = k + 1; i < columns; ++i) {
    if (!before(i, heap.front())) continue;
    std::pop_heap(heap.begin(), heap.end(), before);
    heap.back() = i;
    std::push_heap(heap.begin(), heap.end(), before);
  }
  if (sorted) std::sort_heap(heap.begin(), heap.end(), before);
  return heap;
}

// Sorts all elements of a row. With NaNs, std::sort may look past both ends of its range. The kStop at each end stops
// it, because kStop compares like a NaN.
template <typename T>
std::vector<int64_t> SortedRow(const TopOrder<T>& row, int64_t columns) {
  constexpr int64_t kStop = -1;
  std::vector<int64_t> order(columns + 2, kStop);
  const auto begin = order.begin() + 1, end = order.end() - 1;
  std::iota(begin, end, 0);
  std::sort(begin, end, [&](int64_t a, int64_t b) { return a != kStop && b != kStop && row.Above(a, b); });
  // Equal neighbours are in their original order.
  for (auto run = begin; run != end;) {
    auto next = run + 1;
    while (next != end && row.Equal(*run, *next)) ++next;
    std::sort(run, next);
    run = next;
  }
  return {begin, end};
}

// The indices of the k largest elements of a row, 0 < k <= columns.
template <typename T>
std::vector<int64_t> TopIndices(const T* row, int64_t columns, int64_t k, bool sorted) {
  const TopOrder<T> order(row);
  if (HasNan(row, columns) || !sorted) {
    if (k == 1) return {Largest(order, columns)};
    return k < columns ? TopHeap(order, columns, k, sorted) : SortedRow(order, columns);
  }
  std::vector<int64_t> indices(columns);
  std::iota(indices.begin(), indices.end(), 0);
  const auto before = [&](int64_t a, int64_t b) { return order.Before(a, b); };
  if (k < columns / 8) {
    std::partial_sort(indices.begin(), indices.begin() + k, indices.end(), before);
  } else {
    // Twice as fast for most of a row, which is how the indices of a sparse gradient are sorted.
    if (k < columns) std::nth_element(indices.begin(), indices.begin() + k, indices.end(), before);
    std::sort(indices.begin(), indices.begin() + k, before);
  }
  indices.resize(k);
  return indices;
}

// What TopK does for some rows.
struct TopRows {
  const Tensor& in;
  int64_t columns;
  int64_t k;
  bool sorted;
  Tensor* values;
  Tensor* indices;
};

template <typename T>
void TakeTop(const TopRows& rows, int64_t begin, int64_t end) {
  using S = SortType<T>;
  const int64_t columns = rows.columns, k = rows.k;
  const T* x = rows.in.data<T>().data();
  T* v = rows.values->inplace_data<T>().data();
  std::vector<S> widened(std::is_same_v<S, T> ? 0 : columns);
  for (int64_t r = begin; r < end; ++r) {
    const T* row = x + r * columns;
    std::vector<int64_t> top;
    if constexpr (std::is_same_v<S, T>) {
      top = TopIndices(row, columns, k, rows.sorted);
    } else {
      for (int64_t i = 0; i < columns; ++i) widened[i] = static_cast<S>(row[i]);
      top = TopIndices(widened.data(), columns, k, rows.sorted);
    }
    for (int64_t j = 0; j < k; ++j) v[r * k + j] = row[top[j]];
    StoreIntegers(top, r * k, rows.indices);
  }
}

Status TopK(KernelContext& ctx, void (*take_top)(const TopRows&, int64_t, int64_t)) {
  TF_ASSIGN_OR_RETURN(const int64_t k, CheckTopK(ctx));
  const Tensor& in = ctx.input(0);
  Shape shape = in.shape();
  const int64_t columns = shape.dim(shape.rank() - 1);
  shape.set_dim(shape.rank() - 1, k);
  TF_ASSIGN_OR_RETURN(Tensor * values, ctx.AllocateOutput(0, shape));
  TF_ASSIGN_OR_RETURN(Tensor * indices, ctx.AllocateOutput(1, shape));
  if (values->num_elements() == 0) return OkStatus();
  const TopRows rows{in, columns, k, ctx.node().attr<bool>("sorted"), values, indices};
  ctx.pool().ParallelFor(values->num_elements() / k, 5.0 * static_cast<double>(columns),
                         [&](int64_t begin, int64_t end) { take_top(rows, begin, end); });
  return OkStatus();
}
template <typename T>
Status TopK(KernelContext& ctx) {
  return TopK(ctx, TakeTop<T>);
}

// The index of the element to take from each sorted row. Checks the inputs.
StatusOr<int64_t> CheckNthElement(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  if (!ctx.input(1).shape().is_scalar()) return InvalidArgument("n must be a scalar, got ", ctx.input(1).shape());
  TF_ASSIGN_OR_RETURN(const int64_t n, IntegerOf(ctx.input(1), "n"));
  if (n < 0) return InvalidArgument("n must be non-negative but is ", n);
  if (in.shape().rank() < 1) return InvalidArgument("the input must be at least rank 1 but is rank 0");
  const int64_t columns = in.shape().dim(in.shape().rank() - 1);
  if (n >= columns) return InvalidArgument("the input must have last dimension > n = ", n, ", got shape ", in.shape());
  return ctx.node().attr<bool>("reverse") ? columns - n - 1 : n;
}

template <typename S>
void SelectNth(std::vector<S>& row, int64_t n) {
  std::nth_element(row.begin(), row.begin() + n, row.end(), [](const S& a, const S& b) { return Above(b, a); });
}

// Element n of each sorted row.
template <typename T>
Status NthElement(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const int64_t n, CheckNthElement(ctx));
  const Tensor& in = ctx.input(0);
  const int last = in.shape().rank() - 1;
  const int64_t columns = in.shape().dim(last);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, Shape(in.shape().dims().first(last))));
  const T* x = in.data<T>().data();
  if (out->num_elements() == 0) return OkStatus();  // without rows, `columns` may be huge
  T* to = out->inplace_data<T>().data();
  std::vector<SortType<T>> row(columns);
  for (int64_t r = 0; r < out->num_elements(); ++r) {
    for (int64_t i = 0; i < columns; ++i) row[i] = static_cast<SortType<T>>(x[r * columns + i]);
    SelectNth(row, n);
    to[r] = static_cast<T>(row[n]);
  }
  return OkStatus();
}

}  // namespace

void RegisterArraySearchKernels(KernelRegistry& r) {
  ForEachType<float, double, Float16, Bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
              uint64_t>([&]<typename T>() {
    const TypeConstraints t = {{"T", {DTypeOf<T>::value}}};
    r.Add("LowerBound", t, Bound<T, /*kUpper=*/false>);
    r.Add("UpperBound", t, Bound<T, /*kUpper=*/true>);
    r.Add("TopK", t, TopK<T>, cpu::ElementCost<20'000>);
    r.Add("TopKV2", t, TopK<T>, cpu::ElementCost<20'000>);
    r.Add("NthElement", t, NthElement<T>, cpu::ElementCost<20'000>);
  });
}

}  // namespace tensorbraid::cpu
