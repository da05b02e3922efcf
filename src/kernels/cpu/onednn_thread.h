// Makes oneDNN run on the calling thread alone.
#ifndef TENSORBRAID_KERNELS_CPU_ONEDNN_THREAD_H_
#define TENSORBRAID_KERNELS_CPU_ONEDNN_THREAD_H_

#include <omp.h>

namespace tensorbraid::cpu {

// By default, oneDNN starts an OpenMP team for each calling thread, but work is split over our thread pool. The OpenMP
// setting is per thread, so every thread calls this before it calls oneDNN. Costs next to nothing.
inline void UseOneOpenMpThread() {
  static thread_local const bool single_threaded = (omp_set_num_threads(1), true);
  (void)single_threaded;
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_ONEDNN_THREAD_H_
