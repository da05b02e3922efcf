#include "pjrt/whole_buffers.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "pjrt/device_buffer.h"
#include "runtime/kernel/kernel.h"
#include "runtime/variables/variable_access.h"

namespace tensorbraid::pjrt {
namespace {

// A variable whose value is lost is not initialized: a task that waits for its variables waits until it is restored.
class IsInitializedKernel final : public Kernel {
 public:
  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const auto variable, VariableOf(ctx, 0));
    bool has_value = variable->is_initialized();
    if (has_value) {
      TF_RETURN_IF_ERROR(variable->ReadInPlace([&](const Tensor& value) {
        has_value = WhyLost(value).ok();
        return OkStatus();
      }));
    }
    ctx.set_output(0, Tensor::Scalar(has_value));
    return OkStatus();
  }
};

struct Entry {
  std::string_view op;
  std::vector<std::string> host_memory = {};  // arguments that are in host memory
};

const std::vector<Entry>& Entries() {
  static const auto* const entries = new std::vector<Entry>{{"Assign"},
                                                            {"AssignVariableOp"},
                                                            {"ExpandDims", {"dim"}},
                                                            {"Identity"},
                                                            {"IsVariableInitialized", {"is_initialized"}},
                                                            {"NoOp"},
                                                            {"ReadVariableOp"},
                                                            {"Reshape", {"shape"}},
                                                            {"Squeeze"},
                                                            {"StopGradient"},
                                                            {"VarHandleOp"},
                                                            {"VarIsInitializedOp", {"is_initialized"}},
                                                            {"Variable"},
                                                            {"VariableV2"}};
  return *entries;
}

}  // namespace

bool MovesWholeBuffers(std::string_view op) {
  return std::ranges::any_of(Entries(), [&](const Entry& entry) { return entry.op == op; });
}

void AddWholeBufferKernels(KernelRegistry& r, std::string_view device_type) {
  for (const Entry& entry : Entries()) {
    std::vector<KernelDef> defs;
    const auto [begin, end] = r.kernels().equal_range(entry.op);
    for (auto def = begin; def != end; ++def) {
      if (def->second.device_type == "CPU") defs.push_back(def->second);
    }
    for (KernelDef& def : defs) {
      def.device_type = device_type;
      def.host_memory = entry.host_memory;
      if (entry.op == "IsVariableInitialized" || entry.op == "VarIsInitializedOp") {
        def.create = [](const KernelConstruction&) -> StatusOr<std::unique_ptr<Kernel>> {
          return std::unique_ptr<Kernel>(std::make_unique<IsInitializedKernel>());
        };
      }
      const std::string_view file = def.file;
      r.AddDef(std::move(def)).file = file;  // of the kernel of the CPU
    }
  }
}

}  // namespace tensorbraid::pjrt
