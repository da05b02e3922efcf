#include <cstdlib>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "cli/commands.h"
#include "core/system/host_name.h"
#include "core/text/strings.h"
#include "launch/agent/agent.h"

namespace tensorbraid {

void AddAgentCommand(CLI::App& app, Invocation* invocation) {
  auto options = std::make_shared<AgentOptions>();
  auto shared = std::make_shared<bool>(false);
  CLI::App* agent = app.add_subcommand("agent", "Run tasks for a launcher on another machine (started by launch)");
  agent->add_option("--node", options->node,
                    "this machine's name in the launcher's requests; default: Slurm's name of it, or its host name");
  agent->add_flag("--shared", *shared,
                  "other agents, which srun has started with this one, use the same input and output; $SLURM_PROCID is "
                  "the number of this one");
  agent
      ->add_option("--munge", options->munge,
                   "refuse requests without a credential that MUNGE has made for this user and this text")
      ->type_name("TEXT");
  agent->footer(
      "\nReads requests from standard input and writes events to standard output, as lines of JSON. Ends, with all of "
      "its\n"
      "tasks, when standard input ends. 'tensorbraid launch --on=ssh' starts one on each machine.");
  agent->callback([options, shared, invocation] {
    invocation->run = [options, shared, invocation] {
      options->version = invocation->version;
      if (*shared) {
        const char* const rank = std::getenv("SLURM_PROCID");
        if (rank == nullptr || !absl::SimpleAtoi(rank, &options->rank) || options->rank < 0) {
          return ExitCode(InvalidArgument("tensorbraid agent --shared: SLURM_PROCID is not a number; srun sets it"));
        }
      }
      if (const char* const name = std::getenv("SLURMD_NODENAME"); options->node.empty() && name != nullptr) {
        options->node = name;
      }
      if (options->node.empty()) options->node = HostName();
      return ExitCode(RunAgent(*options));
    };
  });
}

}  // namespace tensorbraid
