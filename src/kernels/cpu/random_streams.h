// Where random ops that come in two forms take their stream from: the generator of the node, or a seed.
#ifndef TENSORBRAID_KERNELS_CPU_RANDOM_STREAMS_H_
#define TENSORBRAID_KERNELS_CPU_RANDOM_STREAMS_H_

#include "kernels/cpu/philox.h"
#include "runtime/kernel.h"

namespace tensorbraid::cpu {

inline constexpr int32_t kPhiloxAlgorithm = 1;
inline constexpr int32_t kAutoSelectAlgorithm = 3;

// A stream, as ops hand it on: the key and the counter to begin at.
struct StreamStart {
  uint64_t key = 0, low = 0, high = 0;
  Philox philox() const { return Philox(key, low, high); }
};

// The stream of a seed of two integers, which is scrambled, so that seeds that are alike give streams that are not.
// InvalidArgument for another shape.
StatusOr<StreamStart> StreamOfSeed(const Tensor& seed);

// The stream that three inputs describe, from number `first` on: key, counter and algorithm. InvalidArgument when they
// do not describe one of Philox.
StatusOr<StreamStart> StreamOfInputs(KernelContext& ctx, int first);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_RANDOM_STREAMS_H_
