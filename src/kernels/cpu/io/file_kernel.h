// FileKernel, the class of the kernels that read or write files.
#ifndef TENSORBRAID_KERNELS_CPU_IO_FILE_KERNEL_H_
#define TENSORBRAID_KERNELS_CPU_IO_FILE_KERNEL_H_

#include <utility>

#include "runtime/kernel/kernel.h"

namespace tensorbraid {

// A kernel that runs kWork on the thread pool, because file access may be slow. The thread that starts the kernel is
// not blocked: it may be a network thread, or may have other nodes of the step to run.
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
