// The kernel of _SaveTables, which writes growing tables to a checkpoint, 1/1,000 of a table at a time.
#ifndef TENSORBRAID_KERNELS_CPU_EMBEDDING_SAVE_TABLES_H_
#define TENSORBRAID_KERNELS_CPU_EMBEDDING_SAVE_TABLES_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// Writes on a separate thread of low priority, as SaveV2 does.
class SaveTablesKernel final : public AsyncKernel {
 public:
  explicit SaveTablesKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override;
};

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_EMBEDDING_SAVE_TABLES_H_
