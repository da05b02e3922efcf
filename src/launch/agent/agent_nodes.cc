#include "launch/agent/agent_nodes.h"

#include <optional>
#include <set>

#include "core/text/strings.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {

Status CheckNames(const std::vector<AgentNode>& nodes) {
  if (nodes.empty()) return InvalidArgument("no machines: give --hosts=alpha:4,beta or --hostfile=FILE");
  std::set<std::string> names;
  for (const AgentNode& node : nodes) {
    if (names.insert(node.name).second) continue;
    return InvalidArgument("the machine '", node.name, "' is given twice; NAME:N gives it N tasks");
  }
  return OkStatus();
}

StatusOr<std::vector<size_t>> AssignNodes(const std::vector<AgentNode>& nodes, size_t tasks) {
  std::vector<int> used(nodes.size());
  std::vector<size_t> assigned;
  for (size_t task = 0; task < tasks; ++task) {
    std::optional<size_t> best;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const bool is_free = nodes[i].slots == 0 || used[i] < nodes[i].slots;
      if (is_free && (!best.has_value() || used[i] < used[*best])) best = i;
    }
    if (!best.has_value()) {
      return InvalidArgument("the job has ", tasks, " tasks, and the machines have slots for ", task,
                             ": ask for fewer tasks, more machines, or more slots");
    }
    ++used[*best];
    assigned.push_back(*best);
  }
  return assigned;
}

std::string AgentScript(const std::string& program, const std::string& arguments) {
  return StrCat("p=", ShellWord(program), "; if [ ! -x \"$p\" ]; then q=$(command -v tensorbraid) || { ",
                "echo \"there is neither $p nor tensorbraid in PATH; install it there, or name it with ",
                "--remote_program\" >&2; exit 127; }; p=$q; fi; exec \"$p\" agent ", arguments);
}

std::string DescribeNodes(const std::vector<AgentNode>& nodes, const std::vector<size_t>& assigned,
                          const std::vector<std::string>& tasks, const std::string& directory,
                          const std::function<std::vector<std::string>(const AgentNode&)>& command) {
  std::string text;
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::vector<std::string> here;
    for (size_t task = 0; task < tasks.size(); ++task) {
      if (assigned[task] == i) here.push_back(tasks[task]);
    }
    if (here.empty()) {
      text += StrCat(nodes[i].name, ": no tasks\n");
      continue;
    }
    text += StrCat(nodes[i].name, " (", nodes[i].host, "): ", StrJoin(here, ", "), ", each with a free port, in ",
                   directory.empty() ? "the login's directory" : directory);
    text += command == nullptr ? "\n" : StrCat(", through\n    ", ShellWords(command(nodes[i])), "\n");
  }
  return text;
}

}  // namespace tensorbraid
