#include "tensorbraid/core/tensor.h"

#include <atomic>
#include <limits>
#include <memory>
#include <new>
#include <sstream>

#include "core/memory/allocator.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/values/new_tensor.h"
#include "core/values/resource_handle.h"
#include "core/values/tensor_bytes.h"
#include "core/values/tensor_limit.h"
#include "core/values/variant.h"

namespace tensorbraid {
namespace {

// Holds objects with constructors (strings, resource handles, variants) instead of plain bytes. The objects follow the
// buffer in one piece of memory, because input pipelines make a buffer for each string.
template <typename T>
class ObjectBuffer : public Buffer {
 public:
  // Returns null when there is not enough memory for `n` objects.
  static RefPtr<Buffer> Create(int64_t n) {
    const int64_t bytes = n * static_cast<int64_t>(sizeof(T));
    if (!CountMemory(bytes)) return nullptr;
    void* const memory = ::operator new(kObjects + static_cast<size_t>(bytes), std::nothrow);
    if (memory == nullptr) {
      UncountMemory(bytes);
      return nullptr;
    }
    T* const objects = reinterpret_cast<T*>(static_cast<char*>(memory) + kObjects);
    std::uninitialized_value_construct_n(objects, n);
    return RefPtr<Buffer>::Adopt(new (memory) ObjectBuffer(objects, static_cast<size_t>(bytes)));
  }
  ~ObjectBuffer() override {
    std::destroy_n(static_cast<T*>(data()), size() / sizeof(T));
    UncountMemory(static_cast<int64_t>(size()));
  }
  static void* operator new(size_t) = delete;  // an object is made in memory that has place for the others
  static void* operator new(size_t, void* memory) { return memory; }
  static void operator delete(void* memory) { ::operator delete(memory); }  // NOLINT(misc-new-delete-overloads)

 private:
  static constexpr size_t kAlign = alignof(std::max_align_t);
  static constexpr size_t kObjects = (sizeof(Buffer) + kAlign - 1) / kAlign * kAlign;  // where the objects begin
  static_assert(alignof(T) <= kAlign);

  ObjectBuffer(T* objects, size_t bytes) : Buffer(objects, bytes) {
    static_assert(sizeof(ObjectBuffer) == sizeof(Buffer));
  }
};

// Memory of the caller.
class BorrowedBuffer final : public Buffer {
 public:
  BorrowedBuffer(const void* data, size_t size, std::function<void()> release)
      : Buffer(const_cast<void*>(data), size, {.writable = false, .borrowed = true}), release_(std::move(release)) {}
  ~BorrowedBuffer() override {
    if (release_) release_();
  }

 private:
  const std::function<void()> release_;
};

RefPtr<Buffer> NewBuffer(DType dtype, int64_t n, Allocator& allocator) {
  if (dtype == DType::kString) return ObjectBuffer<std::string>::Create(n);
  if (dtype == DType::kResource) return ObjectBuffer<ResourceHandle>::Create(n);
  if (dtype == DType::kVariant) return ObjectBuffer<Variant>::Create(n);
  return allocator.Allocate(static_cast<size_t>(n) * DTypeSize(dtype));
}

template <typename T>
void Print(std::ostringstream& out, const T& v) {
  if constexpr (std::is_same_v<T, std::string>) {
    out << '"' << v << '"';
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>) {
    out << float(v);
  } else if constexpr (std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t>) {
    out << int(v);
  } else {
    out << v;
  }
}

template <typename T>
void PrintElements(std::ostringstream& out, const Tensor& t, int max) {
  const auto values = t.data<T>();
  const Shape& shape = t.shape();
  for (size_t i = 0; i < values.size(); ++i) {
    if (static_cast<int>(i) >= max) {
      out << " ...";
      return;
    }
    // Open a bracket for each dimension that starts at this element, close one for each that ends.
    int64_t block = 1;
    int opened = 0;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      block *= shape.dim(d);
      if (i % block == 0) ++opened;
    }
    if (opened == 0 && i > 0) out << ' ';
    out << std::string(opened, '[');
    Print(out, static_cast<T>(values[i]));
    block = 1;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      block *= shape.dim(d);
      if ((i + 1) % block == 0) out << ']';
    }
  }
}

// Ends the program because the caller at `loc` has made an error.
template <typename... Parts>
[[noreturn]] void EndAt(const std::source_location& loc, const char* what, const Parts&... message) {
  CheckFailed(loc.file_name(), static_cast<int>(loc.line()), what, StrCat(message...));
}

// The C++ type of the elements, as a program writes it; "" if programs cannot read them.
std::string_view ElementTypeName(DType t) {
  switch (StorageType(t)) {
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kFloat16:
      return "tensorbraid::Float16";
    case DType::kBfloat16:
      return "tensorbraid::Bfloat16";
    case DType::kInt8:
      return "int8_t";
    case DType::kInt16:
      return "int16_t";
    case DType::kInt32:
      return "int32_t";
    case DType::kInt64:
      return "int64_t";
    case DType::kUint8:
      return "uint8_t";
    case DType::kUint16:
      return "uint16_t";
    case DType::kUint32:
      return "uint32_t";
    case DType::kUint64:
      return "uint64_t";
    case DType::kBool:
      return "bool";
    case DType::kString:
      return "std::string";
    case DType::kComplex64:
      return "std::complex<float>";
    case DType::kComplex128:
      return "std::complex<double>";
    default:
      return "";
  }
}

std::atomic<int64_t> max_tensor_bytes{std::numeric_limits<int64_t>::max()};

}  // namespace

void SetMaxTensorBytes(int64_t bytes) { max_tensor_bytes.store(bytes, std::memory_order_relaxed); }

StatusOr<Tensor> Tensor::Create(DType dtype, const Shape& shape) { return NewTensor(dtype, shape, HostAllocator()); }

Status CheckTensorSize(DType dtype, const Shape& shape) {
  if (DTypeSize(dtype) == 0) return InvalidArgument("a tensor cannot have dtype ", dtype);
  if (!shape.is_fully_defined()) return InvalidArgument("a tensor needs a fully defined shape, got ", shape);
  const int64_t bytes = TensorBytes(shape, dtype);
  if (bytes < 0 || bytes == std::numeric_limits<int64_t>::max()) {
    return InvalidArgument("Encountered overflow when multiplying the sizes of shape ", shape,
                           ", which has too many elements");
  }
  if (const int64_t most = max_tensor_bytes.load(std::memory_order_relaxed); bytes > most) {
    return ResourceExhausted("a tensor ", dtype, shape, " of ", bytes, " bytes exceeds --max_tensor_bytes=", most);
  }
  return OkStatus();
}

StatusOr<Tensor> NewTensor(DType dtype, const Shape& shape, Allocator& allocator) {
  TF_RETURN_IF_ERROR(CheckTensorSize(dtype, shape));
  const int64_t n = shape.num_elements();
  RefPtr<Buffer> buffer = NewBuffer(dtype, n, allocator);
  if (!buffer) {
    if (allocator.space() == MemorySpace::kHost) {
      return ResourceExhausted("out of memory allocating ", TensorBytes(shape, dtype), " bytes for ", dtype, shape);
    }
    return ResourceExhausted("out of memory of '", allocator.name(), "' allocating ", TensorBytes(shape, dtype),
                             " bytes for ", dtype, shape);
  }
  Tensor t;
  t.data_ = buffer->data();
  t.buffer_ = std::move(buffer);
  t.num_elements_ = n;
  t.dtype_ = dtype;
  t.shape_ = shape;
  return t;
}

Tensor::Tensor(DType dtype, const Shape& shape, std::source_location loc) {
  auto t = Create(dtype, shape);
  // The executor turns this into an error of the step, so that a kernel that allocates too much cannot end the server.
  if (absl::IsResourceExhausted(t.status())) throw std::bad_alloc();
  if (!t.ok()) EndAt(loc, "tensor", t.status().message());
  *this = *std::move(t);
}

StatusOr<Tensor> Tensor::Borrow(const void* data, DType dtype, const Shape& shape, std::function<void()> release) {
  TF_RETURN_IF_ERROR(CheckTensorSize(dtype, shape));
  if (!IsPlain(dtype)) return InvalidArgument("a tensor of ", dtype, " cannot borrow memory");
  if (reinterpret_cast<uintptr_t>(data) % DTypeSize(dtype) != 0) {
    return InvalidArgument("the memory of a ", dtype, " tensor must be aligned to ", DTypeSize(dtype), " bytes");
  }
  const auto bytes = static_cast<size_t>(TensorBytes(shape, dtype));
  return FromBuffer(MakeRef<BorrowedBuffer>(data, bytes, std::move(release)), 0, dtype, shape);
}

StatusOr<Tensor> Tensor::FromBuffer(RefPtr<Buffer> buffer, size_t offset, DType dtype, const Shape& shape) {
  const int64_t n = shape.num_elements();
  int64_t bytes;
  if (!IsPlain(dtype) || n < 0 || __builtin_mul_overflow(n, static_cast<int64_t>(DTypeSize(dtype)), &bytes)) {
    return InvalidArgument("a ", dtype, " tensor of shape ", shape,
                           " cannot view a buffer; its dtype must be plain and its shape fully defined");
  }
  if (offset > buffer->size() || static_cast<size_t>(bytes) > buffer->size() - offset) {
    return InvalidArgument("a ", dtype, " tensor of shape ", shape, " needs ", bytes, " bytes from offset ", offset,
                           " of a buffer of ", buffer->size());
  }
  Tensor t;
  t.data_ = static_cast<char*>(buffer->data()) + offset;
  t.buffer_ = std::move(buffer);
  t.num_elements_ = n;
  t.dtype_ = dtype;
  t.shape_ = shape;
  return t;
}

namespace {

constexpr const char* kNoValue =
    "the tensor has no value: it is what a run returns for a fetched operation, or a default-constructed Tensor; fetch "
    "the operation's output or the variable instead";

}  // namespace

void Tensor::CheckStorage(DType wanted, const std::source_location& loc) const {
  if (StorageType(dtype_) == wanted) return;
  if (!is_valid()) EndAt(loc, "value", kNoValue);
  const std::string_view own = ElementTypeName(dtype_);
  EndAt(loc, "element type", "the tensor is ", dtype_, shape_, ", but its elements are used as ", wanted,
        own.empty() ? "; programs cannot read them" : StrCat("; their type is ", own));
}

void Tensor::NotScalar(const std::source_location& loc) const {
  EndAt(loc, "number of elements", "the tensor is ", dtype_, shape_, " and has ", num_elements_,
        " elements, but is used as a scalar; use data<", ElementTypeName(dtype_), ">()");
}

void Tensor::CountMismatch(size_t values, const std::source_location& loc) const {
  EndAt(loc, "number of elements", "the tensor is ", dtype_, shape_, " and has ", num_elements_, " elements, but ",
        values, " values are given");
}

Tensor Tensor::Slice(int64_t begin, int64_t end, std::source_location loc) const {
  if (shape_.rank() < 1 || begin < 0 || begin > end || end > shape_.dim(0)) {
    EndAt(loc, "slice", "rows [", begin, ", ", end, ") are not rows of the tensor, which is ", dtype_, shape_);
  }
  Tensor t = *this;
  const int64_t row = shape_.dim(0) == 0 ? 0 : num_elements_ / shape_.dim(0);
  t.data_ = static_cast<char*>(data_) + static_cast<size_t>(begin * row) * DTypeSize(dtype_);
  t.num_elements_ = (end - begin) * row;
  t.shape_.set_dim(0, end - begin);
  return t;
}

StatusOr<Tensor> Tensor::Reshaped(const Shape& shape) const {
  if (shape.num_elements() != num_elements_) {
    return InvalidArgument("cannot reshape ", shape_, " (", num_elements_, " elements) to ", shape);
  }
  Tensor t = *this;
  t.shape_ = shape;
  return t;
}

void* Tensor::mutable_raw_data() {
  if (!buffer_ || buffer_->is_being_computed()) return data_;
  if (!IsWritable()) *this = DeepCopy();
  buffer_->set_exposed();
  return data_;
}

Tensor Tensor::DeepCopy() const {
  if (!is_valid()) return {};
  Tensor copy(dtype_, shape_);
  if (dtype_ == DType::kString) {
    std::copy_n(static_cast<const std::string*>(data_), num_elements_, static_cast<std::string*>(copy.data_));
  } else if (dtype_ == DType::kResource) {
    std::copy_n(static_cast<const ResourceHandle*>(data_), num_elements_, static_cast<ResourceHandle*>(copy.data_));
  } else if (dtype_ == DType::kVariant) {
    std::copy_n(static_cast<const Variant*>(data_), num_elements_, static_cast<Variant*>(copy.data_));
  } else if (num_elements_ > 0) {
    std::memcpy(copy.data_, data_, num_bytes());
  }
  return copy;
}

std::string Tensor::ToString(int max_elements) const {
  if (!is_valid()) return "<no tensor>";
  std::ostringstream out;
  out << DTypeName(dtype_) << shape_.ToString() << ' ';
  if (buffer_ && buffer_->space() != MemorySpace::kHost) {
    out << "<in device memory>";
    return out.str();
  }
  switch (StorageType(dtype_)) {
#define TB_CASE(T)                              \
  case DTypeOf<T>::value:                       \
    PrintElements<T>(out, *this, max_elements); \
    break;
    TB_CASE(float)
    TB_CASE(double)
    TB_CASE(Float16)
    TB_CASE(Bfloat16)
    TB_CASE(int8_t)
    TB_CASE(int16_t)
    TB_CASE(int32_t)
    TB_CASE(int64_t)
    TB_CASE(uint8_t)
    TB_CASE(uint16_t)
    TB_CASE(uint32_t)
    TB_CASE(uint64_t)
    TB_CASE(bool)
    TB_CASE(std::string)
    TB_CASE(std::complex<float>)
    TB_CASE(std::complex<double>)
#undef TB_CASE
    default:
      out << "<" << num_elements_ << " elements>";
  }
  return out.str();
}

}  // namespace tensorbraid
