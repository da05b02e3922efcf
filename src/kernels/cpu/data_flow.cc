// Queues and accumulators: the kernels only find the resource; waiting is its business.
#include "core/strings.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/register.h"
#include "runtime/accumulator_resource.h"
#include "runtime/handle_kernel.h"
#include "runtime/queue_resource.h"

namespace tensorbraid {
namespace {

class QueueKernel final : public HandleKernel<QueueResource> {
 public:
  explicit QueueKernel(const KernelConstruction& c)
      : HandleKernel(c),
        types_(c.attr<std::vector<DType>>("component_types")),
        shapes_(c.attr<std::vector<Shape>>("shapes")),
        capacity_(c.attr<int64_t>("capacity")) {}

 protected:
  RefPtr<QueueResource> Create() const override { return MakeRef<QueueResource>(name(), types_, shapes_, capacity_); }
  Status Check(const QueueResource& q) const override {
    if (q.types() == types_ && q.shapes() == shapes_ && q.capacity() == capacity_) return OkStatus();
    return InvalidArgument("queue '", name(), "' exists with other types, shapes or capacity");
  }

 private:
  const std::vector<DType> types_;
  const std::vector<Shape> shapes_;
  const int64_t capacity_;
};

template <bool kMany>
class EnqueueKernel final : public AsyncKernel {
 public:
  explicit EnqueueKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    auto queue = ctx.LookupResource<QueueResource>(0);
    if (!queue.ok()) return done(queue.status());
    QueueResource::Tuple components;
    for (int i = 1; i < ctx.num_inputs(); ++i) components.push_back(ctx.TakeInput(i));
    if (kMany) {
      (*queue)->EnqueueMany(components, ctx.env().cancellation, std::move(done));
    } else {
      (*queue)->Enqueue(std::move(components), ctx.env().cancellation, std::move(done));
    }
  }
};

Status SetOutputs(KernelContext& ctx, StatusOr<QueueResource::Tuple> taken) {
  if (!taken.ok()) return taken.status();
  if (static_cast<int>(taken->size()) != ctx.num_outputs()) {
    return InvalidArgument("the queue holds ", taken->size(), " components, ", ctx.num_outputs(), " are wanted");
  }
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    if ((*taken)[i].dtype() != ctx.node().output_type(i)) {
      return InvalidArgument("component ", i, " of the queue is ", (*taken)[i].dtype(), ", not ",
                             ctx.node().output_type(i));
    }
    ctx.set_output(i, std::move((*taken)[i]));
  }
  return OkStatus();
}

enum class HowMany { kOne, kMany, kUpTo };

template <HowMany kHow>
class DequeueKernel final : public AsyncKernel {
 public:
  explicit DequeueKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    auto queue = ctx.LookupResource<QueueResource>(0);
    if (!queue.ok()) return done(queue.status());
    // Looked at before anything is taken, so that no element is lost to a mistake.
    if ((*queue)->types() != ctx.node().output_types()) {
      return done(InvalidArgument("queue '", (*queue)->name(), "' holds components of other types than are wanted"));
    }
    auto finish = [&ctx, done = std::move(done)](StatusOr<QueueResource::Tuple> taken) {
      done(SetOutputs(ctx, std::move(taken)));
    };
    CancellationManager* const cancellation = ctx.env().cancellation;
    if (kHow == HowMany::kOne) return (*queue)->Dequeue(cancellation, std::move(finish));
    const Tensor& n = ctx.input(1);
    if (n.num_elements() != 1) return finish(InvalidArgument("n must be a scalar, got shape ", n.shape()));
    (*queue)->DequeueMany(n.data<int32_t>()[0], kHow == HowMany::kUpTo, cancellation, std::move(finish));
  }
};

Status QueueClose(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto queue, ctx.LookupResource<QueueResource>(0));
  queue->Close(ctx.node().attr<bool>("cancel_pending_enqueues"));
  return OkStatus();
}

Status QueueSize(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto queue, ctx.LookupResource<QueueResource>(0));
  ctx.set_output(0, Tensor::Scalar(static_cast<int32_t>(queue->size())));
  return OkStatus();
}

Status QueueIsClosed(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto queue, ctx.LookupResource<QueueResource>(0));
  ctx.set_output(0, Tensor::Scalar(queue->is_closed()));
  return OkStatus();
}

template <typename T>
void AddTensors(ThreadPool& pool, const Tensor& a, const Tensor& b, Tensor* out) {
  const T* x = a.data<T>().data();
  const T* y = b.data<T>().data();
  T* to = out->mutable_data<T>().data();
  pool.ParallelFor(a.num_elements(), 0.2 * sizeof(T), [=](int64_t begin, int64_t end) {
    Combine(x + begin, y + begin, to + begin, end - begin, [](const auto& l, const auto& r) { return l + r; });
  });
}

template <typename T>
void DivideTensor(ThreadPool& pool, const Tensor& a, int64_t divisor, Tensor* out) {
  const T* x = a.data<T>().data();
  T* to = out->mutable_data<T>().data();
  const auto d = static_cast<ComputeType<T>>(static_cast<double>(divisor));
  pool.ParallelFor(a.num_elements(), 0.2 * sizeof(T), [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = T(ComputeType<T>(x[i]) / d);
  });
}

template <typename T>
class AccumulatorKernel final : public HandleKernel<AccumulatorResource> {
 public:
  explicit AccumulatorKernel(const KernelConstruction& c)
      : HandleKernel(c),
        shape_(c.attr<Shape>("shape")),
        reduction_(c.attr<std::string>("reduction_type") == "SUM" ? AccumulatorResource::Reduction::kSum
                                                                  : AccumulatorResource::Reduction::kMean) {}

 protected:
  RefPtr<AccumulatorResource> Create() const override {
    return MakeRef<AccumulatorResource>(name(), DTypeOf<T>::value, shape_, reduction_,
                                        AccumulatorResource::Arithmetic{AddTensors<T>, DivideTensor<T>});
  }
  Status Check(const AccumulatorResource& a) const override {
    if (a.dtype() == DTypeOf<T>::value && a.shape().IsCompatibleWith(shape_) && a.reduction() == reduction_) {
      return OkStatus();
    }
    return InvalidArgument("accumulator '", name(), "' exists with another dtype, shape or reduction");
  }

 private:
  const Shape shape_;
  const AccumulatorResource::Reduction reduction_;
};

Status AccumulatorApply(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto accumulator, ctx.LookupResource<AccumulatorResource>(0));
  if (ctx.input(1).num_elements() != 1) {
    return InvalidArgument("local_step must be a scalar, got shape ", ctx.input(1).shape());
  }
  return accumulator->Apply(ctx.input(1).data<int64_t>()[0], ctx.TakeInput(2), ctx.pool());
}

class AccumulatorTakeKernel final : public AsyncKernel {
 public:
  explicit AccumulatorTakeKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    auto accumulator = ctx.LookupResource<AccumulatorResource>(0);
    if (!accumulator.ok()) return done(accumulator.status());
    if (ctx.input(1).num_elements() != 1) {
      return done(InvalidArgument("num_required must be a scalar, got shape ", ctx.input(1).shape()));
    }
    if ((*accumulator)->dtype() != ctx.node().output_type(0)) {
      return done(InvalidArgument("accumulator '", (*accumulator)->name(), "' holds ", (*accumulator)->dtype(),
                                  ", not ", ctx.node().output_type(0)));
    }
    (*accumulator)
        ->Take(ctx.input(1).data<int32_t>()[0], ctx.env().cancellation, ctx.pool(),
               [&ctx, done = std::move(done)](StatusOr<Tensor> taken) {
                 if (taken.ok()) ctx.set_output(0, *std::move(taken));
                 done(taken.status());
               });
  }
};

Status AccumulatorCount(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto accumulator, ctx.LookupResource<AccumulatorResource>(0));
  ctx.set_output(0, Tensor::Scalar(static_cast<int32_t>(accumulator->num_accumulated())));
  return OkStatus();
}

Status AccumulatorSetStep(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto accumulator, ctx.LookupResource<AccumulatorResource>(0));
  if (ctx.input(1).num_elements() != 1) {
    return InvalidArgument("new_global_step must be a scalar, got shape ", ctx.input(1).shape());
  }
  accumulator->SetGlobalStep(ctx.input(1).data<int64_t>()[0]);
  return OkStatus();
}

}  // namespace

void RegisterDataFlowKernels(KernelRegistry& r) {
  for (const std::string version : {"", "V2"}) {
    r.Add<QueueKernel>("FIFOQueue" + version);
    r.Add<EnqueueKernel<false>>("QueueEnqueue" + version);
    r.Add<EnqueueKernel<true>>("QueueEnqueueMany" + version);
    r.Add<DequeueKernel<HowMany::kOne>>("QueueDequeue" + version);
    r.Add<DequeueKernel<HowMany::kMany>>("QueueDequeueMany" + version);
    r.Add<DequeueKernel<HowMany::kUpTo>>("QueueDequeueUpTo" + version);
    r.Add("QueueClose" + version, {}, QueueClose);
    r.Add("QueueSize" + version, {}, QueueSize);
    r.Add("QueueIsClosed" + version, {}, QueueIsClosed);
  }
  for (const std::string prefix : {"", "Resource"}) {
    ForEachNumberType([&]<typename T>() {
      r.Add<AccumulatorKernel<T>>(prefix + "ConditionalAccumulator", {{"dtype", {DTypeOf<T>::value}}});
    });
    r.Add(prefix + "AccumulatorApplyGradient", {}, AccumulatorApply, KernelCost::kExpensive);
    r.Add<AccumulatorTakeKernel>(prefix + "AccumulatorTakeGradient");
    r.Add(prefix + "AccumulatorNumAccumulated", {}, AccumulatorCount);
    r.Add(prefix + "AccumulatorSetGlobalStep", {}, AccumulatorSetStep);
  }
}

}  // namespace tensorbraid
