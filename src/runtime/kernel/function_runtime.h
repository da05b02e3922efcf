// The interface through which kernels run functions of their graph's library. For example, a MapDataset applies a
// function to each element.
#ifndef TENSORBRAID_RUNTIME_KERNEL_FUNCTION_RUNTIME_H_
#define TENSORBRAID_RUNTIME_KERNEL_FUNCTION_RUNTIME_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/threads/thread_pool.h"
#include "graph/functions/function.h"
#include "runtime/kernel/cancellation.h"
#include "runtime/kernel/kernel_state.h"
#include "runtime/kernel/resource.h"

namespace tensorbraid {

// A function instantiated on one device. Thread-safe. Kernels of stateful ops in it keep their state from one run to
// the next; two instances share no state.
class RunnableFunction {
 public:
  virtual ~RunnableFunction() = default;
  using Done = std::function<void(StatusOr<std::vector<Tensor>>)>;
  // Runs the body with `args`, which it checks against argument_types(); part of the work runs on this thread. Calls
  // `done` once, from any thread, possibly before Run returns. `cancellation` must belong to this run alone and live
  // until `done` is called: cancelling it ends the run, and an error in the body cancels it.
  virtual void Run(std::vector<Tensor> args, CancellationManager* cancellation, Done done) = 0;
  virtual const std::vector<DType>& argument_types() const = 0;
  virtual const std::vector<DType>& return_types() const = 0;
  // The states of the stateful kernels of this instance.
  virtual KernelStates& states() = 0;
};

class FunctionRuntime {
 public:
  virtual ~FunctionRuntime() = default;
  // Where a function runs. `resources` and `pool` must outlive the functions instantiated with it.
  struct Place {
    std::string device;  // full name; every node of the body is placed on it
    ResourceManager* resources = nullptr;
    ThreadPool* pool = nullptr;
  };
  // InvalidArgument, naming the function, if it does not exist or its body cannot run on that device.
  virtual StatusOr<std::shared_ptr<RunnableFunction>> Instantiate(const AttrValue::Function& function,
                                                                  const std::shared_ptr<const FunctionLibrary>& library,
                                                                  const Place& place) const = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_KERNEL_FUNCTION_RUNTIME_H_
