// Registers all ops, file by file (files.inc). There is no self-registration by static objects.
#include "graph/model/op_registry.h"

namespace tensorbraid {

#define TB_FILE(name) void Register##name##Ops(OpRegistry& r);
#include "ops/files.inc"
#undef TB_FILE

const OpRegistry& OpRegistry::Global() {
  static const OpRegistry* registry = [] {
    auto* r = new OpRegistry;
#define TB_FILE(name) Register##name##Ops(*r);
#include "ops/files.inc"
#undef TB_FILE
    return r;
  }();
  return *registry;
}

}  // namespace tensorbraid
