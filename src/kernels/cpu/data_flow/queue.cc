// Queue kernels. They only look up the queue resource; the resource implements waiting.
#include "core/system/env.h"
#include "core/text/strings.h"
#include "kernels/cpu/random/philox.h"
#include "kernels/cpu/scalar_input.h"
#include "runtime/kernel/handle_kernel.h"
#include "runtime/kernel/kernel.h"
#include "runtime/resources/queue_resource.h"

namespace tensorbraid::cpu {
namespace {

using QueueKind = QueueOptions::Kind;

// A function that returns the numbers of a Philox stream in order; random ones if both seeds are 0. It is not
// thread-safe: the queue calls it while it holds the queue's lock.
std::function<uint32_t()> RandomNumbers(int64_t seed, int64_t seed2) {
  if (seed == 0 && seed2 == 0) {
    seed = static_cast<int64_t>(RandomSeed());
    seed2 = static_cast<int64_t>(RandomSeed());
  }
  return [philox = Philox(static_cast<uint64_t>(seed), static_cast<uint64_t>(seed2)), n = uint64_t{0}]() mutable {
    const uint64_t i = n++;
    return philox.At(i / 4)[i % 4];  // a Philox block has 4 numbers
  };
}

template <QueueKind kKind>
class QueueKernel final : public HandleKernel<QueueResource> {
 public:
  explicit QueueKernel(const KernelConstruction& c) : HandleKernel(c, Sharing::kPrivate), options_(OptionsOf(c)) {}

 protected:
  Status CheckAttrs() const override { return QueueResource::CheckOptions(options_); }
  RefPtr<QueueResource> Create() const override {
    QueueOptions options = options_;
    if (kKind == QueueKind::kRandomShuffle) options.random = RandomNumbers(options.seed, options.seed2);
    return MakeRef<QueueResource>(name(), std::move(options));
  }
  Status Check(const QueueResource& q) const override { return q.CheckSame(options_); }

 private:
  static QueueOptions OptionsOf(const KernelConstruction& c) {
    QueueOptions o;
    o.kind = kKind;
    o.types = c.attr<std::vector<DType>>("component_types");
    o.shapes = c.attr<std::vector<Shape>>("shapes");
    o.capacity = c.attr<int64_t>("capacity");
    if (kKind == QueueKind::kRandomShuffle) {
      o.min_after_dequeue = c.attr<int64_t>("min_after_dequeue");
      o.seed = c.attr<int64_t>("seed");
      o.seed2 = c.attr<int64_t>("seed2");
    }
    if (kKind == QueueKind::kPriority) {
      o.types.insert(o.types.begin(), kInt64);  // the priority is the first component
      o.shapes.insert(o.shapes.begin(), Shape());
    }
    return o;
  }

  const QueueOptions options_;
};

// Checks the attribute timeout_ms of ops that may wait. TensorFlow declares the attribute, but rejects any timeout.
Status CheckTimeout(const KernelContext& ctx) {
  if (ctx.node().attr<int64_t>("timeout_ms") == -1) return OkStatus();
  return InvalidArgument("timeout_ms is not supported, got ", ctx.node().attr<int64_t>("timeout_ms"));
}

StatusOr<RefPtr<QueueResource>> QueueToWaitFor(KernelContext& ctx) {
  TF_RETURN_IF_ERROR(CheckTimeout(ctx));
  return ctx.LookupResource<QueueResource>(0);
}

template <bool kMany>
class EnqueueKernel final : public AsyncKernel {
 public:
  explicit EnqueueKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    auto queue = QueueToWaitFor(ctx);
    if (!queue.ok()) return done(queue.status());
    QueueResource::Tuple components;
    for (int i = 1; i < ctx.num_inputs(); ++i) components.push_back(ctx.TakeInput(i));
    if (kMany) {
      (*queue)->EnqueueMany(std::move(components), ctx.env().cancellation, std::move(done));
    } else {
      (*queue)->Enqueue(std::move(components), ctx.env().cancellation, std::move(done));
    }
  }
};

enum class HowMany { kOne, kMany, kUpTo };

template <HowMany kHow>
class DequeueKernel final : public AsyncKernel {
 public:
  explicit DequeueKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    auto queue = QueueToWaitFor(ctx);
    if (!queue.ok()) return done(queue.status());
    // Check the types before an element is dequeued, so that no element is lost if they are wrong.
    if ((*queue)->types() != ctx.node().output_types()) {
      return done(
          InvalidArgument("queue '", (*queue)->name(), "' holds components of other types than the op's outputs"));
    }
    auto finish = [&ctx, done = std::move(done)](StatusOr<QueueResource::Tuple> taken) {
      if (!taken.ok()) return done(taken.status());
      for (int i = 0; i < ctx.num_outputs(); ++i) ctx.set_output(i, std::move((*taken)[i]));
      done(OkStatus());
    };
    CancellationManager* const cancellation = ctx.env().cancellation;
    if (kHow == HowMany::kOne) return (*queue)->Dequeue(cancellation, std::move(finish));
    const auto n = ScalarInput<int32_t>(ctx, 1, "n");
    if (!n.ok()) return finish(n.status());
    (*queue)->DequeueMany(*n, kHow == HowMany::kUpTo, cancellation, std::move(finish));
  }
};

class CloseKernel final : public AsyncKernel {
 public:
  explicit CloseKernel(const KernelConstruction& c) : cancel_pending_(c.attr<bool>("cancel_pending_enqueues")) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    auto queue = ctx.LookupResource<QueueResource>(0);
    if (!queue.ok()) return done(queue.status());
    (*queue)->Close(cancel_pending_, ctx.env().cancellation, std::move(done));
  }

 private:
  const bool cancel_pending_;
};

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

}  // namespace

void RegisterDataFlowQueueKernels(KernelRegistry& r) {
  for (const std::string version : {"", "V2"}) {
    r.Add<QueueKernel<QueueKind::kFifo>>("FIFOQueue" + version);
    r.Add<QueueKernel<QueueKind::kPadding>>("PaddingFIFOQueue" + version);
    r.Add<QueueKernel<QueueKind::kRandomShuffle>>("RandomShuffleQueue" + version);
    r.Add<QueueKernel<QueueKind::kPriority>>("PriorityQueue" + version);
    r.Add<EnqueueKernel</*kMany=*/false>>("QueueEnqueue" + version);
    r.Add<EnqueueKernel</*kMany=*/true>>("QueueEnqueueMany" + version);
    r.Add<DequeueKernel<HowMany::kOne>>("QueueDequeue" + version);
    r.Add<DequeueKernel<HowMany::kMany>>("QueueDequeueMany" + version);
    r.Add<DequeueKernel<HowMany::kUpTo>>("QueueDequeueUpTo" + version);
    r.Add<CloseKernel>("QueueClose" + version);
    r.Add("QueueSize" + version, {}, QueueSize);
    r.Add("QueueIsClosed" + version, {}, QueueIsClosed);
  }
}

}  // namespace tensorbraid::cpu
