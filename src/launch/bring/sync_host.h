// Looks at and changes a directory that --sync brings, on a machine, by scripts of sh.
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

// A directory of a machine. Its functions block, with the errors of RemoteShell. The machine needs the commands of GNU
// (find, xargs, sha256sum), as all Linux distributions with glibc have them.
class SyncHost {
 public:
  // `directory` is an absolute path. `mark` is a name that no other launcher and no other machine of this one uses.
  SyncHost(RemoteShell shell, std::string directory, std::string mark)
      : shell_(std::move(shell)), directory_(std::move(directory)), mark_(std::move(mark)) {}

  // Makes the directory, if there is none, puts an empty file there whose name ends with the mark, and reads the
  // manifest.
  StatusOr<SyncManifest> Open() const;
  // Looks at these paths, and at all that is in these directories. `marks` gets the marks in the directory that begin
  // with `first`; the own one is removed.
  StatusOr<FoundFiles> Look(const std::vector<std::string>& paths, const std::vector<std::string>& directories,
                            const std::string& first, std::vector<std::string>* marks) const;
  // The part of a plan that comes before the transfer. Looks at each file once more just before it is removed, which
  // one that has changed since Look is not, and at what is to be overwritten: the error names one that has changed.
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
