// Lets the messages that a thread sends shortly after one another leave together. To send a message costs tens of
// microseconds on each side, in system calls and thread switches, however small the message is.
#ifndef TENSORBRAID_CORE_SEND_BATCH_H_
#define TENSORBRAID_CORE_SEND_BATCH_H_

#include <chrono>
#include <memory>

#include "absl/container/inlined_vector.h"
#include "core/clock.h"

namespace tensorbraid {

// Something that queues messages, such as one stream of a connection. Thread-safe.
class MessageQueue : public std::enable_shared_from_this<MessageQueue> {
 public:
  virtual ~MessageQueue() = default;
  // Sends what is queued. A thread that computes may yield its core, if the thread that sends waits for a core.
  virtual void SendQueued(bool may_yield) = 0;
};

// While a SendBatch lives, the queues to which its thread adds messages do not send them; the batch makes each of them
// send once, when it ends.
//
// A batch that gathers belongs to a thread that computes. It sends when the thread has nothing to run, and otherwise
// between two kernels if kGather have passed since it last did so. So the first message after a pause leaves at once,
// and a message waits for kGather at most, unless a kernel takes longer than was estimated.
//
// Only the outermost batch of a thread has an effect. Used by one thread.
class SendBatch {
 public:
  static constexpr std::chrono::microseconds kGather{1000};

  enum class Until { kEnd, kGathered };
  explicit SendBatch(Until until = Until::kEnd);
  ~SendBatch();
  SendBatch(const SendBatch&) = delete;
  SendBatch& operator=(const SendBatch&) = delete;

  // Makes the queues that the batch holds send.
  void Flush();

  // Adds the queue to this thread's batch. False if the thread has none; the caller then sends.
  static bool Hold(MessageQueue* queue);
  // Whether this thread has a batch that gathers and holds a queue.
  static bool Gathers();
  // To be called between two kernels, if Gathers(). The next kernel is expected to take `next_kernel`.
  static void BeforeKernel(std::chrono::nanoseconds next_kernel);

 private:
  const Until until_;
  const bool is_outermost_;
  absl::InlinedVector<std::shared_ptr<MessageQueue>, 4> held_;
  MonotonicClock::time_point last_flush_ = MonotonicClock::time_point::min();
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SEND_BATCH_H_
