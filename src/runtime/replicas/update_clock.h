// Counts the updates of one variable by replicas that train asynchronously, and measures the age of their gradients.
#ifndef TENSORBRAID_RUNTIME_REPLICAS_UPDATE_CLOCK_H_
#define TENSORBRAID_RUNTIME_REPLICAS_UPDATE_CLOCK_H_

#include <atomic>
#include <string>
#include <utility>

#include "core/threads/mutex.h"
#include "core/values/variant.h"
#include "runtime/kernel/resource.h"

namespace tensorbraid {

class PendingUpdate;

// Each variable has an update clock, on its parameter server. The version is the number of completed updates. A replica
// reads the version before it reads the variable. The age of its gradient is the number of updates that were accepted
// before the gradient and not completed when the version was read. So the age counts every update that the replica's
// value may lack. The age is never too small. It is too large by the number of updates that were completed after the
// version was read and before the value was read.
//
// Accepting a gradient is one atomic decision that never waits. Thread-safe.
class UpdateClock final : public Resource {
 public:
  static constexpr const char* kTypeName = "update clock";
  explicit UpdateClock(std::string name) : name_(std::move(name)) {}

  int64_t version() const;

  struct Decision {
    int64_t age = 0;
    RefPtr<PendingUpdate> update;  // null if the gradient is dropped
  };
  // Decides on a gradient that was computed from `version`. Accepts it unless it is older than `max_age`; a negative
  // `max_age` accepts all. FailedPrecondition if the variable has not had that version.
  StatusOr<Decision> Admit(int64_t version, int64_t max_age);
  // The ages of all gradients so far.
  struct Ages {
    int64_t accepted = 0;
    int64_t dropped = 0;
    int64_t sum = 0;  // over the accepted gradients
    int64_t max = 0;  // of the accepted gradients
  };
  Ages ages() const;
  std::string DebugString() const override;

 private:
  friend class PendingUpdate;
  void Complete();

  const std::string name_;
  mutable Mutex mu_;
  int64_t accepted_ TB_GUARDED_BY(mu_) = 0;
  int64_t completed_ TB_GUARDED_BY(mu_) = 0;
  Ages ages_ TB_GUARDED_BY(mu_);  // `accepted` is not set
};

// An update that was accepted. Complete(), or the destruction of this object, completes it. An update that fails is
// counted too, since it may have changed the variable. Thread-safe.
class PendingUpdate final : public VariantValue {
 public:
  static constexpr const char* kTypeName = "pending update";
  explicit PendingUpdate(RefPtr<UpdateClock> clock) : clock_(std::move(clock)) {}
  ~PendingUpdate() override { Complete(); }

  void Complete() {
    if (!completed_.exchange(true)) clock_->Complete();
  }
  std::string DebugString() const override;

 private:
  const RefPtr<UpdateClock> clock_;
  std::atomic<bool> completed_{false};
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_REPLICAS_UPDATE_CLOCK_H_
