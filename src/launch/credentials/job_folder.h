// Files of a job that only its user may read: keys, certificates and tokens.
#ifndef TENSORBRAID_LAUNCH_CREDENTIALS_JOB_FOLDER_H_
#define TENSORBRAID_LAUNCH_CREDENTIALS_JOB_FOLDER_H_

#include <map>
#include <string>
#include <utility>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// A folder of mode 0700 in XDG_RUNTIME_DIR or TMPDIR, with files of mode 0600. Removed with this object.
class JobFolder {
 public:
  // Makes the folder with these files (contents by name). First removes the folders of this user's processes on this
  // machine that have ended without doing so. InvalidArgument for a name with '/'.
  static StatusOr<JobFolder> Make(const std::map<std::string, std::string>& files);
  JobFolder(JobFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  JobFolder& operator=(JobFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~JobFolder();

  const std::string& path() const { return path_; }

 private:
  explicit JobFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // "" if there is none
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_CREDENTIALS_JOB_FOLDER_H_
