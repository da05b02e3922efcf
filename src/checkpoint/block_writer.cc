#include "checkpoint/block_writer.h"

#include <utility>

#include "checkpoint/files.h"
#include "core/system/file_access.h"

namespace tensorbraid {

BlockWriter::BlockWriter(size_t blocks, bool has_thread) : not_made_(blocks) {
  if (has_thread) thread_.emplace("tb-save-blocks", WithCurrentFileAccess([this] { Run(); }));
}

BlockWriter::~BlockWriter() {
  {
    MutexLock lock(mu_);
    ended_ = true;
    changed_.NotifyAll();
  }
  if (thread_) thread_->Join();
}

DirectBlock BlockWriter::Take() {
  MutexLock lock(mu_);
  changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return !free_.empty() || not_made_ > 0; });
  if (!free_.empty()) {
    DirectBlock block = std::move(free_.back());
    free_.pop_back();
    return block;
  }
  --not_made_;
  return MakeDirectBlock(kDirectBlock);
}

Status BlockWriter::Write(AtomicFile& file, DirectBlock block, size_t size) {
  if (!thread_) {
    const Status written = file.Append({block.get(), size});
    MutexLock lock(mu_);
    free_.push_back(std::move(block));
    return written;
  }
  MutexLock lock(mu_);
  jobs_.push_back({&file, std::move(block), size});
  changed_.NotifyAll();
  return status_;
}

Status BlockWriter::Wait() {
  MutexLock lock(mu_);
  changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return jobs_.empty() && !busy_; });
  return status_;
}

void BlockWriter::Run() {
  while (true) {
    Job job;
    bool ok = false;
    {
      MutexLock lock(mu_);
      changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return !jobs_.empty() || ended_; });
      if (ended_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
      busy_ = true;
      ok = status_.ok();
    }
    const Status written = ok ? job.file->Append({job.block.get(), job.size}) : OkStatus();
    MutexLock lock(mu_);
    busy_ = false;
    if (status_.ok()) status_ = written;
    free_.push_back(std::move(job.block));
    changed_.NotifyAll();
  }
}

}  // namespace tensorbraid
