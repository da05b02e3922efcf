// Sequences, which the host computes when the program is made.
#include "pjrt/emitter.h"

namespace tensorbraid::pjrt {

void RegisterMathRangeEmitters(EmitterRegistry& r) {
  r.Add("Range", {}, nullptr).static_inputs = {"start", "limit", "delta"};
  r.Add("LinSpace", {}, nullptr).static_inputs = {"start", "stop", "num"};
}

}  // namespace tensorbraid::pjrt
