#include "core/threads/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <utility>

#include "core/system/denormals.h"
#include "core/system/file_access.h"

namespace tensorbraid {
namespace {

// Runs the first closure of a queue, without its lock.
void RunFirst(std::deque<std::function<void()>>& queue, Mutex& mu) TB_REQUIRES(mu) {
  std::function<void()> work = std::move(queue.front());
  queue.pop_front();
  mu.Unlock();
  work();
  work = nullptr;
  mu.Lock();
}

}  // namespace

ThreadPool::ThreadPool(std::string name, int num_threads) : name_(std::move(name)) {
  for (int i = 0; i < num_threads; ++i) threads_.emplace_back(name_, [this] { Loop(); });
}

ThreadPool::~ThreadPool() { Stop(); }

void ThreadPool::Stop() {
  {
    MutexLock lock(mu_);
    if (stopped_) return;
  }
  {
    MutexLock lock(stop_mu_);
    for (const auto& [id, closure] : on_stop_) closure();
  }
  {
    // Wait for blocking work while the pool's own threads still run, because it may need them.
    MutexLock lock(mu_);
    blocking_stops_ = true;
    blocking_cv_.NotifyAll();
    blocking_cv_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return blocking_threads_ == 0; });
  }
  {
    // The pool's own threads may still schedule blocking work, which is done here until nothing is left of both kinds.
    MutexLock lock(mu_);
    while (true) {
      blocking_cv_.Wait(mu_, [this]() TB_REQUIRES(mu_) {
        return !blocking_queue_.empty() || (queue_.empty() && idle_ == num_threads());
      });
      if (blocking_queue_.empty()) break;
      RunFirst(blocking_queue_, mu_);
    }
    stopping_ = true;
  }
  cv_.NotifyAll();
  for (Thread& t : threads_) t.Join();
  MutexLock lock(mu_);
  stopped_ = true;
}

void ThreadPool::Schedule(std::function<void()> work) {
  work = WithCurrentFileAccess(std::move(work));
  MutexLock lock(mu_);
  if (stopped_) return;
  queue_.push_back(std::move(work));
  // Notify under the lock. Otherwise the work could complete first, and the pool's owner, which waits for the work,
  // could destroy the pool before the notification.
  cv_.NotifyOne();
}

void ThreadPool::ScheduleBlocking(std::function<void()> work) {
  constexpr int kMaxThreads = 1024;
  work = WithCurrentFileAccess(std::move(work));
  MutexLock lock(mu_);
  if (stopped_) return;
  blocking_queue_.push_back(std::move(work));
  if (blocking_stops_ || blocking_idle_ >= static_cast<int>(blocking_queue_.size())) {
    blocking_cv_.NotifyOne();
  } else if (blocking_threads_ < kMaxThreads) {
    ++blocking_threads_;
    Thread("tb-blocking", [this] { BlockingLoop(); }).Detach();
  }
}

void ThreadPool::BlockingLoop() {
  constexpr std::chrono::seconds kIdle{10};
  mu_.Lock();
  while (true) {
    ++blocking_idle_;
    blocking_cv_.WaitFor(mu_, kIdle, [this]() TB_REQUIRES(mu_) { return blocking_stops_ || !blocking_queue_.empty(); });
    --blocking_idle_;
    if (blocking_queue_.empty()) break;
    RunFirst(blocking_queue_, mu_);
  }
  // Notify under the lock: the pool may be destroyed as soon as the lock is released.
  if (--blocking_threads_ == 0) blocking_cv_.NotifyAll();
  mu_.Unlock();
}

uint64_t ThreadPool::OnStop(std::function<void()> closure) {
  MutexLock lock(stop_mu_);
  on_stop_.emplace(next_on_stop_, std::move(closure));
  return next_on_stop_++;
}

void ThreadPool::RemoveOnStop(uint64_t id) {
  MutexLock lock(stop_mu_);
  on_stop_.erase(id);
}

void ThreadPool::Loop() {
  const ScopedFlushDenormals flush;
  while (true) {
    std::function<void()> work;
    {
      MutexLock lock(mu_);
      ++idle_;
      if (blocking_stops_) blocking_cv_.NotifyOne();  // Stop waits for idle threads
      cv_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return stopping_ || !queue_.empty(); });
      --idle_;
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

void ThreadPool::ParallelFor(int64_t total, double cost_ns, absl::FunctionRef<void(int64_t, int64_t)> body) {
  // Waking a thread costs some microseconds, so a range shorter than this is not worth a thread.
  constexpr double kMinRangeNs = 20'000;
  if (total <= 0) return;
  int64_t ranges = std::min<int64_t>(total, static_cast<int64_t>(total * cost_ns / kMinRangeNs));
  if (ranges <= 1) {
    body(0, total);
    return;
  }
  const auto idle_threads = [this] {
    MutexLock lock(mu_);
    return std::max(0, idle_ - static_cast<int>(queue_.size()));
  };
  // Several ranges per thread balance the load between threads of different speed. If all threads are busy now, the
  // work is split for a thread that may become idle later.
  ranges = std::min<int64_t>(ranges, 4 * (std::max(1, idle_threads()) + 1));
  struct Shared {
    std::atomic<int64_t> next{0};
    Mutex mu;
    CondVar cv;
    int64_t done TB_GUARDED_BY(mu) = 0;
    std::exception_ptr thrown TB_GUARDED_BY(mu);  // the first exception that `body` has thrown
  };
  auto shared = std::make_shared<Shared>();  // a helper may start after this call has returned
  // Runs ranges until none is left. Calls before_range(i) before it runs range i.
  const auto run = [shared, ranges, total, body](const auto& before_range) {
    int64_t finished = 0;
    while (true) {
      const int64_t i = shared->next.fetch_add(1);
      if (i >= ranges) break;
      try {
        before_range(i);
        body(total * i / ranges, total * (i + 1) / ranges);
      } catch (...) {
        MutexLock lock(shared->mu);
        if (shared->thrown == nullptr) shared->thrown = std::current_exception();
      }
      ++finished;
    }
    if (finished > 0) {
      MutexLock lock(shared->mu);
      shared->done += finished;
      if (shared->done == ranges) shared->cv.NotifyAll();
    }
  };
  // Before each of its ranges, the caller asks the threads that are idle by then to help.
  run([&](int64_t i) {
    const int helpers = static_cast<int>(std::min<int64_t>(idle_threads(), ranges - 1 - i));
    for (int helper = 0; helper < helpers; ++helper) Schedule([run] { run([](int64_t) {}); });
  });
  MutexLock lock(shared->mu);
  shared->cv.Wait(shared->mu, [&]() TB_REQUIRES(shared->mu) { return shared->done == ranges; });
  if (shared->thrown != nullptr) std::rethrow_exception(std::exchange(shared->thrown, nullptr));
}

}  // namespace tensorbraid
