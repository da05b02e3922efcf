// TensorArrays, whose elements a loop writes and reads by index, and stacks of tensors. Both are deleted with their
// step.
#ifndef TENSORBRAID_RUNTIME_RESOURCES_TENSOR_ARRAY_RESOURCE_H_
#define TENSORBRAID_RUNTIME_RESOURCES_TENSOR_ARRAY_RESOURCE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/threads/thread_pool.h"
#include "runtime/kernel/element_memory.h"
#include "runtime/kernel/resource.h"

namespace tensorbraid {

// The resource of TensorArrayV3. An element can be written once, and read once unless `clear_after_read` is false. A
// gradient's array sums all values that are written to an element. Memory is proportional to the number of elements
// that were used, not to the size of the array. Thread-safe. Errors are InvalidArgument unless stated otherwise.
class TensorArrayResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "tensor array";
  // out = a + b, all of one dtype and shape. `out` may be `a` or `b`.
  using AddFn = void (*)(ThreadPool& pool, const Tensor& a, const Tensor& b, Tensor* out);
  struct Options {
    DType dtype = DType::kInvalid;
    Shape element_shape = Shape::Unknown();
    bool dynamic_size = false;  // a write beyond the last element enlarges the array
    bool clear_after_read = true;
    bool identical_element_shapes = false;
    bool aggregates = false;  // a gradient's array: sums what is written to an element
    AddFn add = nullptr;      // null if the dtype has no addition
    // The elements are in this memory, which outlives the array. Null: in host memory.
    ElementMemory* memory = nullptr;
  };
  TensorArrayResource(std::string name, int32_t size, Options options)
      : name_(std::move(name)),
        dtype_(options.dtype),
        memory_(options.memory),
        options_(std::move(options)),
        size_(size) {}

  const std::string& name() const { return name_; }
  ElementMemory* memory() const { return memory_; }
  DType dtype() const { return dtype_; }
  StatusOr<int32_t> size() const;  // InvalidArgument once closed
  bool has_dynamic_size() const;
  // How many elements have been written or read.
  size_t num_touched() const;
  // Call before writing the elements from `count` parts of one tensor. Grows an array of dynamic size to at least
  // `count` elements. Returns the size, which the caller should compare with `count`.
  StatusOr<int32_t> StartSplit(int32_t count);
  // The number of elements to concatenate, from the first on. That is all of them, but a gradient's array leaves out
  // elements beyond the number into which the original array was split.
  StatusOr<int32_t> SizeToConcat() const;

  // The value is in memory().
  Status Write(int32_t index, Tensor value, ThreadPool& pool);
  // Whether Write would add to the element, which may block if the array is in the memory of a device.
  bool WouldAdd(int32_t index) const;
  // An element that was never written reads as zeros when its shape is known.
  StatusOr<Tensor> Read(int32_t index);
  // Returns the gradient's array for `source` ("gradients:0"), and creates it on the first call. It has the size of
  // this array, which cannot grow any more afterwards. The shape of each element is `prefix` followed by the shape of
  // this array's element.
  StatusOr<RefPtr<TensorArrayResource>> Gradient(const std::string& source, const Shape& prefix);
  // Drops the elements; later calls fail.
  void Close();

  std::string DebugString() const override;

 private:
  struct Element {
    Tensor value;
    Shape shape = Shape::Unknown();  // known once written; for a gradient, from the original array
    bool written = false;
    bool read = false;
  };
  Status CheckOpen() const TB_REQUIRES(mu_);
  Status Add(Element* element, int32_t index, Tensor value, ThreadPool& pool) TB_REQUIRES(mu_);

  const std::string name_;
  const DType dtype_;
  ElementMemory* const memory_;
  mutable Mutex mu_;
  Options options_ TB_GUARDED_BY(mu_);
  int32_t size_ TB_GUARDED_BY(mu_);
  int32_t split_size_ TB_GUARDED_BY(mu_) = 0;  // number of parts in the last split; 0 if there was none
  bool closed_ TB_GUARDED_BY(mu_) = false;
  absl::flat_hash_map<int32_t, Element> elements_ TB_GUARDED_BY(mu_);
  std::map<std::string, RefPtr<TensorArrayResource>> gradients_ TB_GUARDED_BY(mu_);  // keyed by source
};

// The resource of StackV2: a loop pushes tensors, and the loop of its gradient pops them. Thread-safe.
class StackResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "stack";
  // `max_size` < 0: unbounded. The tensors are in `memory`; null: in host memory.
  StackResource(std::string name, DType dtype, int64_t max_size, const ElementMemory* memory)
      : name_(std::move(name)), dtype_(dtype), max_size_(max_size), memory_(memory) {}

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const ElementMemory* memory() const { return memory_; }
  // InvalidArgument if the stack is full or closed.
  Status Push(Tensor value);
  // InvalidArgument if the stack is empty or closed.
  StatusOr<Tensor> Pop();
  void Close();
  std::string DebugString() const override;

 private:
  Status CheckOpen() const TB_REQUIRES(mu_);

  const std::string name_;
  const DType dtype_;
  const int64_t max_size_;
  const ElementMemory* const memory_;
  mutable Mutex mu_;
  bool closed_ TB_GUARDED_BY(mu_) = false;
  std::vector<Tensor> values_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_RESOURCES_TENSOR_ARRAY_RESOURCE_H_
