#include "launch/engines/mpi/mpi.h"

#include <algorithm>
#include <chrono>

#include "core/text/strings.h"
#include "launch/engines/ssh/ssh.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {

StatusOr<std::vector<AgentNode>> NodesOfBatchSystem(const std::map<std::string, std::string>& variables) {
  for (const char* name : {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE"}) {
    const auto file = variables.find(name);
    if (file == variables.end() || file->second.empty()) continue;
    const auto lines = ReadHostFile(file->second);
    if (!lines.ok()) return Annotate(lines.status(), name);
    std::vector<AgentNode> nodes;
    for (const AgentNode& line : *lines) {
      auto known = std::find_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n.name == line.name; });
      if (known == nodes.end()) known = nodes.insert(known, {line.name, "", 0});
      known->slots += std::max(line.slots, 1);
    }
    return nodes;
  }
  return InvalidArgument(
      "no machines: give --hosts=alpha:4,beta or --hostfile=FILE, or start this in a job of PBS or LSF");
}

Status UseMpirun(const std::vector<std::string>& mpirun, const std::string& agent_program,
                 AgentEngineOptions* options) {
  TF_RETURN_IF_ERROR(CheckNames(options->nodes));
  for (AgentNode& node : options->nodes) node.host = node.name;
  options->command = [mpirun, agent_program](const AgentNode& node) {
    std::vector<std::string> command = mpirun;
    // Open MPI and MPICH both know these options. The tasks may use all cores.
    command.insert(command.end(), {"-host", node.name, "-n", "1", "-bind-to", "none", "sh", "-c",
                                   AgentScript(agent_program, "--node=" + ShellWord(node.name))});
    return command;
  };
  options->hint = StrCat("try '", StrJoin(mpirun, " "), " -host NODE -n 1 hostname'");
  // No mpirun notices that a machine has lost its power or its network. MPICH's mpirun also waits for ever for a
  // machine that it cannot reach.
  options->alive = std::chrono::milliseconds(2500);
  return OkStatus();
}

}  // namespace tensorbraid
