#include "core/send_batch.h"

#include <utility>

namespace tensorbraid {
namespace {

thread_local SendBatch* this_threads_batch = nullptr;

}  // namespace

SendBatch::SendBatch(Until until) : until_(until), is_outermost_(this_threads_batch == nullptr) {
  if (is_outermost_) this_threads_batch = this;
}

SendBatch::~SendBatch() {
  if (!is_outermost_) return;
  this_threads_batch = nullptr;
  Flush();
}

void SendBatch::Flush() {
  if (held_.empty()) return;
  const auto held = std::exchange(held_, {});
  for (const auto& queue : held) queue->SendQueued(until_ == Until::kGathered);
  last_flush_ = MonotonicClock::now();
}

bool SendBatch::Hold(MessageQueue* queue) {
  if (this_threads_batch == nullptr) return false;
  auto& held = this_threads_batch->held_;
  for (const auto& other : held) {
    if (other.get() == queue) return true;
  }
  held.push_back(queue->shared_from_this());
  return true;
}

bool SendBatch::Gathers() {
  const SendBatch* const batch = this_threads_batch;
  return batch != nullptr && batch->until_ == Until::kGathered && !batch->held_.empty();
}

void SendBatch::BeforeKernel(std::chrono::nanoseconds next_kernel) {
  SendBatch* const batch = this_threads_batch;
  if (next_kernel > kGather || MonotonicClock::now() - kGather > batch->last_flush_) batch->Flush();
}

}  // namespace tensorbraid
