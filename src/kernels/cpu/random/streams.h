// Streams of the stateless random ops: from a seed, or from inputs that hold key, counter and algorithm.
#ifndef TENSORBRAID_KERNELS_CPU_RANDOM_STREAMS_H_
#define TENSORBRAID_KERNELS_CPU_RANDOM_STREAMS_H_

#include "kernels/cpu/random/philox.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

inline constexpr int32_t kPhiloxAlgorithm = 1;
inline constexpr int32_t kAutoSelectAlgorithm = 3;

// A stream as ops pass it to each other: the key, and the 128-bit counter (low, high) to start at.
struct StreamStart {
  uint64_t key = 0, low = 0, high = 0;
  Philox philox() const { return Philox(key, low, high); }
};

// The stream of a seed, a vector of two integers. The seed is scrambled, so that similar seeds give unrelated streams.
// Returns InvalidArgument if the seed has another shape.
StatusOr<StreamStart> StreamOfSeed(const Tensor& seed);

// The stream that the three inputs from `first` on describe: key, counter and algorithm. Returns InvalidArgument if
// they do not describe a Philox stream.
StatusOr<StreamStart> StreamOfInputs(KernelContext& ctx, int first);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_RANDOM_STREAMS_H_
