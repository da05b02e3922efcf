// The one seam to the network. inproc/, sim/ and grpc/ implement it; conformance_test.cc runs on all of them.
#ifndef TENSORBRAID_TRANSPORT_TRANSPORT_H_
#define TENSORBRAID_TRANSPORT_TRANSPORT_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "transport/calls.h"
#include "transport/messages.h"

namespace tensorbraid {

// A live connection with one incarnation of one task, usable by both sides alike. Thread-safe.
//
// Two lanes: BulkTensor travels on one, everything else on the other, and neither waits for the other. Within a lane
// messages arrive once and in order of sending, until the link goes down; then some last ones may be lost.
class Link {
 public:
  virtual ~Link() = default;
  // What the other side said of itself.
  virtual const Hello& peer() const = 0;
  // Never blocks. Messages sent together leave together; what a handler sends may wait until it returns. Dropped
  // silently when the link is down.
  virtual void Send(Message message) = 0;
  // As Send, for what nobody waits for: it may stay here until something else is sent.
  virtual void SendLater(Message message) { Send(std::move(message)); }
  // Sends what is queued on the control lane if it can without waiting long, then takes the link down. Returns at
  // once. OnLinkDown follows on both sides (here with `why`).
  virtual void Close(Status why) = 0;
};

// Called on the transport's threads; must not block. Calls for one lane of one link come one after the other;
// OnMessage of the two lanes may overlap. OnLinkUp comes before the link's first OnMessage, OnLinkDown after its last,
// exactly once for each link that was up.
class LinkHandler {
 public:
  virtual ~LinkHandler() = default;
  // Somebody calls. OK accepts with `answer` filled in; an error refuses, and is what the caller's Connect returns.
  virtual Status OnHello(const Hello& from, Hello* answer) = 0;
  virtual void OnLinkUp(const std::shared_ptr<Link>& link) = 0;  // accepted and made links alike
  virtual void OnMessage(const std::shared_ptr<Link>& link, Message message) = 0;
  virtual void OnLinkDown(const std::shared_ptr<Link>& link, const Status& why) = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;  // Shuts down first.

  // Who answers the calls of clients, on the address of Listen. To be said before Listen; must live until Shutdown has
  // returned. Where nobody from outside can call (inproc, sim), nothing happens.
  virtual void ServeCalls(CallHandler*) {}

  // Starts to accept. `address` is "host:port"; port 0 takes a free one. A taken port is AlreadyExists, an address
  // that cannot be bound InvalidArgument. Call once, before Connect. `handler` must live until Shutdown has returned.
  // Returns the port.
  virtual StatusOr<int> Listen(const std::string& address, LinkHandler* handler) = 0;

  // One attempt to reach `address`. `done` is called once, on a transport thread, with the link (after its OnLinkUp)
  // or: Unavailable when nobody answers there within `timeout`, else the error that the other side's OnHello gave.
  using ConnectDone = std::function<void(StatusOr<std::shared_ptr<Link>>)>;
  virtual void Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
                       ConnectDone done) = 0;

  // Takes all links down and stops listening. When it returns no handler or `done` call is running or will come.
  // Not to be called from one.
  virtual void Shutdown() = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_TRANSPORT_H_
