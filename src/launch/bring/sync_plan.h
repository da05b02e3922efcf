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

// A file of this machine that the other machine should have. Links have neither mode nor time.
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
// By path, relative to the directory. Has the paths of PathsToLookAt that exist, and everything inside a directory that
// is in the place of a wanted file.
using FoundFiles = std::map<std::string, FoundFile>;

struct SyncPlan {
  // The paths in the way, each with the reason, for the user. Nothing may be done unless this is empty.
  std::vector<std::string> obstacles;
  std::map<std::string, FileContent> remove;                // files and links, and what they are
  std::vector<std::string> empty;                           // directories to remove, each after the directories in it
  std::vector<std::string> tidy;                            // directories to remove if they are empty then, likewise
  std::map<std::string, std::optional<FileContent>> bring;  // and their present content; none if there is no file
  SyncManifest during;                                      // the manifest meanwhile, in case the work breaks off
  SyncManifest after;
  bool DoesNothing() const { return remove.empty() && empty.empty() && bring.empty(); }
};

// The paths whose state decides: the files that are wanted or that the manifest lists, and the folders of both.
std::vector<std::string> PathsToLookAt(const WantedFiles& wanted, const SyncManifest& manifest);
// The wanted files in whose place there is a directory, whose content then matters, too.
std::vector<std::string> DirectoriesInTheWay(const WantedFiles& wanted, const FoundFiles& found);

// Removes and overwrites only files that the manifest has with their present content, and only if no folder of their
// path is a link. Removes such a file if it is no longer wanted or is in the way. Any other file in the way is an
// obstacle, unless it already has the wanted content; the manifest then does not list it.
SyncPlan PlanSync(const WantedFiles& wanted, const SyncManifest& manifest, const FoundFiles& found);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_BRING_SYNC_PLAN_H_
