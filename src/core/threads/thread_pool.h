// A pool of threads that runs closures and shares the work of parallel loops.
#ifndef TENSORBRAID_CORE_THREADS_THREAD_POOL_H_
#define TENSORBRAID_CORE_THREADS_THREAD_POOL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/threads/mutex.h"
#include "core/threads/thread.h"

namespace tensorbraid {

// Runs closures on a fixed number of threads, and starts them in the order in which they were scheduled. Thread-safe. A
// closure must not wait for other closures of the same pool.
class ThreadPool {
 public:
  ThreadPool(std::string name, int num_threads);
  ~ThreadPool();  // Calls Stop.
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(threads_.size()); }
  void Schedule(std::function<void()> work);
  // Schedules work that may block for long (reading files, waiting for another step). It runs on threads besides the
  // pool's own, which are started as needed; while 1024 of them are busy, further work waits until one is free. Such
  // work may wait for closures of Schedule, but not for other closures of ScheduleBlocking.
  void ScheduleBlocking(std::function<void()> work);
  // Registers `closure` to be called when the pool begins to stop, before the pool waits for its threads. A
  // caller whose scheduled work waits for something uses this to end the wait. Returns an id, never 0, for
  // RemoveOnStop.
  uint64_t OnStop(std::function<void()> closure);
  // On return, the closure is not running and will not be called any more. Must not be called from a closure of OnStop.
  void RemoveOnStop(uint64_t id);
  // Runs all scheduled closures, including those that these closures schedule, then joins the threads. Later calls are
  // still allowed, but work that is scheduled later never runs: it is destroyed at once, and ParallelFor runs all
  // ranges on its caller. Idempotent, but not thread-safe: two threads must not call Stop at the same time.
  void Stop();

  // Runs body(begin, end) over disjoint ranges that cover [0, total), on the calling thread and on idle pool threads,
  // and returns when all are done. `cost_ns` is the estimated time of one unit; small totals run on the caller alone.
  // Safe to call from a pool thread: the caller runs ranges itself and waits only for ranges that are already running.
  // If `body` throws, the first exception is rethrown here after all ranges have been run.
  void ParallelFor(int64_t total, double cost_ns, absl::FunctionRef<void(int64_t begin, int64_t end)> body);

 private:
  void Loop();
  void BlockingLoop();

  const std::string name_;
  Mutex mu_;
  CondVar cv_;
  std::deque<std::function<void()>> queue_ TB_GUARDED_BY(mu_);
  int idle_ TB_GUARDED_BY(mu_) = 0;
  bool stopping_ TB_GUARDED_BY(mu_) = false;  // the threads end once the queue is empty
  bool stopped_ TB_GUARDED_BY(mu_) = false;   // all threads have ended
  std::vector<Thread> threads_;
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

#endif  // TENSORBRAID_CORE_THREADS_THREAD_POOL_H_
