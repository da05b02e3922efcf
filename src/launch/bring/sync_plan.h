// Decides what --sync does in a directory of a machine.
#ifndef TENSORBRAID_LAUNCH_BRING_SYNC_PLAN_H_
#define TENSORBRAID_LAUNCH_BRING_SYNC_PLAN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launch/bring/sync_manifest.h"

namespace tensorbraid {

// A file of this machine that is to be there. Links have neither mode nor time.
struct WantedFile {
  FileContent content = {};
  unsigned mode = 0;   // the permissions
  int64_t time_s = 0;  // of the last change of its content
  size_t source = 0;   // which source it is from
};
// By path, relative to the directory. No path leads through another one.
using WantedFiles = std::map<std::string, WantedFile>;

// What is at a path of the machine.
struct FoundFile {
  char type = '?';  // as find has it: 'f' a file, 'd' a directory, 'l' a link; others are neither
  std::string id;   // the same for all names of a file
  unsigned mode = 0;
  int64_t time_s = 0;
  FileContent content = {};  // of a file that can be read, or of a link
};
// By path, relative to the directory, of all paths that PathsToLookAt names and that are there. Of a directory in the
// place of a wanted file also all that is in it.
using FoundFiles = std::map<std::string, FoundFile>;

struct SyncPlan {
  // Why nothing may be done: what is in the way, each with a reason. The user reads it.
  std::vector<std::string> obstacles;
  std::map<std::string, FileContent> remove;                // files and links, and what they are
  std::vector<std::string> empty;                           // directories that go, each after those in it
  std::vector<std::string> tidy;                            // those that go if nothing is left in them, likewise
  std::map<std::string, std::optional<FileContent>> bring;  // and what is there before that; nothing: nothing
  SyncManifest during;                                      // while this is done, so that it can break off at any time
  SyncManifest after;
  bool DoesNothing() const { return remove.empty() && empty.empty() && bring.empty(); }
};

// The paths whose state decides: the files that are wanted or that the manifest lists, and the folders of both.
std::vector<std::string> PathsToLookAt(const WantedFiles& wanted, const SyncManifest& manifest);
// Those in whose place there is a directory, so what is in it matters, too.
std::vector<std::string> DirectoriesInTheWay(const WantedFiles& wanted, const FoundFiles& found);

// Only a file that the manifest has with its present content is removed or overwritten, and only if no folder of its
// path is a link. It is removed if it is not wanted any more, or is in the way. Another file that is in the way is an
// obstacle, unless it is what is wanted. It then stays a file that --sync has not brought.
SyncPlan PlanSync(const WantedFiles& wanted, const SyncManifest& manifest, const FoundFiles& found);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_BRING_SYNC_PLAN_H_
