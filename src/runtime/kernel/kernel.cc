#include "runtime/kernel/kernel.h"

#include <algorithm>

#include "core/text/logging.h"
#include "core/text/source_file.h"

namespace tensorbraid {

const std::string& StepResources::container() {
  static std::atomic<uint64_t> steps{0};
  MutexLock lock(mu_);
  if (container_.empty()) {
    container_ = StrCat("_step_", steps.fetch_add(1));
    used_.store(true, std::memory_order_relaxed);
  }
  return container_;
}

void StepResources::ClearUsed() {
  resources_->ClearContainer(container_);
  container_.clear();
  used_.store(false, std::memory_order_relaxed);
}
namespace {

class FunctionKernel final : public Kernel {
 public:
  explicit FunctionKernel(KernelFn fn) : fn_(fn) {}
  Status Compute(KernelContext& ctx) override { return fn_(ctx); }

 private:
  const KernelFn fn_;
};

// Why a kernel cannot compute a node, or "" if it can.
std::string Refusal(const KernelDef& def, const Node& node, std::string_view device_type) {
  if (def.device_type != device_type) return StrCat("cannot run on ", device_type);
  for (const auto& [attr, types] : def.types) {
    const AttrValue* value = node.FindAttr(attr);
    const DType* type = value == nullptr ? nullptr : value->get<DType>();
    if (type == nullptr) return StrCat("needs attribute ", attr);
    if (types.Contains(BaseType(*type))) continue;
    std::vector<std::string> names;
    for (DType t : types.ToVector()) names.push_back(DTypeName(t));
    return StrCat(attr, " must be ", StrJoin(names, ", "));
  }
  return "";
}

struct KernelTable {
  Mutex mu;
  std::map<std::string, std::vector<KernelDef>, std::less<>> kernels TB_GUARDED_BY(mu);  // by op
};

KernelTable& AddedKernelTable() {
  static KernelTable* const table = new KernelTable;
  return *table;
}

// The dtypes of the inputs and outputs, for messages: "(int64 to string)".
std::string Types(const Node& node) {
  std::vector<std::string> in, out;
  for (size_t i = 0; i < node.inputs().size(); ++i) in.push_back(DTypeName(node.input_type(static_cast<int>(i))));
  for (const DType type : node.output_types()) out.push_back(DTypeName(type));
  return StrCat("(", StrJoin(in, ", "), " to ", StrJoin(out, ", "), ")");
}

}  // namespace

const NodeMemory& HostNodeMemory() {
  static const NodeMemory memory{.device = &HostDevice(), .allocator = &HostAllocator()};
  return memory;
}

StatusOr<Tensor*> KernelContext::AllocateOutput(int i, const Shape& shape) {
  TF_ASSIGN_OR_RETURN(outputs_[i].value, NewTensor(BaseType(node_.output_type(i)), shape, memory_.output(i)));
  return &outputs_[i].value;
}

StatusOr<Tensor*> KernelContext::ForwardOrAllocateOutput(std::initializer_list<int> inputs, int i, const Shape& shape) {
  const DType dtype = BaseType(node_.output_type(i));
  const int64_t elements = shape.num_elements();
  for (int input : inputs) {
    Tensor& t = inputs_[input].value;
    if (!t.IsWritable() || t.dtype() != dtype || t.num_elements() != elements || !IsPlain(dtype)) continue;
    if (t.buffer()->allocator() != &memory_.output(i)) continue;
    // The input keeps its reference to the buffer, so that the kernel can still read it.
    if (t.shape() == shape) {
      outputs_[i].value = t;
    } else {
      TF_ASSIGN_OR_RETURN(outputs_[i].value, t.Reshaped(shape));
    }
    return &outputs_[i].value;
  }
  return AllocateOutput(i, shape);
}

StatusOr<ResourceName> KernelContext::NameOfHandle(int i) const {
  const Entry& entry = inputs_[i];
  if (!IsRef(node_.declared_input_type(i))) return ParseReferenceHandle(entry.value);
  if (!entry.ref) return InvalidArgument("input ", i, " must be a reference to a handle, got a tensor");
  TF_ASSIGN_OR_RETURN(const Tensor handle, entry.ref->Read());
  return ParseReferenceHandle(handle);
}

Status AsyncKernel::Compute(KernelContext& ctx) {
  return Internal("kernel of ", ctx.node().Describe(), " is asynchronous: it must be run by ComputeAsync");
}

KernelDef& KernelRegistry::Add(std::string_view op, const TypeConstraints& types, KernelFn compute, CostFn cost,
                               std::source_location location) {
  return AddDef({.op = std::string(op),
                 .types = types,
                 .cost = cost,
                 .create = [compute](const KernelConstruction&) -> StatusOr<std::unique_ptr<Kernel>> {
                   return std::unique_ptr<Kernel>(std::make_unique<FunctionKernel>(compute));
                 }},
                location);
}

void KernelRegistry::AddClass(std::string_view op, const TypeConstraints& types, CostFn cost,
                              Kernel* (*create)(const KernelConstruction&), std::source_location location) {
  AddDef({.op = std::string(op),
          .types = types,
          .cost = cost,
          .create = [create](const KernelConstruction& c) -> StatusOr<std::unique_ptr<Kernel>> {
            return std::unique_ptr<Kernel>(create(c));
          }},
         location);
}

KernelDef& KernelRegistry::AddDef(KernelDef def, std::source_location location) {
  def.file = SourceFile(location);
  std::string op = def.op;
  return kernels_.emplace(std::move(op), std::move(def))->second;
}

StatusOr<const KernelDef*> KernelRegistry::Find(const Node& node, std::string_view device_type) const {
  std::string refusals, of_other_devices;
  const auto fits = [&](const KernelDef& def) {
    const std::string refusal = Refusal(def, node, device_type);
    std::string& text = def.device_type == device_type ? refusals : of_other_devices;
    if (!refusal.empty()) text += StrCat("\n  a ", def.device_type, " kernel: ", refusal);
    return refusal.empty();
  };
  const auto [begin, end] = kernels_.equal_range(node.type());
  for (auto it = begin; it != end; ++it) {
    if (fits(it->second)) return &it->second;
  }
  if (begin == end) {
    for (const KernelDef& def : AddedKernels::Find(node.type())) {
      if (fits(def)) return &def;
    }
  }
  if (refusals.empty()) refusals = of_other_devices;
  if (refusals.empty()) return absl::NotFoundError(StrCat("no kernel exists for ", node.Describe()));
  return absl::NotFoundError(
      StrCat("no kernel fits ", node.Describe(), " ", Types(node), " on ", device_type, "; candidates:", refusals));
}

void AddedKernels::Add(const std::string& op, std::vector<KernelDef> kernels) {
  KernelTable& added = AddedKernelTable();
  MutexLock lock(added.mu);
  TB_CHECK(added.kernels.emplace(op, std::move(kernels)).second);
}

std::span<const KernelDef> AddedKernels::Find(std::string_view op) {
  KernelTable& added = AddedKernelTable();
  MutexLock lock(added.mu);
  const auto it = added.kernels.find(op);
  return it == added.kernels.end() ? std::span<const KernelDef>() : it->second;
}

}  // namespace tensorbraid
