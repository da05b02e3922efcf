// What the launcher needs of the machines that run the tasks of a job (docs/design/0026).
#ifndef TENSORBRAID_LAUNCH_ENGINES_ENGINE_H_
#define TENSORBRAID_LAUNCH_ENGINES_ENGINE_H_

#include <poll.h>
#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/processes/child_process.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// A machine, and the address on it at which the other tasks reach a task. The port is held until the engine ends.
struct TaskPlace {
  std::string node;     // as the user calls the machine; "" for this one
  std::string address;  // "host:port"
};

// A program, its arguments and what is added to its environment. An empty value removes a variable.
struct ProgramCall {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment = {};
};
// Tells the program where a file is that it needs: by the flag, such as --token_file, if it knows such flags, and by an
// environment variable, such as TENSORBRAID_TOKEN_FILE, which programs without them read.
void AddFile(const std::string& flag, const std::string& path, bool knows_flags, ProgramCall* call);

// The variable of a call by which the launcher says how many GPUs a task gets. The engine on the task's machine divides
// those of the machine among its tasks, and tells each of them by CUDA_VISIBLE_DEVICES. Without it, tasks have all
// GPUs.
inline constexpr const char* kGpusVariable = "TENSORBRAID_GPUS_PER_TASK";

enum class OutputStream { kOut, kErr };

// How a task ended.
struct TaskEnd {
  ProcessEnd process;
  // Why the task counts as ended, if the end of its process could not be seen because its machine was lost.
  std::string lost = "";
  // The machine does not come back, and there is no other one, so the task cannot be started again.
  bool lost_for_good = false;
  // What the task's server last wrote to TENSORBRAID_REPORT_FILE (cluster/status/report_file.h), perhaps within other
  // text. Empty if there is no such server, or if its machine was lost.
  std::string report = "";
  // Where the task ran, if the engine did not know that when it placed the task; as TaskPlace::node.
  std::string node = "";

  bool ok() const { return lost.empty() && process.ok(); }
  // "exited with 3", "was killed by SIGKILL", "was lost: no connection to alpha".
  std::string ToString() const;
  // As a shell reports it; 255 for a task that was lost.
  int ShellCode() const { return lost.empty() ? process.ShellCode() : 255; }
};

// What an engine reports. Tasks are numbered from 0, in the order of Place. The functions may call the engine.
class EngineListener {
 public:
  virtual ~EngineListener() = default;
  // All tasks have places, one for each.
  virtual void OnPlaced(std::vector<TaskPlace> places) = 0;
  // A task can be started here from now on; the place may be the one that it had. The tasks that run are told by the
  // engine, which needs no call for that.
  virtual void OnPlacedAgain(size_t /*task*/, const TaskPlace& /*place*/) {}
  // `pid` is the process on the task's machine; 0: only the engine knows it.
  virtual void OnStarted(size_t task, pid_t pid) = 0;
  // The program could not be started. The task is not running. NotFound and PermissionDenied mean the program itself:
  // it does not exist, or may not be executed.
  virtual void OnStartFailed(size_t task, const Status& why) = 0;
  virtual void OnLine(size_t task, OutputStream stream, std::string_view line) = 0;
  // The task has ended. More of its output may follow, until OnOutputEnd.
  virtual void OnEnd(size_t task, const TaskEnd& end) = 0;
  virtual void OnOutputEnd(size_t task) = 0;
  // The job cannot run or go on.
  virtual void OnFailure(const Status& why) = 0;
  // Something that the user wants to know, such as what the engine waits for.
  virtual void OnMessage(const std::string& text) = 0;
  // The engine wants the job to end soon, for example because its time is up. If it has told the tasks itself, it
  // passes no further SIGTERM on to them. An agent, which is a listener too, leaves it to the launcher.
  virtual void OnStopRequest(const std::string& /*why*/) {}
};

// Starts the tasks of a job on machines, and watches them. No function blocks: what a call leads to is told to the
// listener, from within the call or from Handle. Not thread-safe. When an engine is destroyed, none of its tasks is
// left.
class Engine {
 public:
  virtual ~Engine() = default;

  // Where each of the tasks would run and how it would be started, in lines for the user. Does nothing else. May be
  // called instead of Place.
  virtual StatusOr<std::string> Describe(const std::vector<std::string>& tasks) const = 0;
  // For a description: the addresses that the tasks will have. Empty if they are only known after Place.
  virtual std::vector<std::string> KnownAddresses(const std::vector<std::string>& /*tasks*/) const { return {}; }
  // How Start would start the task, in lines for the user.
  virtual std::string DescribeStart(const std::string& task, const ProgramCall& call, bool knows_flags) const;
  // Finds a machine and an address for each of the tasks, which have names such as "worker/0". Called once, before all
  // functions below. `listener` gets the reports of all functions, and must outlive the engine.
  virtual void Place(const std::vector<std::string>& tasks, EngineListener* listener) = 0;
  // Called before a task is started again. Returns true if the task has its place still. Otherwise looks for a place,
  // on the same machine or on another, and calls OnPlacedAgain; if there is none, it calls OnEnd, as if the task had
  // been lost once more.
  virtual bool PlaceAgain(size_t /*task*/) { return true; }
  // Starts a task that is not running, for the first time or again. If output of an earlier run is still open, it is
  // given up, and its end is not reported.
  // The engine adds the files that it has put on the machine (AddFile). `knows_flags`: the program has flags for them.
  virtual void Start(size_t task, const ProgramCall& call, bool knows_flags) = 0;
  // Sends a signal to the task's process group. No effect on a task that is not running.
  virtual void Signal(size_t task, int signal) = 0;
  // Gives up the rest of a task's output, if there is any.
  virtual void CloseOutput(size_t task) = 0;

  // The command that ends what the tasks leave behind if this process is killed. Empty if they end by themselves then.
  virtual std::vector<std::string> CleanUpCommand() const { return {}; }

  // Appends the events to wait for before Handle is called again.
  virtual void AddEvents(std::vector<pollfd>* events) = 0;
  // Reports all that has happened.
  virtual void Handle() = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_ENGINES_ENGINE_H_
