// Puts tensors into one message and takes them out again.
#include "core/text/strings.h"
#include "core/values/joined_tensors.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

Status JoinTensors(KernelContext& ctx) {
  std::vector<Tensor> tensors;
  for (int i = 0; i < ctx.num_inputs(); ++i) tensors.push_back(ctx.TakeInput(i));
  ctx.set_output(0, MakeVariantTensor(MakeRef<JoinedTensors>(std::move(tensors))));
  return OkStatus();
}

class TakeJoinedKernel final : public Kernel {
 public:
  explicit TakeJoinedKernel(const KernelConstruction& c)
      : index_(c.attr<int64_t>("index")), dtype_(c.attr<DType>("T")), shape_(c.attr<Shape>("shape")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const JoinedTensors* joined, VariantAs<JoinedTensors>(ctx.input(0)));
    TF_ASSIGN_OR_RETURN(Tensor taken, joined->Take(index_));
    if (taken.dtype() != dtype_ || !taken.shape().IsCompatibleWith(shape_)) {
      return InvalidArgument("tensor ", index_, " of the joined ones is ", taken.dtype(), taken.shape(), " where ",
                             dtype_, shape_, " was expected");
    }
    ctx.set_output(0, std::move(taken));
    return OkStatus();
  }

 private:
  const int64_t index_;
  const DType dtype_;
  const Shape shape_;
};

}  // namespace

void RegisterWireJoinKernels(KernelRegistry& r) {
  r.Add("_JoinTensors", {}, JoinTensors, kNoCost);
  r.Add<TakeJoinedKernel>("_TakeJoined", {}, kNoCost);
}

}  // namespace tensorbraid::cpu
