#include "pjrt/in_flight.h"

#include <utility>
#include <vector>

namespace tensorbraid::pjrt {

uint64_t InFlight::Begin() {
  MutexLock lock(mu_);
  running_.insert(running_.end(), next_);
  return next_++;
}

void InFlight::End(uint64_t number, const Status& status) {
  std::vector<std::pair<Done, Status>> calls;
  {
    MutexLock lock(mu_);
    running_.erase(number);
    if (error_.ok()) error_ = status;
    while (!waiters_.empty() && HasEnded(waiters_.front().end)) {
      calls.emplace_back(std::move(waiters_.front().done), std::exchange(error_, OkStatus()));
      waiters_.pop_front();
    }
    ended_.NotifyAll();
  }
  for (const auto& [done, error] : calls) done(error);
}

void InFlight::BeginAside() {
  MutexLock lock(mu_);
  ++aside_;
}

void InFlight::EndAside() {
  MutexLock lock(mu_);
  --aside_;
  ended_.NotifyAll();
}

void InFlight::WhenDone(Done done) {
  Status error;
  {
    MutexLock lock(mu_);
    if (!HasEnded(next_)) {
      waiters_.push_back({next_, std::move(done)});
      return;
    }
    error = std::exchange(error_, OkStatus());
  }
  done(error);
}

bool InFlight::IsIdle() const {
  MutexLock lock(mu_);
  return running_.empty() && aside_ == 0;
}

void InFlight::Wait() {
  MutexLock lock(mu_);
  const uint64_t end = next_;
  ended_.Wait(mu_, [&]() TB_REQUIRES(mu_) { return HasEnded(end) && aside_ == 0; });
}

}  // namespace tensorbraid::pjrt
