// Readers, the predecessors of datasets: they take work items, usually file names, from a queue and produce records.
#ifndef TENSORBRAID_RUNTIME_RESOURCES_READER_RESOURCE_H_
#define TENSORBRAID_RUNTIME_RESOURCES_READER_RESOURCE_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/threads/thread_pool.h"
#include "runtime/kernel/cancellation.h"
#include "runtime/kernel/resource.h"
#include "runtime/resources/queue_resource.h"

namespace tensorbraid {

// Reads the records of one work item at a time. Each kind of reader has its own subclass. Not thread-safe; blocks for
// as long as the file system does.
class RecordSource {
 public:
  struct Record {
    std::string key;
    std::string value;
  };
  virtual ~RecordSource() = default;
  // Starts a work item. If it fails, the reader drops the item.
  virtual Status Start(const std::string& work) = 0;
  // Reads the next record. OutOfRange if there are no more; after another error the reader continues with the item.
  virtual Status Read(Record* record) = 0;
  // Whether the next Read would return OutOfRange, if that is known without reading: for example, after the only record
  // of an item that has one record.
  virtual bool IsDone() const { return false; }
  // Abandons the work item.
  virtual void Reset() = 0;
  // Whether the state of the reader can be serialized. The source itself must then have no state between records.
  virtual bool KeepsState() const { return false; }
};

// Thread-safe. Reads are served one by one in the order of their arrival; waiting blocks no thread.
class ReaderResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "reader";
  using Records = std::vector<RecordSource::Record>;
  using Done = std::function<void(StatusOr<Records>)>;

  // `description` is equal for equivalent readers, for example "TextLineReader skip 1".
  ReaderResource(std::string name, std::string description, std::unique_ptr<RecordSource> source);
  ~ReaderResource() override;

  const std::string& description() const { return description_; }

  // Reads at least one and up to `count` records, all of one work item. If the reader has no work item, dequeues one
  // from `queue`, which must hold scalar strings, and waits for it. Fails with the errors of the source and of the
  // queue: OutOfRange if the queue is closed and empty, and Cancelled. Calls `done` once, possibly before returning; if
  // other reads wait, calls it on a thread of `pool` (which may be null).
  void Read(int64_t count, RefPtr<QueueResource> queue, CancellationManager* cancellation, ThreadPool* pool, Done done);

  int64_t num_records_produced() const;
  int64_t num_work_units_completed() const;
  // Returns the reader to its initial state. Blocks while a read is using the source.
  Status Reset();
  // A serialized ReaderBaseState, TensorFlow's message. Unimplemented unless the source's KeepsState().
  StatusOr<std::string> SerializeState() const;
  // InvalidArgument if `state` was not written by SerializeState.
  Status RestoreState(std::string_view state);
  std::string DebugString() const override;

 private:
  struct Call;
  struct Handoff;

  // Serves `calls_` from the first on, until one has to wait. REQUIRES: the caller set busy_, or took it over with the
  // first call.
  void Serve();
  // Serves one call as far as possible. Returns true with the records or an error in `result`; returns false if the
  // call waits for the queue, whose callback will continue it. `handoff` holds the work item if the call waited for
  // one.
  bool Advance(const std::shared_ptr<Call>& call, std::shared_ptr<Handoff> handoff, StatusOr<Records>* result);
  Status TakeWork(StatusOr<QueueResource::Tuple> taken) TB_REQUIRES(source_mu_);
  StatusOr<Records> ReadRecords(int64_t count) TB_REQUIRES(source_mu_);
  void Finish(const std::shared_ptr<Call>& call, StatusOr<Records> result);
  void Resume(const std::shared_ptr<Call>& call, std::shared_ptr<Handoff> handoff);

  const std::string name_;
  const std::string description_;

  mutable Mutex mu_;
  std::deque<std::shared_ptr<Call>> calls_ TB_GUARDED_BY(mu_);
  bool busy_ TB_GUARDED_BY(mu_) = false;  // the first call is being served

  // Lock order: mu_ before source_mu_.
  mutable Mutex source_mu_;
  std::unique_ptr<RecordSource> source_ TB_GUARDED_BY(source_mu_);
  bool working_ TB_GUARDED_BY(source_mu_) = false;
  std::string work_ TB_GUARDED_BY(source_mu_);
  int64_t started_ TB_GUARDED_BY(source_mu_) = 0;
  int64_t finished_ TB_GUARDED_BY(source_mu_) = 0;
  int64_t produced_ TB_GUARDED_BY(source_mu_) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_RESOURCES_READER_RESOURCE_H_
