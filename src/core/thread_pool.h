// A fixed set of threads and the loops that share work among them.
#ifndef TENSORBRAID_CORE_THREAD_POOL_H_
#define TENSORBRAID_CORE_THREAD_POOL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "core/mutex.h"

namespace tensorbraid {

// Runs closures in the order they came. Thread-safe. Closures must not wait for other closures of the same pool.
class ThreadPool {
 public:
  ThreadPool(std::string name, int num_threads);
  // Runs what is queued, then joins the threads.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(threads_.size()); }
  void Schedule(std::function<void()> work);
  // For work that may wait for long (reading files, another step): runs on threads besides the pool's own, started as
  // they are needed; what comes while a thousand are busy waits for one of them. Other closures may be waited for, but
  // for those of ScheduleBlocking.
  void ScheduleBlocking(std::function<void()> work);
  // Calls `closure` when the pool is about to be destroyed, before its threads are waited for: whoever schedules work
  // that waits makes it come to an end then. Gives an id, never 0, to take it back with.
  uint64_t OnStop(std::function<void()> closure);
  // The closure will not be called any more, and is not running.
  void RemoveOnStop(uint64_t id);

  // Runs body(begin, end) over disjoint ranges that cover [0, total), on the calling thread and on idle pool threads,
  // and returns when all are done. `cost_ns` estimates one unit; small totals run on the caller alone. Safe to call
  // from a pool thread: the caller takes ranges itself and waits only for ranges already running.
  void ParallelFor(int64_t total, double cost_ns, const std::function<void(int64_t begin, int64_t end)>& body);

 private:
  void Loop();
  void BlockingLoop();

  const std::string name_;
  Mutex mu_;
  CondVar cv_;
  std::deque<std::function<void()>> queue_ TB_GUARDED_BY(mu_);
  int idle_ TB_GUARDED_BY(mu_) = 0;
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
  CondVar blocking_cv_;
  std::deque<std::function<void()>> blocking_queue_ TB_GUARDED_BY(mu_);
  int blocking_threads_ TB_GUARDED_BY(mu_) = 0;
  int blocking_idle_ TB_GUARDED_BY(mu_) = 0;
  bool blocking_stops_ TB_GUARDED_BY(mu_) = false;
  Mutex stop_mu_;  // held while closures of OnStop run
  std::map<uint64_t, std::function<void()>> on_stop_ TB_GUARDED_BY(stop_mu_);
  uint64_t next_on_stop_ TB_GUARDED_BY(stop_mu_) = 1;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_THREAD_POOL_H_
