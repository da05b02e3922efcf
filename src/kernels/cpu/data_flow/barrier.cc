// Kernels of barriers. They only look up the resource, which implements the waiting.
#include "core/text/strings.h"
#include "kernels/cpu/scalar_input.h"
#include "runtime/kernel/handle_kernel.h"
#include "runtime/kernel/kernel.h"
#include "runtime/resources/barrier_resource.h"

namespace tensorbraid::cpu {
namespace {

class BarrierKernel final : public HandleKernel<BarrierResource> {
 public:
  explicit BarrierKernel(const KernelConstruction& c)
      : HandleKernel(c, Sharing::kPrivate),
        types_(c.attr<std::vector<DType>>("component_types")),
        shapes_(c.attr<std::vector<Shape>>("shapes")),
        capacity_(c.attr<int64_t>("capacity")) {
    // As in TensorFlow, a shape of unknown rank means a scalar.
    for (Shape& shape : shapes_) {
      if (!shape.has_rank()) shape = Shape();
    }
  }

 protected:
  Status CheckAttrs() const override {
    if (capacity_ >= 0) {
      return InvalidArgument("the capacity of a barrier must be -1, got ", capacity_,
                             "; to bound the number of elements, put a queue in front of the barrier");
    }
    return BarrierResource::CheckOptions(types_, shapes_);
  }
  RefPtr<BarrierResource> Create() const override { return MakeRef<BarrierResource>(name(), types_, shapes_); }
  Status Check(const BarrierResource& b) const override {
    if (b.types() == types_ && b.shapes() == shapes_) return OkStatus();
    return InvalidArgument("barrier '", name(), "' already exists with different ",
                           b.types() == types_ ? "component shapes" : "component types");
  }

 private:
  const std::vector<DType> types_;
  std::vector<Shape> shapes_;
  const int64_t capacity_;
};

Status InsertMany(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto barrier, ctx.LookupResource<BarrierResource>(0));
  return barrier->Insert(ctx.input(1), ctx.node().attr<int64_t>("component_index"), ctx.input(2));
}

class TakeManyKernel final : public AsyncKernel {
 public:
  explicit TakeManyKernel(const KernelConstruction& c)
      : allow_small_batch_(c.attr<bool>("allow_small_batch")), timeout_ms_(c.attr<int64_t>("timeout_ms")) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    if (timeout_ms_ != -1) return done(InvalidArgument("timeout_ms is not supported, got ", timeout_ms_));
    auto barrier = ctx.LookupResource<BarrierResource>(0);
    if (!barrier.ok()) return done(barrier.status());
    const auto n = ScalarInput<int32_t>(ctx, 1, "num_elements");
    if (!n.ok()) return done(n.status());
    if ((*barrier)->types() != ctx.node().attr<std::vector<DType>>("component_types")) {
      return done(InvalidArgument("barrier '", (*barrier)->name(),
                                  "' does not have the component types of attribute 'component_types'"));
    }
    (*barrier)->Take(*n, allow_small_batch_, ctx.env().cancellation,
                     [&ctx, done = std::move(done)](StatusOr<QueueResource::Tuple> taken) {
                       if (!taken.ok()) return done(taken.status());
                       for (int i = 0; i < ctx.num_outputs(); ++i) ctx.set_output(i, std::move((*taken)[i]));
                       done(OkStatus());
                     });
  }

 private:
  const bool allow_small_batch_;
  const int64_t timeout_ms_;
};

Status Close(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto barrier, ctx.LookupResource<BarrierResource>(0));
  return barrier->Close(ctx.node().attr<bool>("cancel_pending_enqueues"));
}

Status ReadySize(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto barrier, ctx.LookupResource<BarrierResource>(0));
  ctx.set_output(0, Tensor::Scalar(static_cast<int32_t>(barrier->ready_size())));
  return OkStatus();
}

Status IncompleteSize(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto barrier, ctx.LookupResource<BarrierResource>(0));
  ctx.set_output(0, Tensor::Scalar(static_cast<int32_t>(barrier->incomplete_size())));
  return OkStatus();
}

}  // namespace

void RegisterDataFlowBarrierKernels(KernelRegistry& r) {
  r.Add<BarrierKernel>("Barrier");
  r.Add("BarrierInsertMany", {}, InsertMany);
  r.Add<TakeManyKernel>("BarrierTakeMany");
  r.Add("BarrierClose", {}, Close);
  r.Add("BarrierReadySize", {}, ReadySize);
  r.Add("BarrierIncompleteSize", {}, IncompleteSize);
}

}  // namespace tensorbraid::cpu
