#include "pjrt/event.h"

#include <memory>
#include <utility>

#include "pjrt/client.h"

namespace tensorbraid::pjrt {
namespace {

struct PendingEvent {
  Event event;
  const Client* client;
  std::function<void(const Status&)> done;
};

// Called by the plugin.
void Happened(c_api::Error* error, void* arg) {
  const std::unique_ptr<PendingEvent> pending(static_cast<PendingEvent*>(arg));
  const Status status = pending->client->plugin().TakeError(error);
  pending->event = Event();
  pending->done(status);
}

}  // namespace

Event::Event(const Client& client, c_api::Event* event) : client_(&client), event_(event) {}

Event::~Event() { Reset(); }

Event::Event(Event&& other) noexcept : client_(other.client_), event_(std::exchange(other.event_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  client_ = other.client_;
  event_ = std::exchange(other.event_, nullptr);
  return *this;
}

void Event::Reset() {
  if (event_ == nullptr) return;
  c_api::EventDestroyArgs args{.event = std::exchange(event_, nullptr)};
  client_->Call(&c_api::Api::Event_Destroy, args).IgnoreError();
}

Status Event::Await() {
  if (event_ == nullptr) return OkStatus();
  c_api::EventAwaitArgs args{.event = event_};
  const Status status = client_->Call(&c_api::Api::Event_Await, args);
  Reset();
  return status;
}

void Event::OnReady(std::function<void(const Status&)> done) {
  if (event_ == nullptr) return done(OkStatus());
  const Client* const client = client_;
  c_api::EventOnReadyArgs args{.event = event_, .callback = Happened};
  auto* const pending = new PendingEvent{std::move(*this), client, std::move(done)};
  args.user_arg = pending;
  const Status status = client->Call(&c_api::Api::Event_OnReady, args);
  if (status.ok()) return;
  // The plugin will not call. The work may still use the caller's memory.
  const std::unique_ptr<PendingEvent> failed(pending);
  failed->event.Await().IgnoreError();
  failed->done(status);
}

}  // namespace tensorbraid::pjrt
