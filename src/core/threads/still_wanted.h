// Lets long work end early when its result is no longer needed.
#ifndef TENSORBRAID_CORE_THREADS_STILL_WANTED_H_
#define TENSORBRAID_CORE_THREADS_STILL_WANTED_H_

#include <functional>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Long work calls this function from time to time. It returns OK, or the error with which the work must end. Cheap and
// thread-safe. A null function means that the work is always wanted.
using StillWanted = std::function<Status()>;

inline Status CheckStillWanted(const StillWanted& still_wanted) {
  return still_wanted == nullptr ? OkStatus() : still_wanted();
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_THREADS_STILL_WANTED_H_
