#include <cstdio>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "cli/commands.h"
#include "cli/op_files.h"
#include "cli/ops_document.h"

namespace tensorbraid {
namespace {

int Update(const std::string& tree) {
  const auto written = UpdateOpFiles(tree);
  if (!written.ok()) return ExitCode(Annotate(written.status(), "tensorbraid ops: --update"));
  for (const std::string& name : *written) std::printf("wrote %s\n", name.c_str());
  return 0;
}

}  // namespace

void AddOpsCommand(CLI::App& app, Invocation* invocation) {
  CLI::App* ops = app.add_subcommand("ops", "List the ops of this build with their dtypes, devices and gradients");
  auto tree = std::make_shared<std::string>();
  ops->add_option("--update", *tree, "instead write the files of a source tree of Tensorbraid that follow from the ops")
      ->type_name("DIR");
  ops->footer(
      "\nPrints a Markdown document with a table for each family of ops, docs/ops.md.\n\n"
      "Examples:\n"
      "  tensorbraid ops | less\n"
      "  tensorbraid ops --update=.    # writes docs/ops.md and include/tensorbraid/raw_ops");
  ops->callback([invocation, tree] {
    invocation->run = [tree] {
      if (!tree->empty()) return Update(*tree);
      std::fputs(OpsDocument().c_str(), stdout);
      return 0;
    };
  });
}

}  // namespace tensorbraid
