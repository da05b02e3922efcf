#include "transport/side_lane/lane_link.h"

#include <sched.h>

#include <utility>

#include "core/memory/allocator.h"
#include "core/system/clock.h"
#include "core/text/strings.h"
#include "core/threads/thread.h"
#include "transport/codec.h"

namespace tensorbraid {
namespace {

// Makes the message's payload valid beyond the handler's call.
void OwnPayload(Message* message) {
  auto* payload = const_cast<Payload*>(PayloadOf(*message));
  if (payload == nullptr || payload->owner || payload->size() == 0) return;
  RefPtr<Buffer> copy = AllocateBuffer(payload->size());
  if (!copy) return;  // the payload stays empty; its tensor is then malformed
  payload->CopyTo(copy->data());
  payload->pieces = {{static_cast<const std::byte*>(copy->data()), copy->size()}};
  payload->owner = std::move(copy);
}

// Whether the message is a BulkTensor, or the last part of one.
bool EndsBulkTensor(const Message& message) {
  const auto* const bulk = std::get_if<BulkTensor>(&message);
  return bulk != nullptr && bulk->offset + bulk->payload.size() >= bulk->meta.bytes;
}

}  // namespace

// --- Sending.

void LaneLink::SendBy(Message message, bool urgent) {
  const auto send_by_base = [&] { urgent ? base_->Send(std::move(message)) : base_->SendLater(std::move(message)); };
  switch (sends_by_.load(std::memory_order_acquire)) {
    case SendsBy::kBase:
      return send_by_base();
    case SendsBy::kLane:
      break;
    case SendsBy::kBaseForNow: {
      MutexLock lock(send_mu_);
      if (sends_by_ == SendsBy::kLane) break;
      if (std::holds_alternative<BulkTensor>(message)) ++bulk_sent_;
      return send_by_base();
    }
  }
  if (closed_.load(std::memory_order_relaxed) || IsDown()) return;
  if (const Status s = lane_->Send(message, urgent); !s.ok()) return LaneFailed(s);
  // The peer may answer at once. A thread whose core has been idle takes some 50 us to wake, so it wakes meanwhile.
  if (urgent && sleeps_.load(std::memory_order_relaxed)) lane_->Wake();
}

bool LaneLink::Switch(std::shared_ptr<SideLane> lane) {
  {
    MutexLock lock(mu_);
    if (IsDown() && !down_waits_) return false;
    down_waits_ = false;  // the lane's thread delivers the end
    lane_ = std::move(lane);
  }
  // It receives for the lane before the peer has switched, because the lane may need that to send.
  threads_->Add();
  Thread("tb-lane", [self = shared_from_this()] { self->Run(); }).Detach();
  MutexLock lock(send_mu_);
  base_->Send(LaneChoice{.side_lane = true, .bulk_tensors = bulk_sent_, .why = ""});
  sends_by_ = SendsBy::kLane;
  return true;
}

void LaneLink::StayOnBase() {
  sends_by_ = SendsBy::kBase;
  {
    MutexLock lock(mu_);
    if (!std::exchange(down_waits_, false)) return;
  }
  DeliverDown();
}

void LaneLink::Close(Status why) {
  closed_.store(true, std::memory_order_relaxed);
  if (sends_by_ == SendsBy::kLane) lane_->Close();
  base_->Close(std::move(why));
}

void LaneLink::LaneFailed(const Status& why) {
  Close(Unavailable("the connection to ", peer().task, " was closed because of an error of its lane: ", why.message()));
}

// --- Events of the base.

void LaneLink::OnBaseMessage(Message message) {
  if (sends_by_.load(std::memory_order_relaxed) == SendsBy::kBase) {  // so the peer stays there, too
    return handler_->OnMessage(shared_from_this(), std::move(message));
  }
  const bool ends_bulk = EndsBulkTensor(message);
  const bool is_bulk = std::holds_alternative<BulkTensor>(message);
  {
    MutexLock lock(mu_);
    if (peers_bulk_tensors_ && (!is_bulk || bulk_received_ >= *peers_bulk_tensors_)) return;  // against the rules
  }
  handler_->OnMessage(shared_from_this(), std::move(message));
  if (!ends_bulk) return;
  MutexLock lock(mu_);
  ++bulk_received_;
  LookWhetherBaseIsDone();
}

void LaneLink::OnPeerSwitched(uint64_t bulk_tensors) {
  MutexLock lock(mu_);
  if (!peers_bulk_tensors_) peers_bulk_tensors_ = bulk_tensors;
  LookWhetherBaseIsDone();
}

void LaneLink::LookWhetherBaseIsDone() {
  if (!peers_bulk_tensors_ || bulk_received_ < *peers_bulk_tensors_) return;
  base_is_done_.store(true, std::memory_order_release);
  if (lane_ != nullptr) lane_->Wake();
}

void LaneLink::OnBaseDown(const Status& why) {
  {
    MutexLock lock(mu_);
    why_down_ = why;
    base_down_.store(true, std::memory_order_release);
    if (lane_ != nullptr) return lane_->Wake();
    down_waits_ = peers_bulk_tensors_.has_value() && sends_by_ == SendsBy::kBaseForNow;
    if (down_waits_) return;
  }
  DeliverDown();
}

void LaneLink::DeliverDown() {
  Status why;
  {
    MutexLock lock(mu_);
    why = why_down_;
  }
  handler_->OnLinkDown(shared_from_this(), why);
}

// --- The lane's thread.

void LaneLink::Run() {
  const auto self = shared_from_this();
  const bool polls = NumCores() > 1;
  std::vector<Message> early;  // arrived by the lane before the last one by the base
  const auto hand_on = [&](Message message) {
    if (!closed_.load(std::memory_order_relaxed)) handler_->OnMessage(self, std::move(message));
  };
  const auto keep = [&](Message message) {
    OwnPayload(&message);
    early.push_back(std::move(message));
  };
  bool in_order = false;  // what arrives by the lane is next
  const auto base_is_done = [this] { return base_is_done_.load(std::memory_order_acquire); };
  const auto wanted = [&] { return IsDown() || (!in_order && base_is_done()); };
  MonotonicClock::time_point last = MonotonicClock::now();
  for (;;) {
    const bool down = IsDown();  // before looking: what was sent before the link went down is then still received
    if (!in_order && base_is_done()) {
      in_order = true;
      receives_by_lane_ = true;
      for (Message& message : early) hand_on(std::move(message));
      early = {};
    }
    const StatusOr<bool> received = in_order ? lane_->Receive(hand_on) : lane_->Receive(keep);
    if (!received.ok()) {
      LaneFailed(received.status());
      while (!IsDown()) lane_->Sleep([this] { return IsDown(); });
      break;
    }
    if (*received) {
      last = MonotonicClock::now();
      continue;
    }
    if (down) {
      if (!in_order || closed_.load(std::memory_order_relaxed) || lane_->IsDrained()) break;
      sched_yield();
      continue;
    }
    if (polls && MonotonicClock::now() - last < stay_awake_) {
      sched_yield();
      continue;
    }
    sleeps_.store(true, std::memory_order_relaxed);
    lane_->Sleep(wanted);
    sleeps_.store(false, std::memory_order_relaxed);
    last = MonotonicClock::now();
  }
  lane_->End();
  DeliverDown();
  threads_->Remove();
}

}  // namespace tensorbraid
