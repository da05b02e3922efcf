// Runs commands on other machines before a job starts, by the system's ssh and rsync.
#ifndef TENSORBRAID_LAUNCH_BRING_REMOTE_SHELL_H_
#define TENSORBRAID_LAUNCH_BRING_REMOTE_SHELL_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/agent/agent_engine.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Options that ssh always gets. It does not ask for passwords, which the user could not answer. It ends with an error
// when the machine cannot be reached for 10 s or is silent for 15 s, also in the middle of a transfer.
const std::vector<std::string>& SshOptionsOfLauncher();

// A machine. Its functions block, and return the errors of RunCommand. ssh gets SshOptionsOfLauncher.
class RemoteShell {
 public:
  // `ssh` is the ssh program and its options.
  RemoteShell(const AgentNode& node, const std::vector<std::string>& ssh);
  // Runs a script of sh there, whatever the login's shell is, and returns its standard output. The script is one line,
  // and reads `input`.
  StatusOr<std::string> Run(const std::string& script, std::string_view input = "") const;
  // Runs rsync with these arguments, of which the last is a path there. The rsync of this machine reads `input`.
  StatusOr<std::string> Rsync(std::vector<std::string> arguments,
                              const std::function<void(const std::string&)>& on_line = nullptr,
                              std::string_view input = "") const;

 private:
  const std::string node_;
  std::vector<std::string> ssh_;
};

// Calls the function for each machine, with its index, for up to 16 machines at a time. It runs on other threads, which
// have ended when this returns. The first error in the order of the machines; after an error no further machine is
// begun.
Status ForEachMachine(size_t machines, const std::function<Status(size_t)>& function);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_BRING_REMOTE_SHELL_H_
