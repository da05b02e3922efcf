// What computes a node: the kernel interface.
//
// A kernel is made once per node of a plan and then run for every step, by several threads at once when steps overlap:
// everything it keeps must be constant after construction or locked.
//
// Plain kernels are functions of the context (most are); kernels that read attributes when made derive from Kernel.
#ifndef TENSORBRAID_RUNTIME_KERNEL_H_
#define TENSORBRAID_RUNTIME_KERNEL_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/strings.h"
#include "core/thread_pool.h"
#include "graph/node.h"
#include "runtime/cancellation.h"
#include "runtime/reference_handle.h"
#include "runtime/resource.h"
#include "runtime/step_context.h"
#include "runtime/type_constraints.h"
#include "runtime/variable_resource.h"
#include "tensorbraid/tensor.h"

namespace tensorbraid {

class FunctionRuntime;
class StepTracer;

// What travels along an edge of a plan: a tensor, or a reference to a variable ("reference edge").
struct Entry {
  Tensor value;
  RefPtr<VariableResource> ref;  // set: the edge carries the variable itself, `value` is empty
};

// Resources that are found by name and die with their step: a container of the step's own. Thread-safe.
class StepResources {
 public:
  explicit StepResources(ResourceManager* resources) : resources_(resources) {}
  // Of ResourceManager; no other step's.
  const std::string& container();
  // Forgets them. REQUIRES: the step has ended.
  void Clear() {
    if (used_.load(std::memory_order_relaxed)) ClearUsed();
  }

 private:
  void ClearUsed();

  ResourceManager* const resources_;
  std::atomic<bool> used_{false};
  Mutex mu_;
  std::string container_;  // "" until asked for; written under the lock
};

// The surroundings of a step that kernels may use. One per step and task.
struct StepEnvironment {
  ResourceManager* resources = nullptr;
  ThreadPool* pool = nullptr;                   // for ParallelFor
  CancellationManager* cancellation = nullptr;  // of this step
  const FunctionRuntime* functions = nullptr;   // how kernels run functions of their graph's library
  StepContext* step = nullptr;                  // the rendezvous, for Send and Recv kernels
  StepResources* step_resources = nullptr;      // what dies with the step, found by name
  StepTracer* tracer = nullptr;                 // of a step that is traced
};

// The view of one run of one node. Lives until the kernel has returned (or called done). Not thread-safe, but may be
// handed from thread to thread.
class KernelContext {
 public:
  KernelContext(const Node& node, std::span<Entry> inputs, std::span<Entry> outputs, const StepEnvironment& env,
                LoopPosition position = {})
      : node_(node), inputs_(inputs), outputs_(outputs), env_(env), position_(position) {}

  const Node& node() const { return node_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }

  // The value of input i. References have been replaced by the variable's value unless the op takes a reference.
  const Tensor& input(int i) const { return inputs_[i].value; }
  // Whether input i is there: of a Merge, all but one may be missing; of a _Send, a dead tensor is.
  bool has_input(int i) const { return inputs_[i].value.is_valid() || inputs_[i].ref; }
  // Calls `read` with the value of input i, which a kernel with `reads_reference` may get as a reference: the variable
  // is then read where it is (VariableResource::ReadInPlace) and no snapshot is taken.
  Status ReadInput(int i, const std::function<Status(const Tensor&)>& read) const {
    return inputs_[i].ref ? inputs_[i].ref->ReadInPlace(read) : read(inputs_[i].value);
  }
  // The variable of an input declared Ref(T).
  VariableResource& ref_input(int i) const { return *inputs_[i].ref; }
  // The input itself, to take its buffer over. The input is gone afterwards.
  Tensor TakeInput(int i) { return std::move(inputs_[i].value); }

  void set_output(int i, Tensor value) { outputs_[i].value = std::move(value); }
  // Passes a reference on.
  void set_output_ref(int i, RefPtr<VariableResource> ref) { outputs_[i].ref = std::move(ref); }
  const Tensor& output(int i) const { return outputs_[i].value; }

  // A new tensor of the output's declared type, which becomes output i; fill the tensor that comes back.
  // It stays valid (and writable) until the kernel returns.
  StatusOr<Tensor*> AllocateOutput(int i, const Shape& shape);
  // As AllocateOutput, but takes the buffer of one of these inputs when nobody else holds it and dtype and byte size
  // are the same. The input may then not be read after the output is written at the same place: for elementwise work.
  StatusOr<Tensor*> ForwardOrAllocateOutput(std::initializer_list<int> inputs, int i, const Shape& shape);
  // A scratch tensor.
  StatusOr<Tensor> AllocateTemp(DType dtype, const Shape& shape) { return Tensor::Create(dtype, shape); }

  const StepEnvironment& env() const { return env_; }
  ThreadPool& pool() const { return *env_.pool; }
  ResourceManager& resources() const { return *env_.resources; }
  LoopPosition position() const { return position_; }

  // The resource that a handle input names, as a T, whether it is declared resource, Ref(string) or string (see
  // reference_handle.h). InvalidArgument when it is something else, NotFound when a name names nothing.
  template <typename T>
  StatusOr<RefPtr<T>> LookupResource(int i) const;
  // What a handle input declared Ref(string) or string says. InvalidArgument when it is none.
  StatusOr<ResourceName> NameOfHandle(int i) const;

 private:
  const Node& node_;
  std::span<Entry> inputs_;
  std::span<Entry> outputs_;
  const StepEnvironment& env_;
  const LoopPosition position_;
};

// What a kernel may look at when it is made.
class KernelConstruction {
 public:
  KernelConstruction(const Node& node, ResourceManager* resources, const std::string& device)
      : node_(node), resources_(resources), device_(device) {}
  const Node& node() const { return node_; }
  template <typename T>
  const T& attr(std::string_view name) const {
    return node_.attr<T>(name);
  }
  ResourceManager* resources() const { return resources_; }
  const std::string& device() const { return device_; }  // full name

 private:
  const Node& node_;
  ResourceManager* resources_;
  const std::string& device_;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  // Computes the outputs. Must not block for anything but short locks.
  virtual Status Compute(KernelContext& ctx) = 0;
};

// A kernel that may have to wait for something else (a tensor, an element, a token).
class AsyncKernel : public Kernel {
 public:
  using Done = std::function<void(Status)>;
  // Starts, and calls `done` exactly once, from any thread, perhaps before returning. `ctx` lives until then. Must
  // react to the step's cancellation.
  virtual void ComputeAsync(KernelContext& ctx, Done done) = 0;
  Status Compute(KernelContext& ctx) final;
};

enum class KernelCost {
  kCheap,      // some microseconds at most: runs on whatever thread made it ready
  kExpensive,  // may take long for large inputs: goes to the pool when there is other work
};

using KernelFn = Status (*)(KernelContext& ctx);

struct KernelDef {
  std::string op;
  std::string device_type = "CPU";
  TypeConstraints types;
  KernelCost cost = KernelCost::kCheap;
  // Input 0 is only read through KernelContext::ReadInput, so that a reference to a variable need not be dereferenced.
  bool reads_reference = false;
  std::function<StatusOr<std::unique_ptr<Kernel>>(const KernelConstruction&)> create;
};

// Immutable once built.
class KernelRegistry {
 public:
  // r.Add("Relu", {{"T", {kFloat32}}}, Relu<float>);
  KernelDef& Add(std::string_view op, const TypeConstraints& types, KernelFn compute,
                 KernelCost cost = KernelCost::kCheap);
  // r.Add<ReshapeKernel>("Reshape"): a class with a constructor from const KernelConstruction&.
  template <typename K>
  void Add(std::string_view op, const TypeConstraints& types = {}, KernelCost cost = KernelCost::kCheap) {
    AddClass(op, types, cost, [](const KernelConstruction& c) -> Kernel* { return new K(c); });
  }
  KernelDef& AddDef(KernelDef def);

  // The kernel for a node on a device type. NotFound lists the candidates and why each refused.
  StatusOr<const KernelDef*> Find(const Node& node, std::string_view device_type) const;
  bool HasKernelsFor(std::string_view op, std::string_view device_type) const;
  const std::multimap<std::string, KernelDef, std::less<>>& kernels() const { return kernels_; }

  // All kernels of src/kernels; see kernels/cpu/register.cc.
  static const KernelRegistry& Global();

 private:
  void AddClass(std::string_view op, const TypeConstraints& types, KernelCost cost,
                Kernel* (*create)(const KernelConstruction&));

  std::multimap<std::string, KernelDef, std::less<>> kernels_;
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

#endif  // TENSORBRAID_RUNTIME_KERNEL_H_
