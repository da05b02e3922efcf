// Notices that a process is a child of fork.
#ifndef TENSORBRAID_PJRT_FORK_COUNT_H_
#define TENSORBRAID_PJRT_FORK_COUNT_H_

#include <atomic>

namespace tensorbraid::pjrt {

namespace internal {
extern constinit std::atomic<int> fork_count;
}

// Starts to count. Thread-safe; further calls do nothing.
void CountForks();
// The number of forks between this process and the one that first called CountForks. Cheap.
inline int ForkCount() { return internal::fork_count.load(std::memory_order_relaxed); }

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_FORK_COUNT_H_
