// Kills the tasks of a launcher or an agent that was killed itself.
#ifndef TENSORBRAID_LAUNCH_PROCESSES_GROUP_GUARD_H_
#define TENSORBRAID_LAUNCH_PROCESSES_GROUP_GUARD_H_

#include <sys/types.h>

#include "core/system/fd.h"

namespace tensorbraid {

// The kernel kills the program of a task when the process that started it is killed (ChildProcess), but not the
// processes that the program has started, such as those of a shell script. So another process, which needs no more than
// a pipe to this one, waits for the end of this process and then kills the process groups that it knows. Without this
// process, for example because the system has no more, the guard has no effect. Not thread-safe.
class GroupGuard {
 public:
  GroupGuard();
  // Ends the other process. The groups live on.
  ~GroupGuard();
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;

  // From now on, the group is killed if this process ends without Remove.
  void Add(pid_t group);
  // Call it before the group's leader is reaped: its number may then belong to another group.
  void Remove(pid_t group);

 private:
  void Tell(pid_t change);

  pid_t pid_ = -1;
  Fd pipe_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_PROCESSES_GROUP_GUARD_H_
