#include "core/threads/polling_time.h"

#include <atomic>

namespace tensorbraid {
namespace {

std::atomic<int64_t> process_ns{0};

}  // namespace

uint64_t PollingTime::NewSeed() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(0x9E3779B97F4A7C15, std::memory_order_relaxed);
}

void PollingTime::AddToProcess(std::chrono::nanoseconds time) {
  process_ns.fetch_add(time.count(), std::memory_order_relaxed);
}

std::chrono::nanoseconds PollingTime::OfProcess() {
  return std::chrono::nanoseconds(process_ns.load(std::memory_order_relaxed));
}

}  // namespace tensorbraid
