// The processors of a simulated machine.
#ifndef TENSORBRAID_PLANNER_SIMULATION_SHARED_CORES_H_
#define TENSORBRAID_PLANNER_SIMULATION_SHARED_CORES_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

#include "planner/simulation/event_queue.h"

namespace tensorbraid::planner {

// The cores of one machine. Each thread gets an equal share, as from a fair scheduler of an operating system: with n
// running threads on c cores, each runs at the speed min(1, c / n). Used by one thread.
class SharedCores {
 public:
  // `events` must outlive this object. REQUIRES: cores > 0.
  SharedCores(EventQueue* events, double cores) : events_(events), cores_(cores) {}
  SharedCores(const SharedCores&) = delete;

  // Runs a job that takes `ns` if each of its `threads` threads has a core. Calls `done` at the end: at once for a job
  // that takes no time. REQUIRES: threads > 0.
  void Run(double ns, double threads, std::function<void()> done);

  double cores() const { return cores_; }
  // Whether one more thread would have a core of its own.
  bool HasIdleCore() const { return threads_ + 1 <= cores_; }
  // The time that all cores together have worked so far.
  double busy_ns();

 private:
  struct Job {
    double end;  // in the time of a thread: see progress_
    uint64_t number;
    double threads;
    std::function<void()> done;
    bool operator<(const Job& o) const { return end != o.end ? end > o.end : number > o.number; }
  };
  double Speed() const { return threads_ <= cores_ ? 1 : cores_ / threads_; }
  void Advance();
  void ScheduleNext();

  EventQueue* const events_;
  const double cores_;
  std::priority_queue<Job> jobs_;
  double threads_ = 0;   // of all jobs
  double progress_ = 0;  // the time that a thread would have run if it had been there from the beginning
  double advanced_ns_ = 0;
  double busy_ns_ = 0;
  uint64_t next_ = 0;
  uint64_t change_ = 0;  // events that were scheduled before the last change of jobs_ have no effect
};

// Runs jobs one after the other on one thread of a machine, in the order of Run. Used by one thread.
class SerialJobs {
 public:
  // With `cores` null the jobs need no core, as on a device of their own.
  SerialJobs(EventQueue* events, SharedCores* cores) : events_(events), cores_(cores) {}
  SerialJobs(const SerialJobs&) = delete;

  void Run(double ns, double threads, std::function<void()> done);
  // The time for which jobs have run, including the time in which they waited for a core.
  double busy_ns() const { return busy_ns_; }

 private:
  struct Job {
    double ns;
    double threads;
    std::function<void()> done;
  };
  void StartNext();

  EventQueue* const events_;
  SharedCores* const cores_;
  std::deque<Job> waiting_;
  bool running_ = false;
  double started_ns_ = 0;
  double busy_ns_ = 0;
};

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_SIMULATION_SHARED_CORES_H_
