// Tensors: arrays of elements of one dtype.
#ifndef TENSORBRAID_CORE_TENSOR_H_
#define TENSORBRAID_CORE_TENSOR_H_

#include <functional>
#include <initializer_list>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "tensorbraid/core/buffer.h"
#include "tensorbraid/core/dtype.h"
#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// A handle to a reference-counted buffer, plus dtype and shape. Elements are in row-major order, and buffers that the
// library allocates are 64-byte-aligned. Copies share the buffer, but behave like values: mutable_data makes a copy of
// the elements first if another handle shares them. Several threads may read one tensor; a thread that writes needs a
// handle of its own.
// "REQUIRES: ... (checked)" means that the program ends if the condition does not hold, with a message that names the
// caller's line and the tensor's dtype and shape.
class Tensor {
 public:
  // An invalid tensor: dtype kInvalid, no elements.
  Tensor() = default;
  // Elements of plain types (see IsPlain) are left uninitialised; strings are empty. Throws std::bad_alloc if memory is
  // exhausted. Use Create for shapes that come from outside. REQUIRES: shape.is_fully_defined() (checked).
  Tensor(DType dtype, const Shape& shape, std::source_location loc = std::source_location::current());
  // InvalidArgument for a bad shape, ResourceExhausted for too many bytes.
  static StatusOr<Tensor> Create(DType dtype, const Shape& shape);
  // A view of the bytes of `buffer` that start at `offset`. InvalidArgument when they do not lie within the buffer.
  static StatusOr<Tensor> FromBuffer(RefPtr<Buffer> buffer, size_t offset, DType dtype, const Shape& shape);

  // A tensor on memory of the caller, so that a large value is fed to a step without a copy. The caller must not change
  // the memory while a step uses it. What outlives the step (a variable's new value, an element of a queue, a tensor on
  // its way to another task, a fetched tensor) is copied. `release` is called once nothing uses the memory any more, on
  // any thread: usually before the run returns, but later if the run was cancelled or reached its deadline.
  // InvalidArgument if the dtype is not plain, or the memory is not aligned to an element.
  static StatusOr<Tensor> Borrow(const void* data, DType dtype, const Shape& shape, std::function<void()> release = {});

  // Scalar, Vector and Of make a scalar, a vector, or a tensor of the given shape with these elements. Elements of type
  // long long are int64.
  template <typename T>
  static Tensor Scalar(T value) {
    using Element = typename ElementOf<T>::type;
    Tensor t(DTypeOf<Element>::value, {});
    t.inplace_data<Element>()[0] = std::move(value);
    return t;
  }
  static Tensor Scalar(const char* value) { return Scalar(std::string(value)); }
  template <typename T>
  static Tensor Vector(const std::vector<T>& values) {
    return Of<T>({static_cast<int64_t>(values.size())}, values);
  }
  // REQUIRES: as many values as the shape has elements (checked).
  template <typename T>
  static Tensor Of(const Shape& shape, const std::vector<T>& values,
                   std::source_location loc = std::source_location::current()) {
    using Element = typename ElementOf<T>::type;
    Tensor t(DTypeOf<Element>::value, shape, loc);
    if (values.size() != static_cast<size_t>(t.num_elements_)) [[unlikely]]
      t.CountMismatch(values.size(), loc);
    auto out = t.inplace_data<Element>();
    for (size_t i = 0; i < values.size(); ++i) out[i] = values[i];
    return t;
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t num_elements() const { return num_elements_; }
  // Size of the elements in memory, in bytes. Characters that are stored outside of the string objects are not counted.
  size_t num_bytes() const { return static_cast<size_t>(num_elements_) * DTypeSize(dtype_); }
  bool is_valid() const { return dtype_ != DType::kInvalid; }

  // REQUIRES: T is the element type or its storage type (see StorageType) (checked).
  template <typename T>
  std::span<const T> data(std::source_location loc = std::source_location::current()) const {
    CheckType(DTypeOf<T>::value, loc);
    return {static_cast<const T*>(data_), static_cast<size_t>(num_elements_)};
  }
  // The elements, for writing. If another handle shares the buffer, such as a variable whose value was fetched, or if
  // the memory is read-only, this tensor first gets its own copy of the elements, so no other tensor changes.
  //
  // The span stays valid until the tensor is assigned or destroyed. A program may take it once and fill it before each
  // step: the library copies the elements for everything that outlives a step (the value of a variable, an element of a
  // queue, a constant). Throws std::bad_alloc if there is no memory for the copy. REQUIRES: T is as for data()
  // (checked), and the elements are in host memory.
  template <typename T>
  std::span<T> mutable_data(std::source_location loc = std::source_location::current()) {
    CheckType(DTypeOf<T>::value, loc);
    return {static_cast<T*>(mutable_raw_data()), static_cast<size_t>(num_elements_)};
  }
  // As mutable_data, but never copies: for kernels, which write to new tensors and to memory that they share on
  // purpose. REQUIRES: T is as for data() (checked), and no handle outside of the caller's control shares the buffer.
  template <typename T>
  std::span<T> inplace_data(std::source_location loc = std::source_location::current()) {
    CheckType(DTypeOf<T>::value, loc);
    return {static_cast<T*>(data_), static_cast<size_t>(num_elements_)};
  }
  // The value of a tensor with one element. REQUIRES: num_elements() is 1, and T is as for data() (checked).
  template <typename T>
  const T& scalar(std::source_location loc = std::source_location::current()) const {
    CheckType(DTypeOf<T>::value, loc);
    if (num_elements_ != 1) [[unlikely]]
      NotScalar(loc);
    return *static_cast<const T*>(data_);
  }
  const void* raw_data() const { return data_; }
  void* mutable_raw_data();                   // as mutable_data
  void* inplace_raw_data() { return data_; }  // as inplace_data

  // Rows [begin, end) of the first dimension, sharing the buffer. REQUIRES: rank >= 1 and the tensor has these rows
  // (checked).
  Tensor Slice(int64_t begin, int64_t end, std::source_location loc = std::source_location::current()) const;
  // The same elements under another shape. InvalidArgument when the number of elements differs.
  StatusOr<Tensor> Reshaped(const Shape& shape) const;
  // A copy with its own buffer. Throws std::bad_alloc if memory is exhausted.
  Tensor DeepCopy() const;
  // Whether the elements may be overwritten: this is the only handle to the buffer, and the buffer is writable.
  bool IsWritable() const { return buffer_ && buffer_->IsUnique() && buffer_->writable(); }
  // Whether the elements are in memory of a step's caller; see Borrow.
  bool IsBorrowed() const { return buffer_ && buffer_->borrowed(); }
  // Whether the program may change the elements at any time, because it borrowed the memory or has called mutable_data.
  // Code that keeps the tensor longer than a step must then keep a DeepCopy.
  bool MayChange() const { return buffer_ && (buffer_->borrowed() || buffer_->exposed()); }
  bool SharesBufferWith(const Tensor& other) const { return buffer_ && buffer_.get() == other.buffer_.get(); }
  const RefPtr<Buffer>& buffer() const { return buffer_; }

  // "float32[2,3] [[1 2 3][4 5 6]]", with at most `max_elements` elements.
  std::string ToString(int max_elements = 10) const;

 private:
  friend StatusOr<Tensor> NewTensor(DType dtype, const Shape& shape, Allocator& allocator);
  void CheckType(DType t, const std::source_location& loc) const {
    if (t != dtype_) [[unlikely]]
      CheckStorage(t, loc);
  }
  void CheckStorage(DType wanted, const std::source_location& loc) const;
  [[noreturn]] void NotScalar(const std::source_location& loc) const;
  [[noreturn]] void CountMismatch(size_t values, const std::source_location& loc) const;

  RefPtr<Buffer> buffer_;
  void* data_ = nullptr;
  int64_t num_elements_ = 0;
  DType dtype_ = DType::kInvalid;
  Shape shape_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TENSOR_H_
