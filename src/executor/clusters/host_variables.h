// Private variables in host memory, in the place of variables of an accelerator while kernels of the CPU use them.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_HOST_VARIABLES_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_HOST_VARIABLES_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "graph/model/node.h"
#include "runtime/kernel/device.h"
#include "runtime/kernel/kernel.h"
#include "runtime/variables/locked_variables.h"

namespace tensorbraid {

// Returns a copy of `from` in `memory`. Both are memory of the host or of the device. Blocks until the copy
// is complete. Aborted if `from` is the value of a variable that is lost (pjrt/loss.h).
StatusOr<Tensor> CopyTo(Allocator& memory, const Tensor& from, Device& device);

// Variables in host memory. Not thread-safe.
class PrivateVariables {
 public:
  // One for each of `variables`, with the value at the same place of `values`, in memory of the host or of the device;
  // a value that is not valid leaves the variable without one. Blocks. Errors of CopyTo.
  static StatusOr<std::unique_ptr<PrivateVariables>> Create(const std::vector<RefPtr<VariableResource>>& variables,
                                                            const std::vector<Tensor>& values, Device& device);

  // What a kernel gets in place of variable `i`, for an input that is declared as `declared`: a reference or a handle.
  Entry InPlaceOf(size_t i, DType declared) const;
  // The number of the variable that `variable`, which is in host memory, takes the place of. -1: of none.
  int NumberOf(const RefCounted* variable) const;
  VariableResource& on_host(size_t i) const { return *on_host_[i]; }

 protected:
  explicit PrivateVariables(Device& device) : device_(device) {}
  Status Add(const VariableResource& variable, const Tensor& value);

  Device& device_;
  std::vector<RefPtr<VariableResource>> on_host_;
};

// While it exists, the variables are locked: other steps see all changes that it makes at one moment, and none of their
// own updates is lost, since they wait. Not thread-safe.
class HostVariables : public PrivateVariables {
 public:
  // Locks the variables, which are all on `device`, and copies their values to the host. Blocks while other threads use
  // one of them, and while programs of the device still compute a value. Errors of CopyTo.
  static StatusOr<std::unique_ptr<HostVariables>> Lock(std::vector<RefPtr<VariableResource>> variables, Device& device);

  const RefPtr<VariableResource>& on_device(size_t i) const { return on_device_[i]; }
  // Gives the variables of the device that are marked in `changed` the values of those in host memory: all of them, or
  // after an error none. Variables in host memory that have no value are left out.
  Status CopyBack(const std::vector<bool>& changed);

 private:
  HostVariables(std::vector<RefPtr<VariableResource>> variables, Device& device);

  const std::vector<RefPtr<VariableResource>> on_device_;
  LockedVariables locked_;  // as on_device_
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_HOST_VARIABLES_H_
