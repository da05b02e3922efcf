#include "runtime/resources/reader_resource.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <atomic>

#include "core/errors/interruption.h"
#include "core/system/file_access.h"
#include "core/text/strings.h"
#include "runtime/kernel/cancellable_wait.h"

namespace tensorbraid {

struct ReaderResource::Call {
  int64_t count = 1;
  RefPtr<QueueResource> queue;
  CancellationManager* cancellation = nullptr;
  ThreadPool* pool = nullptr;
  Done done;
  CancellableWait wait;  // for the end of earlier calls
  // Limits the files that the call opens. It may be served by the thread of another step.
  const FileAccess* const files = CurrentFileAccess();
};

// Synchronises a call of Dequeue() with its callback, which may run on another thread, or before Dequeue() returns. The
// one that finishes second continues the read.
struct ReaderResource::Handoff {
  std::atomic<bool> first_finished{false};
  StatusOr<QueueResource::Tuple> taken = Internal("nothing was taken");
  bool IsSecond() { return first_finished.exchange(true); }
};

ReaderResource::ReaderResource(std::string name, std::string description, std::unique_ptr<RecordSource> source)
    : name_(std::move(name)), description_(std::move(description)), source_(std::move(source)) {}

ReaderResource::~ReaderResource() = default;

void ReaderResource::Read(int64_t count, RefPtr<QueueResource> queue, CancellationManager* cancellation,
                          ThreadPool* pool, Done done) {
  if (count < 1) return done(InvalidArgument("the number of records to read must be >= 1, got ", count));
  auto call = std::make_shared<Call>();
  call->count = count;
  call->queue = std::move(queue);
  call->cancellation = cancellation;
  call->pool = pool;
  call->done = std::move(done);
  Status refused;
  bool serve = false;
  {
    MutexLock lock(mu_);
    if (busy_) {
      // Lets a cancellation remove the call while it waits for earlier ones. Once it is being served, the queue
      // observes the cancellation.
      const bool registered =
          call->wait.Begin(cancellation, [self = RefPtr<ReaderResource>::Share(this), call](const Status&) {
            {
              MutexLock inner(self->mu_);
              const auto it = std::find(self->calls_.begin(), self->calls_.end(), call);
              // The first call is being served, so it stays.
              if (it == self->calls_.end() || it == self->calls_.begin()) return;
              self->calls_.erase(it);
            }
            call->done(Interrupted(StrCat("reader '", self->name_, "'"), kCancelledInWait));
          });
      if (!registered) refused = Interrupted(StrCat("reader '", name_, "'"), kCancelledBeforeWait);
    }
    if (refused.ok()) {
      calls_.push_back(call);
      serve = !busy_;
      busy_ = true;
    }
  }
  if (!refused.ok()) return call->done(refused);
  if (serve) Serve();
}

void ReaderResource::Serve() {
  // The caller may drop the last other reference to the resource when its call is done.
  const auto self = RefPtr<ReaderResource>::Share(this);
  while (true) {
    std::shared_ptr<Call> call;
    {
      MutexLock lock(mu_);
      if (calls_.empty()) {
        busy_ = false;
        return;
      }
      call = calls_.front();
    }
    call->wait.End();
    StatusOr<Records> result = Records();
    if (!Advance(call, nullptr, &result)) return;
    Finish(call, std::move(result));
  }
}

void ReaderResource::Resume(const std::shared_ptr<Call>& call, std::shared_ptr<Handoff> handoff) {
  const auto self = RefPtr<ReaderResource>::Share(this);
  StatusOr<Records> result = Records();
  if (!Advance(call, std::move(handoff), &result)) return;
  Finish(call, std::move(result));
  Serve();
}

void ReaderResource::Finish(const std::shared_ptr<Call>& call, StatusOr<Records> result) {
  bool others_wait;
  {
    MutexLock lock(mu_);
    calls_.pop_front();
    others_wait = !calls_.empty();
  }
  // The callback continues the call's step, which may take long; the next call should not wait for it.
  if (others_wait && call->pool != nullptr && call->pool->num_threads() > 0) {
    call->pool->Schedule(
        [call, result = std::make_shared<StatusOr<Records>>(std::move(result))] { call->done(std::move(*result)); });
  } else {
    call->done(std::move(result));
  }
}

bool ReaderResource::Advance(const std::shared_ptr<Call>& call, std::shared_ptr<Handoff> handoff,
                             StatusOr<Records>* result) {
  const ScopedFileAccess scope(call->files);
  while (true) {
    {
      MutexLock lock(source_mu_);
      if (handoff != nullptr) {
        if (const Status status = TakeWork(std::move(handoff->taken)); !status.ok()) {
          *result = status;
          return true;
        }
      }
      if (working_) {
        *result = ReadRecords(call->count);
        if (!result->ok() || !(*result)->empty()) return true;
      }
    }
    if (call->queue->types() != std::vector<DType>{kString}) {
      *result = InvalidArgument("a reader needs a queue whose elements are single strings; queue '",
                                call->queue->name(), "' has other elements");
      return true;
    }
    handoff = std::make_shared<Handoff>();
    call->queue->Dequeue(call->cancellation,
                         [self = RefPtr<ReaderResource>::Share(this), call, handoff](StatusOr<QueueResource::Tuple> t) {
                           handoff->taken = std::move(t);
                           if (handoff->IsSecond()) self->Resume(call, handoff);
                         });
    if (!handoff->IsSecond()) return false;
  }
}

Status ReaderResource::TakeWork(StatusOr<QueueResource::Tuple> taken) {
  TF_RETURN_IF_ERROR(taken);
  if (taken->size() != 1 || (*taken)[0].num_elements() != 1) {
    return InvalidArgument("a reader needs a queue whose elements are single strings");
  }
  work_ = (*taken)[0].data<std::string>()[0];
  TF_RETURN_IF_ERROR(source_->Start(work_));
  ++started_;
  working_ = true;
  return OkStatus();
}

StatusOr<ReaderResource::Records> ReaderResource::ReadRecords(int64_t count) {
  Records records;
  while (working_ && static_cast<int64_t>(records.size()) < count) {
    RecordSource::Record record;
    const Status status = source_->Read(&record);
    if (status.ok()) {
      records.push_back(std::move(record));
      ++produced_;
    } else if (!absl::IsOutOfRange(status)) {
      // Return the records before the error; the next call meets the error again.
      if (records.empty()) return status;
      break;
    }
    if (!status.ok() || source_->IsDone()) {
      working_ = false;
      ++finished_;
      source_->Reset();
    }
  }
  return records;
}

int64_t ReaderResource::num_records_produced() const {
  MutexLock lock(source_mu_);
  return produced_;
}

int64_t ReaderResource::num_work_units_completed() const {
  MutexLock lock(source_mu_);
  return finished_;
}

Status ReaderResource::Reset() {
  MutexLock lock(source_mu_);
  source_->Reset();
  working_ = false;
  work_.clear();
  started_ = finished_ = produced_ = 0;
  return OkStatus();
}

namespace {

// Fields of TensorFlow's ReaderBaseState.
enum : uint32_t { kStarted = 1, kFinished = 2, kProduced = 3, kWork = 4 };

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

}  // namespace

StatusOr<std::string> ReaderResource::SerializeState() const {
  MutexLock lock(source_mu_);
  if (!source_->KeepsState()) return Unimplemented("reader '", name_, "' does not support serializing its state");
  std::string state;
  google::protobuf::io::StringOutputStream stream(&state);
  CodedOutputStream out(&stream);
  const auto number = [&](uint32_t field, int64_t value) {
    if (value == 0) return;
    out.WriteTag(field << 3);  // wire type 0: a varint
    out.WriteVarint64(static_cast<uint64_t>(value));
  };
  number(kStarted, started_);
  number(kFinished, finished_);
  number(kProduced, produced_);
  if (!work_.empty()) {
    out.WriteTag(kWork << 3 | 2);  // wire type 2: a length and bytes
    out.WriteVarint32(static_cast<uint32_t>(work_.size()));
    out.WriteString(work_);
  }
  out.Trim();
  return state;
}

Status ReaderResource::RestoreState(std::string_view state) {
  int64_t numbers[4] = {0, 0, 0, 0};
  std::string work;
  CodedInputStream in(reinterpret_cast<const uint8_t*>(state.data()), static_cast<int>(state.size()));
  bool ok = true;
  while (const uint32_t tag = ok ? in.ReadTag() : 0) {
    const uint32_t field = tag >> 3;
    uint64_t value = 0;
    uint32_t size = 0;
    if (field >= kStarted && field <= kProduced && (tag & 7) == 0) {
      ok = in.ReadVarint64(&value);
      numbers[field] = static_cast<int64_t>(value);
    } else if (field == kWork && (tag & 7) == 2) {
      ok = in.ReadVarint32(&size) && size <= state.size() && in.ReadString(&work, static_cast<int>(size));
    } else {
      ok = false;
    }
  }
  if (!ok || !in.ConsumedEntireMessage() || numbers[kStarted] < numbers[kFinished] || numbers[kFinished] < 0) {
    return InvalidArgument("Could not parse state for ", description_, " '", name_, "'");
  }
  MutexLock lock(source_mu_);
  if (!source_->KeepsState()) return Unimplemented("reader '", name_, "' does not support restoring its state");
  source_->Reset();
  started_ = numbers[kStarted];
  finished_ = numbers[kFinished];
  produced_ = numbers[kProduced];
  work_ = work;
  working_ = started_ > finished_;
  if (working_) TF_RETURN_IF_ERROR(source_->Start(work_));
  return OkStatus();
}

std::string ReaderResource::DebugString() const { return description_; }

}  // namespace tensorbraid
