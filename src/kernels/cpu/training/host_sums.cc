// Kernels of the sums of a host. They look up the resource and call it (runtime/replicas/host_sums.h). Only the sums
// themselves are computed here.
#include "runtime/replicas/host_sums.h"

#include <algorithm>
#include <cstring>

#include "core/memory/shared_memory.h"
#include "core/text/strings.h"
#include "core/values/new_tensor.h"
#include "kernels/cpu/data_flow/add_tensors.h"
#include "kernels/cpu/scalar_input.h"
#include "runtime/kernel/handle_kernel.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

class HostSumsKernel final : public HandleKernel<HostSums> {
 public:
  explicit HostSumsKernel(const KernelConstruction& c)
      : HandleKernel(c), options_{.spares = c.attr<int64_t>("spares"), .async = c.attr<bool>("async")} {}

 protected:
  RefPtr<HostSums> Create() const override { return MakeRef<HostSums>(name(), options_); }
  Status Check(const HostSums&) const override { return OkStatus(); }

 private:
  const HostSums::Options options_;
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
  TF_ASSIGN_OR_RETURN(const int64_t latest,
                      sums->Store(epoch, stamp, std::move(values), ctx.node().attr<bool>("reopens")));
  ctx.set_output(0, Tensor::Scalar(latest));
  return OkStatus();
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
  const auto epoch = ScalarInput<int64_t>(ctx, 1, "of_epoch");
  if (!epoch.ok()) return done(epoch.status());
  const auto after = ScalarInput<int64_t>(ctx, 2, "after");
  if (!after.ok()) return done(after.status());
  sums.Read(*epoch, *after, ctx.env().cancellation, OnPool<HostSums::Values>(ctx, std::move(done), SetValues));
}

Status Stamp(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto sums, ctx.LookupResource<HostSums>(0));
  const HostSums::Values latest = sums->Latest();
  ctx.set_output(0, Tensor::Scalar(latest.epoch));
  ctx.set_output(1, Tensor::Scalar(latest.stamp));
  return OkStatus();
}

void Join(HostSums& sums, KernelContext& ctx, Done done) {
  const auto after = ScalarInput<int64_t>(ctx, 1, "after");
  if (!after.ok()) return done(after.status());
  sums.Join(ctx.node().attr<int64_t>("replica"), *after, ctx.env().cancellation,
            [&ctx, done = std::move(done)](const Status& why) { ctx.pool().Schedule([done, why] { done(why); }); });
}

HostSums::Outcomes OutcomesIn(KernelContext& ctx, int input) {
  const auto numbers = ctx.input(input).data<int64_t>();
  return {numbers.begin(), numbers.end()};
}

Status SetOutcomes(KernelContext& ctx, const HostSums::Outcomes& outcomes) {
  ctx.set_output(0, Tensor::Vector(outcomes));
  return OkStatus();
}

void Add(HostSums& sums, KernelContext& ctx, Done done) {
  const auto stamp = ScalarInput<int64_t>(ctx, 1, "stamp");
  if (!stamp.ok()) return done(stamp.status());
  const auto replicas = ctx.input(2).data<int64_t>();
  if (replicas.empty()) return done(InvalidArgument("a gradient must be of at least one worker"));
  std::vector<int64_t> workers(replicas.begin(), replicas.end());
  std::vector<Tensor> gradients;
  const int last = ctx.num_inputs() - 1;
  for (int i = 3; i < last; ++i) gradients.push_back(ctx.TakeInput(i));
  sums.Add(*stamp, std::move(workers), std::move(gradients), OutcomesIn(ctx, last), ctx.env().cancellation,
           OnPool<HostSums::Outcomes>(ctx, std::move(done), SetOutcomes));
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

// The tensors of all workers for one output.
std::vector<Tensor> TensorsOf(const HostSums::Taken& taken, int number) {
  std::vector<Tensor> tensors;
  for (const auto& gradients : taken.gradients) tensors.push_back(gradients[static_cast<size_t>(number)]);
  return tensors;
}

Status CannotJoin(const Tensor& a, const Tensor& b) {
  return InvalidArgument("gradients of ", a.dtype(), a.shape(), " and ", b.dtype(), b.shape(),
                         " cannot be joined: the workers have different graphs");
}

Status SetSum(KernelContext& ctx, int output, const std::vector<Tensor>& parts) {
  const auto add = AdderOf(ctx.node().output_type(output));
  for (const Tensor& part : parts) {
    const bool same = part.dtype() == ctx.node().output_type(output) && part.shape() == parts[0].shape();
    if (add == nullptr || !same) return CannotJoin(parts[0], part);
  }
  if (parts.size() == 1) {
    ctx.set_output(output, parts[0]);
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(Tensor * sum, ctx.AllocateOutput(output, parts[0].shape()));
  add(ctx.pool(), parts[0], parts[1], sum);
  for (size_t i = 2; i < parts.size(); ++i) add(ctx.pool(), *sum, parts[i], sum);
  return OkStatus();
}

// The smallest of each element, of int64 tensors.
Status SetMinimum(KernelContext& ctx, int output, const std::vector<Tensor>& parts) {
  for (const Tensor& part : parts) {
    if (part.dtype() != kInt64 || part.shape() != parts[0].shape()) return CannotJoin(parts[0], part);
  }
  TF_ASSIGN_OR_RETURN(Tensor * least, ctx.AllocateOutput(output, parts[0].shape()));
  const auto to = least->inplace_data<int64_t>();
  std::ranges::copy(parts[0].data<int64_t>(), to.begin());
  for (const Tensor& part : parts) std::ranges::transform(to, part.data<int64_t>(), to.begin(), std::ranges::min);
  return OkStatus();
}

Status SetConcatenation(KernelContext& ctx, int output, const std::vector<Tensor>& parts) {
  const Shape& first = parts[0].shape();
  int64_t rows = 0;
  for (const Tensor& part : parts) {
    const Shape& shape = part.shape();
    bool fits = part.dtype() == ctx.node().output_type(output) && shape.rank() == first.rank() && shape.rank() > 0;
    for (int i = 1; fits && i < shape.rank(); ++i) fits = shape.dim(i) == first.dim(i);
    if (!fits || part.dtype() == kString) return CannotJoin(parts[0], part);
    rows += shape.dim(0);
  }
  std::vector<int64_t> dims(first.dims().begin(), first.dims().end());
  dims[0] = rows;
  TF_ASSIGN_OR_RETURN(Tensor * all, ctx.AllocateOutput(output, Shape(dims)));
  char* to = static_cast<char*>(all->inplace_raw_data());
  for (const Tensor& part : parts) {
    if (part.num_bytes() > 0) std::memcpy(to, part.raw_data(), part.num_bytes());
    to += part.num_bytes();
  }
  return OkStatus();
}

// Sets the stamp, the workers, and the joined tensors.
Status SetSums(KernelContext& ctx, const HostSums::Taken& taken) {
  const auto& joins = ctx.node().attr<std::vector<std::string>>("joins");
  ctx.set_output(0, Tensor::Scalar(taken.stamp));
  ctx.set_output(1, Tensor::Vector(taken.replicas));
  const int count = ctx.num_outputs() - 2;
  if (!joins.empty() && std::ssize(joins) != count) {
    return InvalidArgument("'joins' has ", joins.size(), " elements for ", count, " tensors");
  }
  for (const std::vector<Tensor>& gradients : taken.gradients) {
    if (std::ssize(gradients) == count) continue;
    return FailedPrecondition("gradients of ", gradients.size(), " tensors came from a worker, and this one has ",
                              count, ": the workers have different graphs");
  }
  for (int i = 0; i < count; ++i) {
    const std::string join = joins.empty() ? "sum" : joins[static_cast<size_t>(i)];
    const auto set = join == "sum" ? SetSum : join == "min" ? SetMinimum : SetConcatenation;
    TF_RETURN_IF_ERROR(set(ctx, i + 2, TensorsOf(taken, i)));
  }
  return OkStatus();
}

void Take(HostSums& sums, KernelContext& ctx, Done done) {
  sums.Take(ctx.env().cancellation, OnPool<HostSums::Taken>(ctx, std::move(done), SetSums));
}

Status Report(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto sums, ctx.LookupResource<HostSums>(0));
  return sums->Report(OutcomesIn(ctx, 1));
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

}  // namespace tensorbraid::cpu
