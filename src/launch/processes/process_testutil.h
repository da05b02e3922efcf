// Helpers for tests that start processes.
#ifndef TENSORBRAID_LAUNCH_PROCESSES_PROCESS_TESTUTIL_H_
#define TENSORBRAID_LAUNCH_PROCESSES_PROCESS_TESTUTIL_H_

#include <poll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "core/system/fd.h"
#include "launch/processes/child_process.h"

namespace tensorbraid {

// Whether the process has ended (reaped or not) or ends within a minute. It need not be a child of this
// process.
inline bool Ends(pid_t pid) {
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.is_open()) return true;
  pollfd event = {pidfd.get(), POLLIN, 0};
  return ::poll(&event, 1, 60000) == 1;
}

// Whether the file or folder does not exist, or is removed within a minute.
inline bool IsRemoved(const std::string& path) {
  const Fd watch(::inotify_init1(IN_CLOEXEC));
  if (::inotify_add_watch(watch.get(), path.c_str(), IN_DELETE_SELF) < 0) return ::access(path.c_str(), F_OK) != 0;
  pollfd event = {watch.get(), POLLIN, 0};
  return ::poll(&event, 1, 60000) == 1;
}

// Reads lines from a pipe until one begins with `start`, and returns the rest of that line. Returns "" at the end of
// the pipe, or after a minute without output.
inline std::string AwaitLine(const Fd& fd, const std::string& start) {
  std::string line;
  pollfd event = {fd.get(), POLLIN, 0};
  char c;
  while (::poll(&event, 1, 60000) == 1 && ::read(fd.get(), &c, 1) == 1) {
    if (c != '\n') {
      line += c;
    } else if (line.starts_with(start)) {
      return line.substr(start.size());
    } else {
      line.clear();
    }
  }
  return "";
}

inline std::string TextOf(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_PROCESSES_PROCESS_TESTUTIL_H_
