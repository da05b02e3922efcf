// Cleans up after a launcher or an agent that was killed.
#ifndef TENSORBRAID_LAUNCH_PROCESSES_GROUP_GUARD_H_
#define TENSORBRAID_LAUNCH_PROCESSES_GROUP_GUARD_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/system/fd.h"

namespace tensorbraid {

// What a guard does when the process that has made it is killed, besides killing its groups.
struct GroupGuardOptions {
  std::string folder = "";  // is removed with all that is in it; "": none
  // This process gets the signal, once. PR_SET_PDEATHSIG may send it more often: when a thread ends, its children
  // become those of another thread, whose end sends the signal again. Two SIGINT within a second tell srun to kill its
  // tasks.
  pid_t process = 0;
  int signal = 0;
  std::vector<int> outputs = {};  // at most two descriptors, which are read to their end
};

// Another process, "tb-guard", which waits for the end of this one. If this process ends without destroying the object,
// the guard kills the process groups that it knows, and does what its options say.
//
// - The kernel kills the program of a task when the process that started it is killed (ChildProcess), but not the
//   processes that the program has started, such as those of a shell script.
// - A program that outlives this process for a moment must still have a reader: srun kills its tasks at SIGPIPE, before
//   they can clean up.
// - Only the guard removes the keys of a killed agent.
//
// The guard can be killed too, as Slurm does when it kills all processes of a job. If the guard cannot be started, for
// example because the system has no more processes, the object has no effect. Not thread-safe.
class GroupGuard {
 public:
  explicit GroupGuard(GroupGuardOptions options);
  // Ends the guard, which does nothing then.
  ~GroupGuard();
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;

  // From now on, the group is killed if this process is.
  void Add(pid_t group);
  // Call it before the group's leader is reaped: its number may then belong to another group.
  void Remove(pid_t group);

 private:
  void Tell(pid_t change);

  const GroupGuardOptions options_;
  pid_t pid_ = -1;
  Fd pipe_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_PROCESSES_GROUP_GUARD_H_
