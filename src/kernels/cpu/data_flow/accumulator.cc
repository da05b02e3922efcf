// Kernels of conditional accumulators. A kernel looks up the accumulator and calls it; the waiting is implemented in
// AccumulatorResource (runtime/resources/accumulator_resource.h).
#include <algorithm>
#include <atomic>
#include <type_traits>

#include "core/text/strings.h"
#include "kernels/cpu/array_math.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/data_flow/add_tensors.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/scalar_input.h"
#include "runtime/kernel/handle_kernel.h"
#include "runtime/kernel/kernel.h"
#include "runtime/resources/accumulator_resource.h"

namespace tensorbraid::cpu {
namespace {

template <typename T>
void DivideTensor(ThreadPool& pool, const Tensor& a, int64_t divisor, Tensor* out) {
  const T* x = a.data<T>().data();
  T* to = out->inplace_data<T>().data();
  const auto d = static_cast<ComputeType<T>>(static_cast<double>(divisor));
  pool.ParallelFor(a.num_elements(), 0.2 * sizeof(T), [=](int64_t begin, int64_t end) {
    if constexpr (std::is_floating_point_v<T>) {
      // By Eigen, because GCC does not vectorise loops in this file (see src/kernels/cpu/CMakeLists.txt).
      Vec(to + begin, end - begin) = Vec(x + begin, end - begin) / d;
    } else {
      for (int64_t i = begin; i < end; ++i) to[i] = T(ComputeType<T>(x[i]) / d);
    }
  });
}

// Adds row `row` of `from` to row `to_row` of *to.
template <typename T>
void AddRow(const Tensor& from, int64_t row, Tensor* to, int64_t to_row) {
  const int64_t n = from.num_elements() / from.shape().dim(0);
  T* const sum = to->inplace_data<T>().data() + to_row * n;
  Combine(sum, from.data<T>().data() + row * n, sum, n, [](const auto& l, const auto& r) { return l + r; });
}

template <typename T>
void DivideRow(Tensor* values, int64_t row, int64_t divisor) {
  const int64_t n = values->num_elements() / values->shape().dim(0);
  T* const x = values->inplace_data<T>().data() + row * n;
  const auto d = static_cast<ComputeType<T>>(static_cast<double>(divisor));
  for (int64_t i = 0; i < n; ++i) x[i] = T(ComputeType<T>(x[i]) / d);
}

template <typename T, bool kSparse>
class AccumulatorKernel final : public HandleKernel<AccumulatorResource> {
 public:
  explicit AccumulatorKernel(const KernelConstruction& c)
      : HandleKernel(c, Sharing::kPrivate),
        shape_(c.attr<Shape>("shape")),
        reduction_(c.attr<std::string>("reduction_type") == "SUM" ? AccumulatorResource::Reduction::kSum
                                                                  : AccumulatorResource::Reduction::kMean) {}

 protected:
  RefPtr<AccumulatorResource> Create() const override {
    constexpr DType kDType = DTypeOf<T>::value;
    if constexpr (kSparse) {
      return MakeRef<SparseAccumulator>(name(), kDType, shape_, reduction_,
                                        SparseAccumulator::Arithmetic{AddRow<T>, DivideRow<T>});
    } else {
      return MakeRef<DenseAccumulator>(name(), kDType, shape_, reduction_,
                                       DenseAccumulator::Arithmetic{AddTensors<T>, DivideTensor<T>});
    }
  }
  // As in TensorFlow, an existing accumulator is used without a check. When gradients are applied, it refuses those
  // that do not fit.
  Status Check(const AccumulatorResource&) const override { return OkStatus(); }

 private:
  const Shape shape_;
  const AccumulatorResource::Reduction reduction_;
};

// The accumulator whose handle is input 0. Returns InvalidArgument unless it is sparse or dense as `sparse` says, and
// has the dtype of the node's attribute 'dtype'.
StatusOr<RefPtr<AccumulatorResource>> AccumulatorOf(KernelContext& ctx, bool sparse) {
  TF_ASSIGN_OR_RETURN(auto accumulator, ctx.LookupResource<AccumulatorResource>(0));
  const DType dtype = ctx.node().attr<DType>("dtype");
  if (accumulator->is_sparse() != sparse || accumulator->dtype() != dtype) {
    return InvalidArgument("accumulator '", accumulator->name(), "' is a ", accumulator->DebugString(), "; expected a ",
                           sparse ? "sparse" : "dense", " accumulator of ", dtype);
  }
  return accumulator;
}

// Applies a gradient that was computed from the variables of global step `step`. Ops whose name begins with "_" have an
// output: false if the accumulator has dropped the gradient, because it was too old, otherwise true.
Status Apply(KernelContext& ctx, AccumulatorResource& accumulator, int64_t step,
             AccumulatorResource::Gradient gradient) {
  TF_ASSIGN_OR_RETURN(const bool applied, accumulator.Apply(step, std::move(gradient), ctx.pool()));
  if (ctx.num_outputs() > 0) ctx.set_output(0, Tensor::Scalar(applied));
  return OkStatus();
}

Status ApplyDense(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto accumulator, AccumulatorOf(ctx, /*sparse=*/false));
  TF_ASSIGN_OR_RETURN(const int64_t step, ScalarInput<int64_t>(ctx, 1, "local_step"));
  AccumulatorResource::Gradient gradient;
  gradient.push_back(ctx.TakeInput(2));
  return Apply(ctx, *accumulator, step, std::move(gradient));
}

Status ApplySum(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto accumulator, AccumulatorOf(ctx, /*sparse=*/false));
  TF_ASSIGN_OR_RETURN(const int64_t step, ScalarInput<int64_t>(ctx, 1, "local_step"));
  const auto replicas = ctx.input(2).data<int64_t>();
  AccumulatorResource::Gradient sum;
  sum.push_back(ctx.TakeInput(3));
  TF_ASSIGN_OR_RETURN(const GradientOutcome outcome,
                      accumulator->ApplySum(step, {replicas.begin(), replicas.end()}, std::move(sum), ctx.pool()));
  ctx.set_output(0, Tensor::Scalar(static_cast<int32_t>(outcome)));
  return OkStatus();
}

Status ApplySparse(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto accumulator, AccumulatorOf(ctx, /*sparse=*/true));
  TF_ASSIGN_OR_RETURN(const int64_t step, ScalarInput<int64_t>(ctx, 1, "local_step"));
  AccumulatorResource::Gradient gradient;
  gradient.push_back(ctx.TakeInput(2));
  gradient.push_back(ctx.TakeInput(3));
  if (ctx.node().attr<bool>("has_known_shape")) gradient.push_back(ctx.TakeInput(4));
  return Apply(ctx, *accumulator, step, std::move(gradient));
}

template <bool kSparse>
class TakeKernel final : public AsyncKernel {
 public:
  explicit TakeKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    auto accumulator = AccumulatorOf(ctx, kSparse);
    if (!accumulator.ok()) return done(accumulator.status());
    auto required = ScalarInput<int32_t>(ctx, 1, "num_required");
    if (!required.ok()) return done(required.status());
    (*accumulator)
        ->Take(*required, ctx.env().cancellation, ctx.pool(),
               [&ctx, done = std::move(done)](StatusOr<AccumulatorResource::Gradient> taken) {
                 if (!taken.ok()) return done(taken.status());
                 for (int i = 0; i < ctx.num_outputs(); ++i) ctx.set_output(i, std::move((*taken)[i]));
                 done(OkStatus());
               });
  }
};

Status NumAccumulated(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto accumulator, ctx.LookupResource<AccumulatorResource>(0));
  ctx.set_output(0, Tensor::Scalar(static_cast<int32_t>(accumulator->num_accumulated())));
  return OkStatus();
}

Status SetGlobalStep(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto accumulator, ctx.LookupResource<AccumulatorResource>(0));
  TF_ASSIGN_OR_RETURN(const int64_t step, ScalarInput<int64_t>(ctx, 1, "new_global_step"));
  accumulator->SetGlobalStep(step);
  return OkStatus();
}

Status Restart(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto accumulator, ctx.LookupResource<AccumulatorResource>(0));
  TF_ASSIGN_OR_RETURN(const int64_t step, ScalarInput<int64_t>(ctx, 1, "step"));
  accumulator->Restart(step);
  return OkStatus();
}

// Numbers the sessions of chiefs in synchronous training (see sync_replicas.cc): Next returns 0 for the first session,
// then 1, and so on.
class ChiefCounter final : public Resource {
 public:
  static constexpr const char* kTypeName = "chief counter";
  int64_t Next() { return last_.fetch_add(1) + 1; }
  // The number that Next has returned last. Before the first call of Next it is 0, the number of the first session.
  int64_t Last() const { return std::max<int64_t>(last_, 0); }
  std::string DebugString() const override { return StrCat("chief ", Last()); }

 private:
  std::atomic<int64_t> last_{-1};
};

Status ChiefNumber(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto counter,
                      ctx.resources().LookupOrCreate<ChiefCounter>("", ctx.node().attr<std::string>("shared_name"),
                                                                   [] { return MakeRef<ChiefCounter>(); }));
  ctx.set_output(0, Tensor::Scalar(ctx.node().attr<bool>("next") ? counter->Next() : counter->Last()));
  return OkStatus();
}

}  // namespace

void RegisterDataFlowAccumulatorKernels(KernelRegistry& r) {
  for (const std::string prefix : {"", "Resource"}) {
    ForEachNumberType([&]<typename T>() {
      r.Add<AccumulatorKernel<T, false>>(prefix + "ConditionalAccumulator", {{"dtype", {DTypeOf<T>::value}}});
    });
    r.Add(prefix + "AccumulatorApplyGradient", {}, ApplyDense, cpu::UpdateCost);
    r.Add<TakeKernel<false>>(prefix + "AccumulatorTakeGradient");
    r.Add(prefix + "AccumulatorNumAccumulated", {}, NumAccumulated);
    r.Add(prefix + "AccumulatorSetGlobalStep", {}, SetGlobalStep);
  }
  ForEachNumberType([&]<typename T>() {
    r.Add<AccumulatorKernel<T, true>>("SparseConditionalAccumulator", {{"dtype", {DTypeOf<T>::value}}});
  });
  r.Add("SparseAccumulatorApplyGradient", {}, ApplySparse, cpu::UpdateCost);
  r.Add("_ResourceAccumulatorApplyGradient", {}, ApplyDense, cpu::UpdateCost);
  r.Add("_ResourceAccumulatorApplySum", {}, ApplySum, cpu::UpdateCost);
  r.Add("_SparseAccumulatorApplyGradient", {}, ApplySparse, cpu::UpdateCost);
  r.Add<TakeKernel<true>>("SparseAccumulatorTakeGradient");
  r.Add("_ResourceAccumulatorRestart", {}, Restart);
  r.Add("_AccumulatorRestart", {}, Restart);
  r.Add("_ChiefNumber", {}, ChiefNumber);
}

}  // namespace tensorbraid::cpu
