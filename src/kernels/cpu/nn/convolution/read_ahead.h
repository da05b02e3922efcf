// Reading memory before code that reads it in an order that the processor does not foresee.
#ifndef TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_READ_AHEAD_H_
#define TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_READ_AHEAD_H_

namespace tensorbraid::cpu {

// Reads [begin, end) in order, so that it is in the cache of this core. Does nothing if end <= begin. The processor
// foresees this order, but not the one in which blocks of rows and channels are read. Real loads, since prefetch
// instructions gain half as much.
inline void BringIntoCache(const float* begin, const float* end) {
  constexpr int kLine = 64 / sizeof(float);
  for (const volatile float* p = begin; p < end; p += kLine) (void)*p;
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_READ_AHEAD_H_
