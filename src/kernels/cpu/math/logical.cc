// The logical ops.
#include "kernels/cpu/functors.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

void NotRow(const void* in, void* out, int64_t n) {
  const bool* a = static_cast<const bool*>(in);
  bool* o = static_cast<bool*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) o[i] = !a[i];
}

}  // namespace

void RegisterMathLogicalKernels(KernelRegistry& r) {
  r.Add("LogicalAnd", {}, BinaryKernel<AndF, bool>);
  r.Add("LogicalOr", {}, BinaryKernel<OrF, bool>);
  r.Add("LogicalNot", {},
        [](KernelContext& ctx) { return RunUnary(ctx, NotRow, /*in_size=*/1, /*out_size=*/1, /*cost_ns=*/0.1); });
}

}  // namespace tensorbraid::cpu
