// How an agent notices that its launcher has become silent.
#ifndef TENSORBRAID_LAUNCH_AGENT_LAUNCHER_WATCH_H_
#define TENSORBRAID_LAUNCH_AGENT_LAUNCHER_WATCH_H_

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

namespace tensorbraid {

// When the network is cut or the launcher's machine dies, the connection does not end for hours. But the launcher sends
// a message in each period, so its silence shows the loss. Not thread-safe.
class LauncherWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts with default periods, which are in use until Begin. `now` is the clock.
  explicit LauncherWatch(std::function<Clock::time_point()> now = &Clock::now);

  // Starts periods of the length `every`, from now on. The launcher is silent after `silence`, rounded up to whole
  // periods and at least three, without a message. A period in which this process was itself stopped counts once,
  // however long it was, because the process could not listen. If `every` is 0, there are no periods; if `silence` is
  // 0, the launcher is never silent.
  void Begin(std::chrono::milliseconds every, std::chrono::milliseconds silence);
  // When the present period ends.
  std::optional<Clock::time_point> wake() const { return period_end_; }
  // Call when a message of the launcher has arrived.
  void Hear() { unheard_ = 0; }
  // Whether a period has ended since the last call. Call it after all messages that have arrived have been read.
  bool TakePeriod();
  bool is_silent() const { return limit_ > 0 && unheard_ >= limit_; }
  std::chrono::milliseconds silence() const { return silence_; }

 private:
  const std::function<Clock::time_point()> now_;
  std::chrono::milliseconds every_{0};
  std::chrono::milliseconds silence_{0};
  int limit_ = 0;    // after so many periods without a message the launcher is silent; 0: never
  int unheard_ = 0;  // periods without a message so far
  std::optional<Clock::time_point> period_end_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_AGENT_LAUNCHER_WATCH_H_
