// Parses and compares device names, full or partial, such as "/job:ps/replica:0/task:1/device:CPU:0".
#ifndef TENSORBRAID_CORE_TEXT_DEVICE_NAME_H_
#define TENSORBRAID_CORE_TEXT_DEVICE_NAME_H_

#include <optional>
#include <string>
#include <string_view>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct DeviceName {
  std::optional<std::string> job;
  std::optional<int> replica;
  std::optional<int> task;
  std::optional<std::string> type;  // upper case: "CPU"
  std::optional<int> id;

  // Accepts TensorFlow's forms: "/device:CPU:0", "/cpu:0", "/job:ps/task:1", "/device:CPU:*". InvalidArgument
  // otherwise.
  static StatusOr<DeviceName> Parse(std::string_view text);
  std::string ToString() const;
  // The name without the device: "/job:worker/replica:0/task:1".
  std::string TaskString() const;
  // A copy of this name. The parts that this name leaves open are taken from `outer`.
  DeviceName MergedOver(const DeviceName& outer) const;
  // Whether `full` has the same value in every part that this name gives.
  bool Matches(const DeviceName& full) const;
  friend bool operator==(const DeviceName&, const DeviceName&) = default;
};

// Shortens "/job:worker/replica:0/task:1" to "worker/1", the form that messages use. Returns other text unchanged.
std::string ShortTaskName(std::string_view task);
// "/job:worker/replica:0/task:1".
std::string FullTaskName(std::string_view job, int task);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TEXT_DEVICE_NAME_H_
