#include "pjrt/loss.h"

#include "core/text/strings.h"

namespace tensorbraid::pjrt {

Status Loss::Happen(const Status& error) {
  MutexLock lock(mu_);
  if (status_.ok()) {
    status_ = Aborted(*what_, ", because a program that updates variables in place has failed (",
                      absl::StatusCodeToString(error.code()), ": ", error.message(),
                      "). Restore from a checkpoint, or initialize again");
    has_happened_.store(true, std::memory_order_release);
  }
  return status_;
}

Status Loss::status() const {
  if (!has_happened_.load(std::memory_order_acquire)) return OkStatus();
  MutexLock lock(mu_);
  return status_;
}

}  // namespace tensorbraid::pjrt
