// Tensors that a loop writes and reads by number, and stacks of them. Both die with their step.
#ifndef TENSORBRAID_RUNTIME_TENSOR_ARRAY_RESOURCE_H_
#define TENSORBRAID_RUNTIME_TENSOR_ARRAY_RESOURCE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/thread_pool.h"
#include "runtime/resource.h"

namespace tensorbraid {

// Behind TensorArrayV3. An element is written once and, unless it is kept, read once; the array of a gradient adds up
// what is written to one element. Memory goes with the elements that were written, not with the size. Thread-safe.
// Errors are InvalidArgument unless said otherwise.
class TensorArrayResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "tensor array";
  // out = a + b, all of one dtype and shape.
  using AddFn = void (*)(ThreadPool& pool, const Tensor& a, const Tensor& b, Tensor* out);
  struct Options {
    DType dtype = DType::kInvalid;
    Shape element_shape = Shape::Unknown();
    bool dynamic_size = false;
    bool clear_after_read = true;
    bool identical_element_shapes = false;
    bool aggregates = false;  // the array of a gradient
    AddFn add = nullptr;      // null: the dtype has no sum
  };
  TensorArrayResource(std::string name, int32_t size, Options options)
      : name_(std::move(name)), options_(std::move(options)), size_(size) {}

  const std::string& name() const { return name_; }
  DType dtype() const { return options_.dtype; }
  StatusOr<int32_t> size() const;  // InvalidArgument once closed
  bool has_dynamic_size() const;
  // How many elements have been written or read.
  size_t num_touched() const;
  // Before the elements are written from the `count` parts of one tensor: makes an array of dynamic size at least so
  // large, and returns the size, which should then be `count`.
  StatusOr<int32_t> StartSplit(int32_t count);
  // How many elements, from the first, make the whole. The array of a gradient gives back what was split: not elements
  // that were written beyond it.
  StatusOr<int32_t> SizeToConcat() const;

  Status Write(int32_t index, Tensor value, ThreadPool& pool);
  // An element that was never written reads as zeros when its shape is known.
  StatusOr<Tensor> Read(int32_t index);
  // The array of the gradients for `source` ("gradients:0"), made when there is none: as large as this one, which can
  // then no longer grow, with elements of the shapes of this one's, after `prefix`.
  StatusOr<RefPtr<TensorArrayResource>> Gradient(const std::string& source, const Shape& prefix);
  // Drops the elements.
  void Close();

  std::string DebugString() const override;

 private:
  struct Element {
    Tensor value;
    Shape shape = Shape::Unknown();  // known once written, or from the array that this one is the gradient of
    bool written = false;
    bool read = false;
  };
  Status CheckOpen() const TB_REQUIRES(mu_);
  Status Add(Element* element, int32_t index, Tensor value, ThreadPool& pool) TB_REQUIRES(mu_);

  const std::string name_;
  mutable Mutex mu_;
  Options options_ TB_GUARDED_BY(mu_);  // dtype never changes
  int32_t size_ TB_GUARDED_BY(mu_);
  int32_t split_size_ TB_GUARDED_BY(mu_) = 0;  // parts of the last tensor that was split into it
  bool closed_ TB_GUARDED_BY(mu_) = false;
  absl::flat_hash_map<int32_t, Element> elements_ TB_GUARDED_BY(mu_);
  std::map<std::string, RefPtr<TensorArrayResource>> gradients_ TB_GUARDED_BY(mu_);  // by source
};

// Behind StackV2: what a loop pushes for its gradient to pop. Thread-safe.
class StackResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "stack";
  // `max_size` -1: no bound.
  StackResource(std::string name, DType dtype, int64_t max_size)
      : name_(std::move(name)), dtype_(dtype), max_size_(max_size) {}

  DType dtype() const { return dtype_; }
  // InvalidArgument beyond max_size, and once the stack is closed.
  Status Push(Tensor value);
  // InvalidArgument when there is nothing, and once the stack is closed.
  StatusOr<Tensor> Pop();
  void Close();
  std::string DebugString() const override;

 private:
  Status CheckOpen() const TB_REQUIRES(mu_);

  const std::string name_;
  const DType dtype_;
  const int64_t max_size_;
  mutable Mutex mu_;
  bool closed_ TB_GUARDED_BY(mu_) = false;
  std::vector<Tensor> values_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TENSOR_ARRAY_RESOURCE_H_
