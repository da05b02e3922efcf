#include "cli/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "cli/bench/cluster.h"
#include "cli/bench/raw_grpc.h"
#include "cli/commands.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// Describes a CLI11 error: the argument that was not understood, and the nearest valid one.
std::string Explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string help = app.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    help += " " + command->get_name();
  }
  help += " --help";
  const std::vector<std::string> rest = app.remaining(/*recurse=*/true);
  if (rest.empty()) {
    const std::string_view what = error.what();
    constexpr std::string_view kNoNumber = "Could not convert: ", kIs = " = ";  // "Could not convert: --ps = many"
    if (const size_t is = what.find(kIs); what.starts_with(kNoNumber) && is != std::string_view::npos) {
      return StrCat(what.substr(kNoNumber.size(), is - kNoNumber.size()), ": '", what.substr(is + kIs.size()),
                    "' is not a number, or is too large; see ", help);
    }
    return what.ends_with("?") ? std::string(what) : StrCat(what, "; see ", help);
  }

  const std::string word = rest.front().substr(0, rest.front().find('='));
  if (word == "help") return StrCat("unknown command help; see ", help);
  std::vector<std::string> known;
  if (word.starts_with("-")) {
    for (const CLI::Option* option : command->get_options()) known.push_back(option->get_name());
  } else {
    for (const CLI::App* subcommand : command->get_subcommands({})) known.push_back(subcommand->get_name());
  }
  if (!word.starts_with("-") && command->get_name() == "launch") {
    return StrCat("unexpected argument ", word, "; put the program and its arguments after '--'");
  }
  const std::string nearest = NearestWord(word, known);
  return StrCat(word.starts_with("-") ? "unknown option "
                : known.empty()       ? "unexpected argument "
                                      : "unknown command ",
                word, nearest.empty() ? StrCat("; see ", help) : StrCat("; did you mean ", nearest, "?"));
}

// Opens those of the standard descriptors that the caller has closed (">&-"). A file that is opened later would get
// their number, and what is printed would go to that file.
void OpenStandardDescriptors() {
  int fd;
  do {
    fd = ::open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

}  // namespace

int RunProgram(int argc, char** argv, const std::string& version) {
  OpenStandardDescriptors();
  // Benchmarks start this program again for each of their processes.
  bench::MaybeServeRawGrpc(argc, argv);
  if (argc == 3 && std::string(argv[1]) == kBenchTaskArgument) return RunBenchTask(std::atoi(argv[2]));

  CLI::App app("Tensorbraid: distributed training on parameter servers.", "tensorbraid");
  app.set_help_flag("--help,-h", "print this help and exit");
  app.set_version_flag("--version", "tensorbraid " + version, "print the version and exit");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND [OPTIONS]");
  app.get_formatter()->label("Subcommands", "Commands");
  app.require_subcommand(0, 1);
  app.footer("Run 'tensorbraid COMMAND --help' for help on a command.");

  // The arguments after "--" belong to the program that a command runs.
  std::vector<std::string> words;
  Invocation invocation{.version = version, .program = {}, .run = nullptr};
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--") {
      invocation.program.assign(argv + i + 1, argv + argc);
      break;
    }
    words.insert(words.begin(), argv[i]);  // CLI11 expects the reverse order
  }
  AddLaunchCommand(app, &invocation);
  AddJobsCommands(app, &invocation);
  AddServeCommand(app, &invocation);
  AddProxyCommand(app, &invocation);
  AddCertsCommand(app, &invocation);
  AddBenchCommand(app, &invocation);
  AddPlanCommand(app, &invocation);
  AddStatusCommand(app, &invocation);
  AddTaskCommand(app, &invocation);
  AddRegistryCommand(app, &invocation);
  AddDevicesCommand(app, &invocation);
  AddDebugCommand(app, &invocation);
  AddCompileCommand(app, &invocation);
  AddInspectCommand(app, &invocation);
  AddTableCommand(app, &invocation);
  AddOpsCommand(app, &invocation);
  AddAgentCommand(app, &invocation);
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

}  // namespace tensorbraid
