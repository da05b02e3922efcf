// The machines on which agents run the tasks of a job.
#ifndef TENSORBRAID_LAUNCH_AGENT_AGENT_NODES_H_
#define TENSORBRAID_LAUNCH_AGENT_AGENT_NODES_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// A machine of the job.
struct AgentNode {
  std::string name;  // as the user calls it
  std::string host;  // how the other machines reach it
  int slots = 0;     // how many tasks it may run; 0: any number
};

// InvalidArgument if there is no node, or one name twice.
Status CheckNames(const std::vector<AgentNode>& nodes);

// For each of `tasks` tasks, the node that runs it. Each task goes to the node that has the fewest so far, among those
// with a free slot; the first of them if there are several. So parameter servers, which come first, are spread.
// InvalidArgument if there are fewer slots than tasks.
StatusOr<std::vector<size_t>> AssignNodes(const std::vector<AgentNode>& nodes, size_t tasks);

// The script for sh that runs `tensorbraid agent` with these arguments: the program at this path if it exists on the
// machine, otherwise the one in PATH.
std::string AgentScript(const std::string& program, const std::string& arguments);

// What would run where, in lines for the user: task i on node assigned[i], in `directory` ("": that of the login),
// through `command`, unless that is null.
std::string DescribeNodes(const std::vector<AgentNode>& nodes, const std::vector<size_t>& assigned,
                          const std::vector<std::string>& tasks, const std::string& directory,
                          const std::function<std::vector<std::string>(const AgentNode&)>& command);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_AGENT_AGENT_NODES_H_
