// A variable: a named resource that holds the current tensor.
#ifndef TENSORBRAID_RUNTIME_VARIABLES_VARIABLE_RESOURCE_H_
#define TENSORBRAID_RUNTIME_VARIABLES_VARIABLE_RESOURCE_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/values/new_tensor.h"
#include "runtime/kernel/device.h"
#include "runtime/kernel/resource.h"
#include "runtime/variables/row_locks.h"

namespace tensorbraid {

// The resource of VarHandleOp and, through references, of VariableV2. Every read and update takes the variable's lock.
//
// A read takes a snapshot, which is a reference to the buffer. An update works in place if there are no snapshots;
// otherwise it writes to a fresh buffer. So a snapshot never changes, and an update does not wait until a snapshot is
// dropped.
//
// An update of some rows would have to copy all other rows to a fresh buffer. The first update that has to do so makes
// the variable copy-on-read. From then on reads copy, so the variable holds the only reference to its buffer, and rows
// are read (ReadRows) and updated (UpdateRows) in place. Updates of different rows run at the same time. Each stripe of
// rows (row_locks.h) is changed and read as a whole. Two updates that overlap may be applied in one order to one stripe
// and in the other order to another stripe.
//
// The value of a plain dtype is always in memory of one allocator: the allocator of the variable's device, or after
// ReadFrom the allocator whose memory neighbours (core/memory/shared_memory.h) can map.
class VariableResource : public Resource {
 public:
  static constexpr const char* kTypeName = "variable";
  // Values must be compatible with `shape`. `device` must outlive all calls but the destructor.
  VariableResource(std::string name, DType dtype, Shape shape, Device& device = HostDevice())
      : name_(std::move(name)),
        dtype_(dtype),
        shape_(std::move(shape)),
        device_(device),
        allocator_(&device.allocator()) {}

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  bool is_initialized() const;

  // The current value. If the variable is not initialized, this and all other functions that need a value return
  // FailedPrecondition, which names the variable and how to initialize it.
  StatusOr<Tensor> Read() const;
  // As Read, for a value that is sent to a neighbour, which can map memory of `shared`. If the variable is in other
  // host memory and large enough to benefit, first moves it to `shared` for good, unless there is not enough memory.
  StatusOr<Tensor> ReadFrom(Allocator& shared);
  // Calls `read` with the current value, under the lock, so that updates wait meanwhile. `read` must not keep the
  // tensor, nor use the variable.
  Status ReadInPlace(absl::FunctionRef<Status(const Tensor& value)> read) const;
  // As ReadInPlace, but updates of rows may run at the same time: `read` locks the rows that it reads. `rows` is null
  // if that is not necessary.
  Status ReadRows(absl::FunctionRef<Status(const Tensor& value, RowLocks* rows)> read) const;
  // Shape of the current value.
  StatusOr<Shape> ReadShape() const;

  // Replaces the value. InvalidArgument if `value` has another dtype, or another shape than the current value; if the
  // variable is not initialized, the shape must be compatible with the declared one. The tensor is kept, not copied, if
  // its buffer comes from the variable's allocator: if the caller moves in the only reference, later updates need no
  // copy. Another tensor is copied; it must be in host memory if the device uses host memory, and in memory of the
  // device otherwise.
  Status Assign(Tensor value);
  // Like Assign, but a variable that is not initialized accepts any shape.
  Status AssignSameShape(Tensor value);
  // Like Assign, but accepts any shape.
  Status AssignAnyShape(Tensor value);
  // Removes and returns the value; the variable is then uninitialized.
  StatusOr<Tensor> Take();

  // Runs `update(old, out)` under the lock, then makes `out` the value. `old` and `out` have the same dtype and shape.
  // If there is no snapshot, `out` shares its buffer with `old`, so the update is in place; otherwise `out` has a
  // fresh, uninitialized buffer. Instead of a fresh buffer, the buffer of `spare` is used if `spare` holds the only
  // reference to it and has the value's dtype and shape: `out` then shares its buffer with `spare`. If `update` returns
  // an error, the value stays; `update` must not have written to `out`.
  Status Update(absl::FunctionRef<Status(const Tensor& old, Tensor* out)> update, const Tensor* spare = nullptr);
  // Runs `update(value)` under the lock, to change some elements of `value` in place. If `update` returns an error, it
  // must not have written.
  Status UpdateInPlace(absl::FunctionRef<Status(Tensor* value)> update);
  // As UpdateInPlace, for updates of rows along the first dimension. Several such updates may run at the same time, so
  // `update` locks the rows that it changes.
  Status UpdateRows(absl::FunctionRef<Status(Tensor* value, RowLocks& rows)> update);

  // For increments of checkpoints (docs/design/0036). The save `save` is about to read the whole value, or has restored
  // it; `predecessor` is the save before that was completed, or 0. From now on, records which rows UpdateRows changes,
  // until the value changes in another way. Scalars and values in memory of an accelerator are not recorded.
  Status RecordRows(uint64_t predecessor, uint64_t save);
  struct SavedRows {
    std::vector<int64_t> numbers;  // in increasing order
    Tensor values;
  };
  // The rows that have changed since the save `predecessor`, for the save `save`. Updates of other rows run meanwhile.
  // Returns nothing if that is not known, or if these are more than half of all rows; then RecordRows was called, and
  // the save must read the whole value.
  StatusOr<std::optional<SavedRows>> TakeChangedRows(uint64_t predecessor, uint64_t save);

  bool copies_on_read() const;
  // Lets reads take snapshots again. The next update in place or of rows that meets a snapshot makes reads copy again.
  void DisableCopyOnRead();

  // The error of using the variable while it has no value: FailedPrecondition, with its name.
  Status NotInitialized() const;
  std::string DebugString() const override;

 private:
  friend class LockedVariables;
  // Whether a tensor of this variable's dtype is in memory that the variable may hold.
  bool IsOwnMemory(const Tensor& value) const {
    return !IsPlain(dtype_) || value.buffer()->allocator() == &allocator();
  }
  Allocator& allocator() const { return *allocator_.load(std::memory_order_relaxed); }
  StatusOr<Tensor> NewTensor(const Shape& shape) const { return tensorbraid::NewTensor(dtype_, shape, allocator()); }
  // A copy in memory of the variable. ResourceExhausted if there is not enough.
  StatusOr<Tensor> CopyOf(const Tensor& value) const;
  // A copy of the value, made stripe by stripe if rows may be updated meanwhile.
  StatusOr<Tensor> Copy() const TB_REQUIRES_SHARED(mu_);
  // If there are snapshots, copies the value to a new buffer and makes the variable copy-on-read. `*old` then gets the
  // value with the old buffer, to be freed after the lock is released.
  Status TakeSole(Tensor* old) TB_REQUIRES(mu_);
  // Replaces the value. With `same_shape`, the value must have the shape of the current value. If there is no current
  // value and `declared` is not null, the shape must be compatible with `declared`.
  Status Replace(Tensor value, const Shape* declared, bool same_shape);

  // The value changes, and not by rows: it is not known any more which rows have changed.
  void ForgetChanges() TB_REQUIRES(mu_) {
    if (row_locks_ != nullptr) row_locks_->SetRecorded(nullptr);
  }
  void MakeRowLocks() TB_REQUIRES(mu_);

  const std::string name_;
  const DType dtype_;
  const Shape shape_;
  Device& device_;
  std::atomic<Allocator*> allocator_;
  mutable SharedMutex mu_;
  Tensor value_ TB_GUARDED_BY(mu_);
  bool copies_on_read_ TB_GUARDED_BY(mu_) = false;
  // Set by the first update of rows, or by RecordRows. From then on, threads that hold `mu_` as readers may change
  // rows, so a snapshot is taken as a writer. Null again when the variable gets another shape.
  std::unique_ptr<RowLocks> row_locks_ TB_GUARDED_BY(mu_);
};

// The resource of VariableV2. It has its own type so that it is distinct from a VarHandleOp's variable of the same
// name.
class ReferenceVariable final : public VariableResource {
 public:
  static constexpr const char* kTypeName = "reference variable";
  using VariableResource::VariableResource;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_VARIABLES_VARIABLE_RESOURCE_H_
