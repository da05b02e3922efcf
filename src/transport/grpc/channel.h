// One of the two channels of a link: a gRPC stream, with a queue of the packets to be sent.
#ifndef TENSORBRAID_TRANSPORT_GRPC_CHANNEL_H_
#define TENSORBRAID_TRANSPORT_GRPC_CHANNEL_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "core/system/clock.h"
#include "core/threads/live_count.h"
#include "core/threads/mutex.h"
#include "tensorbraid/core/status.h"
#include "transport/grpc/packets.h"
#include "transport/grpc/stream.h"

namespace tensorbraid {

// Queues packets and writes them in gRPC messages, one after the other; reads messages and passes them to a handler.
// Thread-safe. The stream is destroyed when it has ended and no operation is outstanding; the Channel may live longer.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
  enum class ReadNext { kYes, kPause };
  // Called on the completion queue's thread, for each received message. After kPause nothing is read until Read() is
  // called.
  using OnRead = std::function<ReadNext(const grpc::ByteBuffer&)>;
  // Called once when the stream has ended, after the last OnRead; not called while reading is paused. Both handlers are
  // destroyed afterwards.
  using OnEnd = std::function<void(const Status& why)>;

  Channel(ChannelKind kind, size_t bulk_part_bytes, LiveCount* streams);
  ~Channel();
  ChannelKind kind() const { return kind_; }

  // Takes the stream and returns the tag of the operation that opens it; `opened` is called when that completes.
  Tag* Opening(std::unique_ptr<Stream> stream, std::function<void(bool ok)> opened);
  // The new handlers are used from the next received message on.
  void SetHandlers(OnRead on_read, OnEnd on_end);
  // Resumes reading. REQUIRES: reading is paused, or the last OnRead is still running and will return kPause.
  void Read();
  // Reports through OnEnd why the stream has ended or could not be opened.
  void ReportEnd();
  // Gives up a stream that failed to open, without reporting why.
  void Abandon();

  enum class When { kSoon, kWithTheNext };
  // The packets are dropped when the stream is ending. kSoon sends them at once, or at the end of this thread's
  // SendBatch; kWithTheNext leaves them queued until something else is sent.
  void SendPackets(const std::string& packets, const Payload* payload = nullptr, When when = When::kSoon);
  void SendBulk(BulkTensor tensor);
  // See Outbox.
  void SetBulkWindow(size_t bytes);
  void BulkAcknowledged(uint64_t bytes);
  void DropQueue();
  // Sends what is queued, then ends the stream.
  void End();
  // Ends the stream at once.
  void Cancel();

 private:
  friend class SendBatch;
  template <void (Channel::*kMethod)(bool)>
  class Op final : public Tag {
   public:
    Tag* Arm(std::shared_ptr<Channel> channel) {
      channel_ = std::move(channel);
      return this;
    }
    void Run(bool ok) override {
      const std::shared_ptr<Channel> channel = std::move(channel_);
      (channel.get()->*kMethod)(ok);
    }

   private:
    std::shared_ptr<Channel> channel_;
  };

  void Opened(bool ok);
  void DidRead(bool ok);
  void Wrote(bool ok);
  void Ended(bool ok);
  void Finished(bool ok);

  // Starts the next write, unless one is outstanding or nothing is queued.
  void Pump();
  // Ends an operation. Destroys the stream if it was the last outstanding one and the channel is dead.
  void OpDone();

  const ChannelKind kind_;
  LiveCount* const streams_;
  std::function<void(bool)> opened_;
  grpc::ByteBuffer read_buffer_;
  grpc::Status finish_status_;

  Mutex mu_;
  std::unique_ptr<Stream> stream_ TB_GUARDED_BY(mu_);
  Outbox outbox_ TB_GUARDED_BY(mu_);
  struct Handlers {
    OnRead on_read;
    OnEnd on_end;
  };
  std::shared_ptr<Handlers> handlers_ TB_GUARDED_BY(mu_);
  bool in_callback_ TB_GUARDED_BY(mu_) = false;     // OnRead is running
  bool read_requested_ TB_GUARDED_BY(mu_) = false;  // Read() was called while OnRead was running
  int pending_ TB_GUARDED_BY(mu_) = 0;              // outstanding operations
  bool dead_ TB_GUARDED_BY(mu_) = false;            // cancelled: no new writes
  bool writing_ TB_GUARDED_BY(mu_) = true;          // a write is outstanding, or the stream is not open yet
  // When the last write was started; in the future until the stream is open.
  MonotonicClock::time_point write_began_ TB_GUARDED_BY(mu_) = MonotonicClock::time_point::max();
  bool ending_ TB_GUARDED_BY(mu_) = false;  // no new packets are queued
  bool end_sent_ TB_GUARDED_BY(mu_) = false;

  Op<&Channel::Opened> open_op_;
  Op<&Channel::DidRead> read_op_;
  Op<&Channel::Wrote> write_op_;
  Op<&Channel::Ended> end_op_;
  Op<&Channel::Finished> finish_op_;
};

// While a SendBatch lives, the packets that its thread sends are held back; when it ends, they leave in one write per
// channel. Each write costs two system calls and wakes the other side twice (for the data, and for the flow-control
// window that HTTP/2 gives back), which is most of the cost of a small message.
class SendBatch {
 public:
  SendBatch();
  ~SendBatch();
  SendBatch(const SendBatch&) = delete;
  SendBatch& operator=(const SendBatch&) = delete;

 private:
  friend class Channel;
  // Adds the channel to this thread's batch; false when the thread has none.
  static bool Hold(Channel* channel);

  const bool is_outermost_;
  absl::InlinedVector<std::shared_ptr<Channel>, 4> held_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_CHANNEL_H_
