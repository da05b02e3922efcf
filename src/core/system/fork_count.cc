#include "core/system/fork_count.h"

#include <pthread.h>

namespace tensorbraid {

namespace internal {
constinit std::atomic<int> fork_count{0};
}

void CountForks() {
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { internal::fork_count.fetch_add(1, std::memory_order_relaxed); });
}

}  // namespace tensorbraid
