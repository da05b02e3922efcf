#include <memory>

#include "CLI/CLI.hpp"
#include "cli/at_least.h"
#include "cli/commands.h"
#include "cli/launch/launcher.h"
#include "cli/one_of.h"
#include "core/text/strings.h"

namespace tensorbraid {

void AddLaunchCommand(CLI::App& app, Invocation* invocation) {
  struct Flags {
    LaunchOptions options;
    std::string style = "flags";
    std::string restart = "no";
    double grace_s = 30;
    double stop_grace_s = 30;
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
  launch->add_option("--token_file", flags->options.token_file, "pass --token_file=FILE on to each task")
      ->type_name("FILE");
  launch
      ->add_option("--metrics_port", flags->options.metrics_port,
                   "port on which ps/0 serves the status of the cluster to browsers and to Prometheus")
      ->check(CLI::Range(1, 65535));
  launch
      ->add_option("--restart", flags->restart,
                   "start tasks that fail again: no, on-failure, or on-failure:N for at most N times each")
      ->check([](const std::string& text) { return std::string(ParseRestartPolicy(text).status().message()); })
      ->type_name("POLICY")
      ->capture_default_str();
  launch->add_option("--grace_s", flags->grace_s, "seconds that the other tasks may continue after one has failed")
      ->check(AtLeast(0))
      ->type_name("SECONDS")
      ->capture_default_str();
  launch
      ->add_option("--stop_grace_s", flags->stop_grace_s, "seconds that tasks may take to save and leave after SIGTERM")
      ->check(AtLeast(0))
      ->type_name("SECONDS")
      ->capture_default_str();
  launch->footer(
      "\nFull usage: tensorbraid launch [OPTIONS] -- PROGRAM [ARGUMENTS]\n\n"
      "Each task runs PROGRAM ARGUMENTS --ps_hosts=... --worker_hosts=... --job_name=... --task_index=...; with\n"
      "--env-style=tf_config it gets the environment variable TF_CONFIG instead of these flags. Tasks get free ports,\n"
      "which are held until the end. Each line of output is prefixed with its task, unless it begins with '{'.\n"
      "SIGTERM lets the tasks save a checkpoint and leave. Ctrl-C does the same, but ends all tasks within 2 s.\n\n"
      "With --restart=on-failure a task that fails is started again on the same port: after 0.5 s, then after twice "
      "as\n"
      "long each time, up to 30 s. A task that exits with 2 (an error in its arguments or its program) is not.\n"
      "The exit code is 0 if all tasks exited with 0 at last, otherwise the code of the first task that failed for\n"
      "good.\n\n"
      "Examples:\n"
      "  tensorbraid launch --ps=1 --workers=2 -- build/release/examples/mnist_softmax --train_steps=1000\n"
      "  tensorbraid launch --ps=1 --workers=2 -- python -m tensorbraid train.py    # written for TensorFlow 1");
  launch->callback([flags, invocation] {
    invocation->run = [flags, invocation] {
      flags->options.command = invocation->program;
      flags->options.style = flags->style == "flags" ? TaskStyle::kFlags : TaskStyle::kTfConfig;
      flags->options.restart = *ParseRestartPolicy(flags->restart);
      flags->options.grace = std::chrono::milliseconds(static_cast<int64_t>(flags->grace_s * 1000));
      flags->options.stop_grace = std::chrono::milliseconds(static_cast<int64_t>(flags->stop_grace_s * 1000));
      const auto result = Launch(flags->options);
      return result.ok() ? result->exit_code : ExitCode(Annotate(result.status(), "tensorbraid launch"));
    };
  });
}

}  // namespace tensorbraid
