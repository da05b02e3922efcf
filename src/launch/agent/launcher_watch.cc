#include "launch/agent/launcher_watch.h"

#include <algorithm>
#include <climits>
#include <cstdint>

namespace tensorbraid {
namespace {

// In use until the launcher has sent its own.
constexpr std::chrono::seconds kFirstPeriod{5};
constexpr std::chrono::seconds kFirstSilence{120};
// Two periods may end between two messages although the launcher and the network work.
constexpr int64_t kLeastPeriods = 3;

}  // namespace

LauncherWatch::LauncherWatch(std::function<Clock::time_point()> now) : now_(std::move(now)) {
  Begin(kFirstPeriod, kFirstSilence);
}

void LauncherWatch::Begin(std::chrono::milliseconds every, std::chrono::milliseconds silence) {
  every_ = every;
  silence_ = silence;
  unheard_ = limit_ = 0;
  period_end_.reset();
  if (every.count() <= 0) return;
  period_end_ = now_() + every;
  if (silence.count() <= 0) return;
  const int64_t periods = (silence.count() + every.count() - 1) / every.count();
  limit_ = static_cast<int>(std::clamp<int64_t>(periods, kLeastPeriods, INT_MAX));
}

bool LauncherWatch::TakePeriod() {
  if (!period_end_.has_value() || now_() < *period_end_) return false;
  if (!is_silent()) ++unheard_;
  period_end_ = now_() + every_;
  return true;
}

}  // namespace tensorbraid
