// Writes the report of a task to a file, for the launcher that has started the process.
#ifndef TENSORBRAID_CLUSTER_STATUS_REPORT_FILE_H_
#define TENSORBRAID_CLUSTER_STATUS_REPORT_FILE_H_

#include <functional>
#include <memory>
#include <string>

#include "core/threads/mutex.h"
#include "core/threads/thread.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

namespace proto {
class TaskReport;
}

// Writes the report as text (report_text.h) at once, every two seconds, and when this object is destroyed. So a process
// that is killed leaves a report, too. Each report replaces the file as a whole. A file that cannot be replaced is
// overwritten, such as the one that Kubernetes mounts for the last message of a container; a process that is killed
// meanwhile leaves no report. An error of the file system is logged once and does no further harm.
class ReportFile {
 public:
  // The environment variable that names the file. `tensorbraid launch` sets it (docs/design/0026).
  static constexpr char kVariable[] = "TENSORBRAID_REPORT_FILE";
  using Fill = std::function<void(proto::TaskReport*)>;

  // Null if the variable is not set, or if another object of this process writes the file. `fill` is called on a thread
  // of its own and by the destructor.
  static std::unique_ptr<ReportFile> FromEnvironment(Fill fill);
  // Writes the last report. `fill` must still work.
  ~ReportFile();
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

 private:
  ReportFile(std::string path, Fill fill);
  void Run();
  void Write();
  Status WriteText(const std::string& text);

  const std::string path_;
  const Fill fill_;
  bool failed_ = false;    // an error has been logged
  bool in_place_ = false;  // the file cannot be replaced
  Mutex mu_;
  CondVar cv_;
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  Thread thread_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_STATUS_REPORT_FILE_H_
