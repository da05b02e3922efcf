#include <memory>

#include "CLI/CLI.hpp"
#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/one_of.h"
#include "core/strings.h"

namespace tensorbraid {

void AddLaunchCommand(CLI::App& app, Invocation* invocation) {
  struct Flags {
    LaunchOptions options;
    std::string style = "flags";
    double grace_s = 30;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* launch = app.add_subcommand("launch", "Start a program as a cluster of local processes");
  launch->add_option("--ps", flags->options.ps, "number of parameter servers")->capture_default_str();
  launch->add_option("--workers", flags->options.workers, "number of workers")->capture_default_str();
  launch->add_option("--log_dir", flags->options.log_dir,
                     "also write each task's output to this directory, for example to worker-0.log");
  launch->add_option("--env-style,--env_style", flags->style, "how a task is told its cluster, job and index")
      ->check(OneOf({"flags", "tf_config"}))
      ->capture_default_str();
  launch->add_option("--grace_s", flags->grace_s, "seconds that the other tasks may continue after one has failed")
      ->check(CLI::NonNegativeNumber)
      ->type_name("SECONDS")
      ->capture_default_str();
  launch->footer(
      "\nFull usage: tensorbraid launch [OPTIONS] -- PROGRAM [ARGUMENTS]\n\n"
      "Each task runs PROGRAM ARGUMENTS --ps_hosts=... --worker_hosts=... --job_name=... --task_index=...; with\n"
      "--env-style=tf_config it gets the environment variable TF_CONFIG instead of these flags. Tasks get free ports,\n"
      "which are held until the end. Each line of output is prefixed with its task, unless it begins with '{'.\n"
      "Ctrl-C ends all tasks within 2 s. The exit code is 0 if all tasks exited with 0, otherwise the code of the\n"
      "first task that failed.\n\n"
      "Example:\n"
      "  tensorbraid launch --ps=1 --workers=2 -- build/release/examples/mnist_softmax --train_steps=1000");
  launch->callback([flags, invocation] {
    invocation->run = [flags, invocation] {
      flags->options.command = invocation->program;
      flags->options.style = flags->style == "flags" ? TaskStyle::kFlags : TaskStyle::kTfConfig;
      flags->options.grace = std::chrono::milliseconds(static_cast<int64_t>(flags->grace_s * 1000));
      const auto result = Launch(flags->options);
      return result.ok() ? result->exit_code : ExitCode(Annotate(result.status(), "tensorbraid launch"));
    };
  });
}

}  // namespace tensorbraid
