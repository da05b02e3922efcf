// Kernels of _Send, _Recv and _Copy, which the executor and the partitioner insert where a tensor goes to another task
// or to another memory.
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/rendezvous.h"

namespace tensorbraid::cpu {
namespace {

StepEdge EdgeOf(const KernelConstruction& c) {
  return {.number = static_cast<uint32_t>(c.attr<int64_t>("edge")),
          .peer = static_cast<uint32_t>(c.attr<int64_t>("peer_number")),
          .bytes_hint = c.attr<int64_t>("bytes")};
}

class SendKernel final : public Kernel {
 public:
  explicit SendKernel(const KernelConstruction& c) : edge_(EdgeOf(c)) {}
  Status Compute(KernelContext& ctx) override {
    ctx.env().rendezvous->Send(edge_, ctx.position(), ctx.TakeInput(0));
    return OkStatus();
  }

 private:
  const StepEdge edge_;
};

class RecvKernel final : public AsyncKernel {
 public:
  explicit RecvKernel(const KernelConstruction& c)
      : edge_(EdgeOf(c)),
        peer_(c.attr<std::string>("peer")),
        dtype_(c.attr<DType>("T")),
        may_be_dead_(c.attr<bool>("may_be_dead")) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    ctx.env().rendezvous->Recv(edge_, ctx.position(), [this, &ctx, done = std::move(done)](StatusOr<Tensor> value) {
      if (!value.ok()) return done(value.status());
      if (may_be_dead_ && !value->is_valid()) return done(OkStatus());  // dead: there is no output
      if (value->dtype() != dtype_) {
        return done(InvalidArgument(peer_, " sent ", value->dtype(), " where ", dtype_, " was expected"));
      }
      ctx.set_output(0, *std::move(value));
      done(OkStatus());
    });
  }

 private:
  const StepEdge edge_;
  const std::string peer_;
  const DType dtype_;
  const bool may_be_dead_;
};

// Copies a tensor between host memory and the memory of the node's device. The executor has chosen the memory in which
// AllocateOutput allocates.
class CopyKernel final : public AsyncKernel {
 public:
  explicit CopyKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    const Tensor& from = ctx.input(0);
    if (!IsPlain(from.dtype())) return done(InvalidArgument("a tensor of dtype ", from.dtype(), " cannot be copied"));
    const auto to = ctx.AllocateOutput(0, from.shape());
    if (!to.ok()) return done(to.status());
    // The device calls back on its own thread, which must not run the nodes that follow.
    ThreadPool& pool = ctx.pool();
    ctx.device().Copy(from, **to, [&pool, done = std::move(done)](const Status& status) {
      pool.Schedule([done, status] { done(status); });
    });
  }
};

}  // namespace

// The executor implements _Arg and _Retval itself, so they have no kernels.
void RegisterControlFlowSendRecvKernels(KernelRegistry& r) {
  r.Add<SendKernel>("_Send");
  r.Add<RecvKernel>("_Recv");
  r.Add<CopyKernel>("_Copy");
}

}  // namespace tensorbraid::cpu
