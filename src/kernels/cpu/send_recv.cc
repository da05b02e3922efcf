#include "kernels/cpu/register.h"
#include "runtime/step_context.h"

namespace tensorbraid {
namespace {

StepEdge EdgeOf(const KernelConstruction& c) {
  return {.number = static_cast<uint32_t>(c.attr<int64_t>("edge")),
          .peer = c.attr<std::string>("peer"),
          .bytes_hint = c.attr<int64_t>("bytes")};
}

class SendKernel final : public Kernel {
 public:
  explicit SendKernel(const KernelConstruction& c) : edge_(EdgeOf(c)) {}
  Status Compute(KernelContext& ctx) override {
    ctx.env().step->Send(edge_, ctx.position(), ctx.TakeInput(0));
    return OkStatus();
  }

 private:
  const StepEdge edge_;
};

class RecvKernel final : public AsyncKernel {
 public:
  explicit RecvKernel(const KernelConstruction& c)
      : edge_(EdgeOf(c)), dtype_(c.attr<DType>("T")), may_be_dead_(c.attr<bool>("may_be_dead")) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    ctx.env().step->Recv(edge_, ctx.position(), [this, &ctx, done = std::move(done)](StatusOr<Tensor> value) {
      if (!value.ok()) return done(value.status());
      if (may_be_dead_ && !value->is_valid()) return done(OkStatus());
      if (value->dtype() != dtype_) {
        return done(InvalidArgument(edge_.peer, " sent ", value->dtype(), " where ", dtype_, " was expected"));
      }
      ctx.set_output(0, *std::move(value));
      done(OkStatus());
    });
  }

 private:
  const StepEdge edge_;
  const DType dtype_;
  const bool may_be_dead_;
};

}  // namespace

// _Arg and _Retval are the executor's own: they have no kernels.
void RegisterSendRecvKernels(KernelRegistry& r) {
  r.Add<SendKernel>("_Send");
  r.Add<RecvKernel>("_Recv");
}

}  // namespace tensorbraid
