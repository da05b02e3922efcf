// The steps that a master is running.
#ifndef TENSORBRAID_CLUSTER_MASTER_RUNNING_STEPS_H_
#define TENSORBRAID_CLUSTER_MASTER_RUNNING_STEPS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "core/mutex.h"
#include "tensorbraid/status.h"
#include "transport/messages.h"

namespace tensorbraid {

class MasterStep;

// Numbers steps, and finds those to abort when their session or the master ends. Thread-safe.
class RunningSteps {
 public:
  // A number that no other step (and no session) of this master has.
  uint64_t NewNumber() { return next_number_++; }
  // Cancelled once Stop has been called.
  Status Add(const std::shared_ptr<MasterStep>& step);
  void Remove(StepId id);
  void Abort(SessionId session, const Status& why);
  // Aborts all steps; no more can be added.
  void Stop(const Status& why);
  // Cancelled once Stop has been called.
  Status CheckRunning() const;

 private:
  void AbortIf(const std::function<bool(const MasterStep&)>& matches, const Status& why);

  std::atomic<uint64_t> next_number_{1};
  std::atomic<bool> stopped_{false};
  Mutex mu_;
  absl::flat_hash_map<uint64_t, std::shared_ptr<MasterStep>> steps_ TB_GUARDED_BY(mu_);  // by number
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MASTER_RUNNING_STEPS_H_
