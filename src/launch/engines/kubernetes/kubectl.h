// Calls of the user's kubectl.
#ifndef TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_KUBECTL_H_
#define TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_KUBECTL_H_

#include <poll.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/system/clock.h"
#include "launch/processes/child_process.h"
#include "launch/processes/line_splitter.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// A running kubectl. It is killed with this object. No function but AwaitEnd blocks. Not thread-safe.
class KubectlCall {
 public:
  // `input` is what kubectl reads. `on_line` gets each line that it prints, from within Handle; null: they are kept in
  // output(). NotFound if there is no such program.
  static StatusOr<std::unique_ptr<KubectlCall>> Start(const std::vector<std::string>& command, std::string input = "",
                                                      std::function<void(std::string_view)> on_line = nullptr);
  KubectlCall(const KubectlCall&) = delete;
  KubectlCall& operator=(const KubectlCall&) = delete;

  void AddEvents(std::vector<pollfd>* events);
  // Writes and reads. Whether kubectl has ended, and all of its output has been read.
  bool Handle();
  // Blocks until kubectl has ended. Whether it has before the deadline.
  bool AwaitEnd(MonotonicClock::time_point deadline);
  const std::string& output() const { return output_; }
  // OK if kubectl has succeeded, otherwise KubectlError. REQUIRES: Handle has returned true.
  Status status() const;

 private:
  KubectlCall(ChildProcess process, std::string input, std::function<void(std::string_view)> on_line);
  void Write();
  void Read();

  ChildProcess process_;
  std::string unsent_;
  std::optional<LineSplitter> lines_;  // for `on_line`
  std::string output_, errors_;
  std::optional<ProcessEnd> end_;
};

// How kubectl is called for a job.
struct Kubectl {
  std::vector<std::string> program;  // and its first arguments
  std::string name_space;
  std::string job;
  std::string kinds;  // of all objects of the job: "pods,services"

  std::vector<std::string> Command(const std::vector<std::string>& arguments) const;
  // What a user types to delete all that belongs to the job.
  std::string DeleteCommand() const;
  // An error with what the user can do about it, if that is known.
  Status Explained(const Status& status) const;
};

// What kubectl wrote to standard error, as a status. The code tells why the cluster refused, as far as that is known:
// PermissionDenied, AlreadyExists, NotFound, InvalidArgument, and ResourceExhausted for a quota that is used up.
// Otherwise it is Unavailable.
Status KubectlError(std::string_view errors);
// kubectl goes on after an error with one of many objects, and the text then has all errors, with "; " between them.
// Returns the error about the object of this name, or the first one if none names it.
Status ErrorOf(const std::string& object, const Status& status);
// Whether a request that failed may have come to the server.
bool HasReachedServer(const Status& status);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_KUBECTL_H_
