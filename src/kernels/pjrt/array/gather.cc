// Gathers. An index out of range is an error, which a program cannot report, so the host gathers from tensors that are
// known, such as shapes.
#include "kernels/pjrt/dtypes.h"
#include "pjrt/emitter.h"

namespace tensorbraid::pjrt {

void RegisterArrayGatherEmitters(EmitterRegistry& r) {
  r.Add("Gather", {{"Tparams", kTensors}}, nullptr).static_inputs = {"params", "indices"};
  r.Add("GatherV2", {{"Tparams", kTensors}}, nullptr).static_inputs = {"params", "indices", "axis"};
}

}  // namespace tensorbraid::pjrt
