// Writes blocks to files while the next ones are made.
#ifndef TENSORBRAID_CHECKPOINT_BLOCK_WRITER_H_
#define TENSORBRAID_CHECKPOINT_BLOCK_WRITER_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "core/system/direct_block.h"
#include "core/threads/mutex.h"
#include "core/threads/thread.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

class AtomicFile;

// Appends blocks of kDirectBlock bytes to files, in their order, on a thread of its own, so that the disk is busy while
// its user makes bytes. A few blocks are in memory. Used by one thread.
class BlockWriter {
 public:
  // Without a thread, Write writes itself. At most `blocks` blocks are handed out, or wait, at a time.
  BlockWriter(size_t blocks, bool has_thread);
  ~BlockWriter();

  // Returns a block to fill. Waits until there is one. Null if there is no memory.
  DirectBlock Take();
  // Writes the first `size` bytes of a block to the end of a file, which exists until Wait returns. The user does not
  // touch the file until then. Returns an error of an earlier block, after which nothing is written.
  Status Write(AtomicFile& file, DirectBlock block, size_t size);
  // Waits until all is written. Returns the first error.
  Status Wait();

 private:
  struct Job {
    AtomicFile* file = nullptr;
    DirectBlock block;
    size_t size = 0;
  };
  void Run();

  Mutex mu_;
  CondVar changed_;
  std::vector<DirectBlock> free_ TB_GUARDED_BY(mu_);
  size_t not_made_ TB_GUARDED_BY(mu_);  // so many blocks can still be made
  std::deque<Job> jobs_ TB_GUARDED_BY(mu_);
  bool busy_ TB_GUARDED_BY(mu_) = false;  // a job is written
  bool ended_ TB_GUARDED_BY(mu_) = false;
  Status status_ TB_GUARDED_BY(mu_);
  std::optional<Thread> thread_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_BLOCK_WRITER_H_
