// Device names: "/job:ps/replica:0/task:1/device:CPU:0", whole or in part.
#ifndef TENSORBRAID_CORE_DEVICE_NAME_H_
#define TENSORBRAID_CORE_DEVICE_NAME_H_

#include <optional>
#include <string>
#include <string_view>

#include "tensorbraid/status.h"

namespace tensorbraid {

struct DeviceName {
  std::optional<std::string> job;
  std::optional<int> replica;
  std::optional<int> task;
  std::optional<std::string> type;  // upper case: "CPU"
  std::optional<int> id;

  // Takes TensorFlow's forms: "/device:CPU:0", "/cpu:0", "/job:ps/task:1", "/device:CPU:*". InvalidArgument otherwise.
  static StatusOr<DeviceName> Parse(std::string_view text);
  std::string ToString() const;
  // "/job:worker/replica:0/task:1": without the device.
  std::string TaskString() const;
  // Parts that this name leaves open are taken from `outer`.
  DeviceName MergedOver(const DeviceName& outer) const;
  // Whether every part that this name gives is the same in `full`.
  bool Matches(const DeviceName& full) const;
  friend bool operator==(const DeviceName&, const DeviceName&) = default;
};

// "/job:worker/replica:0/task:1" for short "worker/1", as messages name tasks; other text comes back as it is.
std::string ShortTaskName(std::string_view task);
// "/job:worker/replica:0/task:1".
std::string FullTaskName(std::string_view job, int task);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_DEVICE_NAME_H_
