#include "tensorbraid/train/file_writer.h"

#include <deque>
#include <set>

#include "core/system/clock.h"
#include "core/system/fork_count.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "core/threads/thread.h"
#include "io/event_file.h"
#include "io/summary.pb.h"

namespace tensorbraid::summary {
namespace {

proto::Event NewEvent(std::optional<int64_t> step) {
  proto::Event event;
  event.set_wall_time(WallClock::Seconds());
  if (step) event.set_step(*step);
  return event;
}

// Whether the bytes are a serialized message of this type.
bool IsBytesOf(google::protobuf::MessageLite&& message, std::string_view bytes) {
  return message.ParseFromString(std::string(bytes));
}

}  // namespace

struct FileWriter::Impl {
  Impl(std::string logdir, FileWriterOptions options) : logdir(std::move(logdir)), options(std::move(options)) {}

  Status Open();
  Status Add(const proto::Event& event) { return AddBytes(event.SerializeAsString()); }
  Status AddBytes(std::string event);
  Status Flush();
  Status Close();
  // The body of the thread. It alone uses the file while the thread runs.
  void Loop();

  const std::string logdir;
  const FileWriterOptions options;
  Mutex mu;
  CondVar changed;
  std::deque<std::string> queue TB_GUARDED_BY(mu);
  bool open TB_GUARDED_BY(mu) = false;
  bool closing TB_GUARDED_BY(mu) = false;
  int64_t flushes_asked TB_GUARDED_BY(mu) = 0;
  int64_t flushes_done TB_GUARDED_BY(mu) = 0;
  Status error TB_GUARDED_BY(mu);  // the first error since Open
  std::string path TB_GUARDED_BY(mu);
  std::set<std::string> run_tags TB_GUARDED_BY(mu);
  std::unique_ptr<EventFile> file;
  Mutex reopen_mu;  // held by Close and Reopen; taken before mu
  Thread thread TB_GUARDED_BY(reopen_mu);
  const int process = ForkCount();  // which has the thread
};

Status FileWriter::Impl::Open() {
  MutexLock reopening(reopen_mu);
  {
    MutexLock lock(mu);
    if (open) return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(
      file,
      EventFile::Open({.directory = logdir, .suffix = options.filename_suffix, .max_bytes = options.max_file_bytes}));
  MutexLock lock(mu);
  path = file->path();
  error = OkStatus();
  open = true;
  closing = false;
  thread = Thread("tb-events", [this] { Loop(); });
  return OkStatus();
}

Status FileWriter::Impl::AddBytes(std::string event) {
  if (ForkCount() != process) {
    return FailedPrecondition("the event files of ", logdir,
                              " are written by the process that has forked this one; make a "
                              "writer in this process");
  }
  MutexLock lock(mu);
  changed.Wait(mu, [this]() TB_REQUIRES(mu) {
    return !open || closing || static_cast<int64_t>(queue.size()) < options.max_queue;
  });
  if (!open || closing) {
    return FailedPrecondition("the event file ", path, " is closed: call Reopen to add more events");
  }
  TF_RETURN_IF_ERROR(error);
  queue.push_back(std::move(event));
  changed.NotifyAll();
  return OkStatus();
}

Status FileWriter::Impl::Flush() {
  if (ForkCount() != process) return OkStatus();
  MutexLock lock(mu);
  if (!open) return error;
  const int64_t mine = ++flushes_asked;
  changed.NotifyAll();
  changed.Wait(mu, [this, mine]() TB_REQUIRES(mu) { return flushes_done >= mine || !open; });
  return error;
}

Status FileWriter::Impl::Close() {
  if (ForkCount() != process) return OkStatus();
  MutexLock reopening(reopen_mu);
  {
    MutexLock lock(mu);
    if (!open) return OkStatus();
    closing = true;
    changed.NotifyAll();
  }
  thread.Join();
  const Status closed = file->Close();
  file.reset();
  MutexLock lock(mu);
  open = false;
  if (error.ok()) error = closed;
  changed.NotifyAll();
  return error;
}

void FileWriter::Impl::Loop() {
  MonotonicClock::time_point flush_at = MonotonicClock::now() + options.flush_every;
  bool unseen = false;  // whether events were written since the last flush
  while (true) {
    std::deque<std::string> events;
    int64_t flush = 0;
    bool last = false;
    {
      MutexLock lock(mu);
      changed.WaitUntil(mu, unseen ? flush_at : MonotonicClock::time_point::max(),
                        [this]() TB_REQUIRES(mu) { return !queue.empty() || closing || flushes_asked > flushes_done; });
      events.swap(queue);
      flush = flushes_asked;
      last = closing;
      changed.NotifyAll();
      if (!error.ok()) events.clear();
    }
    Status status;
    for (const std::string& event : events) {
      if (status.ok()) status = file->Write(event);
      unseen = true;
    }
    const MonotonicClock::time_point now = MonotonicClock::now();
    MutexLock lock(mu);
    if (status.ok() && (flush > flushes_done || last || (unseen && now >= flush_at))) {
      status = file->Flush();
      unseen = false;
      flush_at = now + options.flush_every;
    }
    if (error.ok() && !status.ok()) {
      error = Annotate(status, "cannot write events");
      TB_LOG(Error, "train") << ToString(error) << "; later events are dropped";
    }
    path = file->path();
    flushes_done = flush;
    changed.NotifyAll();
    if (last) return;
  }
}

FileWriter::FileWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

FileWriter::~FileWriter() { Close().IgnoreError(); }

StatusOr<std::unique_ptr<FileWriter>> FileWriter::Open(std::string logdir, FileWriterOptions options) {
  if (logdir.empty()) return InvalidArgument("FileWriter: the logdir is empty");
  if (options.max_queue < 1 || options.flush_every.count() < 0 || options.max_file_bytes < 0) {
    return InvalidArgument(
        "FileWriter: max_queue must be positive, flush_every and max_file_bytes must not be "
        "negative, got ",
        options.max_queue, ", ", options.flush_every.count(), " ms and ", options.max_file_bytes);
  }
  auto impl = std::make_unique<Impl>(std::move(logdir), std::move(options));
  TF_RETURN_IF_ERROR(impl->Open());
  return std::unique_ptr<FileWriter>(new FileWriter(std::move(impl)));
}

Status FileWriter::AddSummary(const Tensor& summary, std::optional<int64_t> step) {
  if (!summary.is_valid() || summary.dtype() != kString || summary.num_elements() != 1) {
    return InvalidArgument("a summary must be a string scalar, got ",
                           summary.is_valid() ? StrCat(summary.dtype(), summary.shape()) : "an invalid tensor");
  }
  return AddSummary(std::string_view(summary.data<std::string>()[0]), step);
}

Status FileWriter::AddSummary(std::string_view summary, std::optional<int64_t> step) {
  proto::Event event = NewEvent(step);
  if (!event.mutable_summary()->ParseFromString(std::string(summary))) {
    return InvalidArgument("the bytes are not a serialized Summary message");
  }
  return impl_->Add(event);
}

Status FileWriter::AddScalar(const std::string& tag, float value, std::optional<int64_t> step) {
  proto::Event event = NewEvent(step);
  proto::Summary::Value* v = event.mutable_summary()->add_value();
  v->set_tag(tag);
  v->set_simple_value(value);
  return impl_->Add(event);
}

Status FileWriter::AddGraph(const Graph& graph) {
  proto::Event event = NewEvent(std::nullopt);
  TF_ASSIGN_OR_RETURN(*event.mutable_graph_def(), graph.ToGraphDef());
  return impl_->Add(event);
}

Status FileWriter::AddMetaGraph(std::string_view meta_graph) {
  proto::Event event = NewEvent(std::nullopt);
  event.set_meta_graph_def(std::string(meta_graph));
  return impl_->Add(event);
}

Status FileWriter::AddRunMetadata(const RunMetadata& metadata, const std::string& tag, std::optional<int64_t> step) {
  {
    MutexLock lock(impl_->mu);
    if (tag.empty() || !impl_->run_tags.insert(tag).second) {
      return InvalidArgument("the tag of a RunMetadata must be new and not empty, got '", tag, "'");
    }
  }
  proto::Event event = NewEvent(step);
  event.mutable_tagged_run_metadata()->set_tag(tag);
  event.mutable_tagged_run_metadata()->set_run_metadata(metadata.serialized());
  return impl_->Add(event);
}

Status FileWriter::AddSessionLog(SessionStatus status, std::optional<int64_t> step,
                                 const std::string& checkpoint_path) {
  proto::Event event = NewEvent(step);
  event.mutable_session_log()->set_status(static_cast<proto::SessionLog::SessionStatus>(status));
  event.mutable_session_log()->set_checkpoint_path(checkpoint_path);
  return impl_->Add(event);
}

Status FileWriter::AddEvent(std::string_view event) {
  if (!IsBytesOf(proto::Event(), event)) return InvalidArgument("the bytes are not a serialized Event message");
  return impl_->AddBytes(std::string(event));
}

Status FileWriter::Flush() { return impl_->Flush(); }
Status FileWriter::Close() { return impl_->Close(); }
Status FileWriter::Reopen() { return impl_->Open(); }
const std::string& FileWriter::logdir() const { return impl_->logdir; }
std::string FileWriter::path() const {
  MutexLock lock(impl_->mu);
  return impl_->path;
}

}  // namespace tensorbraid::summary
