// Decides which of the errors of a step to report.
#ifndef TENSORBRAID_CORE_ERRORS_ERROR_RANK_H_
#define TENSORBRAID_CORE_ERRORS_ERROR_RANK_H_

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// When one part of a step fails, the others are cancelled, so a step usually ends with several errors: one cause and
// its consequences, in any order. Ranks a status by how much it says about the cause:
//
//   0  OK
//   1  Cancelled    another part has failed, or the client has given up
//   2  Aborted      state that the step needs has been dropped; any failure can lead to this
//   3  Unavailable  a task is gone
//   4  all others   name the fault itself
inline int ErrorRank(const Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kCancelled:
      return 1;
    case absl::StatusCode::kAborted:
      return 2;
    case absl::StatusCode::kUnavailable:
      return 3;
    default:
      return 4;
  }
}

// Replaces `*kept` by `error` if `error` has a higher rank. Of two errors with the same rank the first is kept.
inline void KeepCause(const Status& error, Status* kept) {
  if (ErrorRank(error) > ErrorRank(*kept)) *kept = error;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_ERRORS_ERROR_RANK_H_
