// What a plugin does later.
#ifndef TENSORBRAID_PJRT_EVENT_H_
#define TENSORBRAID_PJRT_EVENT_H_

#include <functional>

#include "pjrt/c_api.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::pjrt {

class Client;

// The end of a copy or of the run of a program: it happens once, and brings an error if the work has failed. Destroying
// an event does not wait for it. Used by one thread at a time.
class Event {
 public:
  Event() = default;  // has happened
  // Takes over `event`.
  Event(const Client& client, c_api::Event* event);
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

  // Blocks until the event has happened, and returns the error of the work. FailedPrecondition at once in a child
  // process.
  Status Await();
  // Calls `done` once, when the event has happened: at once, or later on a thread of the plugin, so `done` must return
  // soon and must not wait for other events. The event is then empty. Blocks only if the plugin refuses to call: `done`
  // gets that error when the event has happened.
  void OnReady(std::function<void(const Status&)> done);

 private:
  void Reset();
  const Client* client_ = nullptr;
  c_api::Event* event_ = nullptr;
};

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_EVENT_H_
