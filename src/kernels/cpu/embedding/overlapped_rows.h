// Lets a save copy the next rows while it writes the ones before.
#ifndef TENSORBRAID_KERNELS_CPU_EMBEDDING_OVERLAPPED_ROWS_H_
#define TENSORBRAID_KERNELS_CPU_EMBEDDING_OVERLAPPED_ROWS_H_

#include <functional>
#include <utility>

#include "core/system/file_access.h"
#include "core/threads/mutex.h"
#include "core/threads/thread.h"
#include "kernels/cpu/embedding/copied_rows.h"

namespace tensorbraid::cpu {

// Calls write(rows) for rows in their order, on a thread of its own, which has the priority of the thread that makes
// it. Used by one thread.
class OverlappedRows {
 public:
  using Write = std::function<Status(const CopiedRows& rows)>;
  explicit OverlappedRows(Write write)
      : write_(std::move(write)), thread_("tb-save-rows", WithCurrentFileAccess([this] { Run(); })) {}
  ~OverlappedRows() { Finish().IgnoreError(); }

  // Waits until the rows before are written, and begins to write these. `rows` gets others, whose memory can be used
  // again. Returns the first error, after which nothing is written.
  Status Give(CopiedRows* rows) {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return !full_; });
    TF_RETURN_IF_ERROR(status_);
    std::swap(*rows, rows_);
    full_ = true;
    changed_.NotifyAll();
    return OkStatus();
  }
  // Waits until all rows are written. Returns the first error.
  Status Finish() {
    {
      MutexLock lock(mu_);
      ended_ = true;
      changed_.NotifyAll();
    }
    if (thread_.joinable()) thread_.Join();
    MutexLock lock(mu_);
    return status_;
  }

 private:
  void Run() {
    while (true) {
      {
        MutexLock lock(mu_);
        changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return full_ || ended_; });
        if (!full_) return;
      }
      const Status written = Written();
      MutexLock lock(mu_);
      full_ = false;
      if (status_.ok()) status_ = written;
      changed_.NotifyAll();
    }
  }
  // While full_ is set, rows_ belongs to the thread.
  Status Written() TB_NO_THREAD_SAFETY_ANALYSIS { return write_(rows_); }

  const Write write_;
  Mutex mu_;
  CondVar changed_;
  CopiedRows rows_ TB_GUARDED_BY(mu_);
  bool full_ TB_GUARDED_BY(mu_) = false;
  bool ended_ TB_GUARDED_BY(mu_) = false;
  Status status_ TB_GUARDED_BY(mu_);
  Thread thread_;
};

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_EMBEDDING_OVERLAPPED_ROWS_H_
