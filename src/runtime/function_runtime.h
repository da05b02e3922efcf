// How kernels run library functions: datasets map their elements by them.
#ifndef TENSORBRAID_RUNTIME_FUNCTION_RUNTIME_H_
#define TENSORBRAID_RUNTIME_FUNCTION_RUNTIME_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/thread_pool.h"
#include "graph/function.h"
#include "runtime/cancellation.h"
#include "runtime/resource.h"

namespace tensorbraid {

// A function made ready to run on one device. Thread-safe; kernels of stateful ops in it keep their state from one run
// to the next, and have none in common with another instance.
class RunnableFunction {
 public:
  virtual ~RunnableFunction() = default;
  using Done = std::function<void(StatusOr<std::vector<Tensor>>)>;
  // Runs the body with `args` (checked against its arguments); this thread takes part. `done` is called once, by
  // whatever thread finishes, perhaps before this returns. An error of the body cancels `cancellation`, which must live
  // until then and be this run's own; cancelling it ends the run.
  virtual void Run(std::vector<Tensor> args, CancellationManager* cancellation, Done done) = 0;
  virtual const std::vector<DType>& argument_types() const = 0;
  virtual const std::vector<DType>& return_types() const = 0;
};

class FunctionRuntime {
 public:
  virtual ~FunctionRuntime() = default;
  // Where functions run. All must outlive what is instantiated.
  struct Place {
    std::string device;  // full name; every node of the body goes there
    ResourceManager* resources = nullptr;
    ThreadPool* pool = nullptr;
  };
  // InvalidArgument, naming the function, when it does not exist, or its body cannot run on that device.
  virtual StatusOr<std::shared_ptr<RunnableFunction>> Instantiate(const AttrValue::Function& function,
                                                                  const std::shared_ptr<const FunctionLibrary>& library,
                                                                  const Place& place) const = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_FUNCTION_RUNTIME_H_
