// Brings directories to the machines of a job, with the system's rsync.
#ifndef TENSORBRAID_CLI_LAUNCH_SYNC_H_
#define TENSORBRAID_CLI_LAUNCH_SYNC_H_

#include <string>
#include <vector>

#include "cli/launch/agent_engine.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct SyncOptions {
  std::vector<AgentNode> nodes;
  std::vector<std::string> ssh = {"ssh"};
  std::vector<std::string> directories;
  int err_fd = 2;  // for progress
};

// Gives each machine a copy of the directories, at the same absolute paths. Only files whose contents differ travel (by
// checksum, which rsync also compares after each transfer). A file that an earlier call has brought and that is gone
// here is removed there; no other file is ever removed. Checkpoints and event files are neither brought nor removed,
// because the job itself writes them.
//
// Blocks until all is done, for 16 machines at a time. On a terminal, each machine has a line that shows its progress.
// InvalidArgument for something that is no directory, Unavailable for a machine that cannot be reached, NotFound
// without rsync.
Status SyncDirectories(const SyncOptions& options);

// Whether a file is part of a checkpoint or an event file, by its name.
bool IsWrittenByJobs(const std::string& name);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_LAUNCH_SYNC_H_
