// The steps that a master is running.
#ifndef TENSORBRAID_CLUSTER_MASTER_RUNNING_STEPS_H_
#define TENSORBRAID_CLUSTER_MASTER_RUNNING_STEPS_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "core/system/clock.h"
#include "core/threads/mutex.h"
#include "tensorbraid/core/status.h"
#include "transport/messages.h"

namespace tensorbraid {

class MasterStep;

// Numbers and counts steps, and finds those to abort when their session or the master ends. Thread-safe.
class RunningSteps {
 public:
  // A number that no other step (and no session) of this master has.
  uint64_t NewNumber() { return next_number_++; }
  // Cancelled once Stop has been called.
  Status Add(const std::shared_ptr<MasterStep>& step);
  // The step has ended. `signature` identifies the signature that it ran.
  void Remove(const MasterStep& step, const void* signature);
  void Abort(SessionId session, const Status& why);
  // Aborts all steps; no more can be added.
  void Stop(const Status& why);
  // Cancelled once Stop has been called.
  Status CheckRunning() const;

  // The number of steps that had ended at some moment. For each second, only the steps of the signature (RunSignature
  // in master_session.h) that ran most often are counted. So a chief that also aggregates gradients, in separate steps,
  // has the same count as the other workers.
  struct Count {
    MonotonicClock::time_point at;
    int64_t ended = 0;
  };
  // For reports. `history` has at most one count per second, the oldest first. Counts are taken when steps begin, so
  // that counting needs no timer.
  struct State {
    int64_t ended = 0;                          // so far
    MonotonicClock::duration spanning{0};       // in which at least one step ran that spans several tasks
    MonotonicClock::duration first_to_last{0};  // from the beginning of the first step to that of the latest
    std::vector<Count> history;
    std::vector<std::shared_ptr<MasterStep>> running;  // in the order in which they began
  };
  State state() const;

 private:
  void AbortIf(const std::function<bool(const MasterStep&)>& matches, const Status& why);

  std::atomic<uint64_t> next_number_{1};
  std::atomic<bool> stopped_{false};
  mutable Mutex mu_;
  absl::flat_hash_map<uint64_t, std::shared_ptr<MasterStep>> steps_ TB_GUARDED_BY(mu_);  // by number

  struct Ended {
    const void* signature = nullptr;
    int64_t steps = 0;
  };
  // The most steps of one signature since the last count.
  int64_t MostEnded() const TB_REQUIRES(mu_);

  absl::InlinedVector<Ended, 4> ended_ TB_GUARDED_BY(mu_);  // since the last count
  std::deque<Count> history_ TB_GUARDED_BY(mu_);
  MonotonicClock::time_point next_count_ TB_GUARDED_BY(mu_);
  int num_spanning_ TB_GUARDED_BY(mu_) = 0;                       // running steps that span several tasks
  MonotonicClock::time_point spanning_since_ TB_GUARDED_BY(mu_);  // when the first of them began
  MonotonicClock::duration spanning_ TB_GUARDED_BY(mu_){0};       // until then
  MonotonicClock::time_point first_begun_ TB_GUARDED_BY(mu_);
  MonotonicClock::time_point last_begun_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MASTER_RUNNING_STEPS_H_
