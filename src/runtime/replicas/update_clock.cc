#include "runtime/replicas/update_clock.h"

#include <algorithm>

#include "core/text/strings.h"

namespace tensorbraid {

int64_t UpdateClock::version() const {
  MutexLock lock(mu_);
  return completed_;
}

UpdateClock::Ages UpdateClock::ages() const {
  MutexLock lock(mu_);
  Ages ages = ages_;
  ages.accepted = accepted_;
  return ages;
}

StatusOr<UpdateClock::Decision> UpdateClock::Admit(int64_t version, int64_t max_age) {
  Decision decision;
  {
    MutexLock lock(mu_);
    if (version < 0 || version > completed_) {
      return FailedPrecondition("a gradient was computed from version ", version, " of ", name_, ", which has version ",
                                completed_, ": the variable was lost in the meantime");
    }
    decision.age = accepted_ - version;
    if (max_age >= 0 && decision.age > max_age) {
      ++ages_.dropped;
      return decision;
    }
    ++accepted_;
    ages_.sum += decision.age;
    ages_.max = std::max(ages_.max, decision.age);
  }
  decision.update = MakeRef<PendingUpdate>(RefPtr<UpdateClock>::Share(this));
  return decision;
}

void UpdateClock::Complete() {
  MutexLock lock(mu_);
  ++completed_;
}

std::string UpdateClock::DebugString() const { return StrCat("update clock '", name_, "' at version ", version()); }

std::string PendingUpdate::DebugString() const { return StrCat("pending update of ", clock_->DebugString()); }

}  // namespace tensorbraid
