#include <cstdio>

#include "CLI/CLI.hpp"
#include "cli/commands.h"
#include "cli/ops_document.h"

namespace tensorbraid {

void AddOpsCommand(CLI::App& app, Invocation* invocation) {
  CLI::App* ops = app.add_subcommand("ops", "List the ops of this build with their dtypes, devices and gradients");
  ops->footer(
      "\nPrints a Markdown document with a table for each family of ops, docs/ops.md.\n\n"
      "Example:\n"
      "  tensorbraid ops | less");
  ops->callback([invocation] {
    invocation->run = [] {
      std::fputs(OpsDocument().c_str(), stdout);
      return 0;
    };
  });
}

}  // namespace tensorbraid
