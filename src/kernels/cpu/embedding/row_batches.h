// Lets a restore read the next rows while it makes the ones before.
#ifndef TENSORBRAID_KERNELS_CPU_EMBEDDING_ROW_BATCHES_H_
#define TENSORBRAID_KERNELS_CPU_EMBEDDING_ROW_BATCHES_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "core/threads/thread.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::cpu {

// Some rows of a checkpoint. The lists have at least `rows` rows.
struct RowBatch {
  size_t rows = 0;
  std::vector<int64_t> keys = {}, versions = {};  // no versions if none were saved
  std::vector<std::vector<float>> numbers = {};   // of each column
};

// Calls read(batch) on a thread of its own, until it returns an error or a batch without rows. At most `batches`
// batches are in memory, besides those of the threads that take them. Thread-safe.
class RowBatches {
 public:
  using Read = std::function<Status(RowBatch* batch)>;
  RowBatches(Read read, size_t batches)
      : read_(std::move(read)), free_(batches), thread_("tb-restore-rows", [this] { Run(); }) {}
  ~RowBatches() {
    Fail(Aborted("the rest of the rows is not read"));  // if there is a rest, nobody will see the error
    thread_.Join();
  }

  // Waits for the next batch. The memory of the batch before is used again. Returns false if there is none any more, or
  // after an error.
  bool Take(RowBatch* batch) {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return !full_.empty() || ended_; });
    if (full_.empty() || !status_.ok()) return false;
    std::swap(*batch, full_.front());
    free_.push_back(std::move(full_.front()));
    full_.pop_front();
    changed_.NotifyAll();
    return true;
  }
  // Ends the reading with an error of a thread that uses the rows.
  void Fail(const Status& error) {
    MutexLock lock(mu_);
    End(error);
  }
  // The first error.
  Status status() const {
    MutexLock lock(mu_);
    return status_;
  }

 private:
  void End(const Status& status) TB_REQUIRES(mu_) {
    if (status_.ok()) status_ = status;
    ended_ = true;
    changed_.NotifyAll();
  }
  void Run() {
    while (true) {
      RowBatch batch;
      {
        MutexLock lock(mu_);
        changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return !free_.empty() || ended_; });
        if (ended_) return;
        batch = std::move(free_.back());
        free_.pop_back();
      }
      const Status read = read_(&batch);
      MutexLock lock(mu_);
      if (!read.ok() || batch.rows == 0) return End(read);
      full_.push_back(std::move(batch));
      changed_.NotifyAll();
    }
  }

  const Read read_;
  mutable Mutex mu_;
  CondVar changed_;
  std::vector<RowBatch> free_ TB_GUARDED_BY(mu_);
  std::deque<RowBatch> full_ TB_GUARDED_BY(mu_);
  bool ended_ TB_GUARDED_BY(mu_) = false;
  Status status_ TB_GUARDED_BY(mu_);
  Thread thread_;
};

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_EMBEDDING_ROW_BATCHES_H_
