// One bidirectional gRPC stream that carries frames; a link has two.
#ifndef TENSORBRAID_TRANSPORT_GRPC_LANE_H_
#define TENSORBRAID_TRANSPORT_GRPC_LANE_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "core/mutex.h"
#include "tensorbraid/status.h"
#include "transport/grpc/frames.h"

namespace tensorbraid {

enum LaneKind { kControlLane = 0, kBulkLane = 1 };
inline constexpr int kNumLanes = 2;
inline constexpr const char* kLaneMethods[kNumLanes] = {"/tensorbraid.Worker/Control", "/tensorbraid.Worker/Bulk"};

// What a completion queue hands back.
class Tag {
 public:
  virtual ~Tag() = default;
  virtual void Run(bool ok) = 0;
};

// Hides the difference between the two ends of a gRPC stream. At most one Read and one Write (or End) at a time.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void Read(grpc::ByteBuffer* into, Tag* tag) = 0;
  virtual void Write(const grpc::ByteBuffer& message, Tag* tag) = 0;
  // No more Writes; the other side's Reads end after all that was written.
  virtual void End(Tag* tag) = 0;
  // Makes everything outstanding fail soon. Thread-safe.
  virtual void Cancel() = 0;
  // After a failed Read: why. False when this end cannot know; `tag` is then not used.
  virtual bool Finish(grpc::Status* why, Tag* tag) = 0;
};

// Counts streams, so that shutting down can wait for them.
class StreamCounter {
 public:
  void Add() {
    MutexLock lock(mu_);
    ++count_;
  }
  void Remove() {
    MutexLock lock(mu_);
    if (--count_ == 0) cv_.NotifyAll();
  }
  void WaitForNone() {
    MutexLock lock(mu_);
    cv_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return count_ == 0; });
  }

 private:
  Mutex mu_;
  CondVar cv_;
  int count_ TB_GUARDED_BY(mu_) = 0;
};

// Queues frames and writes them one gRPC message after the other; reads messages and hands them on. Thread-safe.
// The stream goes away by itself when it has ended and nothing is outstanding; the Lane may be held longer.
class Lane : public std::enable_shared_from_this<Lane> {
 public:
  enum class ReadNext { kYes, kPause };
  // Called on the completion queue's thread. For one received message; after kPause, Read() goes on.
  using OnRead = std::function<ReadNext(const grpc::ByteBuffer&)>;
  // The stream has ended, once, after the last OnRead; not called when reading was paused. Both are dropped then.
  using OnEnd = std::function<void(const Status& why)>;

  Lane(LaneKind kind, size_t bulk_part_bytes, StreamCounter* counter);
  ~Lane();
  LaneKind kind() const { return kind_; }

  // The tag of the call that opens the stream; `opened` is called when it completes.
  Tag* Opening(std::unique_ptr<Stream> stream, std::function<void(bool ok)> opened);
  // From the next read on.
  void SetHandlers(OnRead on_read, OnEnd on_end);
  // REQUIRES: reading is paused, or the last OnRead is still running and will return kPause.
  void Read();
  // Reports why a stream that failed to open did, through OnEnd.
  void ReportEnd();
  // Of a stream that failed to open: nobody wants to know why.
  void Abandon();

  enum class When { kSoon, kWithTheNext };
  // Dropped when the stream is ending. Under a SendBatch of this thread, soon is when that ends.
  void SendFrames(const std::string& frames, const Payload* payload = nullptr, When when = When::kSoon);
  void SendBulk(BulkTensor tensor);
  void DropQueue();
  // Sends what is queued, then ends the stream.
  void End();
  // Ends the stream at once.
  void Cancel();

 private:
  friend class SendBatch;
  template <void (Lane::*kMethod)(bool)>
  class Op final : public Tag {
   public:
    Tag* Arm(std::shared_ptr<Lane> lane) {
      lane_ = std::move(lane);
      return this;
    }
    void Run(bool ok) override {
      const std::shared_ptr<Lane> lane = std::move(lane_);
      (lane.get()->*kMethod)(ok);
    }

   private:
    std::shared_ptr<Lane> lane_;
  };

  void Opened(bool ok);
  void DidRead(bool ok);
  void Wrote(bool ok);
  void Ended(bool ok);
  void Finished(bool ok);

  // Starts the next write, if there is one and none is outstanding.
  void Pump();
  // One operation less; the stream goes when it was the last and the lane is dead.
  void OpDone();

  const LaneKind kind_;
  StreamCounter* const counter_;
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
  bool read_requested_ TB_GUARDED_BY(mu_) = false;  // by Read() while it was
  int pending_ TB_GUARDED_BY(mu_) = 0;              // operations outstanding
  bool dead_ TB_GUARDED_BY(mu_) = false;            // no new operations
  bool writing_ TB_GUARDED_BY(mu_) = true;          // until opened, as if it were
  bool ending_ TB_GUARDED_BY(mu_) = false;          // nothing more is queued
  bool end_sent_ TB_GUARDED_BY(mu_) = false;

  Op<&Lane::Opened> open_op_;
  Op<&Lane::DidRead> read_op_;
  Op<&Lane::Wrote> write_op_;
  Op<&Lane::Ended> end_op_;
  Op<&Lane::Finished> finish_op_;
};

// While one lives, the frames that its thread sends wait, and leave together, in one write per lane, when it ends. Each
// write costs two system calls and wakes the other side twice (for the data, and for the window that HTTP/2 gives
// back), which is most of what a small message costs.
class SendBatch {
 public:
  SendBatch();
  ~SendBatch();
  SendBatch(const SendBatch&) = delete;
  SendBatch& operator=(const SendBatch&) = delete;

 private:
  friend class Lane;
  // False when this thread has no batch.
  static bool Hold(Lane* lane);

  const bool is_outermost_;
  absl::InlinedVector<std::shared_ptr<Lane>, 4> held_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_LANE_H_
