// Brings files to the machines of a job, with the system's rsync.
#ifndef TENSORBRAID_LAUNCH_BRING_SYNC_H_
#define TENSORBRAID_LAUNCH_BRING_SYNC_H_

#include <functional>
#include <string>
#include <vector>

#include "launch/agent/agent_engine.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// On the machines, at the top of a directory that --sync brings: what the machine needs for a Python of its own
// (python_sync.h). It is neither brought nor removed as a part of the directory.
inline constexpr char kPythonFolder[] = ".tensorbraid-python";

// Where files are brought to, and how.
struct SyncOptions {
  std::vector<AgentNode> nodes;
  std::vector<std::string> ssh = {"ssh"};
  int err_fd = 2;  // for progress
};

// Files below a directory of this machine.
struct SyncSource {
  std::string directory;           // absolute, without links
  std::vector<std::string> files;  // relative to it, sorted
};

// Whether a file, or a directory with all that is in it, is not brought. The path is relative to the source.
using IsLeftOut = std::function<bool(const std::string& path, bool is_directory)>;

// The files of a directory and of the directories in it, without those that are left out. Links count as files.
// InvalidArgument if the directory does not exist.
StatusOr<SyncSource> ReadSyncSource(const std::string& directory, const IsLeftOut& is_left_out);

// Gives each machine a copy of the files of all sources in `target`, an absolute path. Only files whose contents differ
// travel (by checksum, which rsync also compares after each transfer). A file that an earlier call has brought to
// `target` and that no source has now is removed there.
//
// A file is removed or overwritten only if an earlier call has brought it and it has not changed since
// (sync_manifest.h), and if no folder of its path below `target` is a link. If another file is in the way, nothing is
// sent to any machine: FailedPrecondition names the file. If `target` is the directory of the only source itself, as on
// a shared file system, nothing is done. Machines that share `target` with each other get the files once.
//
// Blocks until all is done, for 16 machines at a time. On a terminal, each machine has a line that shows its progress.
// Unavailable for a machine that cannot be reached, or is silent for 15 s; NotFound without rsync; InvalidArgument if a
// path is in two sources, or is a file in one and a directory in another; the system's error for a file that cannot be
// read.
Status BringFiles(const SyncOptions& options, const std::vector<SyncSource>& sources, const std::string& target);

// The path of a directory of --sync, without links. InvalidArgument if it does not exist or is "/".
StatusOr<std::string> SyncedDirectory(const std::string& name);

// Gives each machine a copy of a directory, at the same absolute path. Checkpoints and event files, which the job
// itself writes, are neither brought nor removed. Neither are __pycache__, .tensorbraid-lib (libraries.h) and
// kPythonFolder, which each machine makes for itself. Blocks, with the errors of the functions above.
Status BringDirectory(const SyncOptions& options, const std::string& name);

// Whether a file is part of a checkpoint or an event file, by its name.
bool IsWrittenByJobs(const std::string& name);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_BRING_SYNC_H_
