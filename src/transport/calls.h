// Questions of clients, each with one answer: beside links, which join tasks, these are how a client that is no task
// reaches a master.
#ifndef TENSORBRAID_TRANSPORT_CALLS_H_
#define TENSORBRAID_TRANSPORT_CALLS_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport/messages.h"

namespace tensorbraid {

// A message in pieces, one after the other.
using MessageParts = std::vector<Payload>;

// ResourceExhausted when a question or an answer (which `what` says) has more bytes than protobuf reads, 2 GiB less
// one: whoever gets it could make nothing of it.
Status CheckCallSize(const MessageParts& parts, const char* what);

// The text as a payload that owns it.
Payload OwnedPayload(std::string text);

// One question that has come in. Thread-safe. Somebody holds it until it is answered.
class Call {
 public:
  virtual ~Call() = default;
  virtual const std::string& method() const = 0;  // "/tensorflow.MasterService/RunStep"
  // The question's bytes; until it is answered.
  virtual const Payload& request() const = 0;
  // Either of these, once. Never block. Nobody may be there any more to hear it.
  virtual void Answer(MessageParts answer) = 0;
  virtual void Fail(const Status& why) = 0;
  // Calls back, once at most, on a transport thread, when the caller has gone, or has lost patience, before there is an
  // answer; at once if that is so already. To be called once.
  virtual void OnCancelled(std::function<void()> callback) = 0;
};

// Called on the transport's threads; must not block.
class CallHandler {
 public:
  virtual ~CallHandler() = default;
  virtual void OnCall(std::shared_ptr<Call> call) = 0;
};

// The client's end: asks one server. Thread-safe.
class CallClient {
 public:
  virtual ~CallClient() = default;
  using Deadline = std::chrono::steady_clock::time_point;
  struct Result {
    Status status;
    Payload answer;  // with an owner
  };
  // Blocks until the answer has come, the deadline has passed (DeadlineExceeded), or Cancel. Unavailable when the
  // server cannot be reached by then, or within this client's patience.
  virtual Result Ask(const std::string& method, const MessageParts& request, Deadline deadline) = 0;
  // Ends what is being asked, and what will be, with Cancelled.
  virtual void Cancel() = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_CALLS_H_
