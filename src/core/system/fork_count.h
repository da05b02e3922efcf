// Notices that a process is a child of fork.
#ifndef TENSORBRAID_CORE_SYSTEM_FORK_COUNT_H_
#define TENSORBRAID_CORE_SYSTEM_FORK_COUNT_H_

#include <atomic>

namespace tensorbraid {

namespace internal {
extern constinit std::atomic<int> fork_count;
}

// Starts to count. Thread-safe; further calls do nothing.
void CountForks();
// The number of forks between this process and the one that first called CountForks. Cheap.
inline int ForkCount() { return internal::fork_count.load(std::memory_order_relaxed); }

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SYSTEM_FORK_COUNT_H_
