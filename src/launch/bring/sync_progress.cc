#include "launch/bring/sync_progress.h"

#include <unistd.h>

#include "core/text/strings.h"
#include "launch/processes/write_all.h"

namespace tensorbraid {

SyncProgress::SyncProgress(int fd, size_t machines)
    : fd_(fd), is_terminal_(machines <= 40 && ::isatty(fd) != 0), lines_(machines) {}

void SyncProgress::Show(size_t machine, const std::string& line) {
  if (!is_terminal_) return;
  MutexLock lock(mu_);
  lines_[machine] = line;
  Draw();
}

void SyncProgress::Finish(size_t machine, const std::string& line) {
  MutexLock lock(mu_);
  lines_[machine] = line;
  if (is_terminal_) return Draw();
  WriteAll(fd_, line + "\n");
}

void SyncProgress::Draw() {
  std::string text;
  if (drawn_) text = StrCat("\033[", lines_.size(), "A");  // up to the first line
  for (const std::string& line : lines_) text += StrCat("\r\033[K", line, "\n");
  WriteAll(fd_, text);
  drawn_ = true;
}

}  // namespace tensorbraid
