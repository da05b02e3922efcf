// Lets a save copy the next rows while it writes the ones before.
#ifndef TENSORBRAID_KERNELS_CPU_EMBEDDING_OVERLAPPED_ROWS_H_
#define TENSORBRAID_KERNELS_CPU_EMBEDDING_OVERLAPPED_ROWS_H_

#include <functional>
#include <utility>
#include <vector>

#include "core/system/file_access.h"
#include "core/threads/mutex.h"
#include "core/threads/thread.h"
#include "kernels/cpu/embedding/copied_rows.h"

namespace tensorbraid::cpu {

// Calls write(rows) for rows in their order, on a thread of its own, which has the priority of the thread that makes
// it. The rows of several small tables are handed over together if they are few: most small tables of a short training
// are empty, and to wake a thread takes longer than to write one of them. Used by one thread.
class OverlappedRows {
 public:
  using Write = std::function<Status(const CopiedRows& rows)>;
  explicit OverlappedRows(Write write)
      : write_(std::move(write)), thread_("tb-save-rows", WithCurrentFileAccess([this] { Run(); })) {}
  ~OverlappedRows() { Finish().IgnoreError(); }

  // Takes the rows of a small table, to be written after those before. `rows` gets others, whose memory can be used
  // again. May wait until rows before are written. Returns the first error, after which nothing is written.
  Status Give(CopiedRows* rows) {
    constexpr size_t kEnough = size_t{1} << 18;  // bytes, which take far longer to write than a thread to wake up
    given_bytes_ += rows->num_bytes();
    given_.Add(rows);
    return given_bytes_ < kEnough ? OkStatus() : HandOver();
  }
  // Waits until all rows are written. Returns the first error.
  Status Finish() {
    if (thread_.joinable()) {
      HandOver().IgnoreError();  // an error stays in status_
      {
        MutexLock lock(mu_);
        ended_ = true;
        changed_.NotifyAll();
      }
      thread_.Join();
    }
    MutexLock lock(mu_);
    return status_;
  }

 private:
  // The rows of some small tables. Keeps the memory of those that it had before.
  struct Batch {
    std::vector<CopiedRows> tables;
    size_t size = 0;

    void Add(CopiedRows* rows) {
      if (size == tables.size()) tables.emplace_back();
      std::swap(tables[size++], *rows);
    }
  };

  Status HandOver() {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return written_.size == 0; });
    TF_RETURN_IF_ERROR(status_);
    std::swap(given_, written_);
    given_bytes_ = 0;
    changed_.NotifyAll();
    return OkStatus();
  }
  void Run() {
    while (true) {
      {
        MutexLock lock(mu_);
        changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return written_.size > 0 || ended_; });
        if (written_.size == 0) return;
      }
      const Status written = Written();
      MutexLock lock(mu_);
      written_.size = 0;
      if (status_.ok()) status_ = written;
      changed_.NotifyAll();
    }
  }
  // While it has tables, written_ belongs to the thread.
  Status Written() TB_NO_THREAD_SAFETY_ANALYSIS {
    for (size_t i = 0; i < written_.size; ++i) TF_RETURN_IF_ERROR(write_(written_.tables[i]));
    return OkStatus();
  }

  const Write write_;
  Batch given_;
  size_t given_bytes_ = 0;
  Mutex mu_;
  CondVar changed_;
  Batch written_ TB_GUARDED_BY(mu_);
  bool ended_ TB_GUARDED_BY(mu_) = false;
  Status status_ TB_GUARDED_BY(mu_);
  Thread thread_;
};

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_EMBEDDING_OVERLAPPED_ROWS_H_
