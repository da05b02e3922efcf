#include "cluster/master/running_steps.h"

#include <algorithm>
#include <vector>

#include "cluster/master/master_step.h"

namespace tensorbraid {

Status RunningSteps::CheckRunning() const { return stopped_ ? Cancelled("the server has been stopped") : OkStatus(); }

Status RunningSteps::Add(const std::shared_ptr<MasterStep>& step) {
  MutexLock lock(mu_);
  // Stop sets stopped_ before it looks for steps. So either the step is refused here, or Stop finds it.
  TF_RETURN_IF_ERROR(CheckRunning());
  steps_[step->id.counter] = step;
  constexpr auto kBetweenCounts = std::chrono::seconds(1);
  constexpr size_t kKeptCounts = 120;
  if (next_count_ == MonotonicClock::time_point()) first_begun_ = step->begun;
  last_begun_ = step->begun;
  if (!step->is_local() && num_spanning_++ == 0) spanning_since_ = step->begun;
  if (step->begun >= next_count_) {
    next_count_ = step->begun + kBetweenCounts;
    history_.push_back({step->begun, (history_.empty() ? 0 : history_.back().ended) + MostEnded()});
    ended_.clear();
    if (history_.size() > kKeptCounts) history_.pop_front();
  }
  return OkStatus();
}

void RunningSteps::Remove(const MasterStep& step, const void* signature) {
  // A step within one task reads no second clock, because it may be as short as a microsecond.
  const auto now = step.is_local() ? MonotonicClock::time_point() : MonotonicClock::now();
  MutexLock lock(mu_);
  if (steps_.erase(step.id.counter) == 0) return;
  if (!step.is_local() && --num_spanning_ == 0) spanning_ += now - spanning_since_;
  for (Ended& ended : ended_) {
    if (ended.signature != signature) continue;
    ++ended.steps;
    return;
  }
  ended_.push_back({signature, 1});
}

int64_t RunningSteps::MostEnded() const {
  int64_t most = 0;
  for (const Ended& ended : ended_) most = std::max(most, ended.steps);
  return most;
}

RunningSteps::State RunningSteps::state() const {
  State state;
  {
    MutexLock lock(mu_);
    state.ended = (history_.empty() ? 0 : history_.back().ended) + MostEnded();
    state.spanning = spanning_;
    // The step that began last is not counted while it runs, neither here nor in first_to_last.
    if (num_spanning_ > 0) state.spanning += std::max(last_begun_ - spanning_since_, MonotonicClock::duration(0));
    state.first_to_last = last_begun_ - first_begun_;
    state.history.assign(history_.begin(), history_.end());
    for (const auto& [number, step] : steps_) state.running.push_back(step);
  }
  std::sort(state.running.begin(), state.running.end(),
            [](const auto& a, const auto& b) { return a->id.counter < b->id.counter; });
  return state;
}

void RunningSteps::AbortIf(const std::function<bool(const MasterStep&)>& matches, const Status& why) {
  std::vector<std::shared_ptr<MasterStep>> steps;
  {
    MutexLock lock(mu_);
    for (const auto& [number, step] : steps_) {
      if (matches(*step)) steps.push_back(step);
    }
  }
  // In the order in which they began, so that a simulation repeats.
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a->id.counter < b->id.counter; });
  for (const auto& step : steps) step->Abort(why);
}

void RunningSteps::Abort(SessionId session, const Status& why) {
  AbortIf([session](const MasterStep& step) { return step.session == session; }, why);
}

void RunningSteps::Stop(const Status& why) {
  stopped_ = true;
  AbortIf([](const MasterStep&) { return true; }, why);
}

}  // namespace tensorbraid
