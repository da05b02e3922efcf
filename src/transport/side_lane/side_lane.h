// A way between two tasks beside the link that connects them: shared memory (local/) or RDMA (ucx/).
#ifndef TENSORBRAID_TRANSPORT_SIDE_LANE_SIDE_LANE_H_
#define TENSORBRAID_TRANSPORT_SIDE_LANE_SIDE_LANE_H_

#include <functional>

#include "transport/messages.h"

namespace tensorbraid {

// One end of a side lane. A LaneLink sends all its messages through it, and has a thread that reads from it. Control
// messages arrive in the order of sending, and so do BulkTensors. Thread-safe, except for the functions of the reader,
// which only one thread may call at a time.
class SideLane {
 public:
  virtual ~SideLane() = default;

  // Never blocks. If `urgent` is false, a peer that sleeps need not be woken. InvalidArgument if the message cannot be
  // encoded. A broken lane drops the message. Receive reports the break, after it has delivered everything that arrived
  // before.
  virtual Status Send(const Message& message, bool urgent) = 0;
  // See Link.
  virtual bool shares_memory() const { return false; }
  virtual bool Share(Payload*) { return false; }
  // This side closes the link: the peer need not wait for more than what has been sent before.
  virtual void Close() {}

  // --- The reader.
  // Handles everything that has arrived and sends what is queued. Returns whether there was anything to do. A payload
  // with an owner is valid as long as the owner is held; any other is valid during the call of `on_message` only.
  // InvalidArgument if the peer breaks the rules, Unavailable if the lane is broken.
  virtual StatusOr<bool> Receive(const std::function<void(Message)>& on_message) = 0;
  // Blocks until Receive may have something to do, Wake is called or `wanted()` is true.
  virtual void Sleep(const std::function<bool()>& wanted) = 0;
  // Called after the link beside this lane has gone down, until it returns true: whether everything that the peer sent
  // before has been received, as far as this side can know.
  virtual bool IsDrained() { return true; }
  // Ends sending and reading. Blocks for a short time at most.
  virtual void End() = 0;
  // As End, for a lane that the link has not used, because one of the two ends has given it up.
  virtual void Abandon() { End(); }

  // Makes Sleep return. Called from any thread.
  virtual void Wake() = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_SIDE_LANE_SIDE_LANE_H_
