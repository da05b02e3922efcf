// Helper ops that functional control flow (If, While, For, Case, RemoteCall) expands to.
#include <cstdlib>
#include <limits>

#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/list/tensor_list.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/scalar_input.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Converts to bool like Python: numbers other than 0, non-empty strings and non-empty tensors are true.
Status ToBool(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  if (in.shape().rank() > 0) {
    ctx.set_output(0, Tensor::Scalar(in.num_elements() > 0));
    return OkStatus();
  }
  bool truth = false;
  if (in.dtype() == kString) {
    truth = !in.data<std::string>()[0].empty();
  } else if (in.dtype() == kBool) {
    truth = in.data<bool>()[0];
  } else {
    bool found = false;
    ForEachNumberType([&]<typename T>() {
      if (DTypeOf<T>::value != in.dtype()) return;
      found = true;
      truth = !(in.data<T>()[0] == T());
    });
    if (!found) return InvalidArgument("cannot convert type ", in.dtype(), " to bool");
  }
  ctx.set_output(0, Tensor::Scalar(truth));
  return OkStatus();
}

// A placeholder for a value that the executed branch does not produce. The placeholder is never used.
Status FakeParam(KernelContext& ctx) {
  Shape shape = ctx.node().attr<Shape>("shape");
  if (!shape.has_rank()) shape = Shape();
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.dim(i) < 0) shape.set_dim(i, 0);
  }
  TF_ASSIGN_OR_RETURN(Tensor t, Zeros(ctx.node().output_type(0), shape));
  ctx.set_output(0, std::move(t));
  return OkStatus();
}

// The number of iterations of a For.
Status ForTurns(KernelContext& ctx) {
  for (int i = 0; i < 3; ++i) {
    if (!ctx.input(i).shape().is_scalar()) {
      return InvalidArgument(i == 0   ? "start"
                             : i == 1 ? "limit"
                                      : "delta",
                             " must be a scalar, got shape ", ctx.input(i).shape());
    }
  }
  const int64_t start = ctx.input(0).scalar<int32_t>(), limit = ctx.input(1).scalar<int32_t>();
  const int64_t delta = ctx.input(2).scalar<int32_t>();
  const int64_t distance = limit - start;
  if (distance != 0 && (delta == 0 || (delta > 0) != (distance > 0))) {
    return InvalidArgument("Invalid start/limit/delta: delta ", delta, " does not lead from ", start, " to ", limit);
  }
  const int64_t step = std::abs(delta);
  const int64_t iterations = distance == 0 ? 0 : (std::abs(distance) + step - 1) / step;
  if (iterations > std::numeric_limits<int32_t>::max()) {
    return ResourceExhausted("a For of ", iterations, " iterations is too long; the maximum is 2^31 - 1");
  }
  ctx.set_output(0, Tensor::Scalar(static_cast<int32_t>(iterations)));
  return OkStatus();
}

// Fails if the target of a RemoteCall is a device of another task.
Status CheckOwnTask(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string target, ScalarInput<std::string>(ctx, 0, "the target of a RemoteCall"));
  TF_ASSIGN_OR_RETURN(const DeviceName requested, DeviceName::Parse(target));
  TF_ASSIGN_OR_RETURN(const DeviceName here, DeviceName::Parse(ctx.node().device()));
  if (requested.MergedOver(here).TaskString() == here.TaskString()) return OkStatus();
  return InvalidArgument("a RemoteCall names device '", target, "', but the function that makes it runs on '",
                         here.TaskString(), "' alone");
}

}  // namespace

void RegisterControlFlowFunctionalKernels(KernelRegistry& r) {
  r.Add("ToBool", {}, ToBool);
  r.Add("FakeParam", {}, FakeParam);
  r.Add("_ForTurns", {}, ForTurns);
  r.Add("_CheckOwnTask", {}, CheckOwnTask);
}

}  // namespace tensorbraid::cpu
