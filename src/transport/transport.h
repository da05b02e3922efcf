// The project's only interface to the network. README.md lists the implementations; conformance_test.cc runs on all of
// them.
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

struct LaneMessage;

// A live connection to one incarnation of one task. Both sides use it in the same way. Thread-safe.
//
// A link has two channels: BulkTensors travel on the bulk channel, all other messages on the control channel, and
// neither channel waits for the other. Within a channel each message arrives once and in the order of sending. When the
// link goes down, the last messages may be lost.
class Link {
 public:
  virtual ~Link() = default;
  // The hello of the other side.
  virtual const Hello& peer() const = 0;
  // Never blocks. The transport may batch messages: a message that a handler sends may leave only when the handler
  // returns. When the link is down, the message is dropped silently.
  virtual void Send(Message message) = 0;
  // As Send, for messages that are not urgent: the message may wait here until another one is sent.
  virtual void SendLater(Message message) { Send(std::move(message)); }
  // Whether this link passes large payloads without copying them, by lending their memory, which both ends map. Such a
  // payload reaches the handler whole and with an owner. It takes no memory at the receiver, so the sender need not
  // announce it (AnnounceTensor) and wait until the receiver is ready for it.
  virtual bool shares_memory() const { return false; }
  // Moves the payload to memory that the other end can map, unless it is there already, or so small that it is copied.
  // False if the link does not share memory, or has none left. Thread-safe.
  virtual bool Share(Payload*) { return false; }
  // Takes the link down after sending what is queued on the control channel, as far as that is possible within a short
  // time. Returns at once. OnLinkDown follows on both sides; on this side its status is `why`.
  virtual void Close(Status why) = 0;

  // For side_lane/, on links that can have a side lane: sends a message to the other end's OnLaneMessage, in order with
  // the messages of the control channel.
  virtual void SendLaneMessage(const LaneMessage&) {}
};

// Receives the messages of one link. Called on the transport's threads; must not block. Calls for one channel do not
// overlap; OnMessage calls for the two channels may.
class LinkHandler {
 public:
  virtual ~LinkHandler() = default;
  virtual void OnMessage(Message message) = 0;
  // The link is down. Called exactly once, after the last OnMessage. The link then releases the handler.
  virtual void OnLinkDown(const Status& why) = 0;

  // For side_lane/, called like OnMessage. The transport closes the link if this returns an error.
  virtual Status OnLaneMessage(const LaneMessage&) {
    return absl::InvalidArgumentError("it has sent a message about a side lane that was not offered");
  }
};

// Decides which tasks may connect, and gives each new link its handler. Called on the transport's threads; must not
// block.
class LinkAcceptor {
 public:
  virtual ~LinkAcceptor() = default;
  // A task wants to connect. To accept it, fill in `answer` and return OK. An error refuses it and becomes the result
  // of its Connect.
  virtual Status OnHello(const Hello& from, Hello* answer) = 0;
  // A link is up, on both of its sides. Returns the handler of this link, which must not be null. The link calls it
  // once this function has returned, and holds it until it is down.
  virtual std::shared_ptr<LinkHandler> OnLinkUp(const std::shared_ptr<Link>& link) = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;  // Shuts down first.

  // Sets the handler of client calls, which arrive at the address of Listen. Call before Listen; the handler must live
  // until Shutdown has returned. Has no effect on transports that clients cannot reach (inproc, sim).
  virtual void ServeCalls(CallHandler*) {}

  // Starts accepting links and returns the port. `address` is "host:port"; port 0 takes a free one. AlreadyExists when
  // the port is taken, InvalidArgument when the address cannot or must not be bound. Call once, before Connect.
  // `acceptor` must live until Shutdown has returned.
  virtual StatusOr<int> Listen(const std::string& address, LinkAcceptor* acceptor) = 0;

  // Tries once to connect to `address`. `done` is called once, on a transport thread, with the link (after its
  // OnLinkUp) or with an error: Unavailable when no task answers there within `timeout`, Unauthenticated when the other
  // side cannot prove who it is, Cancelled when this transport shuts down, or the error that the other side's OnHello
  // returned. After Shutdown, Connect does nothing.
  using ConnectDone = std::function<void(StatusOr<std::shared_ptr<Link>>)>;
  virtual void Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
                       ConnectDone done) = 0;

  // Takes all links down and stops listening. Once it has returned, no call to a handler or to `done` is running or
  // will follow. Must not be called from such a call.
  virtual void Shutdown() = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_TRANSPORT_H_
