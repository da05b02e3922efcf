// Readers of the old kind: they take names of files (or whatever they read) from a queue, and give records.
#ifndef TENSORBRAID_RUNTIME_READER_RESOURCE_H_
#define TENSORBRAID_RUNTIME_READER_RESOURCE_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/thread_pool.h"
#include "runtime/cancellation.h"
#include "runtime/queue_resource.h"
#include "runtime/resource.h"

namespace tensorbraid {

// How one kind of reader makes records of one piece of work. Used by one thread at a time; blocks for as long as the
// file system does.
class RecordSource {
 public:
  struct Record {
    std::string key;
    std::string value;
  };
  virtual ~RecordSource() = default;
  // Begins with a piece of work. After an error the piece is dropped.
  virtual Status Start(const std::string& work) = 0;
  // The next record. OutOfRange when there is none left; after another error the piece of work goes on.
  virtual Status Read(Record* record) = 0;
  // Whether Read would give OutOfRange, as far as that is known without reading: a piece of one record is done with it.
  virtual bool IsDone() const { return false; }
  // Forgets the piece of work.
  virtual void Reset() = 0;
  // Whether what it has read can be written down between records: state is then that of the reader alone.
  virtual bool KeepsState() const { return false; }
};

// Thread-safe. Reads are served one after the other in the order they came; waiting blocks no thread.
class ReaderResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "reader";
  using Records = std::vector<RecordSource::Record>;
  using Done = std::function<void(StatusOr<Records>)>;

  // `description`: what makes a reader the same as another ("TextLineReader skip 1").
  ReaderResource(std::string name, std::string description, std::unique_ptr<RecordSource> source);
  ~ReaderResource() override;

  const std::string& description() const { return description_; }

  // Gives one record, or up to `count` from one piece of work; takes pieces of work from `queue`, which must hold
  // scalar strings, when it has none, and waits for them. The errors of the queue (OutOfRange when it is closed and
  // empty; Cancelled) and of the source. `done` is called once, perhaps before this returns; on a thread of `pool`
  // (which may be null) when other reads wait.
  void Read(int64_t count, RefPtr<QueueResource> queue, CancellationManager* cancellation, ThreadPool* pool, Done done);

  int64_t num_records_produced() const;
  int64_t num_work_units_completed() const;
  // As new. Waits while a read is using the source.
  Status Reset();
  // Unimplemented unless the source keeps state; as TensorFlow's ReaderBaseState.
  StatusOr<std::string> SerializeState() const;
  // InvalidArgument when `state` was not written by SerializeState.
  Status RestoreState(std::string_view state);
  std::string DebugString() const override;

 private:
  struct Call;
  struct Handoff;

  // Serves the first of `calls_` and those behind it. REQUIRES: busy_, and that this thread is the one that set it.
  void Serve();
  // Serves one call as far as possible: its records, an error, or nothing when a callback of the queue goes on with it.
  // `handoff` is the piece of work that came, if one was waited for.
  bool Advance(const std::shared_ptr<Call>& call, std::shared_ptr<Handoff> handoff, StatusOr<Records>* result);
  Status TakeWork(StatusOr<QueueResource::Tuple> taken) TB_REQUIRES(source_mu_);
  StatusOr<Records> ReadRecords(int64_t count) TB_REQUIRES(source_mu_);
  void Finish(const std::shared_ptr<Call>& call, StatusOr<Records> result);
  void GoOn(const std::shared_ptr<Call>& call, std::shared_ptr<Handoff> handoff);

  const std::string name_;
  const std::string description_;

  mutable Mutex mu_;
  std::deque<std::shared_ptr<Call>> calls_ TB_GUARDED_BY(mu_);
  bool busy_ TB_GUARDED_BY(mu_) = false;  // the first call is being served

  // Taken after mu_, if both are.
  mutable Mutex source_mu_;
  std::unique_ptr<RecordSource> source_ TB_GUARDED_BY(source_mu_);
  bool working_ TB_GUARDED_BY(source_mu_) = false;
  std::string work_ TB_GUARDED_BY(source_mu_);
  int64_t started_ TB_GUARDED_BY(source_mu_) = 0;
  int64_t finished_ TB_GUARDED_BY(source_mu_) = 0;
  int64_t produced_ TB_GUARDED_BY(source_mu_) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_READER_RESOURCE_H_
