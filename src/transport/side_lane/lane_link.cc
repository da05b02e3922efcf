#include "transport/side_lane/lane_link.h"

#include <sched.h>

#include <utility>
#include <vector>

#include "core/memory/allocator.h"
#include "core/system/clock.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/polling_gate.h"
#include "core/threads/polling_time.h"
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

LaneLink::LaneLink(std::shared_ptr<Link> base, LaneKind* kind, bool connected, std::string word, LiveCount* threads,
                   std::chrono::microseconds stay_awake)
    : base_(std::move(base)),
      kind_(kind),
      opening_(std::make_shared<LaneOpening>(base_, connected, std::move(word))),
      threads_(threads),
      stay_awake_(stay_awake) {}

void LaneLink::Start(std::shared_ptr<LinkHandler> handler) {
  handler_ = std::move(handler);
  threads_->Add();
  Thread("tb-lane", [self = shared_from_this()]() mutable {
    LiveCount* const threads = self->threads_;
    self->Run();
    self = nullptr;  // before the transport stops waiting for this thread
    threads->Remove();
  }).Detach();
}

// --- Sending.

void LaneLink::SendBy(Message message, bool urgent) {
  const auto send_by_base = [&] { urgent ? base_->Send(std::move(message)) : base_->SendLater(std::move(message)); };
  State state = state_.load(std::memory_order_acquire);
  if (state == State::kOnBase) return send_by_base();
  if (state != State::kSwitched) {
    // Sends under the lock, so that no message follows kSwitched, and its number of BulkTensors is right.
    MutexLock lock(mu_);
    state = state_;
    if (state != State::kSwitched) {
      if (std::holds_alternative<BulkTensor>(message)) ++bulk_sent_;
      return send_by_base();
    }
  }
  if (closed_.load(std::memory_order_relaxed)) return;
  if (const Status s = lane_->Send(message, urgent); !s.ok()) return CloseBecause(s);
  // The peer may answer at once. This link's thread, which receives the answer, may take some 50 us to wake if its core
  // has been idle. So it is woken now, and wakes while the message is on its way.
  if (urgent && sleeps_.load(std::memory_order_relaxed)) lane_->Wake();
}

void LaneLink::Switch() {
  base_->SendLaneMessage({.kind = LaneMessage::Kind::kSwitched, .bulk_tensors = bulk_sent_});
  state_ = State::kSwitched;
}

void LaneLink::Close(Status why) {
  closed_.store(true, std::memory_order_relaxed);
  if (state_ == State::kSwitched) lane_->Close();
  base_->Close(std::move(why));
}

void LaneLink::CloseBecause(const Status& lane_error) {
  Close(Unavailable("the connection to ", peer().task,
                    " was closed because of an error of its lane: ", std::string(lane_error.message())));
}

// --- Events of the base.

void LaneLink::OnMessage(Message message) {
  // In this state, the peer does not switch either.
  if (state_.load(std::memory_order_relaxed) == State::kOnBase) return handler_->OnMessage(std::move(message));
  const bool is_bulk = std::holds_alternative<BulkTensor>(message);
  const bool ends_bulk = EndsBulkTensor(message);
  {
    MutexLock lock(mu_);
    if (peers_bulk_tensors_ && (!is_bulk || BaseIsDone())) return;  // the peer breaks the protocol
  }
  handler_->OnMessage(std::move(message));
  if (!ends_bulk) return;
  MutexLock lock(mu_);
  ++bulk_received_;
  if (BaseIsDone()) CallThread();
}

Status LaneLink::OnLaneMessage(const LaneMessage& message) {
  if (message.kind == LaneMessage::Kind::kNote) return opening_->OnNote(message.text);
  MutexLock lock(mu_);
  switch (message.kind) {
    case LaneMessage::Kind::kReady:
      if (!opening_->connected() || peer_is_ready_) break;
      peer_is_ready_ = true;
      if (state_ == State::kOpen) Switch();
      return OkStatus();
    case LaneMessage::Kind::kSwitched:
      return OnSwitched(message.bulk_tensors);
    case LaneMessage::Kind::kGivenUp:
      if (state_ == State::kSwitched) break;
      peer_gave_up_ = true;
      opening_->Stop(Unavailable(message.text));
      CallThread();
      return OkStatus();
    default:
      break;
  }
  return InvalidArgument("it has sent a message about its side lane out of order");
}

Status LaneLink::OnSwitched(uint64_t bulk_tensors) {
  // The end that accepted follows the other one. The end that connected has switched first.
  const State before = opening_->connected() ? State::kSwitched : State::kOpen;
  if (state_ != before || peers_bulk_tensors_) {
    return InvalidArgument("it has switched to its side lane out of order");
  }
  peers_bulk_tensors_ = bulk_tensors;
  if (!opening_->connected()) Switch();
  CallThread();
  return OkStatus();
}

void LaneLink::OnLinkDown(const Status& why) {
  {
    MutexLock lock(mu_);
    why_down_ = why;
    opening_->Stop(why);
    CallThread();
    if (thread_runs_) return;
  }
  ReportDown();
}

void LaneLink::CallThread() {
  called_.store(true, std::memory_order_release);
  if (lane_ != nullptr) lane_->Wake();
}

void LaneLink::ReportDown() {
  Status why;
  {
    MutexLock lock(mu_);
    why = *why_down_;
  }
  handler_->OnLinkDown(why);
  handler_ = nullptr;
}

// --- The link's thread.

void LaneLink::Run() {
  const auto lane = kind_->Open(opening_);
  if (!lane.ok()) {
    GiveUp(lane.status());
  } else {
    if (TakeLane(*lane)) ReadLane();
    if (state_ == State::kOnBase) {
      LogBase(opening_->status());
      (*lane)->Abandon();
    } else {
      (*lane)->End();
    }
  }
  {
    MutexLock lock(mu_);
    thread_runs_ = false;
    if (!why_down_) return;
  }
  ReportDown();
}

void LaneLink::GiveUp(const Status& why) {
  {
    MutexLock lock(mu_);
    state_ = State::kOnBase;
    if (!peer_gave_up_) {
      base_->SendLaneMessage({.kind = LaneMessage::Kind::kGivenUp, .text = std::string(why.message())});
    }
  }
  LogBase(why);
}

void LaneLink::LogBase(const Status& why) {
  {
    MutexLock lock(mu_);
    if (why_down_) return;  // there is nothing that could pass through the lane
  }
  TB_LOG(Info, "transport") << "tensors to and from " << peer().task << " do not pass through " << kind_->name() << ": "
                            << why.message();
}

bool LaneLink::TakeLane(std::shared_ptr<SideLane> lane) {
  MutexLock lock(mu_);
  if (peer_gave_up_ || why_down_) {
    state_ = State::kOnBase;
    return false;
  }
  lane_ = std::move(lane);
  state_ = State::kOpen;
  if (!opening_->connected()) {
    base_->SendLaneMessage({.kind = LaneMessage::Kind::kReady});
  } else if (peer_is_ready_) {
    Switch();
  }
  return true;
}

LaneLink::Events LaneLink::Look() {
  MutexLock lock(mu_);
  if (state_ == State::kOpen && (peer_gave_up_ || why_down_)) state_ = State::kOnBase;
  return {.down = why_down_.has_value(), .base_is_done = BaseIsDone()};
}

void LaneLink::ReadLane() {
  const bool polls = NumCores() > 1;
  std::vector<Message> early;  // arrived over the lane before the last message over the base
  const auto hand_on = [this](Message message) {
    if (!closed_.load(std::memory_order_relaxed)) handler_->OnMessage(std::move(message));
  };
  const auto keep = [&](Message message) {
    OwnPayload(&message);
    early.push_back(std::move(message));
  };
  const auto called = [this] { return called_.load(std::memory_order_acquire); };
  Events events;
  const auto look_if_called = [&] {
    if (called() && called_.exchange(false, std::memory_order_acq_rel)) events = Look();
  };
  bool in_order = false;  // everything that came over the base has been delivered
  PollingGate& gate = PollingGate::OfProcess();
  MonotonicClock::time_point now = MonotonicClock::now(), last = now;
  PollingTime polling;
  for (;;) {
    // Takes the events before it reads the lane: so what the peer has sent before the link went down is still received.
    look_if_called();
    if (state_ == State::kOnBase) return;
    if (!in_order && events.base_is_done) {
      in_order = receives_by_lane_ = true;
      TB_LOG(Info, "transport") << "tensors to and from " << peer().task << " pass through " << kind_->name();
      for (Message& message : early) hand_on(std::move(message));
      early = {};
    }
    const StatusOr<bool> received = in_order ? lane_->Receive(hand_on) : lane_->Receive(keep);
    if (!received.ok()) {
      CloseBecause(received.status());
      while (!events.down) {
        lane_->Sleep(called);
        look_if_called();
      }
      return;
    }
    if (*received) {
      polling.End();
      now = last = MonotonicClock::now();
      continue;
    }
    if (events.down) {
      if (!in_order || closed_.load(std::memory_order_relaxed) || lane_->IsDrained()) return;
      sched_yield();
      continue;
    }
    if (polls && now - last < stay_awake_ && gate.IsOpen(now)) {
      polling.FoundNothing();
      now = gate.Yield();
      continue;
    }
    polling.End();
    sleeps_.store(true, std::memory_order_relaxed);
    lane_->Sleep(called);
    sleeps_.store(false, std::memory_order_relaxed);
    now = last = MonotonicClock::now();
  }
}

}  // namespace tensorbraid
