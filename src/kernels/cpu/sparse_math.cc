// Sums, extremes and softmax of sparse tensors.
#include <cmath>
#include <limits>

#include "core/strings.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/sparse.h"

namespace tensorbraid::cpu {
namespace {

template <typename T>
auto Magnitude(const T& v) {
  if constexpr (std::is_unsigned_v<T> || std::is_same_v<T, bool>) {
    return v;
  } else if constexpr (kIsShortFloat<T>) {
    return std::abs(float(v));
  } else if constexpr (std::is_integral_v<T>) {
    return v < 0 ? static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(v)) : v;
  } else {
    return std::abs(v);
  }
}

template <typename T>
T Plus(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  } else if constexpr (kIsShortFloat<T>) {
    return T(float(a) + float(b));
  } else {
    return a + b;
  }
}

// Walks over two sparse tensors whose elements are in order: calls f(i, j) with the numbers of elements at one place,
// -1 for the side that has none there.
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

// a + b without the sums of two that are smaller than the threshold.
template <typename T, typename R>
Status SparseAdd(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto both, TwoOfOneShape(ctx));
  const auto& [a, b] = both;
  if (!ctx.input(6).shape().is_scalar()) {
    return InvalidArgument("thresh must be a scalar, got shape ", ctx.input(6).shape());
  }
  const R threshold = ctx.input(6).scalar<R>();
  const auto va = a.values().template data<T>(), vb = b.values().template data<T>();
  std::vector<std::pair<int64_t, int64_t>> kept;
  std::vector<T> sums;
  Merge(a, b, [&](int64_t i, int64_t j) {
    const T sum = i < 0 ? vb[j] : j < 0 ? va[i] : Plus(va[i], vb[j]);
    const bool both_there = i >= 0 && j >= 0;
    if (both_there && static_cast<double>(threshold) > static_cast<double>(Magnitude(sum))) return;
    kept.emplace_back(i, j);
    sums.push_back(sum);
  });
  TF_ASSIGN_OR_RETURN(const SparseOutput out, AllocateSparse(ctx, 0, static_cast<int64_t>(kept.size()), a.shape()));
  for (size_t k = 0; k < kept.size(); ++k) {
    const auto [i, j] = kept[k];
    std::copy_n(i < 0 ? b.index(j) : a.index(i), a.rank(), out.indices + k * a.rank());
    out.values->mutable_data<T>()[k] = sums[k];
  }
  return OkStatus();
}

// Each operand's element gets the gradient of the sum at its place, or nothing where the threshold took it away.
template <typename T>
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
  for (int side = 0; side < 2; ++side) {
    const Tensor& in = ctx.input(1 + side);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(side, {in.shape().dim(0)}));
    int64_t k = 0;
    for (int64_t i = 0; i < in.shape().dim(0); ++i) {
      const int64_t* at = in.data<int64_t>().data() + i * rank;
      const int64_t* sums = sum.data<int64_t>().data();
      while (k < grad.num_elements() && CompareIndex(sums + k * rank, at, rank) < 0) ++k;
      const bool same = k < grad.num_elements() && CompareIndex(sums + k * rank, at, rank) == 0;
      out->mutable_data<T>()[i] = same ? grad.data<T>()[k] : T{};
    }
  }
  return OkStatus();
}

// The larger (smaller) of two at each place, 0 standing for what is not there.
template <typename T, bool kMax>
Status SparseSparseExtreme(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto both, TwoOfOneShape(ctx));
  const auto& [a, b] = both;
  std::vector<std::pair<int64_t, int64_t>> pairs;
  Merge(a, b, [&](int64_t i, int64_t j) { pairs.emplace_back(i, j); });
  TF_ASSIGN_OR_RETURN(const SparseOutput out, AllocateSparse(ctx, 0, static_cast<int64_t>(pairs.size()), a.shape()));
  for (size_t k = 0; k < pairs.size(); ++k) {
    const auto [i, j] = pairs[k];
    std::copy_n(i < 0 ? b.index(j) : a.index(i), a.rank(), out.indices + k * a.rank());
    const T x = i < 0 ? T{} : a.values().template data<T>()[i];
    const T y = j < 0 ? T{} : b.values().template data<T>()[j];
    bool less;
    if constexpr (kIsShortFloat<T>) {
      less = float(x) < float(y);
    } else if constexpr (requires { x.real(); }) {
      less = std::make_pair(x.real(), x.imag()) < std::make_pair(y.real(), y.imag());
    } else {
      less = x < y;
    }
    out.values->mutable_data<T>()[k] = less == kMax ? y : x;
  }
  return OkStatus();
}

// InvalidArgument when the dense shape has more elements than can be counted.
Status CheckCountable(KernelContext& ctx, const SparseView& in) {
  int64_t elements = 1;
  for (int d = 0; d < in.rank(); ++d) {
    if (__builtin_mul_overflow(elements, in.shape()[d], &elements)) {
      return InvalidArgument("a dense tensor of shape ", ctx.input(2).ToString(), " would have too many elements");
    }
  }
  return OkStatus();
}

// What a reduction leaves: the dimensions that stay, in order, and the shape of the result.
struct Reduction {
  IntVector kept;
  IntVector shape;
  IntVector group_shape;  // the sizes of the dimensions that stay
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

// Groups of elements at one place of the result, in row-major order: calls f(place, first element, accumulated).
template <typename T, bool kMax, typename F>
void ReduceGroups(const SparseView& in, const Reduction& r, const F& f) {
  const auto before = [&](int64_t a, int64_t b) {
    for (int64_t d : r.kept) {
      if (in.index(a)[d] != in.index(b)[d]) return in.index(a)[d] < in.index(b)[d];
    }
    return false;
  };
  std::vector<int64_t> order = in.Sorted();
  std::stable_sort(order.begin(), order.end(), before);
  const auto v = in.values().template data<T>();
  for (size_t i = 0; i < order.size();) {
    T total = v[order[i]];
    size_t j = i + 1;
    for (; j < order.size() && !before(order[i], order[j]); ++j) {
      if constexpr (!kMax) {
        total = Plus(total, v[order[j]]);
      } else if constexpr (kIsShortFloat<T>) {
        if (float(total) < float(v[order[j]])) total = v[order[j]];
      } else {
        total = std::max(total, v[order[j]]);
      }
    }
    f(order[i], total);
    i = j;
  }
}

template <typename T, bool kMax>
Status SparseReduce(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const SparseView in, SparseView::OfInputs(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Reduction r, ReductionOf(ctx, in));
  const Shape shape{std::span<const int64_t>(r.shape.data(), r.shape.size())};
  if (shape.num_elements() < 0) return InvalidArgument("the result has too many elements");
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  const auto to = out->mutable_data<T>();
  std::fill(to.begin(), to.end(), T{});
  ReduceGroups<T, kMax>(in, r, [&](int64_t element, const T& total) {
    int64_t at = 0;
    for (size_t i = 0; i < r.kept.size(); ++i) at = at * r.group_shape[i] + in.index(element)[r.kept[i]];
    to[at] = total;
  });
  return OkStatus();
}

template <typename T, bool kMax>
Status SparseReduceSparse(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const SparseView in, SparseView::OfInputs(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Reduction r, ReductionOf(ctx, in));
  std::vector<int64_t> elements;
  std::vector<T> totals;
  ReduceGroups<T, kMax>(in, r, [&](int64_t element, const T& total) {
    elements.push_back(element);
    totals.push_back(total);
  });
  TF_ASSIGN_OR_RETURN(const SparseOutput out, AllocateSparse(ctx, 0, static_cast<int64_t>(elements.size()), r.shape));
  const bool keep_dims = r.shape.size() != r.kept.size() || static_cast<int>(r.kept.size()) == in.rank();
  int64_t* to = out.indices;
  for (size_t k = 0; k < elements.size(); ++k) {
    out.values->mutable_data<T>()[k] = totals[k];
    if (!keep_dims) {
      for (int64_t d : r.kept) *to++ = in.index(elements[k])[d];
      continue;
    }
    std::fill_n(to, r.shape.size(), 0);
    for (int64_t d : r.kept) to[d] = in.index(elements[k])[d];
    to += r.shape.size();
  }
  return OkStatus();
}

// Softmax over the elements of each row of the last dimension; what is not there counts as minus infinity.
template <typename T>
Status SparseSoftmax(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const SparseView in, SparseView::OfInputs(ctx, 0));
  if (in.rank() < 2) return InvalidArgument("the sparse tensor must have rank 2 or more, got ", in.rank());
  TF_RETURN_IF_ERROR(CheckCountable(ctx, in));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {in.size()}));
  using A = ComputeType<T>;
  const auto v = in.values().data<T>();
  const auto to = out->mutable_data<T>();
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
  // The threshold has the type of the values, or of their parts.
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
    r.Add("SparseAddGrad", t, SparseAddGrad<T>);
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
