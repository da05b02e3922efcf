// Runs the tasks of a job as processes of this machine.
#ifndef TENSORBRAID_LAUNCH_ENGINES_LOCAL_LOCAL_ENGINE_H_
#define TENSORBRAID_LAUNCH_ENGINES_LOCAL_LOCAL_ENGINE_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/system/held_port.h"
#include "launch/credentials/job_folder.h"
#include "launch/engines/engine.h"
#include "launch/processes/group_guard.h"
#include "launch/processes/line_splitter.h"

namespace tensorbraid {

// Each task is a child process, with a pipe and a pseudo-terminal for its output. All processes of a task's group are
// killed when the task has ended, and when the engine or this process ends, however that happens. REQUIRES: SIGPIPE is
// ignored.
class LocalEngine final : public Engine {
 public:
  // `host` is what other tasks call this machine. `ports` are those of the tasks; if there are none, free ones are
  // taken.
  explicit LocalEngine(std::string host = "127.0.0.1", std::vector<int> ports = {})
      : host_(std::move(host)), wanted_ports_(std::move(ports)) {}

  StatusOr<std::string> Describe(const std::vector<std::string>& tasks) const override;
  void Place(const std::vector<std::string>& tasks, EngineListener* listener) override;
  void Start(size_t task, const ProgramCall& call, bool knows_flags) override;
  void Signal(size_t task, int signal) override;
  void CloseOutput(size_t task) override;
  void AddEvents(std::vector<pollfd>* events) override;
  void Handle() override;

  // Makes the folder for reports of the tasks, which other files of the tasks may join, unless it exists. It is removed
  // with this object, or when this process is killed. Place makes it too, and goes on without reports if that fails.
  Status MakeFolder();
  // REQUIRES: MakeFolder has returned OK.
  const JobFolder& folder() const { return *folder_; }

 private:
  struct Task {
    std::string name;
    LineSplitter out_lines, err_lines;
    std::optional<ChildProcess> process = {};
    bool is_running = false;
    bool has_output = false;
  };

  // Adds the GPUs of a task that the launcher gives some (kGpusVariable). FailedPrecondition if the machine has too
  // few.
  Status AddGpus(size_t number, std::vector<std::pair<std::string, std::string>>* environment) const;
  void ReadOutput(size_t number);
  static void Read(Fd& fd, LineSplitter& lines);
  static void FinishOutput(Task& task);
  // Where the task's server writes its report; "" if that is not possible.
  std::string ReportPath(size_t number) const;
  std::string TakeReport(size_t number) const;

  const std::string host_;
  const std::vector<int> wanted_ports_;
  EngineListener* listener_ = nullptr;
  std::vector<HeldPort> ports_;
  std::optional<GroupGuard> guard_;  // of the processes of tasks_, and of folder_
  std::optional<JobFolder> folder_;
  std::deque<Task> tasks_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_ENGINES_LOCAL_LOCAL_ENGINE_H_
