// A fixed set of threads and the loops that share work among them.
#ifndef TENSORBRAID_CORE_THREAD_POOL_H_
#define TENSORBRAID_CORE_THREAD_POOL_H_

#include <cstdint>
#include <deque>
#include <functional>
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

  // Runs body(begin, end) over disjoint ranges that cover [0, total), on the calling thread and on idle pool threads,
  // and returns when all are done. `cost_ns` estimates one unit; small totals run on the caller alone. Safe to call
  // from a pool thread: the caller takes ranges itself and waits only for ranges already running.
  void ParallelFor(int64_t total, double cost_ns, const std::function<void(int64_t begin, int64_t end)>& body);

 private:
  void Loop();

  const std::string name_;
  Mutex mu_;
  CondVar cv_;
  std::deque<std::function<void()>> queue_ TB_GUARDED_BY(mu_);
  int idle_ TB_GUARDED_BY(mu_) = 0;
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_THREAD_POOL_H_
