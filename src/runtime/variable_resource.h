// A variable: a named resource that holds the current tensor.
#ifndef TENSORBRAID_RUNTIME_VARIABLE_RESOURCE_H_
#define TENSORBRAID_RUNTIME_VARIABLE_RESOURCE_H_

#include <functional>
#include <string>

#include "runtime/resource.h"

namespace tensorbraid {

// Behind VarHandleOp, and by reference behind VariableV2. Every read and update goes through the lock.
//
// A read takes a snapshot: a reference to the buffer. An update works in place when nobody holds one, otherwise into a
// fresh buffer, so that a reader never sees a value change and an updater never waits for a reader. Updates of some
// rows would have to copy all the others then: the first that has to makes the variable copy-on-read. From then on a
// read copies, the variable is the only holder of its buffer, and rows are read (ReadInPlace) and updated where they
// are.
class VariableResource : public Resource {
 public:
  static constexpr const char* kTypeName = "variable";
  // `shape` is what values must be compatible with.
  VariableResource(std::string name, DType dtype, Shape shape)
      : name_(std::move(name)), dtype_(dtype), shape_(std::move(shape)) {}

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const Shape& declared_shape() const { return shape_; }
  bool is_initialized() const;

  // The value now. FailedPrecondition, naming the variable and the cure, when it has none; so do all that follow which
  // need a value.
  StatusOr<Tensor> Read() const;
  // Calls `read` with the value while updates wait; it must not keep the tensor, nor touch the variable.
  Status ReadInPlace(const std::function<Status(const Tensor& value)>& read) const;
  // Shape of the value now.
  StatusOr<Shape> ReadShape() const;

  // Replaces the value. InvalidArgument when it has another dtype, or another shape than the value before, or while
  // there is none a shape that does not fit the declared one. The tensor is kept, not copied: hand over (std::move) a
  // tensor that nobody else holds and later updates need no copy.
  Status Assign(Tensor value);
  // As Assign, but a variable without a value takes any shape.
  Status AssignSameShape(Tensor value);
  // As Assign with any shape.
  Status AssignAnyShape(Tensor value);
  // Takes the value away; the variable is then uninitialised.
  StatusOr<Tensor> Take();

  // Runs `update(old, out)` under the lock: both have the same dtype and shape; `out` shares the bytes of `old` when
  // the update may happen in place (nobody holds a snapshot), otherwise it is uninitialised. The value becomes `out`
  // unless an error comes back; the update must then not have written.
  // Where a fresh buffer is needed, that of `spare` is taken if nobody else holds it and dtype and shape are the
  // variable's: `out` then shares the bytes of `spare`.
  Status Update(const std::function<Status(const Tensor& old, Tensor* out)>& update, const Tensor* spare = nullptr);
  // Runs `update(value)` under the lock, to change some elements of `value` in place. When an error comes back, it must
  // not have written.
  Status UpdateInPlace(const std::function<Status(Tensor* value)>& update);

  bool copies_on_read() const;
  // Reads take snapshots again, until an update of some rows meets one.
  void DisableCopyOnRead();

  std::string DebugString() const override;

 private:
  Status NotInitialized() const;
  Status Replace(Tensor value, const Shape* declared, bool same_shape);

  const std::string name_;
  const DType dtype_;
  const Shape shape_;
  mutable SharedMutex mu_;
  Tensor value_ TB_GUARDED_BY(mu_);
  bool copies_on_read_ TB_GUARDED_BY(mu_) = false;
};

// What VariableV2 makes. Another type, so that it never meets a VarHandleOp's of the same name.
class ReferenceVariable final : public VariableResource {
 public:
  static constexpr const char* kTypeName = "reference variable";
  using VariableResource::VariableResource;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_VARIABLE_RESOURCE_H_
