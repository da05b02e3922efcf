// How an agent notices that its launcher says nothing any more.
#ifndef TENSORBRAID_LAUNCH_AGENT_LAUNCHER_WATCH_H_
#define TENSORBRAID_LAUNCH_AGENT_LAUNCHER_WATCH_H_

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

namespace tensorbraid {

// A network that is cut, or a launcher's machine that has died, ends no connection for hours. What shows it is that the
// launcher is silent, which otherwise says something in each period. Not thread-safe.
class LauncherWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // Begins with the periods that hold until Begin. `now` is the clock.
  explicit LauncherWatch(std::function<Clock::time_point()> now = &Clock::now);

  // A period begins now, and then one after the other. The launcher is silent when it has said nothing in as many
  // periods as `silence` has room for. A period in which this process was itself stopped counts as one, however long it
  // was, because the process could not listen. 0 for `every`: there are no periods; 0 for `silence`: the launcher is
  // never silent.
  void Begin(std::chrono::milliseconds every, std::chrono::milliseconds silence);
  // When the period ends.
  std::optional<Clock::time_point> wake() const { return period_end_; }
  // The launcher has said something.
  void Hear() { unheard_ = 0; }
  // Whether a period has ended since the last call. Call it after all that has arrived was read.
  bool TakePeriod();
  bool is_silent() const { return limit_ > 0 && unheard_ >= limit_; }
  std::chrono::milliseconds silence() const { return silence_; }

 private:
  const std::function<Clock::time_point()> now_;
  std::chrono::milliseconds every_{0};
  std::chrono::milliseconds silence_{0};
  int limit_ = 0;    // periods without a word that make the launcher silent; 0: any number
  int unheard_ = 0;  // periods without a word
  std::optional<Clock::time_point> period_end_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_AGENT_LAUNCHER_WATCH_H_
