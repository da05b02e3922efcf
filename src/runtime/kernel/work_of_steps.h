// Devices that know which step their work belongs to.
#ifndef TENSORBRAID_RUNTIME_KERNEL_WORK_OF_STEPS_H_
#define TENSORBRAID_RUNTIME_KERNEL_WORK_OF_STEPS_H_

#include "runtime/kernel/device.h"

namespace tensorbraid {

class CancellationManager;

// A device with a stream may also be of this class. A step then ends when the work of its own kernels has been done,
// whatever other steps have enqueued. Thread-safe.
class WorkOfSteps {
 public:
  virtual ~WorkOfSteps() = default;

  // Calls `done` when the work that the kernels of this step have enqueued before has been done. Passes the first error
  // of that work since the last such call. `step` is what StepEnvironment::cancellation says; it may be gone when
  // `done` is called. `done` may be called before this returns and must return soon. REQUIRES: `step` is not null.
  virtual void WhenStepIsDone(const CancellationManager* step, Device::Done done) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_KERNEL_WORK_OF_STEPS_H_
