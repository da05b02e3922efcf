#include "core/system/timer.h"

namespace tensorbraid {

Timer::Timer() : thread_("tb-timer", [this] { Loop(); }) {}

Timer::~Timer() { Stop(); }

void Timer::Stop() {
  std::map<Key, std::function<void()>> dropped;  // destroyed after the lock is released
  {
    MutexLock lock(mu_);
    if (std::exchange(stopping_, true)) return;
    dropped.swap(pending_);
    times_.clear();
  }
  cv_.NotifyAll();
  thread_.Join();
}

Timer::Id Timer::RunAfter(Duration delay, std::function<void()> closure) {
  const auto time = MonotonicClock::now() + delay;
  bool first;
  Id id;
  {
    MutexLock lock(mu_);
    id = next_id_++;
    if (stopping_) return id;
    first = pending_.empty() || time < pending_.begin()->first.first;
    pending_.emplace(Key{time, id}, std::move(closure));
    times_.emplace(id, time);
  }
  if (first) cv_.NotifyAll();
  return id;
}

bool Timer::Cancel(Id id) {
  std::function<void()> dropped;  // destroyed after the lock is released
  MutexLock lock(mu_);
  auto it = times_.find(id);
  if (it == times_.end()) return false;
  auto node = pending_.extract(Key{it->second, id});
  dropped = std::move(node.mapped());
  times_.erase(it);
  return true;
}

bool Timer::CancelAndWait(Id id) {
  if (id == 0) return false;
  if (Cancel(id)) return true;
  MutexLock lock(mu_);
  cv_.Wait(mu_, [&]() TB_REQUIRES(mu_) { return running_ != id; });
  return false;
}

void Timer::Loop() {
  mu_.Lock();
  while (!stopping_) {
    if (pending_.empty()) {
      cv_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return stopping_ || !pending_.empty(); });
      continue;
    }
    const Key first = pending_.begin()->first;
    if (first.first > MonotonicClock::now()) {
      cv_.WaitUntil(mu_, first.first, [&]() TB_REQUIRES(mu_) {
        return stopping_ || pending_.empty() || pending_.begin()->first < first;
      });
      continue;
    }
    auto node = pending_.extract(pending_.begin());
    times_.erase(first.second);
    running_ = first.second;
    mu_.Unlock();
    node.mapped()();
    node.mapped() = nullptr;  // destroyed before a CancelAndWait for it returns
    mu_.Lock();
    running_ = 0;
    cv_.NotifyAll();
  }
  mu_.Unlock();
}

}  // namespace tensorbraid
