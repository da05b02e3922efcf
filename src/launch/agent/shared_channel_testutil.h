// A stand-in for srun in tests: agents of several nodes, all on this machine, that share one input and one output.
#ifndef TENSORBRAID_LAUNCH_AGENT_SHARED_CHANNEL_TESTUTIL_H_
#define TENSORBRAID_LAUNCH_AGENT_SHARED_CHANNEL_TESTUTIL_H_

#include <string>
#include <vector>

#include "core/text/strings.h"
#include "launch/agent/agent_engine.h"

namespace tensorbraid {

// Starts an agent for each of the nodes, which writes its pid to a file of its node's name in `directory`. The pid of
// the channel is in the file `channel`. As with srun, each agent gets all of the input, which goes on when one of the
// agents has ended.
inline SharedChannel SharedChannelOf(const std::vector<std::string>& nodes, const std::string& directory) {
  std::string script = StrCat("cd ", directory, " || exit 1; echo $$ > channel; ");
  std::string inputs;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::string& node = nodes[i];
    script += StrCat("mkfifo ", node, ".in || exit 1; SLURM_PROCID=", i, " SLURMD_NODENAME=", node,
                     " TENSORBRAID_HOST=127.0.0.1 sh -c 'echo $$ > ", node, "; exec ", TENSORBRAID_PROGRAM,
                     " agent --shared' < ", node, ".in & ");
    inputs += StrCat(" ", node, ".in");
  }
  script += StrCat("tee --output-error=warn-nopipe", inputs, " > /dev/null; wait");
  return {.engine = "the stand-in", .command = {"sh", "-c", script}, .agents = static_cast<int>(nodes.size())};
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_AGENT_SHARED_CHANNEL_TESTUTIL_H_
