// The commands of the `tensorbraid` program. Each adds itself with its options and, when it is chosen, sets what runs.
#ifndef TENSORBRAID_CLI_COMMANDS_H_
#define TENSORBRAID_CLI_COMMANDS_H_

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tensorbraid {

struct Invocation {
  // What stood behind "--".
  std::vector<std::string> program;
  // The chosen command; returns the program's exit code.
  std::function<int()> run;
};

void AddBenchCommand(CLI::App& app, Invocation* invocation);
void AddLaunchCommand(CLI::App& app, Invocation* invocation);
void AddOpsCommand(CLI::App& app, Invocation* invocation);
void AddServeCommand(CLI::App& app, Invocation* invocation);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_COMMANDS_H_
