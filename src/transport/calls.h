// Calls of clients, each with one request and one answer. Links (transport.h) connect tasks; a client that is not a
// task reaches a master by calls.
#ifndef TENSORBRAID_TRANSPORT_CALLS_H_
#define TENSORBRAID_TRANSPORT_CALLS_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport/caller.h"
#include "transport/messages.h"

namespace tensorbraid {

// A message as consecutive pieces.
using MessageParts = std::vector<Payload>;

// ResourceExhausted when a message is larger than 2 GiB - 1 bytes, the most that protobuf can parse: its receiver could
// not read it. `what` names the message in the error ("a request").
Status CheckCallSize(const MessageParts& parts, const char* what);

// A payload that owns `text`.
Payload OwnedPayload(std::string text);

// A call that has arrived. Thread-safe. The handler must hold it until it has answered.
class Call {
 public:
  virtual ~Call() = default;
  virtual const std::string& method() const = 0;  // "/tensorflow.MasterService/RunStep"
  virtual const Caller& caller() const = 0;
  // When the client stops waiting; max() if never.
  virtual std::chrono::steady_clock::time_point deadline() const = 0;
  // The request's bytes, valid until the call is answered.
  virtual const Payload& request() const = 0;
  // Call exactly one of these, once. They do not block. The client may already have disconnected.
  virtual void Answer(MessageParts answer) = 0;
  virtual void Fail(const Status& why) = 0;
  // Calls `callback` at most once, on a transport thread, if the client disconnects or its deadline passes before the
  // call is answered. If that has already happened, calls it before returning. Call OnCancelled at most once.
  virtual void OnCancelled(std::function<void()> callback) = 0;
};

// Called on the transport's threads; must not block.
class CallHandler {
 public:
  virtual ~CallHandler() = default;
  virtual void OnCall(std::shared_ptr<Call> call) = 0;
};

// The client side of calls to one server. Thread-safe.
class CallClient {
 public:
  virtual ~CallClient() = default;
  using Deadline = std::chrono::steady_clock::time_point;
  struct Result {
    Status status;
    Payload answer;  // its owner is set, so it stays valid
    // Whether the server sent this status. Otherwise the transport did: the server could not be reached, was lost, or
    // did not answer in time.
    bool from_server = false;
  };
  // Blocks until the answer has arrived, the deadline has passed (DeadlineExceeded) or Cancel is called. Unavailable
  // when the server cannot be reached before the deadline or within this client's connection timeout.
  virtual Result Ask(const std::string& method, const MessageParts& request, Deadline deadline) = 0;
  // Ends the running calls with Cancelled.
  virtual void CancelRunning() = 0;
  // Ends all calls, running and future ones, with Cancelled.
  virtual void Cancel() = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_CALLS_H_
