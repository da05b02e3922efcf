// Inspects and changes the directory of a machine for --sync, by scripts of sh.
#ifndef TENSORBRAID_LAUNCH_BRING_SYNC_HOST_H_
#define TENSORBRAID_LAUNCH_BRING_SYNC_HOST_H_

#include <string>
#include <utility>
#include <vector>

#include "launch/bring/remote_shell.h"
#include "launch/bring/sync_manifest.h"
#include "launch/bring/sync_plan.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// A directory of a machine. The functions block, and return the errors of RemoteShell. The machine needs GNU's find,
// xargs and sha256sum, which all Linux distributions with glibc have.
class SyncHost {
 public:
  // `directory` is an absolute path. `mark` is a name that no other launcher and no other machine of this one uses.
  SyncHost(RemoteShell shell, std::string directory, std::string mark)
      : shell_(std::move(shell)), directory_(std::move(directory)), mark_(std::move(mark)) {}

  // Makes the directory if it does not exist, puts an empty file into it whose name ends with the mark, and reads the
  // manifest.
  StatusOr<SyncManifest> Open() const;
  // Returns the state of these paths, and of everything in these directories. `marks` gets the marks in the directory
  // that begin with `first`. Removes the mark of this object.
  StatusOr<FoundFiles> Look(const std::vector<std::string>& paths, const std::vector<std::string>& directories,
                            const std::string& first, std::vector<std::string>* marks) const;
  // Does the part of a plan that comes before the transfer. Checks each file just before it removes it, and leaves a
  // file that has changed since Look. Also checks the files that the transfer will overwrite: the error names a file
  // that has changed.
  Status Prepare(const SyncPlan& plan) const;
  Status WriteManifest(const SyncManifest& manifest) const;
  // Removes the mark, if it is still there.
  Status Close() const;

 private:
  const RemoteShell shell_;
  const std::string directory_;
  const std::string mark_;
};

// The name of the file with this mark.
std::string MarkFile(const std::string& mark);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_BRING_SYNC_HOST_H_
