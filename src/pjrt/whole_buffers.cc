#include "pjrt/whole_buffers.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "graph/model/node.h"
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

// Runs a kernel where it may block, because it may have a program compiled.
class BlockingKernel final : public AsyncKernel {
 public:
  explicit BlockingKernel(std::unique_ptr<Kernel> kernel) : kernel_(std::move(kernel)) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    ctx.pool().ScheduleBlocking([this, &ctx, done = std::move(done)] { done(kernel_->Compute(ctx)); });
  }

 private:
  const std::unique_ptr<Kernel> kernel_;
};

struct Entry {
  std::string_view op;
  std::vector<std::string> host_memory = {};  // arguments that are in host memory
  bool blocks = false;
};

const std::vector<Entry>& Entries() {
  static const auto* const entries = new std::vector<Entry>{
      {"Assign"},
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
      {"VariableV2"},
      // Control flow. The executor decides by values on the host.
      {"ControlTrigger"},
      {"Enter"},
      {"Exit"},
      {"LoopCond", {"input", "output"}},
      {"Merge", {"value_index"}},
      {"NextIteration"},
      {"RefEnter"},
      {"RefExit"},
      {"RefMerge", {"value_index"}},
      {"RefNextIteration"},
      {"RefSwitch", {"pred"}},
      {"Switch", {"pred"}},
      {"_SwitchN", {"output_index"}},
      // Lists.
      {"EmptyTensorList", {"element_shape", "max_num_elements"}},
      {"TensorListConcat", {"lengths"}, true},
      {"TensorListConcatLists"},
      {"TensorListConcatV2", {"element_shape", "leading_dims", "lengths"}, true},
      {"TensorListElementShape", {"element_shape"}},
      {"TensorListFromTensor", {"element_shape"}, true},
      {"TensorListGather", {"indices", "element_shape"}, true},
      {"TensorListGetItem", {"index", "element_shape"}},
      {"TensorListLength", {"length"}},
      {"TensorListPopBack", {"element_shape"}},
      {"TensorListPushBack"},
      {"TensorListPushBackBatch", {}, true},
      {"TensorListReserve", {"element_shape", "num_elements"}},
      {"TensorListResize", {"size"}},
      {"TensorListScatter", {"indices", "element_shape"}, true},
      {"TensorListScatterIntoExistingList", {"indices"}, true},
      {"TensorListScatterV2", {"indices", "element_shape", "num_elements"}, true},
      {"TensorListSetItem", {"index"}},
      {"TensorListSplit", {"element_shape", "lengths"}, true},
      {"TensorListStack", {"element_shape"}, true},
  };
  return *entries;
}

const Entry* EntryOf(std::string_view op) {
  const auto at = std::ranges::find_if(Entries(), [&](const Entry& entry) { return entry.op == op; });
  return at == Entries().end() ? nullptr : &*at;
}

// Whether lists of such elements are in the memory of a device. Small integers are mostly indices, which kernels need
// on the host.
bool IsForDevice(DType element) { return IsPlain(element) && element != DType::kInt32 && element != DType::kBool; }

}  // namespace

bool MovesWholeBuffers(const Node& node) {
  if (EntryOf(node.type()) == nullptr) return false;
  const AttrValue* const attr = node.FindAttr("element_dtype");
  const DType* const element = attr == nullptr ? nullptr : attr->get<DType>();
  return element == nullptr || IsForDevice(*element);
}

bool MovesWholeBuffers(std::string_view op) { return EntryOf(op) != nullptr; }

bool HasOutputsOnHost(const Node& node) {
  const Entry* const entry = EntryOf(node.type());
  if (entry == nullptr) return false;
  return std::ranges::all_of(node.op().outputs, [&](const ArgDef& output) {
    return std::ranges::find(entry->host_memory, output.name) != entry->host_memory.end();
  });
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
      if (entry.blocks) {
        def.create = [create = def.create](const KernelConstruction& c) -> StatusOr<std::unique_ptr<Kernel>> {
          TF_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, create(c));
          return std::unique_ptr<Kernel>(std::make_unique<BlockingKernel>(std::move(kernel)));
        };
      }
      const std::string_view file = def.file;
      r.AddDef(std::move(def)).file = file;  // of the kernel of the CPU
    }
  }
}

}  // namespace tensorbraid::pjrt
