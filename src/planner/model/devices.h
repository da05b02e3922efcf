// The speeds of processors that a plan can name.
#ifndef TENSORBRAID_PLANNER_MODEL_DEVICES_H_
#define TENSORBRAID_PLANNER_MODEL_DEVICES_H_

#include <span>
#include <string>
#include <string_view>

#include "planner/model/training_graph.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::planner {

struct KnownDevice {
  std::string_view name;  // "v100"
  bool is_gpu;
  double cores;            // of a CPU; 1 for a GPU
  double gflops_per_core;  // float32, peak; of a whole GPU
  double memory_gb_s;      // of the whole device
  std::string_view source;
};

// All devices of the table, by kind and age.
std::span<const KnownDevice> KnownDevices();

// The speed of a device of the table, if its ops reach `efficiency` of the peak; NotFound with the names otherwise.
StatusOr<DeviceSpeed> SpeedOf(std::string_view name, double efficiency);

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_MODEL_DEVICES_H_
