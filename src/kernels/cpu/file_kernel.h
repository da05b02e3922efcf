// Kernels that read and write files.
#ifndef TENSORBRAID_KERNELS_CPU_FILE_KERNEL_H_
#define TENSORBRAID_KERNELS_CPU_FILE_KERNEL_H_

#include <utility>

#include "runtime/kernel.h"

namespace tensorbraid {

// Files may take long: the work is done on the pool, never on the thread of a transport or of a step that has other
// work.
template <Status (*kWork)(KernelContext& ctx)>
class FileKernel final : public AsyncKernel {
 public:
  explicit FileKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    if (ctx.pool().num_threads() == 0) return done(kWork(ctx));
    ctx.pool().Schedule([&ctx, done = std::move(done)] { done(kWork(ctx)); });
  }
};

// The other parts of the checkpoint family.
void RegisterCheckpointV1Kernels(KernelRegistry& r);     // checkpoint_v1.cc
void RegisterCheckpointRemapKernels(KernelRegistry& r);  // checkpoint_remap.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_FILE_KERNEL_H_
