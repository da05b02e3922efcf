#include "pjrt/in_flight.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tensorbraid::pjrt {

uint64_t InFlight::Begin(Step step) {
  MutexLock lock(mu_);
  auto& running = work_[step].running;
  running.insert(running.end(), next_);
  return next_++;
}

void InFlight::End(Step step, uint64_t number, const Status& status) {
  std::vector<std::pair<Done, Status>> calls;
  {
    MutexLock lock(mu_);
    const auto at = work_.find(step);
    at->second.running.erase(number);
    if (at->second.error.ok()) at->second.error = status;
    if (at->second.running.empty() && at->second.error.ok()) work_.erase(at);
    for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
      if (!HasEnded(waiter->step, waiter->end)) {
        ++waiter;
        continue;
      }
      calls.emplace_back(std::move(waiter->done), TakeError(waiter->step));
      waiter = waiters_.erase(waiter);
    }
    ended_.NotifyAll();
  }
  for (const auto& [done, error] : calls) done(error);
}

void InFlight::WhenDone(Step step, Done done) {
  Status error;
  {
    MutexLock lock(mu_);
    if (!HasEnded(step, next_)) {
      waiters_.push_back({step, next_, std::move(done)});
      return;
    }
    error = TakeError(step);
  }
  done(error);
}

bool InFlight::IsIdle() const {
  MutexLock lock(mu_);
  return HasEnded(nullptr, next_);
}

void InFlight::Wait() {
  MutexLock lock(mu_);
  const uint64_t end = next_;
  ended_.Wait(mu_, [&]() TB_REQUIRES(mu_) { return HasEnded(nullptr, end); });
}

bool InFlight::HasEnded(Step step, uint64_t end) const {
  if (step == nullptr) {
    return std::ranges::all_of(work_, [&](const auto& work) { return work.second.HasEnded(end); });
  }
  const auto at = work_.find(step);
  return at == work_.end() || at->second.HasEnded(end);
}

Status InFlight::TakeError(Step step) {
  const auto at = work_.find(step);
  if (at == work_.end()) return OkStatus();
  Status error = std::exchange(at->second.error, OkStatus());
  if (at->second.running.empty()) work_.erase(at);
  return error;
}

}  // namespace tensorbraid::pjrt
