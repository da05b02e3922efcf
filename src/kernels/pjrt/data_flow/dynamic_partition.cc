// DynamicStitch, which the host computes when the program is made: gradients of sums use it to compute shapes.
#include "kernels/pjrt/dtypes.h"
#include "pjrt/emitter.h"

namespace tensorbraid::pjrt {

void RegisterDataFlowDynamicPartitionEmitters(EmitterRegistry& r) {
  r.Add("DynamicStitch", {{"T", kTensors}}, nullptr).static_inputs = {"indices", "data"};
}

}  // namespace tensorbraid::pjrt
