// Shows how far several machines are, a line for each.
#ifndef TENSORBRAID_LAUNCH_BRING_SYNC_PROGRESS_H_
#define TENSORBRAID_LAUNCH_BRING_SYNC_PROGRESS_H_

#include <string>
#include <vector>

#include "core/threads/mutex.h"

namespace tensorbraid {

// On a terminal, each of up to 40 machines has a line that changes. Otherwise only the last text of each machine is
// written. Thread-safe.
class SyncProgress {
 public:
  // For so many machines. Writes to `fd`, which must stay open.
  SyncProgress(int fd, size_t machines);
  // Shows this line for a machine.
  void Show(size_t machine, const std::string& line);
  // The same for the last time.
  void Finish(size_t machine, const std::string& line);

 private:
  void Draw() TB_REQUIRES(mu_);

  const int fd_;
  const bool is_terminal_;
  Mutex mu_;
  std::vector<std::string> lines_ TB_GUARDED_BY(mu_);
  bool drawn_ TB_GUARDED_BY(mu_) = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_BRING_SYNC_PROGRESS_H_
