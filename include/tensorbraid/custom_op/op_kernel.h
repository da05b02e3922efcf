// Kernels of custom ops: the code that computes a node.
//
//   class ClampKernel : public OpKernel {
//    public:
//     explicit ClampKernel(const OpKernelConstruction& c) : limit_(c.attr<float>("limit")) {}
//     Status Compute(OpKernelContext& c) override {
//       TF_ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, c.input(0).shape()));
//       ...
//     }
//   };
//
// A constructor, factory or Compute that throws an exception fails the step, like one that returns an error: the error
// names the node and has the text of the exception. Where a comment says "throws", std::logic_error is thrown.
#ifndef TENSORBRAID_CUSTOM_OP_OP_KERNEL_H_
#define TENSORBRAID_CUSTOM_OP_OP_KERNEL_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

class KernelContext;

namespace internal {
// Throws, since the node has no such attribute or it has another type.
[[noreturn]] void ThrowWrongAttr(const Node& node, std::string_view name);
const AttrValue* FindAttrOf(const Node& node, std::string_view name);

template <typename T>
const T& AttrOf(const Node& node, std::string_view name) {
  const AttrValue* attr = FindAttrOf(node, name);
  const T* value = attr == nullptr ? nullptr : attr->get<T>();
  if (value == nullptr) ThrowWrongAttr(node, name);
  return *value;
}
}  // namespace internal

// What a kernel may read when it is constructed. Lives until the constructor returns.
class OpKernelConstruction {
 public:
  explicit OpKernelConstruction(const Node& node) : node_(node) {}
  const std::string& node_name() const;
  int num_inputs() const;
  int num_outputs() const;
  DType input_dtype(int i) const;   // throws if there is no such input
  DType output_dtype(int i) const;  // throws if there is no such output
  // The value of an attribute. T is the type of a value in AttrValue: int64_t for "int", float for "float", DType for
  // "type", std::vector<int64_t> for "list(int)", ... Throws if the op has no attribute of that name and type.
  template <typename T>
  const T& attr(std::string_view name) const {
    return internal::AttrOf<T>(node_, name);
  }

 private:
  const Node& node_;
};

// One run of a kernel. Not thread-safe, except in ParallelFor as its comment says.
//
// Inputs and outputs are numbered across arguments: for an op with the inputs "values: N * T" and "axis: int32", and N
// = 3, the axis is input 3. The library has checked dtypes and the lengths of lists. Shapes are not checked: they may
// come from anyone who can connect to the server.
class OpKernelContext {
 public:
  const std::string& node_name() const;
  int num_inputs() const;
  int num_outputs() const;
  const Tensor& input(int i) const;  // throws if there is no such input
  DType output_dtype(int i) const;   // throws if there is no such output
  template <typename T>
  const T& attr(std::string_view name) const {  // as OpKernelConstruction::attr
    return internal::AttrOf<T>(node(), name);
  }

  // Makes output i a new tensor of the output's dtype. The kernel must fill all its elements. ResourceExhausted if
  // there is not enough memory, InvalidArgument for an impossible shape. Throws if there is no such output.
  StatusOr<Tensor*> AllocateOutput(int i, const Shape& shape);
  // As AllocateOutput, but takes the memory of one of these inputs if nothing else holds it, such as a copy of the
  // Tensor. Writing element n of the output then overwrites element n of that input, so this is for kernels that
  // compute element by element.
  StatusOr<Tensor*> ForwardOrAllocateOutput(std::initializer_list<int> inputs, int i, const Shape& shape);
  // Makes output i an existing tensor, such as an input. Throws if there is no such output, or if the dtype is another.
  void set_output(int i, Tensor value);
  // A tensor for intermediate results. Errors as AllocateOutput.
  StatusOr<Tensor> AllocateTemp(DType dtype, const Shape& shape);

  // Runs body(begin, end) over disjoint ranges that cover [0, total), on this thread and idle threads of the task.
  // `cost_ns` is the estimated time of one unit. Returns when all are done. `body` runs on several threads at once; of
  // this object it may call input() alone.
  void ParallelFor(int64_t total, double cost_ns, const std::function<void(int64_t begin, int64_t end)>& body);
  // OK, or why the step has been cancelled. A kernel that computes for seconds should ask this now and then.
  Status CheckNotCancelled() const;

  // The object of type T with this name in the task's memory, which keeps it from step to step; if there is none, the
  // result of `create`, which becomes that object. All sessions of the task share it, and it lives until its container
  // is reset ("": the default container) or the task ends. InvalidArgument if the object has another type, Internal if
  // `create` returns null. `create` must not call this object.
  template <typename T>
  StatusOr<std::shared_ptr<T>> FindOrCreate(const std::string& container, const std::string& name,
                                            const std::function<std::shared_ptr<T>()>& create) {
    return Typed<T>(FindOrCreateAny(container, name, typeid(T), create));
  }
  // As FindOrCreate, and makes output i, of dtype resource, a handle of the object. An op that has such a handle as an
  // input finds the object by ObjectOf.
  template <typename T>
  Status FindOrCreateHandle(int i, const std::string& container, const std::string& name,
                            const std::function<std::shared_ptr<T>()>& create) {
    return FindOrCreateAnyHandle(i, container, name, typeid(T), create);
  }
  // The object of type T that the handle in input i refers to. InvalidArgument if the input is no such handle.
  template <typename T>
  StatusOr<std::shared_ptr<T>> ObjectOf(int i) const {
    return Typed<T>(AnyObjectOf(i, typeid(T)));
  }

 private:
  friend class CustomKernel;
  OpKernelContext(KernelContext& context, const std::string& device) : context_(context), device_(device) {}
  using AnyObject = std::shared_ptr<void>;
  template <typename T>
  static StatusOr<std::shared_ptr<T>> Typed(StatusOr<AnyObject> object) {
    if (!object.ok()) return object.status();
    return std::static_pointer_cast<T>(*std::move(object));
  }
  const Node& node() const;
  StatusOr<AnyObject> FindOrCreateAny(const std::string& container, const std::string& name, const std::type_info& type,
                                      const std::function<AnyObject()>& create);
  Status FindOrCreateAnyHandle(int i, const std::string& container, const std::string& name, const std::type_info& type,
                               const std::function<AnyObject()>& create);
  StatusOr<AnyObject> AnyObjectOf(int i, const std::type_info& type) const;
  void CheckOutput(int i) const;

  KernelContext& context_;
  const std::string& device_;
};

// A kernel is constructed once for a node of a session and then runs in every step, on any thread. When steps overlap,
// several threads run it at once, so its members must be constant after construction, or guarded by a lock. It must not
// wait for long, for example for a network: it runs on one of the few threads that run all steps of the task.
class OpKernel {
 public:
  OpKernel();
  virtual ~OpKernel();
  OpKernel(const OpKernel&) = delete;
  OpKernel& operator=(const OpKernel&) = delete;
  // Computes all outputs from the inputs.
  virtual Status Compute(OpKernelContext& c) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CUSTOM_OP_OP_KERNEL_H_
