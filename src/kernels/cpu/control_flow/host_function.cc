// Kernels that call functions of this process.
#include <exception>
#include <utility>
#include <vector>

#include "graph/functions/host_function_registry.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

StatusOr<std::vector<Tensor>> Call(const HostFunction& function, const std::vector<Tensor>& inputs) {
  try {
    return function(inputs);
  } catch (const std::exception& e) {
    return Status(absl::StatusCode::kUnknown, StrCat("the function threw an exception: ", e.what()));
  }
}

// The function may block or wait for a lock of its language, so it runs on a thread of its own.
class HostFunctionKernel final : public AsyncKernel {
 public:
  explicit HostFunctionKernel(const KernelConstruction& c) : token_(c.attr<std::string>("token")) {}

  void ComputeAsync(KernelContext& ctx, Done done) override {
    std::shared_ptr<const HostFunction> function = FindHostFunction(token_);
    if (function == nullptr) {
      return done(FailedPrecondition(ctx.node().type(),
                                     " calls a function of the program that built the graph, but this task (",
                                     ctx.node().device(),
                                     ") runs in another process, or the graph has been destroyed; place the op on a "
                                     "task of the client's process"));
    }
    ctx.pool().ScheduleBlocking([&ctx, function = std::move(function), done = std::move(done)]() mutable {
      const Status status = Run(ctx, *function);
      function = nullptr;  // before the step ends
      done(status);
    });
  }

 private:
  static Status Run(KernelContext& ctx, const HostFunction& function) {
    std::vector<Tensor> inputs;
    for (int i = 0; i < ctx.num_inputs(); ++i) inputs.push_back(ctx.input(i));
    TF_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, Call(function, inputs));
    if (static_cast<int>(outputs.size()) != ctx.num_outputs()) {
      return InvalidArgument("the function must return ", ctx.num_outputs(), " values, but returned ", outputs.size());
    }
    for (int i = 0; i < ctx.num_outputs(); ++i) {
      if (outputs[i].dtype() != ctx.node().output_type(i)) {
        return InvalidArgument("value ", i, " that the function returned must be ", ctx.node().output_type(i),
                               ", but is ", outputs[i].dtype());
      }
      ctx.set_output(i, std::move(outputs[i]));
    }
    return OkStatus();
  }

  const std::string token_;
};

// The function of this op takes and returns eager tensors, which only TensorFlow has.
Status EagerFunction(KernelContext& ctx) {
  return Unimplemented(ctx.node().type(), " calls a function on eager tensors, which needs TensorFlow in the client's ",
                       "process; use tf.py_func, whose function gets arrays");
}

}  // namespace

void RegisterControlFlowHostFunctionKernels(KernelRegistry& r) {
  r.Add<HostFunctionKernel>("PyFunc");
  r.Add<HostFunctionKernel>("PyFuncStateless");
  r.Add("EagerPyFunc", {}, EagerFunction);
}

}  // namespace tensorbraid::cpu
