// A side lane through UCX: RDMA where the hardware has it, else UCX's own ways over TCP and shared memory.
#ifndef TENSORBRAID_TRANSPORT_UCX_UCX_LANE_H_
#define TENSORBRAID_TRANSPORT_UCX_UCX_LANE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "core/system/fd.h"
#include "core/threads/mutex.h"
#include "transport/side_lane/side_lane.h"
#include "transport/ucx/ucx_frames.h"
#include "transport/ucx/ucx_library.h"

namespace tensorbraid {

// Where the sender can be reached by UCX.
struct UcxAddress {
  std::string address;  // of a ucp_worker
  uint64_t secret = 0;  // random; each message to that address must name it

  // As a note of a LaneOpening.
  std::string ToString() const;
  static StatusOr<UcxAddress> Parse(const std::string& note);
};

// One end of the lane: a UCX worker with one endpoint, which sends each message as an active message. At the receiver,
// the device or UCX writes a large payload straight into a buffer of the process's allocator, and the tensor uses this
// buffer. So neither side copies the payload. The allocator uses freed memory again, and such memory is already
// registered with the device.
//
// Active messages may overtake each other, so the frames in them have numbers. A frame must name the secret of the end
// that receives it. The peer has learned this secret over the base link, which is authenticated. Other frames are
// dropped.
class UcxLane final : public SideLane {
 public:
  static StatusOr<std::shared_ptr<UcxLane>> Create(std::shared_ptr<UcxContext> context);
  ~UcxLane() override;

  // Where the peer reaches this end.
  const UcxAddress& address() const { return address_; }
  // Makes the endpoint. Call once, before the functions of SideLane.
  Status Connect(const UcxAddress& peer);
  bool is_connected();
  // Sends a probe: a message that only shows that messages arrive.
  void SendProbe();
  // Whether the peer's probe has arrived.
  bool probed();
  // For the reader. Blocks until `done()` is true, which it checks at least every 10 ms. Delivers no message meanwhile.
  // DeadlineExceeded at the deadline, Unavailable if the lane breaks.
  Status WorkUntil(MonotonicClock::time_point deadline, const std::function<bool()>& done);

  Status Send(const Message& message, bool urgent) override;
  void Close() override;
  StatusOr<bool> Receive(const std::function<void(Message)>& on_message) override;
  void Sleep(const std::function<bool()>& wanted) override { SleepUntil(MonotonicClock::time_point::max(), wanted); }
  bool IsDrained() override;
  void End() override;
  void Abandon() override;
  void Wake() override;

 private:
  struct Outgoing;
  // A frame whose data waits for memory, or is being received.
  struct Incoming {
    UcxLane* lane;
    UcxFrame* frame;
    void* descriptor;                        // of data that waits
    std::list<Incoming>::iterator position;  // in waiting_ or receiving_
  };

  explicit UcxLane(std::shared_ptr<UcxContext> context);
  Status Init();
  Status Failed(const char* what, ucs_status_t status) const;
  void Break(const Status& why) TB_REQUIRES(mu_);

  // `list` has one element. If the lane is broken or breaks, Receive reports it.
  void SendFrame(std::list<Outgoing> list);
  void SendEmptyFrame(UcxFrameKind kind);
  void WakeLocked() TB_REQUIRES(mu_);
  void SleepUntil(MonotonicClock::time_point deadline, const std::function<bool()>& wanted);
  // Lets UCX do its work for a while. Returns whether it had anything to do.
  bool Progress() TB_REQUIRES(mu_);
  // Starts to receive data that waits, within the limit kMaxReceivingBytes.
  void StartReceiving() TB_REQUIRES(mu_);

  // Called by UCX during Progress and SendFrame.
  ucs_status_t OnFrame(std::string_view header, void* data, size_t size, bool is_descriptor) TB_REQUIRES(mu_);
  void OnSent(Outgoing* frame, ucs_status_t status) TB_REQUIRES(mu_);
  void OnReceived(Incoming* incoming, ucs_status_t status) TB_REQUIRES(mu_);

  const std::shared_ptr<UcxContext> context_;
  const UcxLibrary& ucx_;
  UcxAddress address_;         // set by Create, as are the next three
  size_t max_header_ = 0;      // of an active message
  int events_ = -1;            // readable when Progress has something to do
  Fd wake_;                    // an eventfd
  uint64_t peers_secret_ = 0;  // set by Connect

  Mutex mu_;  // also held during every use of the worker
  ucp_worker_h worker_ TB_GUARDED_BY(mu_) = nullptr;
  ucp_ep_h endpoint_ TB_GUARDED_BY(mu_) = nullptr;
  Status broken_ TB_GUARDED_BY(mu_);
  bool end_reported_ TB_GUARDED_BY(mu_) = false;  // Receive has nothing more to say
  bool closed_ TB_GUARDED_BY(mu_) = false;        // this side has said that it sends nothing more
  bool ended_ TB_GUARDED_BY(mu_) = false;
  bool sleeping_ TB_GUARDED_BY(mu_) = false;
  bool peer_closed_ TB_GUARDED_BY(mu_) = false;                 // the peer will send nothing more
  MonotonicClock::time_point drained_at_ TB_GUARDED_BY(mu_){};  // until when IsDrained waits for the peer's messages
  uint64_t next_number_[UcxInbox::kSequences] TB_GUARDED_BY(mu_) = {};
  std::list<Outgoing> sending_ TB_GUARDED_BY(mu_);      // frames that UCX still uses
  std::unique_ptr<UcxInbox> inbox_ TB_GUARDED_BY(mu_);  // set by Create
  std::list<Incoming> waiting_ TB_GUARDED_BY(mu_);
  std::list<Incoming> receiving_ TB_GUARDED_BY(mu_);
  uint64_t receiving_bytes_ TB_GUARDED_BY(mu_) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_UCX_UCX_LANE_H_
