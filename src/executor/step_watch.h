// Observes running steps from outside: the operations that they wait for, and the time that threads worked on them.
#ifndef TENSORBRAID_EXECUTOR_STEP_WATCH_H_
#define TENSORBRAID_EXECUTOR_STEP_WATCH_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/system/clock.h"
#include "executor/plan.h"

namespace tensorbraid {

// An operation whose asynchronous kernel has been started and has not called back.
struct WaitingOperation {
  std::string op;        // such as "QueueDequeueV2"
  std::string node;      // its name, such as "take"
  std::string resource;  // the node that made the handle in the first input, such as a queue; may be empty
  std::string tensor;    // for a _Recv: the tensor that it receives, otherwise empty
  std::string peer;      // for a _Recv: the full name of the task that sends the tensor
  std::string text;      // all of this for a message, such as "QueueDequeueV2 'take' (model.cc:12) on 'input'"
  MonotonicClock::time_point since;
};
WaitingOperation DescribeWait(const Node& node);

// Whether the operation waits for as long as its session exists, so that its wait tells nothing.
inline bool LastsWithSession(const Node& node) { return node.type() == "_JoinHostSums"; }

// The asynchronous kernels of one step. Begin and End take no lock, and never wait. Thread-safe.
class AsyncWaits {
 public:
  explicit AsyncWaits(const Plan& plan) : plan_(plan), waits_(plan.async_nodes().size()) {}

  // Call Begin when a kernel is started, and End when it has called back. Several iterations of a loop may run the same
  // node at once.
  void Begin(const Plan::PlanNode& p) {
    Wait& wait = waits_[p.async_number];
    if (wait.running.load(std::memory_order_relaxed) == 0) {
      wait.since.store(MonotonicClock::now().time_since_epoch().count(), std::memory_order_relaxed);
    }
    wait.running.fetch_add(1, std::memory_order_release);
  }
  void End(const Plan::PlanNode& p) { waits_[p.async_number].running.fetch_sub(1, std::memory_order_relaxed); }

  // Appends the operations that wait now, except for those that LastsWithSession, until there are `most` of them in
  // `out`.
  void AppendTo(size_t most, std::vector<WaitingOperation>* out) const {
    for (size_t i = 0; i < waits_.size() && out->size() < most; ++i) {
      if (waits_[i].running.load(std::memory_order_acquire) <= 0) continue;
      const Node& node = *plan_.nodes()[plan_.async_nodes()[i]].node;
      if (LastsWithSession(node)) continue;
      WaitingOperation wait = DescribeWait(node);
      wait.since =
          MonotonicClock::time_point(MonotonicClock::duration(waits_[i].since.load(std::memory_order_relaxed)));
      out->push_back(std::move(wait));
    }
  }

 private:
  struct Wait {
    std::atomic<int> running{0};
    std::atomic<MonotonicClock::rep> since{0};  // when `running` last became positive
  };
  const Plan& plan_;
  std::vector<Wait> waits_;  // indexed by PlanNode::async_number
};

// How long threads have worked on steps. Thread-safe; takes no lock.
class WorkTime {
 public:
  // A thread begins to work at `now`, and ends at `now`.
  void Begin(MonotonicClock::time_point now) {
    // The number of threads alternates between "from 0 to 1" and "from 1 to 0". So the sum of the second kind of
    // moments less the first kind is the time in which at least one thread worked, in whichever order the sums are
    // made.
    if (threads_.fetch_add(1, std::memory_order_relaxed) == 0) Add(&any_ns_, -Nanoseconds(now));
  }
  void End(MonotonicClock::time_point began, MonotonicClock::time_point now) {
    Add(&all_ns_, Nanoseconds(now) - Nanoseconds(began));
    if (threads_.fetch_sub(1, std::memory_order_relaxed) == 1) Add(&any_ns_, Nanoseconds(now));
  }
  // The sum over all threads, of work that has ended.
  std::chrono::nanoseconds of_all_threads() const {
    return std::chrono::nanoseconds(all_ns_.load(std::memory_order_relaxed));
  }
  // How long at least one thread has worked. 0 if threads begin and end all the time while this reads.
  std::chrono::nanoseconds of_any_thread() const {
    for (int i = 0; i < 100; ++i) {
      const int64_t before = any_ns_.load(std::memory_order_relaxed);
      const int64_t total = before + (before < 0 ? Nanoseconds(MonotonicClock::now()) : 0);
      if (total >= 0) return std::chrono::nanoseconds(total);
    }
    return std::chrono::nanoseconds(0);
  }

 private:
  static int64_t Nanoseconds(MonotonicClock::time_point time) {
    return std::chrono::nanoseconds(time.time_since_epoch()).count();
  }
  static void Add(std::atomic<int64_t>* sum, int64_t ns) { sum->fetch_add(ns, std::memory_order_relaxed); }

  std::atomic<int64_t> threads_{0};  // that work now
  std::atomic<int64_t> all_ns_{0};
  std::atomic<int64_t> any_ns_{0};  // while a thread works: less the moment at which the first one began
};

// Adds its lifetime to a WorkTime, unless that is null or the thread already has such an object.
class BusyScope {
 public:
  explicit BusyScope(WorkTime* work) : work_(work) {
    if (work_ == nullptr || depth_++ > 0) return;
    began_ = MonotonicClock::now();
    work_->Begin(began_);
  }
  ~BusyScope() {
    if (work_ != nullptr && --depth_ == 0) work_->End(began_, MonotonicClock::now());
  }
  BusyScope(const BusyScope&) = delete;
  BusyScope& operator=(const BusyScope&) = delete;

 private:
  static inline thread_local int depth_ = 0;
  WorkTime* const work_;
  MonotonicClock::time_point began_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_STEP_WATCH_H_
