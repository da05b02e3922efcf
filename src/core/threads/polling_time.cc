#include "core/threads/polling_time.h"

#include <atomic>

namespace tensorbraid {
namespace {

std::atomic<int64_t> process_ns{0};

}  // namespace

void PollingTime::AddToProcess(std::chrono::nanoseconds time) {
  process_ns.fetch_add(time.count(), std::memory_order_relaxed);
}

std::chrono::nanoseconds PollingTime::OfProcess() {
  return std::chrono::nanoseconds(process_ns.load(std::memory_order_relaxed));
}

}  // namespace tensorbraid
