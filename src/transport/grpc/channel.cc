#include "transport/grpc/channel.h"

#include <sched.h>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/thread.h"

namespace tensorbraid {
namespace {

thread_local SendBatch* this_threads_batch = nullptr;

}  // namespace

SendBatch::SendBatch() : is_outermost_(this_threads_batch == nullptr) {
  if (is_outermost_) this_threads_batch = this;
}

SendBatch::~SendBatch() {
  if (!is_outermost_) return;
  this_threads_batch = nullptr;
  for (const auto& channel : held_) channel->Pump();
}

bool SendBatch::Hold(Channel* channel) {
  if (this_threads_batch == nullptr) return false;
  auto& held = this_threads_batch->held_;
  for (const auto& other : held) {
    if (other.get() == channel) return true;
  }
  held.push_back(channel->shared_from_this());
  return true;
}

Channel::Channel(ChannelKind kind, size_t bulk_part_bytes, LiveCount* streams)
    : kind_(kind), streams_(streams), outbox_(bulk_part_bytes) {}

Channel::~Channel() {
  // Outstanding operations hold the channel, so there are none, and no other thread uses it.
  if (stream_ == nullptr) return;
  stream_->Cancel();
  stream_.reset();
  streams_->Remove();
}

Tag* Channel::Opening(std::unique_ptr<Stream> stream, std::function<void(bool)> opened) {
  opened_ = std::move(opened);
  streams_->Add();
  MutexLock lock(mu_);
  stream_ = std::move(stream);
  if (dead_) stream_->Cancel();  // cancelled before it was opened
  ++pending_;
  return open_op_.Arm(shared_from_this());
}

void Channel::Opened(bool ok) {
  {
    MutexLock lock(mu_);
    if (ok) writing_ = false;
  }
  // Moved out first: the callback may hold this channel.
  std::exchange(opened_, nullptr)(ok);
  if (ok) Pump();
  OpDone();
}

void Channel::SetHandlers(OnRead on_read, OnEnd on_end) {
  auto handlers = std::make_shared<Handlers>(Handlers{std::move(on_read), std::move(on_end)});
  MutexLock lock(mu_);
  handlers_.swap(handlers);
}

void Channel::Read() {
  MutexLock lock(mu_);
  if (in_callback_) {
    read_requested_ = true;
    return;
  }
  if (stream_ == nullptr) return;
  ++pending_;
  // Reads from a dead stream too: the read then fails at once, and its failure leads to OnEnd.
  stream_->Read(&read_buffer_, read_op_.Arm(shared_from_this()));
}

void Channel::DidRead(bool ok) {
  if (!ok) {
    ReportEnd();
    return OpDone();
  }
  std::shared_ptr<Handlers> handlers;
  {
    MutexLock lock(mu_);
    handlers = handlers_;
    in_callback_ = true;
    read_requested_ = false;
  }
  const ReadNext next = handlers->on_read(read_buffer_);
  read_buffer_.Clear();
  bool read;
  {
    MutexLock lock(mu_);
    in_callback_ = false;
    read = next == ReadNext::kYes || read_requested_;
  }
  if (read) Read();
  OpDone();
}

void Channel::ReportEnd() {
  bool knows;
  {
    MutexLock lock(mu_);
    if (stream_ == nullptr) return;
    ++pending_;
    knows = stream_->Finish(&finish_status_, finish_op_.Arm(shared_from_this()));
  }
  if (!knows) finish_op_.Run(/*ok=*/true);
}

void Channel::Finished(bool) {
  std::shared_ptr<Handlers> handlers;
  {
    MutexLock lock(mu_);
    handlers.swap(handlers_);
  }
  Cancel();
  if (handlers != nullptr) {
    handlers->on_end(finish_status_.ok() ? OkStatus()
                                         : Status(static_cast<absl::StatusCode>(finish_status_.error_code()),
                                                  finish_status_.error_message()));
  }
  OpDone();
}

void Channel::SendPackets(const std::string& packets, const Payload* payload, When when) {
  constexpr std::chrono::microseconds kLate{100};
  static const bool has_one_core = NumCores() == 1;
  bool write_is_late;
  {
    MutexLock lock(mu_);
    if (dead_ || ending_) return;
    outbox_.AddPackets(packets, payload);
    if (when == When::kWithTheNext) return;
    // If a write is outstanding, the packets leave when it completes.
    write_is_late = writing_ && has_one_core && MonotonicClock::now() - kLate > write_began_;
    if (writing_ && !write_is_late) return;
  }
  if (write_is_late) {
    // The channel's thread learns that the write has completed only when it runs. It is ready to, but this thread has
    // the process's only core, and would keep it for milliseconds.
    if (this_threads_batch == nullptr) sched_yield();
    return;
  }
  if (!SendBatch::Hold(this)) Pump();
}

void Channel::SendBulk(BulkTensor tensor) {
  {
    MutexLock lock(mu_);
    if (dead_ || ending_) return;
    outbox_.AddBulk(std::move(tensor));
    if (writing_) return;
  }
  Pump();
}

void Channel::SetBulkWindow(size_t bytes) {
  {
    MutexLock lock(mu_);
    outbox_.set_bulk_window(bytes);
  }
  Pump();
}

void Channel::BulkAcknowledged(uint64_t bytes) {
  {
    MutexLock lock(mu_);
    outbox_.Acknowledged(bytes);
  }
  Pump();
}

void Channel::Pump() {
  grpc::ByteBuffer message;
  Stream* stream;
  bool end = false;
  {
    MutexLock lock(mu_);
    if (writing_ || dead_ || end_sent_) return;
    if (!outbox_.Next(&message)) {
      if (!ending_) return;
      end = end_sent_ = true;
    }
    writing_ = true;
    write_began_ = MonotonicClock::now();
    ++pending_;
    stream = stream_.get();
  }
  // Without the lock, because gRPC writes to the socket here, and other threads can queue packets meanwhile. The
  // pending operation keeps the stream alive.
  if (end) {
    stream->End(end_op_.Arm(shared_from_this()));
  } else {
    stream->Write(message, write_op_.Arm(shared_from_this()));
  }
}

void Channel::Wrote(bool ok) {
  {
    MutexLock lock(mu_);
    writing_ = false;
    if (!ok) {
      // The peer has ended the stream, or the connection is lost. What the peer sent before can still be read, so the
      // stream is not cancelled: its next failed read reports the end.
      ending_ = end_sent_ = true;
      outbox_.Clear();
    }
  }
  if (ok) Pump();
  OpDone();
}

void Channel::Ended(bool) { OpDone(); }

void Channel::DropQueue() {
  MutexLock lock(mu_);
  outbox_.Clear();
}

void Channel::End() {
  {
    MutexLock lock(mu_);
    ending_ = true;
  }
  Pump();
}

void Channel::Cancel() {
  std::unique_ptr<Stream> gone;
  {
    MutexLock lock(mu_);
    dead_ = true;
    outbox_.Clear();
    if (stream_ == nullptr) return;
    stream_->Cancel();
    if (pending_ == 0) gone = std::move(stream_);
  }
  if (gone == nullptr) return;
  gone.reset();
  streams_->Remove();
}

void Channel::Abandon() {
  MutexLock lock(mu_);
  dead_ = true;
}

void Channel::OpDone() {
  std::unique_ptr<Stream> gone;
  {
    MutexLock lock(mu_);
    if (--pending_ == 0 && dead_) gone = std::move(stream_);
  }
  if (gone == nullptr) return;
  gone.reset();
  streams_->Remove();
}

}  // namespace tensorbraid
