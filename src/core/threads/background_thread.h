// Runs work that may take long without slowing down the rest of the process.
#ifndef TENSORBRAID_CORE_THREADS_BACKGROUND_THREAD_H_
#define TENSORBRAID_CORE_THREADS_BACKGROUND_THREAD_H_

#include <functional>
#include <string>

namespace tensorbraid {

// Runs `body` on a new thread, and returns when `body` has ended. If other threads keep all cores busy, the new thread
// gets a small share of a core. `body` runs under the file limit of the calling thread (file_access.h).
void RunAtLowPriority(const std::string& name, std::function<void()> body);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_THREADS_BACKGROUND_THREAD_H_
