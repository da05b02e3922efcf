// Values that are lost, because a program that has consumed them failed.
#ifndef TENSORBRAID_PJRT_LOSS_H_
#define TENSORBRAID_PJRT_LOSS_H_

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "core/threads/mutex.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::pjrt {

// What becomes of the variables that one run of a program updates: the run consumes their old values, so if it fails,
// they have none. The arrays of the new values share it, so that each use of such a variable tells what has happened.
// Thread-safe.
class Loss {
 public:
  // `what` is the beginning of a sentence: "the variables 'w' and 'b' on /device:GPU:0 have lost their values".
  explicit Loss(std::shared_ptr<const std::string> what) : what_(std::move(what)) {}

  // The run has failed. Returns status().
  Status Happen(const Status& error) TB_EXCLUDES(mu_);
  // OK as long as the run has not failed. Then Aborted, with the variables and the first error: the way to go on is to
  // restore or initialize them again, as sessions that recover from a checkpoint do.
  Status status() const TB_EXCLUDES(mu_);

 private:
  const std::shared_ptr<const std::string> what_;
  std::atomic<bool> has_happened_{false};
  mutable Mutex mu_;
  Status status_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_LOSS_H_
