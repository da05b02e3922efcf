// The commands of the `tensorbraid` program. Each Add function registers a command and its options. When the user
// chooses the command, it sets Invocation::run.
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
  std::string version;  // of this program
  // The arguments after "--".
  std::vector<std::string> program;
  // Runs the chosen command; returns the program's exit code.
  std::function<int()> run;
};

void AddAgentCommand(CLI::App& app, Invocation* invocation);
void AddBenchCommand(CLI::App& app, Invocation* invocation);
void AddCertsCommand(CLI::App& app, Invocation* invocation);
void AddCompileCommand(CLI::App& app, Invocation* invocation);
void AddDebugCommand(CLI::App& app, Invocation* invocation);
void AddDevicesCommand(CLI::App& app, Invocation* invocation);
void AddInspectCommand(CLI::App& app, Invocation* invocation);
void AddJobsCommands(CLI::App& app, Invocation* invocation);  // jobs, attach, logs and stop
void AddLaunchCommand(CLI::App& app, Invocation* invocation);
void AddOpsCommand(CLI::App& app, Invocation* invocation);
void AddPlanCommand(CLI::App& app, Invocation* invocation);
void AddProxyCommand(CLI::App& app, Invocation* invocation);
void AddRegistryCommand(CLI::App& app, Invocation* invocation);
void AddServeCommand(CLI::App& app, Invocation* invocation);
void AddStatusCommand(CLI::App& app, Invocation* invocation);
void AddTableCommand(CLI::App& app, Invocation* invocation);
void AddTaskCommand(CLI::App& app, Invocation* invocation);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_COMMANDS_H_
