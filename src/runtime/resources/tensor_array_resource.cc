#include "runtime/resources/tensor_array_resource.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/text/op_type_name.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

Shape WithPrefix(const Shape& prefix, const Shape& shape) {
  if (!shape.has_rank()) return shape;
  Shape all = prefix;
  for (const int64_t d : shape.dims()) all.AddDim(d);
  return all;
}

StatusOr<Tensor> Zeros(DType dtype, const Shape& shape, ElementMemory* memory) {
  if (memory != nullptr) return memory->Zeros(dtype, shape);
  if (!IsPlain(dtype) && dtype != kString) return InvalidArgument("dtype ", dtype, " has no zero value");
  TF_ASSIGN_OR_RETURN(Tensor zeros, Tensor::Create(dtype, shape));
  if (IsPlain(dtype) && zeros.num_bytes() > 0) std::memset(zeros.inplace_raw_data(), 0, zeros.num_bytes());
  return zeros;
}

}  // namespace

StatusOr<int32_t> TensorArrayResource::size() const {
  MutexLock lock(mu_);
  TF_RETURN_IF_ERROR(CheckOpen());
  return size_;
}

bool TensorArrayResource::has_dynamic_size() const {
  MutexLock lock(mu_);
  return options_.dynamic_size;
}

size_t TensorArrayResource::num_touched() const {
  MutexLock lock(mu_);
  return elements_.size();
}

StatusOr<int32_t> TensorArrayResource::StartSplit(int32_t count) {
  MutexLock lock(mu_);
  TF_RETURN_IF_ERROR(CheckOpen());
  if (options_.dynamic_size) size_ = std::max(size_, count);
  if (size_ == count && !options_.aggregates) split_size_ = count;
  return size_;
}

StatusOr<int32_t> TensorArrayResource::SizeToConcat() const {
  MutexLock lock(mu_);
  TF_RETURN_IF_ERROR(CheckOpen());
  return options_.aggregates && split_size_ > 0 ? split_size_ : size_;
}

Status TensorArrayResource::CheckOpen() const {
  return closed_ ? InvalidArgument("TensorArray '", name_, "' has already been closed") : OkStatus();
}

Status TensorArrayResource::Write(int32_t index, Tensor value, ThreadPool& pool) {
  MutexLock lock(mu_);
  TF_RETURN_IF_ERROR(CheckOpen());
  if (index < 0 || (index >= size_ && !options_.dynamic_size)) {
    return options_.dynamic_size ? InvalidArgument("TensorArray ", name_, ": index ", index, " is negative")
                                 : InvalidArgument("TensorArray ", name_, ": Tried to write to index ", index,
                                                   " but array is not resizeable and size is: ", size_,
                                                   "; create it with a larger size or with dynamic_size");
  }
  if (value.dtype() != options_.dtype) {
    return InvalidArgument("TensorArray ", name_, ": element ", index, " cannot be set: TensorArray dtype is ",
                           OpTypeName(options_.dtype), " but Op is trying to write dtype ", OpTypeName(value.dtype()));
  }
  if (!options_.element_shape.IsCompatibleWith(value.shape())) {
    return InvalidArgument("TensorArray ", name_, ": Could not write to TensorArray index ", index, ": got shape ",
                           value.shape(), ", expected ", options_.element_shape);
  }
  Element& element = elements_[index];
  if (element.read) {
    return InvalidArgument("TensorArray ", name_, ": element ", index, " cannot be written after it has been read");
  }
  if (element.written) return Add(&element, index, std::move(value), pool);
  if (options_.identical_element_shapes && !options_.element_shape.is_fully_defined()) {
    options_.element_shape = value.shape();
  }
  // A size of 2^31 does not fit in int32: writing index 2^31 - 1 leaves the size one too small.
  if (index >= size_) size_ = index < INT32_MAX ? index + 1 : INT32_MAX;
  element.shape = value.shape();
  element.value = std::move(value);
  element.written = true;
  return OkStatus();
}

bool TensorArrayResource::WouldAdd(int32_t index) const {
  MutexLock lock(mu_);
  const auto at = elements_.find(index);
  return options_.aggregates && at != elements_.end() && at->second.written;
}

Status TensorArrayResource::Add(Element* element, int32_t index, Tensor value, ThreadPool& pool) {
  if (!options_.aggregates) {
    return InvalidArgument("TensorArray ", name_, ": Could not write to TensorArray index ", index,
                           " because it has already been written to.");
  }
  if (options_.add == nullptr) {
    return InvalidArgument("TensorArray ", name_, ": cannot add to element ", index, ": dtype ", options_.dtype,
                           " has no addition");
  }
  if (element->shape != value.shape()) {
    return InvalidArgument("TensorArray ", name_, ": Could not aggregate to TensorArray index ", index,
                           " because the existing shape is ", element->shape, " but the new input shape is ",
                           value.shape());
  }
  if (memory_ != nullptr) {
    TF_ASSIGN_OR_RETURN(element->value, memory_->Add(element->value, value));
  } else if (element->value.IsWritable()) {
    options_.add(pool, element->value, value, &element->value);
  } else if (value.IsWritable()) {
    options_.add(pool, element->value, value, &value);
    element->value = std::move(value);
  } else {
    TF_ASSIGN_OR_RETURN(Tensor sum, Tensor::Create(value.dtype(), value.shape()));
    options_.add(pool, element->value, value, &sum);
    element->value = std::move(sum);
  }
  return OkStatus();
}

StatusOr<Tensor> TensorArrayResource::Read(int32_t index) {
  MutexLock lock(mu_);
  TF_RETURN_IF_ERROR(CheckOpen());
  if (index < 0 || index >= size_) {
    return InvalidArgument("TensorArray ", name_, ": Tried to read from index ", index, " but array size is: ", size_);
  }
  Element& element = elements_[index];
  if (!element.written) {
    const Shape& shape = element.shape.is_fully_defined() ? element.shape : options_.element_shape;
    if (!shape.is_fully_defined()) {
      return InvalidArgument("TensorArray ", name_, ": element ", index,
                             " has never been written, and cannot be read as zeros because its shape is not known");
    }
    TF_ASSIGN_OR_RETURN(element.value, Zeros(options_.dtype, shape, memory_));
    element.shape = element.value.shape();
    element.written = true;
  } else if (element.read && options_.clear_after_read) {
    return InvalidArgument("TensorArray ", name_, ": Could not read index ", index,
                           " twice because it was cleared after a previous read (perhaps try setting clear_after_read "
                           "= false?)");
  }
  element.read = true;
  return options_.clear_after_read ? std::move(element.value) : element.value;
}

StatusOr<RefPtr<TensorArrayResource>> TensorArrayResource::Gradient(const std::string& source, const Shape& prefix) {
  MutexLock lock(mu_);
  TF_RETURN_IF_ERROR(CheckOpen());
  RefPtr<TensorArrayResource>& gradient = gradients_[source];
  if (!gradient) {
    options_.dynamic_size = false;  // the gradient's array has the same size, so neither may grow
    Options options = options_;
    options.element_shape = WithPrefix(prefix, options_.element_shape);
    options.clear_after_read = true;
    options.aggregates = true;
    gradient = MakeRef<TensorArrayResource>(StrCat(name_, "@", source), size_, std::move(options));
    MutexLock other(gradient->mu_);
    gradient->split_size_ = split_size_;
    for (const auto& [index, element] : elements_) {
      if (element.shape.has_rank()) gradient->elements_[index].shape = WithPrefix(prefix, element.shape);
    }
  }
  return gradient;
}

void TensorArrayResource::Close() {
  absl::flat_hash_map<int32_t, Element> dropped;  // destroyed after the lock is released
  MutexLock lock(mu_);
  closed_ = true;
  dropped.swap(elements_);
}

std::string TensorArrayResource::DebugString() const {
  MutexLock lock(mu_);
  return StrCat("TensorArray of ", size_, " ", options_.dtype, options_.element_shape);
}

Status StackResource::CheckOpen() const {
  return closed_ ? InvalidArgument("stack '", name_, "' has already been closed") : OkStatus();
}

Status StackResource::Push(Tensor value) {
  MutexLock lock(mu_);
  TF_RETURN_IF_ERROR(CheckOpen());
  if (max_size_ >= 0 && values_.size() >= static_cast<size_t>(max_size_)) {
    return InvalidArgument("stack '", name_, "' is full: it holds ", max_size_, " tensors");
  }
  values_.push_back(std::move(value));
  return OkStatus();
}

StatusOr<Tensor> StackResource::Pop() {
  MutexLock lock(mu_);
  TF_RETURN_IF_ERROR(CheckOpen());
  if (values_.empty()) return InvalidArgument("stack '", name_, "' is empty");
  Tensor value = std::move(values_.back());
  values_.pop_back();
  return value;
}

void StackResource::Close() {
  std::vector<Tensor> dropped;  // destroyed after the lock is released
  MutexLock lock(mu_);
  closed_ = true;
  dropped.swap(values_);
}

std::string StackResource::DebugString() const {
  MutexLock lock(mu_);
  return StrCat("stack of ", values_.size(), " ", dtype_);
}

}  // namespace tensorbraid
