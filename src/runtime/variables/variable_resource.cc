#include "runtime/variables/variable_resource.h"

#include "core/text/strings.h"
#include "runtime/variables/tensor_rows.h"

namespace tensorbraid {
namespace {

void CopyByStripe(const Tensor& from, RowLocks& locks, Tensor* to) {
  const int64_t rows = from.shape().dim(0), size = rows == 0 ? 0 : from.num_elements() / rows;
  locks.ForEachStripe(
      [&](int64_t begin, int64_t n) { CopyElementRange(from, begin * size, n * size, to, begin * size); });
}

// Takes the numbers of the rows that have changed. Returns false if they are not known.
bool TakeNumbers(RowLocks& locks, uint64_t predecessor, uint64_t save, std::vector<int64_t>* numbers) {
  if (locks.recorded() == nullptr) return false;
  for (int s = 0; s < RowLocks::kStripes; ++s) {
    MutexLock lock(locks.stripe(s));
    Changes& changes = (*locks.recorded())[static_cast<size_t>(s)];
    if (!changes.TakeSince(predecessor, save)) return false;
    changes.ForEachTaken([&](uint32_t row) { numbers->push_back(locks.FirstOf(s) + row); });
  }
  return true;
}

// Copies rows, whose numbers increase, each stripe at one moment.
void CopyRows(const Tensor& from, RowLocks& locks, const std::vector<int64_t>& numbers, Tensor* to) {
  if (numbers.empty()) return;
  const int64_t size = from.num_elements() / from.shape().dim(0);
  for (size_t i = 0; i < numbers.size();) {
    const int stripe = locks.StripeOf(numbers[i]);
    MutexLock lock(locks.stripe(stripe));
    for (; i < numbers.size() && locks.StripeOf(numbers[i]) == stripe; ++i) {
      CopyElementRange(from, numbers[i] * size, size, to, static_cast<int64_t>(i) * size);
    }
  }
}

}  // namespace

bool VariableResource::is_initialized() const {
  ReaderLock lock(mu_);
  return value_.is_valid();
}

Status VariableResource::NotInitialized() const {
  return FailedPrecondition("Attempting to use uninitialized value ", name_, ". Resource variable/", name_, "/", dtype_,
                            " does not exist: run its initializer (", name_,
                            "/Assign, or the one of all global variables) first. An initializer covers the variables "
                            "that exist when it is made, so make it after all variables and after the optimizer's "
                            "minimize, which adds slots");
}

StatusOr<Tensor> VariableResource::Read() const {
  {
    ReaderLock lock(mu_);
    if (!value_.is_valid()) return NotInitialized();
    if (copies_on_read_) return Copy();
    if (row_locks_ == nullptr) return value_;
  }
  // Wait for running updates of rows, which hold the lock as readers. They must not change the snapshot.
  WriterLock lock(mu_);
  if (!value_.is_valid()) return NotInitialized();
  return copies_on_read_ ? Copy() : value_;
}

StatusOr<Tensor> VariableResource::Copy() const {
  if (row_locks_ == nullptr || !device_.uses_host_memory()) return CopyOf(value_);
  TF_ASSIGN_OR_RETURN(Tensor copy,
                      IsPlain(dtype_) ? NewTensor(value_.shape()) : Tensor::Create(dtype_, value_.shape()));
  CopyByStripe(value_, *row_locks_, &copy);
  return copy;
}

StatusOr<Tensor> VariableResource::ReadFrom(Allocator& shared) {
  constexpr size_t kWorthMoving = 4096;  // smaller values are copied into messages
  if (&allocator() != &shared && IsPlain(dtype_) && device_.uses_host_memory()) {
    WriterLock lock(mu_);
    if (value_.is_valid() && value_.num_bytes() > kWorthMoving) {
      auto moved = tensorbraid::NewTensor(dtype_, value_.shape(), shared);
      if (moved.ok()) {
        device_.CopyInStream(value_, *moved);
        value_ = *std::move(moved);
        allocator_.store(&shared, std::memory_order_relaxed);
      }
    }
  }
  return Read();
}

StatusOr<Tensor> VariableResource::CopyOf(const Tensor& value) const {
  if (!IsPlain(dtype_)) return tensorbraid::CopyOf(value);
  TF_ASSIGN_OR_RETURN(Tensor copy, NewTensor(value.shape()));
  device_.CopyInStream(value, copy);
  return copy;
}

Status VariableResource::ReadInPlace(absl::FunctionRef<Status(const Tensor&)> read) const {
  ReaderLock lock(mu_);
  if (!value_.is_valid()) return NotInitialized();
  if (row_locks_ == nullptr) return read(value_);
  const RowLocks::All all(*row_locks_);
  return read(value_);
}

Status VariableResource::ReadRows(absl::FunctionRef<Status(const Tensor&, RowLocks*)> read) const {
  ReaderLock lock(mu_);
  if (!value_.is_valid()) return NotInitialized();
  return read(value_, row_locks_.get());
}

StatusOr<Shape> VariableResource::ReadShape() const {
  ReaderLock lock(mu_);
  if (!value_.is_valid()) return NotInitialized();
  return value_.shape();
}

Status VariableResource::Replace(Tensor value, const Shape* declared, bool same_shape) {
  if (value.dtype() != dtype_) {
    return InvalidArgument("variable '", name_, "' holds ", dtype_, " and cannot be assigned ", value.dtype());
  }
  if (!IsOwnMemory(value)) {
    if (value.buffer()->space() != allocator().space()) {
      return Internal("a value for variable '", name_, "' is not in the memory of device '", device_.name(), "'");
    }
    TF_ASSIGN_OR_RETURN(value, CopyOf(value));
  }
  WriterLock lock(mu_);
  const bool fits = value_.is_valid()     ? !same_shape || value_.shape() == value.shape()
                    : declared != nullptr ? declared->IsCompatibleWith(value.shape())
                                          : true;
  if (!fits) {
    return InvalidArgument("Assign requires shapes of both tensors to match: variable '", name_, "' has shape ",
                           value_.is_valid() ? value_.shape() : *declared, ", the value has shape ", value.shape());
  }
  if (value_.is_valid() && value_.shape() != value.shape()) row_locks_ = nullptr;
  ForgetChanges();
  std::swap(value_, value);  // the old value is freed after the lock is released, since parameters outlive locals
  return OkStatus();
}

Status VariableResource::Assign(Tensor value) { return Replace(std::move(value), &shape_, /*same_shape=*/true); }
Status VariableResource::AssignSameShape(Tensor value) {
  return Replace(std::move(value), nullptr, /*same_shape=*/true);
}
Status VariableResource::AssignAnyShape(Tensor value) {
  return Replace(std::move(value), nullptr, /*same_shape=*/false);
}

StatusOr<Tensor> VariableResource::Take() {
  WriterLock lock(mu_);
  if (!value_.is_valid()) return NotInitialized();
  row_locks_ = nullptr;
  return std::exchange(value_, Tensor());
}

Status VariableResource::Update(absl::FunctionRef<Status(const Tensor&, Tensor*)> update, const Tensor* spare) {
  Tensor fresh;  // holds the old value after the swap, and frees it after the lock is released
  WriterLock lock(mu_);
  if (!value_.is_valid()) return NotInitialized();
  ForgetChanges();
  if (value_.IsWritable()) return update(value_, &value_);
  if (spare != nullptr && spare->IsWritable() && spare->dtype() == dtype_ && spare->shape() == value_.shape() &&
      IsOwnMemory(*spare)) {
    fresh = *spare;
  } else {
    TF_ASSIGN_OR_RETURN(fresh, NewTensor(value_.shape()));
  }
  TF_RETURN_IF_ERROR(update(value_, &fresh));
  std::swap(value_, fresh);
  return OkStatus();
}

Status VariableResource::UpdateInPlace(absl::FunctionRef<Status(Tensor*)> update) {
  Tensor old;
  WriterLock lock(mu_);
  TF_RETURN_IF_ERROR(TakeSole(&old));
  ForgetChanges();
  return update(&value_);
}

Status VariableResource::UpdateRows(absl::FunctionRef<Status(Tensor*, RowLocks&)> update) {
  {
    ReaderLock lock(mu_);
    // No snapshot is taken while this thread is a reader, so the value stays writable.
    if (row_locks_ != nullptr && value_.IsWritable()) return update(&value_, *row_locks_);
  }
  Tensor old;
  WriterLock lock(mu_);
  TF_RETURN_IF_ERROR(TakeSole(&old));
  MakeRowLocks();
  return update(&value_, *row_locks_);
}

void VariableResource::MakeRowLocks() {
  if (row_locks_ != nullptr) return;
  row_locks_ = std::make_unique<RowLocks>(value_.shape().rank() == 0 ? 0 : value_.shape().dim(0));
}

Status VariableResource::RecordRows(uint64_t predecessor, uint64_t save) {
  WriterLock lock(mu_);
  if (!value_.is_valid()) return NotInitialized();
  if (value_.shape().rank() == 0 || !device_.uses_host_memory()) return OkStatus();
  MakeRowLocks();
  if (row_locks_->recorded() == nullptr) row_locks_->SetRecorded(std::make_unique<RowLocks::Recorded>());
  for (Changes& stripe : *row_locks_->recorded()) stripe.TakeAll(predecessor, save);
  return OkStatus();
}

StatusOr<std::optional<VariableResource::SavedRows>> VariableResource::TakeChangedRows(uint64_t predecessor,
                                                                                       uint64_t save) {
  {
    ReaderLock lock(mu_);
    if (!value_.is_valid()) return NotInitialized();
    SavedRows rows;
    if (row_locks_ != nullptr && TakeNumbers(*row_locks_, predecessor, save, &rows.numbers)) {
      const int64_t all = value_.shape().dim(0), changed = static_cast<int64_t>(rows.numbers.size());
      if (changed <= all / 2) {
        Shape shape = value_.shape();
        shape.set_dim(0, changed);
        TF_ASSIGN_OR_RETURN(rows.values, Tensor::Create(dtype_, shape));
        CopyRows(value_, *row_locks_, rows.numbers, &rows.values);
        return std::optional<SavedRows>(std::move(rows));
      }
    }
  }
  TF_RETURN_IF_ERROR(RecordRows(predecessor, save));
  return std::optional<SavedRows>();
}

Status VariableResource::TakeSole(Tensor* old) {
  if (!value_.is_valid()) return NotInitialized();
  if (value_.IsWritable()) return OkStatus();
  TF_ASSIGN_OR_RETURN(*old, CopyOf(value_));
  std::swap(value_, *old);
  copies_on_read_ = true;
  return OkStatus();
}

bool VariableResource::copies_on_read() const {
  ReaderLock lock(mu_);
  return copies_on_read_;
}

void VariableResource::DisableCopyOnRead() {
  WriterLock lock(mu_);
  copies_on_read_ = false;
}

std::string VariableResource::DebugString() const { return StrCat("variable ", dtype_, shape_); }

}  // namespace tensorbraid
