// Files of a job that only its user may read: keys, certificates and tokens.
#ifndef TENSORBRAID_LAUNCH_CREDENTIALS_JOB_FOLDER_H_
#define TENSORBRAID_LAUNCH_CREDENTIALS_JOB_FOLDER_H_

#include <map>
#include <string>
#include <utility>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// A folder of mode 0700 in XDG_RUNTIME_DIR or TMPDIR, with files of mode 0600. Removed with this object. The folder of
// a process that is killed is removed by its GroupGuard, if it has one, and otherwise by the next Make.
class JobFolder {
 public:
  // Makes an empty folder. First removes the folders of this user's processes on this machine that have ended without
  // doing so.
  static StatusOr<JobFolder> Make();
  JobFolder(JobFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  JobFolder& operator=(JobFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~JobFolder();

  const std::string& path() const { return path_; }
  // Adds files (contents by name). InvalidArgument for a name with '/'; the errors of WriteNewFile.
  Status Add(const std::map<std::string, std::string>& files) const;

 private:
  explicit JobFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // "" if there is none
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_CREDENTIALS_JOB_FOLDER_H_
