// The class of kernels that read or write files.
#ifndef TENSORBRAID_KERNELS_CPU_IO_FILE_KERNEL_H_
#define TENSORBRAID_KERNELS_CPU_IO_FILE_KERNEL_H_

#include <utility>

#include "runtime/kernel/kernel.h"

namespace tensorbraid {

// Runs kWork on the pool, because file access may be slow. So the kernel blocks neither a network thread nor a thread
// that has other nodes of the step to run.
template <Status (*kWork)(KernelContext& ctx)>
class FileKernel final : public AsyncKernel {
 public:
  explicit FileKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    if (ctx.pool().num_threads() == 0) return done(kWork(ctx));
    ctx.pool().Schedule([&ctx, done = std::move(done)] { done(kWork(ctx)); });
  }
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_IO_FILE_KERNEL_H_
