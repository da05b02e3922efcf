// Starts the tasks of a job on machines that the user reaches by SSH.
#ifndef TENSORBRAID_LAUNCH_ENGINES_SSH_SSH_H_
#define TENSORBRAID_LAUNCH_ENGINES_SSH_SSH_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "launch/agent/agent_engine.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// A list such as "alpha:4,user@beta,[::1]:2": machines as ssh knows them, and the number of tasks that each may run.
// InvalidArgument names the wrong part.
StatusOr<std::vector<AgentNode>> ParseHosts(const std::string& list);
// A file with a machine in each line: "alpha", "alpha:4" or, as for mpirun, "alpha slots=4". The rest of a line after
// '#' is a comment.
StatusOr<std::vector<AgentNode>> ReadHostFile(const std::string& path);

struct SshOptions {
  std::vector<AgentNode> nodes;            // their `host` is set by NewSshEngine
  std::vector<std::string> ssh = {"ssh"};  // the program and its first arguments
  std::string remote_program;              // tensorbraid on the machines; if it does not exist there, PATH is searched
  std::string version;
  std::string directory;                   // of the tasks
  std::vector<std::string> checked_files;  // see AgentEngineOptions
  // See AgentEngineOptions.
  std::chrono::milliseconds silence{120'000};
  std::chrono::milliseconds stop_grace{30'000};
  int spare_nodes = 0;  // the last ones of them are spares
  bool tls = true;      // make certificates for the job
};

// Asks ssh for the name or address of each machine, which the other machines must be able to use. Blocks while ssh
// reads its configuration. InvalidArgument if there is no machine but spare ones, or one twice. NotFound if there is no
// ssh.
StatusOr<std::unique_ptr<Engine>> NewSshEngine(const SshOptions& options);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_ENGINES_SSH_SSH_H_
