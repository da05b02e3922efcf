#include <unistd.h>

#include <array>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "cli/commands.h"
#include "cli/launch/agent.h"

namespace tensorbraid {

void AddAgentCommand(CLI::App& app, Invocation* invocation) {
  auto options = std::make_shared<AgentOptions>();
  CLI::App* agent = app.add_subcommand("agent", "Run tasks for a launcher on another machine (started by launch)");
  agent->add_option("--node", options->node, "this machine's name in the launcher's requests; default: its host name");
  agent->footer(
      "\nReads requests from standard input and writes events to standard output, as lines of JSON. Ends, with all of "
      "its\n"
      "tasks, when standard input ends. 'tensorbraid launch --on=ssh' starts one on each machine.");
  agent->callback([options, invocation] {
    invocation->run = [options, invocation] {
      options->version = invocation->version;
      if (options->node.empty()) {
        std::array<char, 256> name{};
        ::gethostname(name.data(), name.size() - 1);
        options->node = name.data();
      }
      return ExitCode(RunAgent(*options));
    };
  });
}

}  // namespace tensorbraid
