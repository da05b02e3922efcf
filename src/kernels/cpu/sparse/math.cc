// Sums, minima, maxima and softmax of sparse tensors.
#include <cmath>
#include <cstring>
#include <limits>

#include "core/text/strings.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/sparse/sparse.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

template <typename T>
auto Magnitude(const T& v) {
  if constexpr (std::is_unsigned_v<T> || std::is_same_v<T, bool>) {
    return v;
  } else if constexpr (kIsHalf<T>) {
    return std::abs(float(v));
  } else if constexpr (std::is_integral_v<T>) {
    return v < 0 ? static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(v)) : v;
  } else {
    return std::abs(v);
  }
}

// Merges two sparse tensors whose elements are sorted: calls f(i, j) for each position that has an element in either. i
// and j are the numbers of the elements of a and b at the position, or -1 if the tensor has none there.
template <typename F>
void Merge(const SparseView& a, const SparseView& b, const F& f) {
  int64_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const int order = i == a.size() ? 1 : j == b.size() ? -1 : CompareIndex(a.index(i), b.index(j), a.rank());
    f(order <= 0 ? i : -1, order >= 0 ? j : -1);
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
}

StatusOr<std::pair<SparseView, SparseView>> TwoOfOneShape(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(SparseView a, SparseView::OfUnbounded(ctx.input(0), ctx.input(1), ctx.input(2)));
  TF_ASSIGN_OR_RETURN(SparseView b, SparseView::OfUnbounded(ctx.input(3), ctx.input(4), ctx.input(5)));
  if (a.shape() != b.shape()) {
    return InvalidArgument(
        a.rank() != b.rank() ? "Operands do not have the same ranks: " : "Operands' shapes do not match: ",
        ctx.input(2).ToString(), " and ", ctx.input(5).ToString());
  }
  return std::make_pair(std::move(a), std::move(b));
}

// The numbers of two elements, one of each of two sparse tensors, at the same position; -1 for a missing element.
using Pairs = std::vector<std::pair<int64_t, int64_t>>;

Pairs PairsOf(const SparseView& a, const SparseView& b) {
  Pairs pairs;
  Merge(a, b, [&](int64_t i, int64_t j) { pairs.emplace_back(i, j); });
  return pairs;
}

// Allocates the output for elements at the positions of the pairs, sets their indices and returns their values.
StatusOr<Tensor*> AllocateAtPairs(KernelContext& ctx, const SparseView& a, const SparseView& b, const Pairs& pairs) {
  TF_ASSIGN_OR_RETURN(const SparseOutput out, AllocateSparse(ctx, 0, static_cast<int64_t>(pairs.size()), a.shape()));
  for (size_t k = 0; k < pairs.size(); ++k) {
    const auto [i, j] = pairs[k];
    std::copy_n(i < 0 ? b.index(j) : a.index(i), a.rank(), out.indices + k * a.rank());
  }
  return out.values;
}

// The functions of a sum that are compiled for each dtype.
struct SparseSum {
  // Removes the pairs of two elements whose sum has a magnitude below the threshold.
  void (*drop_small)(const Tensor& a, const Tensor& b, const Tensor& threshold, Pairs* pairs);
  void (*add)(const Tensor& a, const Tensor& b, const Pairs& pairs, Tensor* sums);
};

template <typename T, typename R>
void DropSmallSums(const Tensor& a, const Tensor& b, const Tensor& threshold, Pairs* pairs) {
  const auto va = a.data<T>(), vb = b.data<T>();
  const auto least = static_cast<double>(threshold.scalar<R>());
  std::erase_if(*pairs, [&](const std::pair<int64_t, int64_t>& pair) {
    const auto [i, j] = pair;
    return i >= 0 && j >= 0 && least > static_cast<double>(Magnitude(Plus(va[i], vb[j])));
  });
}

template <typename T>
void AddPairs(const Tensor& a, const Tensor& b, const Pairs& pairs, Tensor* sums) {
  const auto va = a.data<T>(), vb = b.data<T>();
  const auto to = sums->inplace_data<T>();
  for (size_t k = 0; k < pairs.size(); ++k) {
    const auto [i, j] = pairs[k];
    to[k] = i < 0 ? vb[j] : j < 0 ? va[i] : Plus(va[i], vb[j]);
  }
}

// a + b. A sum of two elements is dropped if its magnitude is below the threshold.
Status AddSparse(KernelContext& ctx, const SparseSum& sum) {
  TF_ASSIGN_OR_RETURN(const auto both, TwoOfOneShape(ctx));
  const auto& [a, b] = both;
  if (!ctx.input(6).shape().is_scalar()) {
    return InvalidArgument("thresh must be a scalar, got shape ", ctx.input(6).shape());
  }
  Pairs pairs = PairsOf(a, b);
  sum.drop_small(a.values(), b.values(), ctx.input(6), &pairs);
  TF_ASSIGN_OR_RETURN(Tensor * sums, AllocateAtPairs(ctx, a, b, pairs));
  sum.add(a.values(), b.values(), pairs, sums);
  return OkStatus();
}

template <typename T, typename R>
Status SparseAdd(KernelContext& ctx) {
  return AddSparse(ctx, {DropSmallSums<T, R>, AddPairs<T>});
}

// The gradient of each operand's element is the gradient of the sum at its position, or 0 if the threshold dropped it.
Status SparseAddGrad(KernelContext& ctx) {
  const Tensor& grad = ctx.input(0);
  for (int i = 1; i < 4; ++i) {
    if (ctx.input(i).shape().rank() != 2) {
      return InvalidArgument("indices must be matrices, got shape ", ctx.input(i).shape());
    }
    if (ctx.input(i).shape().dim(1) != ctx.input(1).shape().dim(1)) {
      return InvalidArgument("indices must have the same rank, got shapes ", ctx.input(1).shape(), " and ",
                             ctx.input(i).shape());
    }
  }
  const Tensor& sum = ctx.input(3);
  if (grad.shape().rank() != 1 || grad.num_elements() != sum.shape().dim(0)) {
    return InvalidArgument("backprop_val_grad must have an element for each of ", sum.shape().dim(0),
                           " sums, got shape ", grad.shape());
  }
  const int rank = static_cast<int>(sum.shape().dim(1));
  const size_t element = DTypeSize(grad.dtype());
  for (int side = 0; side < 2; ++side) {
    const Tensor& in = ctx.input(1 + side);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(side, {in.shape().dim(0)}));
    char* const to = static_cast<char*>(out->inplace_raw_data());
    std::memset(to, 0, out->num_bytes());
    int64_t k = 0;
    for (int64_t i = 0; i < in.shape().dim(0); ++i) {
      const int64_t* at = in.data<int64_t>().data() + i * rank;
      const int64_t* sums = sum.data<int64_t>().data();
      while (k < grad.num_elements() && CompareIndex(sums + k * rank, at, rank) < 0) ++k;
      const bool same = k < grad.num_elements() && CompareIndex(sums + k * rank, at, rank) == 0;
      if (same) std::memcpy(to + i * element, static_cast<const char*>(grad.raw_data()) + k * element, element);
    }
  }
  return OkStatus();
}

// The larger (kMax) or smaller of the two elements at each position. Missing elements count as 0. Only this function is
// compiled for each dtype.
template <typename T, bool kMax>
void ExtremesOfPairs(const Tensor& a, const Tensor& b, const Pairs& pairs, Tensor* extremes) {
  const auto va = a.data<T>(), vb = b.data<T>();
  const auto to = extremes->inplace_data<T>();
  for (size_t k = 0; k < pairs.size(); ++k) {
    const auto [i, j] = pairs[k];
    const T x = i < 0 ? T{} : va[i];
    const T y = j < 0 ? T{} : vb[j];
    bool less;
    if constexpr (kIsHalf<T>) {
      less = float(x) < float(y);
    } else if constexpr (requires { x.real(); }) {
      less = std::make_pair(x.real(), x.imag()) < std::make_pair(y.real(), y.imag());
    } else {
      less = x < y;
    }
    to[k] = less == kMax ? y : x;
  }
}

Status ExtremesOf(KernelContext& ctx, void (*extremes_of)(const Tensor&, const Tensor&, const Pairs&, Tensor*)) {
  TF_ASSIGN_OR_RETURN(const auto both, TwoOfOneShape(ctx));
  const auto& [a, b] = both;
  const Pairs pairs = PairsOf(a, b);
  TF_ASSIGN_OR_RETURN(Tensor * extremes, AllocateAtPairs(ctx, a, b, pairs));
  extremes_of(a.values(), b.values(), pairs, extremes);
  return OkStatus();
}

template <typename T, bool kMax>
Status SparseSparseExtreme(KernelContext& ctx) {
  return ExtremesOf(ctx, ExtremesOfPairs<T, kMax>);
}

// Returns InvalidArgument if the number of elements of the dense shape overflows int64.
Status CheckCountable(KernelContext& ctx, const SparseView& in) {
  int64_t elements = 1;
  for (int d = 0; d < in.rank(); ++d) {
    if (__builtin_mul_overflow(elements, in.shape()[d], &elements)) {
      return InvalidArgument("a dense tensor of shape ", ctx.input(2).ToString(), " would have too many elements");
    }
  }
  return OkStatus();
}

struct Reduction {
  IntVector kept;         // the dimensions that are not reduced, in order
  IntVector shape;        // the shape of the result
  IntVector group_shape;  // the sizes of the kept dimensions
};

StatusOr<Reduction> ReductionOf(KernelContext& ctx, const SparseView& in) {
  TF_RETURN_IF_ERROR(CheckCountable(ctx, in));
  TF_ASSIGN_OR_RETURN(const IntVector axes, IntegersOf(ctx.input(3), "reduction_axes"));
  std::vector<bool> reduced(in.rank(), false);
  for (int64_t a : axes) {
    const StatusOr<int> axis = AxisOf(a, in.rank());
    if (!axis.ok()) {
      return InvalidArgument("Invalid reduction dimension ", a, " of a sparse tensor of rank ", in.rank());
    }
    reduced[*axis] = true;
  }
  const bool keep_dims = ctx.node().attr<bool>("keep_dims");
  Reduction r;
  for (int d = 0; d < in.rank(); ++d) {
    if (!reduced[d]) {
      r.kept.push_back(d);
      r.group_shape.push_back(in.shape()[d]);
      r.shape.push_back(in.shape()[d]);
    } else if (keep_dims) {
      r.shape.push_back(1);
    }
  }
  return r;
}

// The elements of a sparse tensor in groups, one for each position of the result that has elements, in row-major order.
struct Groups {
  std::vector<int64_t> order;   // numbers of the elements; the elements of a group are consecutive
  std::vector<size_t> borders;  // where each group begins in `order`, and the size of `order`
  size_t count() const { return borders.size() - 1; }
  int64_t first(size_t group) const { return order[borders[group]]; }
};

Groups GroupsOf(const SparseView& in, const Reduction& r) {
  const auto before = [&](int64_t a, int64_t b) {
    for (int64_t d : r.kept) {
      if (in.index(a)[d] != in.index(b)[d]) return in.index(a)[d] < in.index(b)[d];
    }
    return false;
  };
  Groups groups;
  groups.order = in.Sorted();
  std::stable_sort(groups.order.begin(), groups.order.end(), before);
  for (size_t i = 0; i < groups.order.size(); ++i) {
    if (i == 0 || before(groups.order[i - 1], groups.order[i])) groups.borders.push_back(i);
  }
  groups.borders.push_back(groups.order.size());
  return groups;
}

// Reduces each group of `values` to an element of `totals`. Only this function is compiled for each dtype.
template <typename T, bool kMax>
void ReduceGroups(const Tensor& values, const Groups& groups, Tensor* totals) {
  const auto v = values.data<T>();
  const auto to = totals->inplace_data<T>();
  for (size_t group = 0; group < groups.count(); ++group) {
    T total = v[groups.first(group)];
    for (size_t i = groups.borders[group] + 1; i < groups.borders[group + 1]; ++i) {
      const T& value = v[groups.order[i]];
      if constexpr (!kMax) {
        total = Plus(total, value);
      } else if constexpr (kIsHalf<T>) {
        if (float(total) < float(value)) total = value;
      } else {
        total = std::max(total, value);
      }
    }
    to[group] = total;
  }
}
using GroupReducer = void (*)(const Tensor& values, const Groups& groups, Tensor* totals);

Status ReduceToDense(KernelContext& ctx, GroupReducer reduce) {
  TF_ASSIGN_OR_RETURN(const SparseView in, SparseView::OfInputs(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Reduction r, ReductionOf(ctx, in));
  const Shape shape{std::span<const int64_t>(r.shape.data(), r.shape.size())};
  if (shape.num_elements() < 0) return InvalidArgument("the result has too many elements");
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  const Groups groups = GroupsOf(in, r);
  TF_ASSIGN_OR_RETURN(Tensor totals, ctx.AllocateTemp(out->dtype(), {static_cast<int64_t>(groups.count())}));
  reduce(in.values(), groups, &totals);
  const size_t size = DTypeSize(out->dtype());
  char* const to = static_cast<char*>(out->inplace_raw_data());
  const char* const from = static_cast<const char*>(totals.raw_data());
  std::memset(to, 0, out->num_bytes());
  for (size_t group = 0; group < groups.count(); ++group) {
    const int64_t* const index = in.index(groups.first(group));
    int64_t at = 0;
    for (size_t i = 0; i < r.kept.size(); ++i) at = at * r.group_shape[i] + index[r.kept[i]];
    std::memcpy(to + static_cast<size_t>(at) * size, from + group * size, size);
  }
  return OkStatus();
}

Status ReduceToSparse(KernelContext& ctx, GroupReducer reduce) {
  TF_ASSIGN_OR_RETURN(const SparseView in, SparseView::OfInputs(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Reduction r, ReductionOf(ctx, in));
  const Groups groups = GroupsOf(in, r);
  TF_ASSIGN_OR_RETURN(const SparseOutput out, AllocateSparse(ctx, 0, static_cast<int64_t>(groups.count()), r.shape));
  reduce(in.values(), groups, out.values);
  // If the result has as many dimensions as the input, the kept coordinates stay in their places.
  const bool keep_dims = r.shape.size() != r.kept.size() || static_cast<int>(r.kept.size()) == in.rank();
  int64_t* to = out.indices;
  for (size_t group = 0; group < groups.count(); ++group) {
    const int64_t* const index = in.index(groups.first(group));
    if (!keep_dims) {
      for (int64_t d : r.kept) *to++ = index[d];
      continue;
    }
    std::fill_n(to, r.shape.size(), 0);
    for (int64_t d : r.kept) to[d] = index[d];
    to += r.shape.size();
  }
  return OkStatus();
}

template <typename T, bool kMax>
Status SparseReduce(KernelContext& ctx) {
  return ReduceToDense(ctx, ReduceGroups<T, kMax>);
}
template <typename T, bool kMax>
Status SparseReduceSparse(KernelContext& ctx) {
  return ReduceToSparse(ctx, ReduceGroups<T, kMax>);
}

// Softmax over the elements of each row of the last dimension. Missing elements count as minus infinity.
template <typename T>
Status SparseSoftmax(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const SparseView in, SparseView::OfInputs(ctx, 0));
  if (in.rank() < 2) return InvalidArgument("the sparse tensor must have rank 2 or more, got ", in.rank());
  TF_RETURN_IF_ERROR(CheckCountable(ctx, in));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {in.size()}));
  using A = ComputeType<T>;
  const auto v = in.values().data<T>();
  const auto to = out->inplace_data<T>();
  for (int64_t i = 0; i < in.size();) {
    int64_t end = i + 1;
    while (end < in.size() && CompareIndex(in.index(i), in.index(end), in.rank() - 1) == 0) ++end;
    A most = static_cast<A>(v[i]);
    for (int64_t k = i; k < end; ++k) most = std::max(most, static_cast<A>(v[k]));
    A total = 0;
    std::vector<A> exps(end - i);
    for (int64_t k = i; k < end; ++k) total += exps[k - i] = std::exp(static_cast<A>(v[k]) - most);
    for (int64_t k = i; k < end; ++k) to[k] = static_cast<T>(exps[k - i] / total);
    i = end;
  }
  return OkStatus();
}

template <typename T, typename... R>
void AddSparseAdd(KernelRegistry& r) {
  (r.Add("SparseAdd", {{"T", {DTypeOf<T>::value}}, {"Treal", {DTypeOf<R>::value}}}, SparseAdd<T, R>), ...);
}

}  // namespace

void RegisterSparseMathKernels(KernelRegistry& r) {
  // The threshold has the type of the values or, for complex values, of their parts.
  AddSparseAdd<float, float>(r);
  AddSparseAdd<double, double>(r);
  AddSparseAdd<int8_t, int8_t>(r);
  AddSparseAdd<int16_t, int16_t>(r);
  AddSparseAdd<int32_t, int32_t>(r);
  AddSparseAdd<int64_t, int64_t>(r);
  AddSparseAdd<uint8_t, uint8_t>(r);
  AddSparseAdd<uint16_t, uint16_t>(r);
  AddSparseAdd<std::complex<float>, float>(r);
  AddSparseAdd<std::complex<double>, double>(r);
  ForEachNumberType([&]<typename T>() {
    const TypeConstraints t = {{"T", {DTypeOf<T>::value}}};
    r.Add("SparseAddGrad", t, SparseAddGrad);
    r.Add("SparseReduceSum", t, SparseReduce<T, false>);
    r.Add("SparseReduceSumSparse", t, SparseReduceSparse<T, false>);
    r.Add("SparseSparseMinimum", t, SparseSparseExtreme<T, false>);
    if constexpr (!requires(T v) { v.real(); }) {
      r.Add("SparseSparseMaximum", t, SparseSparseExtreme<T, true>);
      r.Add("SparseReduceMax", t, SparseReduce<T, true>);
      r.Add("SparseReduceMaxSparse", t, SparseReduceSparse<T, true>);
    }
  });
  ForEachType<Float16, float, double>([&]<typename T>() {
    r.Add("SparseSoftmax", {{"T", {DTypeOf<T>::value}}}, SparseSoftmax<T>);
  });
}

}  // namespace tensorbraid::cpu
