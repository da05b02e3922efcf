// The clocks that the library reads: those of the operating system, unless a test has installed others
// (core/system/env.h).
#ifndef TENSORBRAID_CORE_SYSTEM_CLOCK_H_
#define TENSORBRAID_CORE_SYSTEM_CLOCK_H_

#include <chrono>

namespace tensorbraid {

// Both classes are clocks as std::chrono defines them. Their time points are those of the standard clocks. Thread-safe.

// For durations and deadlines.
struct MonotonicClock {
  using time_point = std::chrono::steady_clock::time_point;
  using duration = time_point::duration;
  using rep = duration::rep;
  using period = duration::period;
  static constexpr bool is_steady = true;
  static time_point now();
};

// For times that people or other machines read. It may jump.
struct WallClock {
  using time_point = std::chrono::system_clock::time_point;
  using duration = time_point::duration;
  using rep = duration::rep;
  using period = duration::period;
  static constexpr bool is_steady = false;
  static time_point now();
  // Seconds since 1970.
  static double Seconds() { return std::chrono::duration<double>(now().time_since_epoch()).count(); }
};

// Blocks the calling thread.
void SleepFor(MonotonicClock::duration time);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SYSTEM_CLOCK_H_
