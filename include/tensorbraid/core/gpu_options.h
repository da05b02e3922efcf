// How a process uses its GPUs.
#ifndef TENSORBRAID_CORE_GPU_OPTIONS_H_
#define TENSORBRAID_CORE_GPU_OPTIONS_H_

#include <string>

namespace tensorbraid {

// Source: TensorFlow's GPUOptions. Without a share, memory is taken as it is needed, also without `allow_growth`.
struct GpuOptions {
  // The share of each GPU's memory that the process may use, at most 1; 0: all of it.
  double per_process_gpu_memory_fraction = 0;
  // If there is a share: takes memory as it is needed. Otherwise the share is taken when the GPU is first used.
  bool allow_growth = false;
  // The numbers of the GPUs that the process uses, in the order of their names here: with "2,0", /device:GPU:0 is the
  // third one. They are numbers among those that CUDA_VISIBLE_DEVICES leaves. "": all.
  std::string visible_device_list = "";

  bool operator==(const GpuOptions&) const = default;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_GPU_OPTIONS_H_
