// Adds all emitters, file by file (files.inc), and the reasons why other ops have none.
#include "pjrt/emitter.h"

namespace tensorbraid::pjrt {

void LeaveOpsToHost(EmitterRegistry& r);  // host_ops.cc

#define TB_FILE(name) void Register##name##Emitters(EmitterRegistry& r);
#include "kernels/pjrt/files.inc"
#undef TB_FILE

const EmitterRegistry& EmitterRegistry::Global() {
  static const EmitterRegistry* const registry = [] {
    auto* r = new EmitterRegistry;
#define TB_FILE(name) Register##name##Emitters(*r);
#include "kernels/pjrt/files.inc"
#undef TB_FILE
    LeaveOpsToHost(*r);
    return r;
  }();
  return *registry;
}

}  // namespace tensorbraid::pjrt
