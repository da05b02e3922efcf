#include "pjrt/whole_buffers.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/model/node.h"
#include "pjrt/device_buffer.h"
#include "runtime/kernel/kernel.h"
#include "runtime/resources/tensor_array_resource.h"
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

// The kernel of TensorArrayWriteV3. A gradient's array adds, by a program, what is written to one element again.
class WriteKernel final : public AsyncKernel {
 public:
  explicit WriteKernel(std::unique_ptr<Kernel> kernel) : kernel_(std::move(kernel)) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    const auto array = ctx.LookupResource<TensorArrayResource>(0);
    const Tensor& index = ctx.input(1);
    if (!array.ok() || !index.shape().is_scalar() || !(*array)->WouldAdd(index.scalar<int32_t>())) {
      return done(kernel_->Compute(ctx));
    }
    ctx.pool().ScheduleBlocking([this, &ctx, done = std::move(done)] { done(kernel_->Compute(ctx)); });
  }

 private:
  const std::unique_ptr<Kernel> kernel_;
};

enum class Blocks : uint8_t { kNever, kIfItAdds, kAlways };

struct Entry {
  std::string_view op;
  std::vector<std::string> host_memory = {};  // arguments that are in host memory
  Blocks blocks = Blocks::kNever;
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
      {"TensorListConcat", {"lengths"}, Blocks::kAlways},
      {"TensorListConcatLists"},
      {"TensorListConcatV2", {"element_shape", "leading_dims", "lengths"}, Blocks::kAlways},
      {"TensorListElementShape", {"element_shape"}},
      {"TensorListFromTensor", {"element_shape"}, Blocks::kAlways},
      {"TensorListGather", {"indices", "element_shape"}, Blocks::kAlways},
      {"TensorListGetItem", {"index", "element_shape"}},
      {"TensorListLength", {"length"}},
      {"TensorListPopBack", {"element_shape"}},
      {"TensorListPushBack"},
      {"TensorListPushBackBatch", {}, Blocks::kAlways},
      {"TensorListReserve", {"element_shape", "num_elements"}},
      {"TensorListResize", {"size"}},
      {"TensorListScatter", {"indices", "element_shape"}, Blocks::kAlways},
      {"TensorListScatterIntoExistingList", {"indices"}, Blocks::kAlways},
      {"TensorListScatterV2", {"indices", "element_shape", "num_elements"}, Blocks::kAlways},
      {"TensorListSetItem", {"index"}},
      {"TensorListSplit", {"element_shape", "lengths"}, Blocks::kAlways},
      {"TensorListStack", {"element_shape"}, Blocks::kAlways},
      // Iterators of datasets, whose handles are on the host.
      {"IteratorGetNext"},
      {"IteratorGetNextSync"},
      // Staging areas.
      {"Stage"},
      {"StageClear"},
      {"StagePeek", {"index"}},
      {"StageSize", {"size"}},
      {"Unstage"},
      // TensorArrays and stacks. Handles are on the host.
      {"StackCloseV2"},
      {"StackPopV2"},
      {"StackPushV2"},
      {"StackV2", {"max_size"}},
      {"TensorArrayCloseV3"},
      {"TensorArrayConcatV3", {"lengths"}, Blocks::kAlways},
      {"TensorArrayGatherV3", {"indices"}, Blocks::kAlways},
      {"TensorArrayGradV3"},
      {"TensorArrayGradWithShape", {"shape_to_prepend"}},
      {"TensorArrayReadV3", {"index"}},
      {"TensorArrayScatterV3", {"indices"}, Blocks::kAlways},
      {"TensorArraySizeV3", {"size"}},
      {"TensorArraySplitV3", {"lengths"}, Blocks::kAlways},
      {"TensorArrayV3", {"size"}},
      {"TensorArrayWriteV3", {"index"}, Blocks::kIfItAdds},
  };
  return *entries;
}

const Entry* EntryOf(std::string_view op) {
  const auto at = std::ranges::find_if(Entries(), [&](const Entry& entry) { return entry.op == op; });
  return at == Entries().end() ? nullptr : &*at;
}

// The dtype of the elements of a list, TensorArray or stack; null for other nodes, and if the node does not say.
const DType* ElementOf(const Node& node) {
  std::vector<const char*> names = {"element_dtype"};
  if (node.type().starts_with("TensorArray") || node.type().starts_with("Stack")) names = {"T", "dtype", "elem_type"};
  for (const char* const name : names) {
    if (const AttrValue* const attr = node.FindAttr(name); attr != nullptr) return attr->get<DType>();
  }
  return nullptr;
}

// Whether the node uses a staging area, whose tuples are in the memory of the device if all of their tensors can be.
bool IsStaging(const Node& node) { return node.type().starts_with("Stage") || node.type() == "Unstage"; }

// Whether lists of such elements are in the memory of a device. Small integers are mostly indices, which kernels need
// on the host.
bool IsForDevice(DType element) { return IsPlain(element) && element != DType::kInt32 && element != DType::kBool; }

}  // namespace

bool MovesWholeBuffers(const Node& node) {
  if (EntryOf(node.type()) == nullptr) return false;
  if (IsStaging(node)) return std::ranges::all_of(node.attr<std::vector<DType>>("dtypes"), IsPlain);
  if (node.type().starts_with("IteratorGetNext")) {
    return std::ranges::none_of(node.attr<std::vector<DType>>("output_types"),
                                [](DType type) { return type == DType::kVariant || type == DType::kResource; });
  }
  const DType* const element = ElementOf(node);
  return element == nullptr || IsForDevice(*element);
}

bool TakesElement(const Node& node) { return node.type().starts_with("IteratorGetNext") && MovesWholeBuffers(node); }

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
      if (entry.blocks != Blocks::kNever) {
        def.create = [create = def.create, adds = entry.blocks == Blocks::kIfItAdds](
                         const KernelConstruction& c) -> StatusOr<std::unique_ptr<Kernel>> {
          TF_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, create(c));
          if (adds) return std::unique_ptr<Kernel>(std::make_unique<WriteKernel>(std::move(kernel)));
          return std::unique_ptr<Kernel>(std::make_unique<BlockingKernel>(std::move(kernel)));
        };
      }
      const std::string_view file = def.file;
      r.AddDef(std::move(def)).file = file;  // of the kernel of the CPU
    }
  }
}

}  // namespace tensorbraid::pjrt
