// Kernels of the sums of a host. They look up the resource and call it (runtime/replicas/host_sums.h). Only the sums
// themselves are computed here.
#include "runtime/replicas/host_sums.h"

#include "core/memory/shared_memory.h"
#include "core/text/strings.h"
#include "core/values/new_tensor.h"
#include "kernels/cpu/data_flow/add_tensors.h"
#include "kernels/cpu/scalar_input.h"
#include "kernels/cpu/training/registration.h"
#include "runtime/kernel/handle_kernel.h"

namespace tensorbraid {
namespace {

class HostSumsKernel final : public HandleKernel<HostSums> {
 public:
  explicit HostSumsKernel(const KernelConstruction& c) : HandleKernel(c), spares_(c.attr<int64_t>("spares")) {}

 protected:
  RefPtr<HostSums> Create() const override { return MakeRef<HostSums>(name(), spares_); }
  Status Check(const HostSums&) const override { return OkStatus(); }

 private:
  const int64_t spares_;
};

using Done = AsyncKernel::Done;

// A kernel that may wait: it finds the sums, and then calls kStart.
template <void (*kStart)(HostSums&, KernelContext&, Done)>
class WaitingKernel final : public AsyncKernel {
 public:
  explicit WaitingKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    const auto sums = ctx.LookupResource<HostSums>(0);
    if (!sums.ok()) return done(sums.status());
    kStart(**sums, ctx, std::move(done));
  }
};

// The callbacks of HostSums may run on the thread of another task's step, so the step continues on the pool.
template <typename Result>
auto OnPool(KernelContext& ctx, Done done, std::function<Status(KernelContext&, const Result&)> use) {
  return [&ctx, done = std::move(done), use = std::move(use)](StatusOr<Result> result) {
    ctx.pool().Schedule(
        [&ctx, done, use, result = std::move(result)] { done(result.ok() ? use(ctx, *result) : result.status()); });
  };
}

Status Reset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto sums, ctx.LookupResource<HostSums>(0));
  sums->Reset();
  return OkStatus();
}

Status Close(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto sums, ctx.LookupResource<HostSums>(0));
  sums->Close(ctx.node().attr<bool>("ended") ? OutOfRange("the chief has ended the training")
                                             : Unavailable("the task that sums gradients for its host has left"));
  return OkStatus();
}

Status Store(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto sums, ctx.LookupResource<HostSums>(0));
  TF_ASSIGN_OR_RETURN(const int64_t epoch, ScalarInput<int64_t>(ctx, 1, "epoch"));
  TF_ASSIGN_OR_RETURN(const int64_t stamp, ScalarInput<int64_t>(ctx, 2, "stamp"));
  const bool shared = ctx.node().attr<bool>("shared") && HasNeighbours();
  std::vector<Tensor> values;
  for (int i = 3; i < ctx.num_inputs(); ++i) {
    values.push_back(ctx.TakeInput(i));
    if (!shared) continue;
    // Once here, instead of once for each task that reads the values.
    TF_ASSIGN_OR_RETURN(Tensor moved, NewTensor(values.back().dtype(), values.back().shape(), SharedAllocator()));
    ctx.device().CopyInStream(values.back(), moved);
    values.back() = std::move(moved);
  }
  return sums->Store(epoch, stamp, std::move(values), ctx.node().attr<bool>("reopens"));
}

Status SetValues(KernelContext& ctx, const HostSums::Values& values) {
  const auto count = static_cast<int>(values.tensors.size());
  // Reads of the stamp alone leave the values out.
  if (ctx.num_outputs() > 2 && ctx.num_outputs() != count + 2) {
    return FailedPrecondition("the task that sums gradients has values of ", count, " variables, and this task needs ",
                              ctx.num_outputs() - 2, ": the workers have different graphs");
  }
  ctx.set_output(0, Tensor::Scalar(values.epoch));
  ctx.set_output(1, Tensor::Scalar(values.stamp));
  for (int i = 2; i < ctx.num_outputs(); ++i) {
    const Tensor& value = values.tensors[i - 2];
    if (value.dtype() != ctx.node().output_type(i) || !ctx.node().output_shape(i).IsCompatibleWith(value.shape())) {
      return FailedPrecondition("value ", i - 2, " of the task that sums gradients is ", value.dtype(), value.shape(),
                                ", and this task needs ", ctx.node().output_type(i), ctx.node().output_shape(i),
                                ": the workers have different graphs");
    }
    ctx.set_output(i, value);
  }
  return OkStatus();
}

void Read(HostSums& sums, KernelContext& ctx, Done done) {
  const auto after = ScalarInput<int64_t>(ctx, 1, "after");
  if (!after.ok()) return done(after.status());
  sums.Read(*after, ctx.env().cancellation, OnPool<HostSums::Values>(ctx, std::move(done), SetValues));
}

Status Stamp(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto sums, ctx.LookupResource<HostSums>(0));
  ctx.set_output(0, Tensor::Scalar(sums->stamp()));
  return OkStatus();
}

void Join(HostSums& sums, KernelContext& ctx, Done done) {
  const auto after = ScalarInput<int64_t>(ctx, 1, "after");
  if (!after.ok()) return done(after.status());
  sums.Join(ctx.node().attr<int64_t>("replica"), *after, ctx.env().cancellation,
            [&ctx, done = std::move(done)](const Status& why) { ctx.pool().Schedule([done, why] { done(why); }); });
}

Status SetOutcomes(KernelContext& ctx, const std::vector<GradientOutcome>& outcomes) {
  std::vector<int32_t> numbers;
  for (const GradientOutcome outcome : outcomes) numbers.push_back(static_cast<int32_t>(outcome));
  ctx.set_output(0, Tensor::Vector(numbers));
  return OkStatus();
}

void Add(HostSums& sums, KernelContext& ctx, Done done) {
  const auto stamp = ScalarInput<int64_t>(ctx, 1, "stamp");
  if (!stamp.ok()) return done(stamp.status());
  const auto replicas = ctx.input(2).data<int64_t>();
  if (replicas.empty()) return done(InvalidArgument("a gradient must be of at least one worker"));
  std::vector<int64_t> workers(replicas.begin(), replicas.end());
  std::vector<Tensor> gradients;
  for (int i = 3; i < ctx.num_inputs(); ++i) gradients.push_back(ctx.TakeInput(i));
  sums.Add(*stamp, std::move(workers), std::move(gradients), ctx.env().cancellation,
           OnPool<std::vector<GradientOutcome>>(ctx, std::move(done), SetOutcomes));
}

// The function that adds tensors of this type; null if there is none.
auto AdderOf(DType dtype) -> void (*)(ThreadPool&, const Tensor&, const Tensor&, Tensor*) {
  switch (dtype) {
    case DType::kFloat16:
      return cpu::AddTensors<Float16>;
    case DType::kBfloat16:
      return cpu::AddTensors<Bfloat16>;
    case DType::kFloat32:
      return cpu::AddTensors<float>;
    case DType::kFloat64:
      return cpu::AddTensors<double>;
    default:
      return nullptr;
  }
}

// Sets the stamp, the workers, and the sum of the gradients of each variable.
Status SetSums(KernelContext& ctx, const HostSums::Taken& taken) {
  ctx.set_output(0, Tensor::Scalar(taken.stamp));
  ctx.set_output(1, Tensor::Vector(taken.replicas));
  for (int i = 2; i < ctx.num_outputs(); ++i) {
    const DType dtype = ctx.node().output_type(i);
    const auto add = AdderOf(dtype);
    Tensor* sum = nullptr;  // of more than one gradient
    for (size_t sender = 0; sender < taken.gradients.size(); ++sender) {
      const std::vector<Tensor>& gradients = taken.gradients[sender];
      if (std::ssize(gradients) != ctx.num_outputs() - 2) {
        return FailedPrecondition("the gradients of ", gradients.size(), " variables came from a worker, and this one ",
                                  "has ", ctx.num_outputs() - 2, ": the workers have different graphs");
      }
      const Tensor& gradient = gradients[i - 2];
      const Tensor& first = taken.gradients[0][i - 2];
      if (add == nullptr || gradient.dtype() != dtype || gradient.shape() != first.shape()) {
        return InvalidArgument("gradients of ", first.dtype(), first.shape(), " and ", gradient.dtype(),
                               gradient.shape(), " cannot be added");
      }
      if (sender == 0) continue;
      if (sender == 1) {
        TF_ASSIGN_OR_RETURN(sum, ctx.AllocateOutput(i, first.shape()));
        add(ctx.pool(), first, gradient, sum);
      } else {
        add(ctx.pool(), *sum, gradient, sum);
      }
    }
    if (sum == nullptr) ctx.set_output(i, taken.gradients[0][i - 2]);
  }
  return OkStatus();
}

void Take(HostSums& sums, KernelContext& ctx, Done done) {
  sums.Take(ctx.env().cancellation, OnPool<HostSums::Taken>(ctx, std::move(done), SetSums));
}

Status Report(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto sums, ctx.LookupResource<HostSums>(0));
  std::vector<GradientOutcome> outcomes;
  for (const int32_t outcome : ctx.input(1).data<int32_t>()) {
    if (outcome < 0 || outcome > static_cast<int32_t>(GradientOutcome::kRefused)) {
      return InvalidArgument("an outcome must be 0, 1 or 2, got ", outcome);
    }
    outcomes.push_back(static_cast<GradientOutcome>(outcome));
  }
  return sums->Report(outcomes);
}

}  // namespace

void RegisterTrainingHostSumsKernels(KernelRegistry& r) {
  r.Add<HostSumsKernel>("_HostSums");
  r.Add("_ResetHostSums", {}, Reset);
  r.Add("_CloseHostSums", {}, Close);
  r.Add("_StoreHostValues", {}, Store);
  r.Add<WaitingKernel<Read>>("_ReadHostValues");
  r.Add("_HostStamp", {}, Stamp);
  r.Add<WaitingKernel<Join>>("_JoinHostSums");
  r.Add<WaitingKernel<Add>>("_AddToHostSums");
  r.Add<WaitingKernel<Take>>("_TakeHostSums");
  r.Add("_ReportHostSums", {}, Report);
}

}  // namespace tensorbraid
