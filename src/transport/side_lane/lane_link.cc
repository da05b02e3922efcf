#include "transport/side_lane/lane_link.h"

#include <sched.h>

#include <utility>

#include "core/allocator.h"
#include "core/clock.h"
#include "core/strings.h"
#include "core/thread.h"
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

}  // namespace

void LaneLink::SendBy(Message message, bool urgent) {
  if (lane_ == nullptr) return urgent ? base_->Send(std::move(message)) : base_->SendLater(std::move(message));
  if (closed_.load(std::memory_order_relaxed)) return;
  if (const Status s = lane_->Send(message, urgent); !s.ok()) LaneFailed(s);
}

void LaneLink::Close(Status why) {
  closed_.store(true, std::memory_order_relaxed);
  if (lane_ != nullptr) lane_->Close();
  base_->Close(std::move(why));
}

void LaneLink::LaneFailed(const Status& why) {
  Close(Unavailable("the connection to ", peer().task, " was closed because of an error of its lane: ", why.message()));
}

void LaneLink::ComeUp(std::shared_ptr<SideLane> lane) {
  {
    MutexLock lock(mu_);
    if (state_ != State::kChoosing) return;
    state_ = State::kComingUp;
    lane_ = std::move(lane);
  }
  const auto self = shared_from_this();
  handler_->OnLinkUp(self);
  for (;;) {
    Transport::ConnectDone done;
    std::vector<Message> early;
    Status down;
    bool is_down = false;
    {
      MutexLock lock(mu_);
      done = std::exchange(when_up_, nullptr);
      early.swap(early_);
      if (done == nullptr && early.empty()) {
        is_down = IsDown() && lane_ == nullptr;
        state_ = is_down ? State::kDown : State::kUp;
        down = why_down_;
        if (!is_down) break;
      }
    }
    if (is_down) return handler_->OnLinkDown(self, down);
    if (done != nullptr) done(std::shared_ptr<Link>(self));
    for (Message& m : early) handler_->OnMessage(self, std::move(m));
  }
  if (lane_ == nullptr) return;
  threads_->Add();
  Thread("tb-lane", [self] { self->Run(); }).Detach();
}

void LaneLink::WhenUp(Transport::ConnectDone done) {
  Status down;
  {
    MutexLock lock(mu_);
    if (state_ == State::kChoosing || state_ == State::kComingUp) {
      when_up_ = std::move(done);
      return;
    }
    if (state_ == State::kDown) down = why_down_.ok() ? Unavailable("the connection was closed") : why_down_;
  }
  if (down.ok()) {
    done(std::shared_ptr<Link>(shared_from_this()));
  } else {
    done(down);
  }
}

void LaneLink::OnBaseMessage(Message message) {
  {
    MutexLock lock(mu_);
    if (state_ == State::kChoosing || state_ == State::kComingUp) {
      OwnPayload(&message);
      early_.push_back(std::move(message));
      return;
    }
    if (state_ == State::kDown || lane_ != nullptr) return;
  }
  handler_->OnMessage(shared_from_this(), std::move(message));
}

void LaneLink::OnBaseDown(const Status& why) {
  Transport::ConnectDone done;
  {
    MutexLock lock(mu_);
    why_down_ = why;
    base_down_.store(true, std::memory_order_release);
    if (state_ == State::kComingUp) return;  // ComeUp goes on
    if (lane_ != nullptr) return lane_->Wake();
    const bool was_up = state_ == State::kUp;
    state_ = State::kDown;
    early_.clear();
    if (!was_up) done = std::exchange(when_up_, nullptr);
    if (!was_up && done == nullptr) return;
  }
  if (done != nullptr) {
    return done(Unavailable("the connection to ", peer().task, " was closed before it was up: ", why.message()));
  }
  handler_->OnLinkDown(shared_from_this(), why);
}

void LaneLink::Run() {
  const auto self = shared_from_this();
  const bool polls = NumCores() > 1;
  const auto on_message = [&](Message message) {
    if (!closed_.load(std::memory_order_relaxed)) handler_->OnMessage(self, std::move(message));
  };
  MonotonicClock::time_point last = MonotonicClock::now();
  for (;;) {
    const bool down = IsDown();  // before looking: what was sent before the link went down is then still received
    const StatusOr<bool> received = lane_->Receive(on_message);
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
      if (closed_.load(std::memory_order_relaxed) || lane_->IsDrained()) break;
      sched_yield();
      continue;
    }
    if (polls && MonotonicClock::now() - last < stay_awake_) {
      sched_yield();
      continue;
    }
    lane_->Sleep([this] { return IsDown(); });
  }
  lane_->End();
  Status why;
  {
    MutexLock lock(mu_);
    state_ = State::kDown;
    why = why_down_;
  }
  handler_->OnLinkDown(self, why);
  threads_->Remove();
}

}  // namespace tensorbraid
