// The kernel interface: a kernel computes a node.
//
// A kernel is constructed once per node of a plan, which is the part of a graph that a task runs in a step
// (executor/plan.h). It then runs in every step. When steps overlap, several threads run it at once, so its members
// must be constant after construction or guarded by a lock.
//
// Most kernels are plain functions of the context. Kernels that read attributes at construction derive from Kernel.
#ifndef TENSORBRAID_RUNTIME_KERNEL_KERNEL_H_
#define TENSORBRAID_RUNTIME_KERNEL_KERNEL_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/text/strings.h"
#include "core/threads/thread_pool.h"
#include "core/values/new_tensor.h"
#include "graph/model/node.h"
#include "runtime/kernel/cancellation.h"
#include "runtime/kernel/cost.h"
#include "runtime/kernel/device.h"
#include "runtime/kernel/reference_handle.h"
#include "runtime/kernel/rendezvous.h"
#include "runtime/kernel/resource.h"
#include "runtime/kernel/type_constraints.h"
#include "runtime/variables/variable_resource.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

class FunctionRuntime;
class StepTracer;

// The value on an edge of a plan: a tensor, or a reference to a variable ("reference edge").
struct Entry {
  Tensor value;
  RefPtr<VariableResource> ref;  // if set, the edge carries the variable itself and `value` is empty
};

// A container of the ResourceManager for one step: named resources that are deleted when the step ends. Thread-safe.
class StepResources {
 public:
  explicit StepResources(ResourceManager* resources) : resources_(resources) {}
  // The name of the container, unique to this step.
  const std::string& container();
  // Deletes the resources. REQUIRES: the step has ended.
  void Clear() {
    if (used_.load(std::memory_order_relaxed)) ClearUsed();
  }

 private:
  void ClearUsed();

  ResourceManager* const resources_;
  std::atomic<bool> used_{false};
  Mutex mu_;
  std::string container_;  // "" until the first container(); written under the lock
};

// The parts of a step and its task that kernels may use. One object per step and task.
struct StepEnvironment {
  ResourceManager* resources = nullptr;
  ThreadPool* pool = nullptr;                   // for ParallelFor
  CancellationManager* cancellation = nullptr;  // of this step
  const FunctionRuntime* functions = nullptr;   // runs functions of the graph's library
  Rendezvous* rendezvous = nullptr;             // with other tasks, for Send and Recv kernels
  StepResources* step_resources = nullptr;      // named resources that are deleted with the step
  StepTracer* tracer = nullptr;                 // null unless the step is traced
};

// Where a node of a plan runs, and where its outputs are stored. Chosen when the plan is made.
struct NodeMemory {
  Device* device = nullptr;
  Allocator* allocator = nullptr;        // for scratch tensors, and for all outputs if `outputs` is empty
  std::vector<Allocator*> outputs = {};  // indexed by output
  Allocator& output(int i) const { return outputs.empty() ? *allocator : *outputs[i]; }
};
// The memory of nodes that run outside of any task.
const NodeMemory& HostNodeMemory();

// A kernel's view of one run of its node. Lives until the kernel returns (or calls `done`). Not thread-safe, but may
// move from thread to thread.
class KernelContext {
 public:
  KernelContext(const Node& node, std::span<Entry> inputs, std::span<Entry> outputs, const StepEnvironment& env,
                const NodeMemory& memory = HostNodeMemory(), LoopPosition position = {})
      : node_(node), inputs_(inputs), outputs_(outputs), env_(env), memory_(memory), position_(position) {}

  const Node& node() const { return node_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }

  // The value of input i. A reference has been replaced by the variable's value unless the op takes a reference.
  const Tensor& input(int i) const { return inputs_[i].value; }
  // Whether input i has a value. All inputs of a Merge but one may have none; a dead input of a _Send has none.
  bool has_input(int i) const { return inputs_[i].value.is_valid() || inputs_[i].ref; }
  // Calls `read` with the value of input i. If the input is a reference (KernelDef::reads_reference), reads the
  // variable in place (VariableResource::ReadInPlace), without a snapshot.
  Status ReadInput(int i, absl::FunctionRef<Status(const Tensor&)> read) const {
    return inputs_[i].ref ? inputs_[i].ref->ReadInPlace(read) : read(inputs_[i].value);
  }
  // As ReadInput, but a variable's rows may be updated at the same time (VariableResource::ReadRows).
  Status ReadInputRows(int i, absl::FunctionRef<Status(const Tensor&, RowLocks*)> read) const {
    return inputs_[i].ref ? inputs_[i].ref->ReadRows(read) : read(inputs_[i].value, nullptr);
  }
  // The variable of an input declared Ref(T).
  VariableResource& ref_input(int i) const { return *inputs_[i].ref; }
  // Moves the input out, so that the kernel can reuse its buffer. The input is empty afterwards.
  Tensor TakeInput(int i) { return std::move(inputs_[i].value); }
  // Makes input `from` output `to`, and leaves it empty. The input may be a reference although it is declared as a
  // value: see ForwardsInput in graph/model/references.h.
  void ForwardInput(int from, int to) { outputs_[to] = std::move(inputs_[from]); }

  void set_output(int i, Tensor value) { outputs_[i].value = std::move(value); }
  void set_output_ref(int i, RefPtr<VariableResource> ref) { outputs_[i].ref = std::move(ref); }
  const Tensor& output(int i) const { return outputs_[i].value; }

  // Sets output i to a new tensor of the output's declared type, in the memory that the plan chose for this output. The
  // kernel must fill the returned tensor, which stays valid and writable until the kernel returns.
  StatusOr<Tensor*> AllocateOutput(int i, const Shape& shape);
  // The memory that the plan chose for output i.
  Allocator& output_memory(int i) const { return memory_.output(i); }
  // Like AllocateOutput, but reuses the buffer of one of these inputs if possible: the input may be overwritten, is in
  // the output's memory, and has the output's dtype and number of elements. Writing an output element then overwrites
  // the input element at the same place, so this is for elementwise kernels.
  StatusOr<Tensor*> ForwardOrAllocateOutput(std::initializer_list<int> inputs, int i, const Shape& shape);
  // A scratch tensor in memory of the node's device.
  StatusOr<Tensor> AllocateTemp(DType dtype, const Shape& shape) { return NewTensor(dtype, shape, *memory_.allocator); }

  Device& device() const { return *memory_.device; }
  const StepEnvironment& env() const { return env_; }
  ThreadPool& pool() const { return *env_.pool; }
  ResourceManager& resources() const { return *env_.resources; }
  LoopPosition position() const { return position_; }

  // The resource of type T that handle input i names; the input may be declared resource, Ref(string) or string (see
  // reference_handle.h). InvalidArgument if the resource has another type, NotFound if no resource has that name.
  template <typename T>
  StatusOr<RefPtr<T>> LookupResource(int i) const;
  // The container and name in a handle input declared Ref(string) or string. InvalidArgument if it holds no handle.
  StatusOr<ResourceName> NameOfHandle(int i) const;

 private:
  const Node& node_;
  std::span<Entry> inputs_;
  std::span<Entry> outputs_;
  const StepEnvironment& env_;
  const NodeMemory& memory_;
  const LoopPosition position_;
};

// The information that a kernel may use at construction.
class KernelConstruction {
 public:
  KernelConstruction(const Node& node, ResourceManager* resources, const std::string& device,
                     Device& local_device = HostDevice())
      : node_(node), resources_(resources), device_(device), local_device_(local_device) {}
  const Node& node() const { return node_; }
  template <typename T>
  const T& attr(std::string_view name) const {
    return node_.attr<T>(name);
  }
  ResourceManager* resources() const { return resources_; }
  const std::string& device() const { return device_; }  // full name
  Device& local_device() const { return local_device_; }

 private:
  const Node& node_;
  ResourceManager* resources_;
  const std::string& device_;
  Device& local_device_;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  // Computes the outputs. Must not block, except for locks that are held briefly.
  virtual Status Compute(KernelContext& ctx) = 0;
};

// A kernel that may have to wait, for example for a tensor of another task or an element of a queue.
class AsyncKernel : public Kernel {
 public:
  using Done = std::function<void(Status)>;
  // Starts the computation and does not block. Must call `done` exactly once, from any thread, possibly before
  // returning, and must call it soon after the step is cancelled. `ctx` lives until `done` is called.
  virtual void ComputeAsync(KernelContext& ctx, Done done) = 0;
  Status Compute(KernelContext& ctx) final;
};

using KernelFn = Status (*)(KernelContext& ctx);

struct KernelDef {
  std::string op;
  std::string device_type = "CPU";
  TypeConstraints types;
  CostFn cost = DefaultCost;
  // The kernel reads input 0 only through KernelContext::ReadInput or ReadInputRows, so the input may be a reference to
  // a variable.
  bool reads_reference = false;
  // The names of the inputs and outputs that this kernel requires in host memory, such as "shape". The others are in
  // the memory of its device, except that elements of types that are not plain are always in host memory.
  std::vector<std::string> host_memory = {};
  std::function<StatusOr<std::unique_ptr<Kernel>>(const KernelConstruction&)> create;
  std::string_view file = {};  // where it is registered, relative to src: "kernels/cpu/math/binary.cc"
};

// Immutable once built. A helper that registers kernels for its callers takes a location like the functions below and
// passes it on, so that KernelDef::file names the file of the caller.
class KernelRegistry {
 public:
  // r.Add("Relu", {{"T", {kFloat32}}}, Relu<float>);
  KernelDef& Add(std::string_view op, const TypeConstraints& types, KernelFn compute, CostFn cost = DefaultCost,
                 std::source_location location = std::source_location::current());
  // r.Add<ReshapeKernel>("Reshape"): a class that is constructed from a const KernelConstruction&.
  template <typename K>
  void Add(std::string_view op, const TypeConstraints& types = {}, CostFn cost = DefaultCost,
           std::source_location location = std::source_location::current()) {
    AddClass(
        op, types, cost, [](const KernelConstruction& c) -> Kernel* { return new K(c); }, location);
  }
  KernelDef& AddDef(KernelDef def, std::source_location location = std::source_location::current());

  // The kernel for a node on a device type. NotFound lists the candidates and why each does not fit. Finds the kernels
  // in AddedKernels, too. The result stays valid.
  StatusOr<const KernelDef*> Find(const Node& node, std::string_view device_type) const;
  // The kernels that were added to this registry, keyed by op. The kernels of custom ops are in AddedKernels, and not
  // here.
  const std::multimap<std::string, KernelDef, std::less<>>& kernels() const { return kernels_; }

  // All kernels of src/kernels; see kernels/cpu/register.cc.
  static const KernelRegistry& Global();

 private:
  void AddClass(std::string_view op, const TypeConstraints& types, CostFn cost,
                Kernel* (*create)(const KernelConstruction&), std::source_location location);

  std::multimap<std::string, KernelDef, std::less<>> kernels_;
};

// The kernels of the ops in AddedOps (graph/model/op_registry.h). Kernels are never removed. Thread-safe.
class AddedKernels {
 public:
  // REQUIRES: called once for an op, before the op is added.
  static void Add(const std::string& op, std::vector<KernelDef> kernels);
  // Empty if there are none.
  static std::span<const KernelDef> Find(std::string_view op);
};

template <typename T>
StatusOr<RefPtr<T>> KernelContext::LookupResource(int i) const {
  if (BaseType(node_.declared_input_type(i)) == kString) {
    if (const auto* handle = dynamic_cast<const ReferenceHandle*>(inputs_[i].ref.get())) {
      T* held = dynamic_cast<T*>(handle->resource().get());
      if (held != nullptr) return RefPtr<T>::Share(held);
      return InvalidArgument("the handle of input ", i, " names '", handle->name(), "', which is not a ", T::kTypeName);
    }
    TF_ASSIGN_OR_RETURN(const ResourceName name, NameOfHandle(i));
    return resources().Lookup<T>(name.container, name.name);
  }
  TF_ASSIGN_OR_RETURN(const ResourceHandle* handle, HandleOf(input(i)));
  T* resource = dynamic_cast<T*>(handle->resource.get());
  if (resource == nullptr) {
    return InvalidArgument("the handle of input ", i, " names '", handle->name, "', which is not a ", T::kTypeName);
  }
  return RefPtr<T>::Share(resource);
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_KERNEL_KERNEL_H_
