// Reductions over axes, and shared code of all reductions.
#include "kernels/cpu/reduction/reduction.h"

#include <cmath>
#include <cstring>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/functors.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

StatusOr<std::vector<bool>> ReducedAxes(const Tensor& axes, int rank) {
  std::vector<bool> reduced(rank, false);
  if (axes.shape().rank() > 1) return InvalidArgument("axes must be a scalar or a vector, got shape ", axes.shape());
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    const int64_t axis = axes.dtype() == kInt64 ? axes.data<int64_t>()[i] : axes.data<int32_t>()[i];
    if (axis < -rank || axis >= rank) {
      return InvalidArgument("axis ", axis, " is not in [", -rank, ", ", rank, ")");
    }
    const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
    if (reduced[at]) return InvalidArgument("axis ", at, " is given twice");
    reduced[at] = true;
  }
  return reduced;
}

// Reduces in[outer, reduced, inner] to out[outer, inner]. `loops` are for elements of `in`, `later` for results of an
// earlier pass.
void ReducePass(KernelContext& ctx, const ReduceLoops& loops, const ReduceLoops& later, const char* in, int64_t outer,
                int64_t reduced, int64_t inner, char* out) {
  constexpr double kCostNs = 0.3;
  constexpr int64_t kPiece = 1 << 16;  // elements
  const int64_t results = outer * inner;
  // With few results and much input, splits the reduced dimension into pieces and reduces each piece first.
  if (outer < 8 && inner < kPiece / 8 && reduced * inner >= 2 * kPiece) {
    const int64_t rows = std::max<int64_t>(1, kPiece / inner);
    const int64_t pieces = (reduced + rows - 1) / rows;
    std::vector<char> parts(outer * pieces * inner * loops.out_size);
    Parallel(ctx, outer * pieces, kCostNs * rows * inner, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t from = i % pieces * rows;
        const int64_t n = std::min(rows, reduced - from);
        const char* at = in + (i / pieces * reduced + from) * inner * loops.in_size;
        char* const part = parts.data() + i * inner * loops.out_size;
        if (inner == 1) {
          loops.rows(at, 1, n, part);
        } else {
          loops.columns(at, n, inner, 0, inner, part);
        }
      }
    });
    ReducePass(ctx, later, later, parts.data(), outer, pieces, inner, out);
    return;
  }
  if (inner == 1) {
    Parallel(ctx, outer, 2 + kCostNs * reduced, [&](int64_t begin, int64_t end) {
      loops.rows(in + begin * reduced * loops.in_size, end - begin, reduced, out + begin * loops.out_size);
    });
    return;
  }
  // Split the results into ranges; a range may begin and end within a row of `inner`.
  Parallel(ctx, results, kCostNs * reduced, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end;) {
      const int64_t o = at / inner;
      const int64_t stop = std::min(end, (o + 1) * inner);
      loops.columns(in + o * reduced * inner * loops.in_size, reduced, inner, at - o * inner, stop - o * inner,
                    out + o * inner * loops.out_size);
      at = stop;
    }
  });
}

// The mean of integers of 32 bits or less. Their sum may need 64 bits.
class IntegerMeanKernel : public Kernel {
 public:
  Status Compute(KernelContext& ctx) final {
    const Tensor& in = ctx.input(0);
    TF_ASSIGN_OR_RETURN(Groups g, GroupAxes(in.shape(), ctx.input(1), keep_dims_));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, g.shape));
    TF_ASSIGN_OR_RETURN(Tensor wide, ctx.AllocateTemp(kInt64, in.shape()));
    TF_ASSIGN_OR_RETURN(Tensor sums, ctx.AllocateTemp(kInt64, g.shape));
    const auto values = wide.inplace_data<int64_t>();
    widen_(in, values.data());
    const auto totals = sums.inplace_data<int64_t>();
    if (totals.empty()) return OkStatus();
    if (values.empty()) {
      std::fill(totals.begin(), totals.end(), 0);
    } else if (g.identity) {
      std::copy(values.begin(), values.end(), totals.begin());
    } else {
      ReduceGroups(ctx, MakeReducer<SumR, int64_t>(), values.data(), std::move(g.sizes), totals.data());
      const int64_t count = static_cast<int64_t>(values.size() / totals.size());
      for (int64_t& total : totals) total /= count;
    }
    narrow_(totals.data(), out);
    return OkStatus();
  }

 protected:
  IntegerMeanKernel(const KernelConstruction& c, void (*widen)(const Tensor& in, int64_t* out),
                    void (*narrow)(const int64_t* in, Tensor* out))
      : widen_(widen), narrow_(narrow), keep_dims_(c.attr<bool>("keep_dims")) {}

 private:
  void (*const widen_)(const Tensor& in, int64_t* out);
  void (*const narrow_)(const int64_t* in, Tensor* out);
  const bool keep_dims_;
};

template <typename T>
class IntegerMeanKernelOf final : public IntegerMeanKernel {
 public:
  explicit IntegerMeanKernelOf(const KernelConstruction& c) : IntegerMeanKernel(c, Widen, Narrow) {}

 private:
  static void Widen(const Tensor& in, int64_t* out) { std::copy_n(in.data<T>().data(), in.num_elements(), out); }
  static void Narrow(const int64_t* in, Tensor* out) {
    std::transform(in, in + out->num_elements(), out->inplace_data<T>().data(),
                   [](int64_t v) { return static_cast<T>(v); });
  }
};

template <typename... T>
void AddIntegerMean(KernelRegistry& r, Types<T...>) {
  (r.Add<IntegerMeanKernelOf<T>>("Mean", {{"T", {DTypeOf<T>::value}}}, ReductionCost), ...);
}

}  // namespace

StatusOr<Groups> GroupAxes(const Shape& shape, const Tensor& axes, bool keep_dims) {
  TF_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedAxes(axes, shape.rank()));
  Groups g;
  g.sizes.push_back(1);
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t size = shape.dim(i);
    if (!reduced[i]) {
      g.shape.AddDim(size);
    } else if (keep_dims) {
      g.shape.AddDim(1);
    }
    if (size == 1) continue;
    if (reduced[i]) g.identity = false;
    const bool last_is_reduced = g.sizes.size() % 2 == 0;
    if (reduced[i] == last_is_reduced) {
      g.sizes.back() *= size;
    } else {
      g.sizes.push_back(size);
    }
  }
  return g;
}

void ReduceGroups(KernelContext& ctx, const Reducer& reducer, const void* in, std::vector<int64_t> sizes, void* out) {
  int64_t inner = 1;
  if (sizes.size() % 2 == 1) {
    inner = sizes.back();
    sizes.pop_back();
  }
  const int64_t reduced = sizes.back();
  sizes.pop_back();
  int64_t outer = 1;
  for (int64_t s : sizes) outer *= s;
  const auto pass = [&](void* to) {
    ReducePass(ctx, *reducer.first, *reducer.later, static_cast<const char*>(in), outer, reduced, inner,
               static_cast<char*>(to));
  };
  if (sizes.size() == 1) return pass(out);
  std::vector<char> parts(outer * inner * reducer.first->out_size);
  pass(parts.data());
  sizes.back() *= inner;
  ReduceGroups(ctx, {reducer.later, reducer.later}, parts.data(), std::move(sizes), out);
}

Status ReductionKernel::Compute(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  TF_ASSIGN_OR_RETURN(Groups g, GroupAxes(in.shape(), ctx.input(1), keep_dims_));
  if (g.identity) {
    TF_ASSIGN_OR_RETURN(Tensor same, in.Reshaped(g.shape));
    ctx.set_output(0, std::move(same));
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, g.shape));
  const int64_t results = out->num_elements();
  if (results == 0) return OkStatus();
  const bool half = out->dtype() == kFloat16 || out->dtype() == kBfloat16;
  std::vector<float> wide(half ? results : 0);
  void* const to = half ? wide.data() : out->inplace_raw_data();
  if (in.num_elements() == 0) {
    reducer_.first->columns(/*in=*/nullptr, /*reduced=*/0, results, 0, results, to);  // sets all to the identity
  } else {
    ReduceGroups(ctx, reducer_, in.raw_data(), std::move(g.sizes), to);
  }
  if (reducer_.divide != nullptr) reducer_.divide(to, results, in.num_elements());
  if (out->dtype() == kFloat16) FromFloat(wide.data(), out->inplace_data<Float16>().data(), results);
  if (out->dtype() == kBfloat16) FromFloat(wide.data(), out->inplace_data<Bfloat16>().data(), results);
  return OkStatus();
}

namespace {

struct ProdR {
  static constexpr bool kWraps = true;
  template <typename A>
  static constexpr A Identity() {
    return A(1);
  }
  template <typename A>
  static A Join(A a, A b) {
    return static_cast<A>(Wrapping<A>(a) * Wrapping<A>(b));
  }
};

struct AllR {
  template <typename A>
  static constexpr A Identity() {
    return true;
  }
  static bool Join(bool a, bool b) { return a & b; }
};

struct AnyR {
  template <typename A>
  static constexpr A Identity() {
    return false;
  }
  static bool Join(bool a, bool b) { return a | b; }
};

struct MaxR {
  template <typename A>
  static constexpr A Identity() {
    return std::numeric_limits<A>::has_infinity ? -std::numeric_limits<A>::infinity()
                                                : std::numeric_limits<A>::lowest();
  }
  template <typename A>
  static A Join(A a, A b) {
    return (a > b || a != a) ? a : b;  // NaN if either operand is NaN
  }
};

struct MinR {
  template <typename A>
  static constexpr A Identity() {
    return std::numeric_limits<A>::has_infinity ? std::numeric_limits<A>::infinity() : std::numeric_limits<A>::max();
  }
  template <typename A>
  static A Join(A a, A b) {
    return (a < b || a != a) ? a : b;
  }
};

// EuclideanNorm: sqrt(sum |x|^2).
class NormKernel : public Kernel {
 public:
  // The loops over elements. A sum has the type that the elements are computed in, whose dtype is `sum`.
  struct Loops {
    DType sum;
    Reducer add;
    void (*square)(const void* in, int64_t begin, int64_t end, void* out);
    void (*root)(const void* sums, int64_t n, void* out);
  };

  Status Compute(KernelContext& ctx) final {
    const Tensor& in = ctx.input(0);
    TF_ASSIGN_OR_RETURN(Groups g, GroupAxes(in.shape(), ctx.input(1), keep_dims_));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, g.shape));
    if (out->num_elements() == 0) return OkStatus();
    TF_ASSIGN_OR_RETURN(Tensor squares, ctx.AllocateTemp(loops_.sum, in.shape()));
    void* const to = squares.inplace_raw_data();
    Parallel(ctx, in.num_elements(), 0.5,
             [&](int64_t begin, int64_t end) { loops_.square(in.raw_data(), begin, end, to); });
    TF_ASSIGN_OR_RETURN(Tensor sums, ctx.AllocateTemp(loops_.sum, g.shape));
    std::memset(sums.inplace_raw_data(), 0, sums.num_bytes());
    if (!g.identity && in.num_elements() != 0) {
      ReduceGroups(ctx, loops_.add, squares.raw_data(), std::move(g.sizes), sums.inplace_raw_data());
    }
    loops_.root(g.identity ? squares.raw_data() : sums.raw_data(), out->num_elements(), out->inplace_raw_data());
    return OkStatus();
  }

 protected:
  NormKernel(const KernelConstruction& c, const Loops& loops) : loops_(loops), keep_dims_(c.attr<bool>("keep_dims")) {}

 private:
  const Loops loops_;
  const bool keep_dims_;
};

template <typename T>
class NormKernelOf final : public NormKernel {
 public:
  explicit NormKernelOf(const KernelConstruction& c)
      : NormKernel(c, {DTypeOf<A>::value, MakeReducer<SumR, A>(), Square, Root}) {}

 private:
  using A = ComputeType<T>;
  static void Square(const void* in, int64_t begin, int64_t end, void* out) {
    for (int64_t i = begin; i < end; ++i) {
      const A v = static_cast<A>(static_cast<const T*>(in)[i]);
      static_cast<A*>(out)[i] = MulF::Apply(v, Conjugate(v));
    }
  }
  static void Root(const void* sums, int64_t n, void* out) {
    for (int64_t i = 0; i < n; ++i) {
      const A sum = static_cast<const A*>(sums)[i];
      if constexpr (std::is_integral_v<A>) {
        static_cast<T*>(out)[i] = static_cast<T>(std::sqrt(static_cast<double>(sum)));
      } else {
        static_cast<T*>(out)[i] = static_cast<T>(std::sqrt(sum));
      }
    }
  }
};

template <typename... T>
void AddNorm(KernelRegistry& r, Types<T...>) {
  (r.Add<NormKernelOf<T>>("EuclideanNorm", {{"T", {DTypeOf<T>::value}}}, ReductionCost), ...);
}

}  // namespace

void RegisterReductionKernels(KernelRegistry& r) {
  AddReduction<SumR>(r, "Sum", RealTypes{});
  AddReduction<MeanR>(r, "Mean", FloatTypes{} + Types<int64_t, uint64_t>{});
  AddIntegerMean(r, Types<int8_t, int16_t, int32_t, uint8_t, uint16_t, uint32_t>{});
  AddReduction<ProdR>(r, "Prod", NumberTypes{});
  r.Add<ReductionKernelOf<AllR, bool>>("All", {}, ReductionCost);
  r.Add<ReductionKernelOf<AnyR, bool>>("Any", {}, ReductionCost);
  AddReduction<MaxR>(r, "Max", RealTypes{});
  AddReduction<MinR>(r, "Min", RealTypes{});
  AddReduction<SumR>(r, "Sum", ComplexTypes{});
  AddReduction<MeanR>(r, "Mean", ComplexTypes{});
  AddNorm(r, NumberTypes{});
}

}  // namespace tensorbraid::cpu
