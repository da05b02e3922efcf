// Registers all kernels of the CPU, file by file (ops/files.inc). There is no self-registration by static objects.
#include "runtime/kernel/kernel.h"

namespace tensorbraid {
namespace cpu {

#define TB_FILE(name) void Register##name##Kernels(KernelRegistry& r);
#include "ops/files.inc"
#undef TB_FILE

}  // namespace cpu

const KernelRegistry& KernelRegistry::Global() {
  static const KernelRegistry* registry = [] {
    auto* r = new KernelRegistry;
#define TB_FILE(name) cpu::Register##name##Kernels(*r);
#include "ops/files.inc"
#undef TB_FILE
    for (const DeviceType& type : DeviceTypes()) {
      if (type.register_kernels != nullptr) type.register_kernels(*r);
    }
    return r;
  }();
  return *registry;
}

}  // namespace tensorbraid
