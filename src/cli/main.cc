// The `tensorbraid` program: one command per thing one does with a cluster.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "cli/bench_cluster.h"
#include "cli/commands.h"
#include "cli/raw_grpc.h"
#include "core/strings.h"

namespace tensorbraid {
namespace {

// CLI11's error in our words: what was not understood, and what may have been meant.
std::string Explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  if (const auto chosen = app.get_subcommands(); !chosen.empty()) command = chosen.front();
  const std::vector<std::string> rest = app.remaining(/*recurse=*/true);
  if (rest.empty()) return StrCat(error.what(), "; see ", command->get_display_name(), " --help");

  const std::string word = rest.front().substr(0, rest.front().find('='));
  std::vector<std::string> known;
  if (word.starts_with("-")) {
    for (const CLI::Option* option : command->get_options()) known.push_back(option->get_name());
  } else if (command == &app) {
    for (const CLI::App* subcommand : app.get_subcommands({})) known.push_back(subcommand->get_name());
  }
  const std::string nearest = NearestWord(word, known);
  return StrCat(word.starts_with("-") ? "unknown option "
                : command == &app     ? "unknown command "
                                      : "unexpected argument ",
                word, nearest.empty() ? "; see --help" : StrCat("; did you mean ", nearest, "?"));
}

int Main(int argc, char** argv) {
  // A benchmark starts this program again, as one of its processes.
  bench::MaybeServeRawGrpc(argc, argv);
  if (argc == 3 && std::string(argv[1]) == kBenchTaskArgument) return RunBenchTask(std::atoi(argv[2]));

  CLI::App app("Tensorbraid: distributed training on parameter servers.", "tensorbraid");
  app.set_help_flag("--help,-h", "print this help and end");
  app.set_version_flag("--version", "tensorbraid " TENSORBRAID_VERSION, "print the version and end");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND [OPTIONS]");
  app.get_formatter()->label("Subcommands", "Commands");
  app.require_subcommand(0, 1);
  app.footer("'tensorbraid COMMAND --help' tells more about a command.");

  // What follows "--" belongs to the program that a command runs.
  std::vector<std::string> words;
  Invocation invocation;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--") {
      invocation.program.assign(argv + i + 1, argv + argc);
      break;
    }
    words.insert(words.begin(), argv[i]);  // the order CLI11 wants
  }
  AddLaunchCommand(app, &invocation);
  AddServeCommand(app, &invocation);
  AddBenchCommand(app, &invocation);
  AddOpsCommand(app, &invocation);
  try {
    app.parse(words);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "tensorbraid: %s\n", Explain(app, error).c_str());
    return 2;
  }
  if (invocation.run == nullptr) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  }
  return invocation.run();
}

}  // namespace
}  // namespace tensorbraid

int main(int argc, char** argv) { return tensorbraid::Main(argc, argv); }
