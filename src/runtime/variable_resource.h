// A variable: a named resource that holds the current tensor.
#ifndef TENSORBRAID_RUNTIME_VARIABLE_RESOURCE_H_
#define TENSORBRAID_RUNTIME_VARIABLE_RESOURCE_H_

#include <functional>
#include <string>

#include "runtime/resource.h"

namespace tensorbraid {

// Behind VariableV2 (as a reference) and VarHandleOp (as a resource) alike. Every read and update goes through the
// lock. A read takes a snapshot: a reference to the buffer; an update works in place when nobody holds one, otherwise
// into a fresh buffer, so that a reader never sees a value change and an updater never waits for a reader.
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

  // The value now. FailedPrecondition, naming the variable and the cure, when it has none.
  StatusOr<Tensor> Read() const;
  // Replaces the value. InvalidArgument when dtype or shape do not fit. The tensor is kept, not copied: hand over
  // (std::move) a tensor that nobody else holds and later updates need no copy.
  Status Assign(Tensor value);
  // As Assign with any shape (Assign's validate_shape = false).
  Status AssignAnyShape(Tensor value);
  // Runs `update(old, out)` under the lock: both have the same dtype and shape; `out` shares the bytes of `old` when
  // the update may happen in place (nobody holds a snapshot), otherwise it is uninitialised. The value becomes `out`
  // unless an error comes back; the update must then not have written.
  // Where a fresh buffer is needed, that of `spare` is taken if nobody else holds it and dtype and shape are the
  // variable's: `out` then shares the bytes of `spare`.
  Status Update(const std::function<Status(const Tensor& old, Tensor* out)>& update, const Tensor* spare = nullptr);

  std::string DebugString() const override;

 private:
  Status NotInitialized() const;

  const std::string name_;
  const DType dtype_;
  const Shape shape_;
  mutable Mutex mu_;
  Tensor value_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_VARIABLE_RESOURCE_H_
