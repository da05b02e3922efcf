#ifndef TENSORBRAID_CLI_DURATION_H_
#define TENSORBRAID_CLI_DURATION_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tensorbraid {

// The seconds of a flag. More than ten years count as ten years, because clocks could not add any number.
inline std::chrono::milliseconds Milliseconds(double seconds) {
  constexpr double kMostSeconds = 10.0 * 366 * 24 * 3600;
  return std::chrono::milliseconds(static_cast<int64_t>(std::min(seconds, kMostSeconds) * 1000));
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_DURATION_H_
