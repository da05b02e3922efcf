// Reads memory ahead of code that reads it in an order which the processor cannot predict.
#ifndef TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_READ_AHEAD_H_
#define TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_READ_AHEAD_H_

namespace tensorbraid::cpu {

// Reads [begin, end) in order, so that it is in the cache of this core. Does nothing if end <= begin. The processor
// predicts this order, but not the order in which blocks of rows and channels are read. Uses real loads, because
// prefetch instructions gain only half as much.
inline void BringIntoCache(const float* begin, const float* end) {
  constexpr int kLine = 64 / sizeof(float);
  for (const volatile float* p = begin; p < end; p += kLine) (void)*p;
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_READ_AHEAD_H_
