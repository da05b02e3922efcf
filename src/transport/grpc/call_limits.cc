#include "transport/grpc/call_limits.h"

#include <utility>

#include "core/text/logging.h"
#include "core/text/strings.h"

namespace tensorbraid {

Status CallLimits::Ticket::Begin(std::shared_ptr<CallLimits> limits, const std::string& client,
                                 std::function<void()> cancel) {
  MutexLock lock(limits->mu_);
  int& count = limits->in_progress_[client];
  if (count >= limits->limits_.max_requests) {
    return ResourceExhausted("the connection from ", client, " has ", count,
                             " requests in progress; the server's --max_requests allows no more");
  }
  ++count;
  waiting_ = limits->awaited_.insert(limits->awaited_.end(), Waiting{MonotonicClock::now(), std::move(cancel)});
  waits_ = true;
  if (!limits->check_scheduled_) limits->ScheduleCheck();
  limits_ = std::move(limits);
  client_ = client;
  return OkStatus();
}

Status CallLimits::Ticket::RequestArrived(size_t bytes) {
  StopWaiting();
  const auto size = static_cast<int64_t>(bytes);
  const int64_t most = limits_->limits_.max_message_bytes;
  if (size > most) {
    return ResourceExhausted("a request of ", bytes, " bytes exceeds the server's --max_message_bytes=", most,
                             "; feed less in one call");
  }
  const int64_t most_of_all = limits_->limits_.max_total_request_bytes;
  MutexLock lock(limits_->mu_);
  if (size > most_of_all - limits_->bytes_) {
    return ResourceExhausted("a request of ", bytes, " bytes and the ", limits_->bytes_,
                             " bytes of other requests in progress exceed the server's --max_total_request_bytes=",
                             most_of_all, "; try again later, or feed less in one call");
  }
  limits_->bytes_ += size;
  bytes_ = size;
  return OkStatus();
}

void CallLimits::Ticket::StopWaiting() {
  std::function<void()> dropped;  // may hold the call; destroyed without the lock
  MutexLock lock(limits_->mu_);
  if (!std::exchange(waits_, false)) return;
  dropped = std::move(waiting_->cancel);
  limits_->awaited_.erase(waiting_);
}

CallLimits::Ticket::~Ticket() {
  if (limits_ == nullptr) return;
  StopWaiting();
  MutexLock lock(limits_->mu_);
  limits_->bytes_ -= bytes_;
  const auto it = limits_->in_progress_.find(client_);
  if (--it->second == 0) limits_->in_progress_.erase(it);
}

void CallLimits::ScheduleCheck() {
  check_scheduled_ = true;
  // So a request is at most a quarter of the timeout too late when its call is cancelled.
  timer_->RunAfter(limits_.request_timeout / 4, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->CancelLate();
  });
}

void CallLimits::CancelLate() {
  MutexLock lock(mu_);
  check_scheduled_ = false;
  const auto late = MonotonicClock::now() - limits_.request_timeout;
  // The list is in order, and a call stays in it until its request has arrived or it has failed. `cancel` only asks
  // gRPC to cancel the call, which then fails on another thread.
  for (Ticket::Waiting& waiting : awaited_) {
    if (waiting.since > late) break;
    if (waiting.cancel == nullptr) continue;
    TB_LOG(Debug, "transport") << "cancelled a call whose request did not arrive in time";
    std::exchange(waiting.cancel, nullptr)();
  }
  if (!awaited_.empty()) ScheduleCheck();
}

}  // namespace tensorbraid
