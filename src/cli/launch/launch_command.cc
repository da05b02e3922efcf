#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "cli/at_least.h"
#include "cli/commands.h"
#include "cli/launch/detach.h"
#include "cli/launch/jobs.h"
#include "cli/launch/kubernetes/kubernetes_options.h"
#include "cli/launch/launcher.h"
#include "cli/launch/libraries.h"
#include "cli/launch/local_engine.h"
#include "cli/launch/ray.h"
#include "cli/launch/run_command.h"
#include "cli/launch/slurm.h"
#include "cli/launch/ssh.h"
#include "cli/launch/sync.h"
#include "cli/one_of.h"
#include "cluster/discovery/surroundings.h"
#include "core/text/strings.h"
#include "io/file.h"

namespace tensorbraid {
namespace {

struct LaunchFlags {
  LaunchOptions options;
  std::string on = "local";
  std::string hosts;
  std::string host_file;
  std::string ssh = "ssh";
  std::vector<std::string> sync;
  std::vector<std::string> environment;
  std::string remote_program;
  std::string directory;
  SlurmOptions slurm;
  RayOptions ray;
  std::vector<std::string> engine_arguments;
  bool batch = false;
  KubernetesOptions kubernetes;
  bool insecure = false;
  bool dry_run = false;
  bool detach = false;
  std::string jobs_directory;
  std::string style = "flags";
  std::string restart = "no";
  double grace_s = 30;
  double stop_grace_s = 30;
};

// The path of this program, where machines with the same files have it, too.
std::string ThisProgram() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

std::string AgentProgram(const LaunchFlags& flags) {
  return flags.remote_program.empty() ? ThisProgram() : flags.remote_program;
}

// The files of a command that must be the same on all machines: those that are named by a path, not found through PATH.
std::vector<std::string> FilesOf(const std::vector<std::string>& command) {
  std::vector<std::string> files;
  for (size_t i = 0; i < command.size(); ++i) {
    std::error_code error;
    const bool is_file = std::filesystem::is_regular_file(command[i], error);
    if (is_file && (i > 0 || command[i].find('/') != std::string::npos)) files.push_back(command[i]);
  }
  return files;
}

// The options for Slurm with what the other flags say.
SlurmOptions SlurmOptionsOf(const LaunchFlags& flags, const Invocation& invocation) {
  SlurmOptions options = flags.slurm;
  options.tasks = flags.options.ps + flags.options.workers;
  options.program = invocation.program.empty() ? "" : std::filesystem::path(invocation.program[0]).filename();
  for (const std::string& words : flags.engine_arguments) {
    for (const std::string& word : StrSplit(words, ' ')) {
      if (!word.empty()) options.arguments.push_back(word);
    }
  }
  options.stop_grace = flags.options.stop_grace;
  options.agent_program = AgentProgram(flags);
  return options;
}

// An engine whose agents share a channel.
StatusOr<std::unique_ptr<Engine>> NewSharedEngine(SharedChannel channel, const std::string& directory,
                                                  const LaunchFlags& flags, const Invocation& invocation) {
  AgentEngineOptions options{.nodes = {},
                             .command = nullptr,
                             .shared = std::move(channel),
                             .version = invocation.version,
                             .directory = directory,
                             .checked_files = FilesOf(invocation.program)};
  if (!flags.insecure) TF_RETURN_IF_ERROR(AddJobCredentials(&options));
  return std::make_unique<AgentEngine>(std::move(options));
}

// The directory of the tasks on machines that have the same files.
std::string SharedDirectory(const LaunchFlags& flags) {
  return flags.directory.empty() ? std::filesystem::current_path().string() : flags.directory;
}

StatusOr<std::unique_ptr<Engine>> NewSlurmEngine(const LaunchFlags& flags, const Invocation& invocation) {
  SlurmConfiguration configuration;
  if (!flags.dry_run) {
    TF_ASSIGN_OR_RETURN(configuration, ReadSlurmConfiguration());
  }
  TF_ASSIGN_OR_RETURN(SharedChannel channel, SlurmChannel(SlurmOptionsOf(flags, invocation), configuration,
                                                          Surroundings::OfProcess().variables));
  return NewSharedEngine(std::move(channel), SharedDirectory(flags), flags, invocation);
}

StatusOr<std::unique_ptr<Engine>> NewRayEngine(const LaunchFlags& flags, const Invocation& invocation) {
  if (!flags.sync.empty() && !flags.directory.empty()) {
    return InvalidArgument("--directory: Ray chooses the place of what --sync brings, and the tasks run there");
  }
  RayOptions options = flags.ray;
  options.ps = flags.options.ps;
  options.workers = flags.options.workers;
  options.sync = flags.sync;
  options.agent_program = AgentProgram(flags);
  TF_ASSIGN_OR_RETURN(SharedChannel channel, RayChannel(options));
  return NewSharedEngine(std::move(channel), flags.sync.empty() ? SharedDirectory(flags) : "", flags, invocation);
}

// Submits a batch job that runs this command without --batch, or prints its script.
Status LaunchAsBatchJob(const LaunchFlags& flags, const Invocation& invocation) {
  if (flags.on != "slurm") return InvalidArgument("--batch is for --on=slurm");
  if (invocation.program.empty()) return InvalidArgument("no program to run; put it after '--'");
  TF_ASSIGN_OR_RETURN(const std::string words, ReadFile("/proc/self/cmdline"));
  std::vector<std::string> command = WithoutBatchOptions(StrSplit(words, '\0'));
  command.pop_back();  // after the last '\0'
  command[0] = ThisProgram();
  const SlurmOptions options = SlurmOptionsOf(flags, invocation);
  const std::string script = SlurmBatchScript(options, command);
  if (flags.dry_run) {
    std::vector<std::string> sbatch = {"sbatch"};
    for (const std::string& argument : options.arguments) sbatch.push_back(ShellWord(argument));
    std::fputs(StrCat(StrJoin(sbatch, " "), " would get the script\n\n", script).c_str(), stdout);
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(const std::string answer, SubmitToSlurm(options, script));
  std::fputs(answer.c_str(), stdout);
  return OkStatus();
}

// Brings the directories of --sync, and the libraries of a program in one of them.
Status Sync(const SshOptions& ssh, const std::string& program, LaunchFlags* flags) {
  namespace fs = std::filesystem;
  TF_RETURN_IF_ERROR(SyncDirectories({.nodes = ssh.nodes, .ssh = ssh.ssh, .directories = flags->sync}));
  if (program.find('/') == std::string::npos) return OkStatus();
  std::error_code error;
  const fs::path path = fs::canonical(program, error);
  const bool is_brought = std::any_of(flags->sync.begin(), flags->sync.end(), [&path](const std::string& directory) {
    std::error_code unknown;
    const fs::path parent = fs::canonical(directory, unknown);
    return std::mismatch(parent.begin(), parent.end(), path.begin(), path.end()).first == parent.end();
  });
  if (error || !is_brought) return OkStatus();
  TF_ASSIGN_OR_RETURN(std::string folder, BringLibraries(ssh.nodes, ssh.ssh, path));
  if (folder.empty()) return OkStatus();
  auto& environment = flags->options.environment;
  const auto given = std::find_if(environment.begin(), environment.end(),
                                  [](const auto& variable) { return variable.first == "LD_LIBRARY_PATH"; });
  if (given == environment.end()) {
    environment.emplace_back("LD_LIBRARY_PATH", folder);
  } else {
    given->second = StrCat(folder, ":", given->second);
  }
  return OkStatus();
}

StatusOr<std::unique_ptr<Engine>> NewEngine(LaunchFlags& flags, const Invocation& invocation) {
  const bool has_machines = !flags.hosts.empty() || !flags.host_file.empty();
  if (flags.on == "local") {
    if (has_machines) return InvalidArgument("--hosts and --hostfile are for other machines: add --on=ssh");
    return std::make_unique<LocalEngine>();
  }
  if (flags.on == "slurm") {
    if (has_machines || !flags.sync.empty()) {
      return InvalidArgument(
          "--hosts, --hostfile and --sync are for --on=ssh: Slurm chooses the machines, which share ",
          "your files; --engine_args=--nodelist=alpha,beta asks for certain ones");
    }
    return NewSlurmEngine(flags, invocation);
  }
  if (flags.on == "ray") {
    if (has_machines) return InvalidArgument("--hosts and --hostfile are for --on=ssh: Ray chooses the nodes");
    return NewRayEngine(flags, invocation);
  }
  if (flags.on == "kubernetes") {
    if (has_machines || !flags.sync.empty()) {
      return InvalidArgument(
          "--hosts, --hostfile and --sync are for --on=ssh: Kubernetes chooses the machines, the program comes with ",
          "--image, and --volume=CLAIM:PATH mounts data");
    }
    return NewKubernetesEngine(flags.kubernetes, {.program = invocation.program.empty() ? "" : invocation.program[0],
                                                  .directory = flags.directory,
                                                  .tls = !flags.insecure,
                                                  .stop_grace = flags.options.stop_grace});
  }
  if (!flags.hosts.empty() && !flags.host_file.empty()) return InvalidArgument("give --hosts or --hostfile, not both");
  SshOptions options{.nodes = {},
                     .ssh = {},
                     .remote_program = AgentProgram(flags),
                     .version = invocation.version,
                     .directory = flags.directory,
                     .checked_files = FilesOf(invocation.program),
                     .tls = !flags.insecure};
  if (!flags.host_file.empty()) {
    TF_ASSIGN_OR_RETURN(options.nodes, ReadHostFile(flags.host_file));
  } else if (!flags.hosts.empty()) {
    TF_ASSIGN_OR_RETURN(options.nodes, ParseHosts(flags.hosts));
  }
  for (const std::string& word : StrSplit(flags.ssh, ' ')) {
    if (!word.empty()) options.ssh.push_back(word);
  }
  if (options.ssh.empty()) return InvalidArgument("--ssh is empty; it names the ssh program");
  options.directory = SharedDirectory(flags);
  if (!flags.dry_run) {
    TF_RETURN_IF_ERROR(Sync(options, invocation.program.empty() ? "" : invocation.program[0], &flags));
  }
  return NewSshEngine(options);
}

void AddSlurmOptions(CLI::App* launch, LaunchFlags* flags) {
  const std::string group = "With --on=slurm";
  const auto add = [&](const char* names, auto& value, const char* text) {
    return launch->add_option(names, value, text)->group(group);
  };
  add("--partition", flags->slurm.partition, "the partition; default: that of the cluster")->type_name("NAME");
  add("--nodes", flags->slurm.nodes,
      "number of nodes; default: as many as the tasks need with --tasks_per_node, otherwise 1, or all of an allocation")
      ->check(CLI::Range(1, 100'000));
  add("--tasks_per_node,--tasks-per-node", flags->slurm.tasks_per_node, "how many tasks a node may run")
      ->check(CLI::Range(1, 100'000));
  add("--cpus_per_task,--cpus-per-task", flags->slurm.cpus_per_task, "number of cores for each task")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  add("--time", flags->slurm.time, "limit of the job's time, as for srun: minutes, H:M:S or D-H")->type_name("TIME");
  add("--gres", flags->slurm.gres, "what each node must have, as for srun: gpu:2")->type_name("LIST");
  add("--engine_args,--engine-args", flags->engine_arguments,
      "further arguments for srun or sbatch, separated by blanks: \"--account=lab --exclusive\"")
      ->type_name("ARGUMENTS");
  launch->add_flag("--batch", flags->batch, "submit the job by sbatch, and return")->group(group);
  launch
      ->add_flag("--requeue", flags->slurm.requeue,
                 "with --batch: a job whose time is up or which loses a machine waits for its turn again")
      ->group(group);
}

Status RunDetached(const LaunchFlags& flags, std::unique_ptr<Engine> engine) {
  TF_ASSIGN_OR_RETURN(const std::string directory, JobsDirectory(flags.jobs_directory));
  TF_ASSIGN_OR_RETURN(const std::string job,
                      LaunchDetached(flags.options, std::move(engine), {.jobs_directory = directory, .on = flags.on}));
  std::fprintf(stderr, "launch: the tasks run; 'tensorbraid attach %s' follows them, 'tensorbraid stop %s' ends them\n",
               job.c_str(), job.c_str());
  std::printf("%s\n", job.c_str());
  return OkStatus();
}

void AddRayOptions(CLI::App* launch, RayOptions* options) {
  const std::string group = "With --on=ray";
  const auto add = [&](const char* names, auto& value, const char* text) {
    return launch->add_option(names, value, text)->group(group);
  };
  add("--ray_address,--ray-address", options->address,
      "address of the cluster; default: that of $RAY_ADDRESS, or the cluster that this machine belongs to")
      ->type_name("ADDRESS");
  add("--resources", options->resources, "what each task needs: CPU=2,GPU=1; default: CPU=1")->type_name("LIST");
  add("--ps_resources,--ps-resources", options->ps_resources,
      "what each parameter server needs; default: the same as a worker")
      ->type_name("LIST");
  add("--placement", options->placement, "how Ray distributes the tasks over its nodes")
      ->check(OneOf({"SPREAD", "PACK", "STRICT_SPREAD", "STRICT_PACK"}))
      ->capture_default_str();
  add("--wait_s,--wait-s", options->wait_s, "seconds to wait until Ray has what the tasks need")
      ->check(AtLeast(0))
      ->type_name("SECONDS")
      ->capture_default_str();
  add("--python", options->python, "a Python that has the packages ray and tensorbraid")
      ->type_name("FILE")
      ->capture_default_str();
}

}  // namespace

void AddLaunchCommand(CLI::App& app, Invocation* invocation) {
  auto flags = std::make_shared<LaunchFlags>();
  CLI::App* launch = app.add_subcommand("launch", "Start a program as the tasks of a cluster");
  launch
      ->add_option("--on", flags->on,
                   "where: local (this machine), ssh (machines that ssh reaches), slurm, ray, kubernetes")
      ->check(OneOf({"local", "ssh", "slurm", "ray", "kubernetes"}))
      ->capture_default_str();
  launch->add_option("--ps", flags->options.ps, "number of parameter servers")->capture_default_str();
  launch->add_option("--workers", flags->options.workers, "number of workers")->capture_default_str();
  launch->add_option("--log_dir", flags->options.log_dir,
                     "also write each task's output to this directory, for example to worker-0.log");
  launch
      ->add_option("--report", flags->options.report_file,
                   "also write the table at the end to this file, as JSON; written even if no task has a server")
      ->type_name("FILE");
  launch->add_option("--env-style,--env_style", flags->style, "how a task is told its cluster, job and index")
      ->check(OneOf({"flags", "tf_config"}))
      ->capture_default_str();
  launch->add_option("--token_file", flags->options.token_file, "pass --token_file=FILE on to each task")
      ->type_name("FILE");
  launch
      ->add_option(
          "--env", flags->environment,
          "set this environment variable in each task; without a value, to that of this process. Not for secrets: "
          "--dry-run prints it. May be given several times")
      ->check([](const std::string& text) { return std::string(ParseEnvironment(text).status().message()); })
      ->type_name("NAME[=VALUE]");
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
  launch->add_flag("--dry-run,--dry_run", flags->dry_run, "only print what would be started, and where");
  launch->add_flag("--detach", flags->detach,
                   "return when the tasks have been started; print the name of the job, which goes on");
  launch
      ->add_option("--jobs_dir", flags->jobs_directory,
                   "where --detach keeps the job; default: $TENSORBRAID_JOBS_DIR, else tensorbraid/jobs in "
                   "$XDG_STATE_HOME or ~/.local/state")
      ->type_name("DIR");
  const std::string ssh_group = "With --on=ssh";
  const std::string machines_group = "On other machines";
  launch->add_option("--hosts", flags->hosts, "machines and how many tasks each may run: alpha:4,beta")
      ->group(ssh_group)
      ->type_name("LIST");
  launch->add_option("--hostfile", flags->host_file, "the same as a file, a machine in each line: alpha slots=4")
      ->group(ssh_group)
      ->type_name("FILE");
  launch
      ->add_option("--directory", flags->directory,
                   "the working directory of the tasks on the machines; default: the present one, or the image's")
      ->group(machines_group)
      ->type_name("DIR");
  launch
      ->add_option(
          "--sync", flags->sync,
          "first bring this directory to the machines, at the same path; only what has changed travels (rsync)")
      ->group(ssh_group)
      ->type_name("DIR");
  AddSlurmOptions(launch, flags.get());
  AddRayOptions(launch, &flags->ray);
  launch->add_option("--ssh", flags->ssh, "the ssh program and its options, separated by blanks")
      ->group(ssh_group)
      ->capture_default_str();
  launch
      ->add_option("--remote_program", flags->remote_program,
                   "tensorbraid on the machines; default: the path of this program, else tensorbraid in PATH")
      ->group(machines_group)
      ->type_name("FILE");
  launch
      ->add_flag("--insecure", flags->insecure,
                 "do not make certificates and a token for the job; anyone who reaches the machines can then run steps")
      ->group(machines_group);
  AddKubernetesOptions(launch, &flags->kubernetes);
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
      "With --on=ssh each machine needs this program, the user's program at the same path, and a login without a\n"
      "password. Parameter servers are spread over the machines. The tasks use TLS with certificates that are made "
      "for\n"
      "this job; their keys are in files that only the user can read, and are gone when the job ends.\n"
      "--sync=DIR never removes a file that it has not brought, and leaves checkpoints alone.\n\n"
      "With --on=slurm, srun asks for the nodes, or the job runs in the allocation of a batch script or of salloc. "
      "The\n"
      "tasks get SIGTERM before the time is up.\n\n"
      "With --detach the job goes on without this terminal, also when you log out. 'tensorbraid jobs' lists such "
      "jobs;\n"
      "'tensorbraid attach JOB', 'logs JOB' and 'stop JOB' follow, read and end one.\n\n"
      "At the end a table says for each task how many steps its sessions made, which share of the time it computed,\n"
      "waited within steps, or was outside of steps, in the program itself; what it sent and received; and how often "
      "it\n"
      "was started again. Below it is one sentence of advice, if the numbers support one.\n\n"
      "With --on=kubernetes each task is a pod of --image, and kubectl creates it with your rights. The pods are "
      "deleted\n"
      "when the job ends; --volume keeps checkpoints.\n\n"
      "Examples:\n"
      "  tensorbraid launch --ps=1 --workers=2 -- build/release/examples/mnist_softmax --train_steps=1000\n"
      "  tensorbraid launch --ps=1 --workers=2 -- python -m tensorbraid train.py    # written for TensorFlow 1\n"
      "  tensorbraid launch --on=ssh --hosts=alpha:2,beta:2 --sync=. -- ./train --data_dir=data\n"
      "  tensorbraid launch --on=slurm --nodes=2 --tasks_per_node=2 --time=1:00:00 -- ./train --data_dir=data\n"
      "  tensorbraid launch --on=kubernetes --image=registry.example/train:1 --volume=train:/data -- train "
      "--data_dir=/data");
  launch->callback([flags, invocation] {
    invocation->run = [flags, invocation] {
      flags->options.command = invocation->program;
      flags->options.insecure = flags->insecure;
      for (const std::string& text : flags->environment) {
        flags->options.environment.push_back(*ParseEnvironment(text));
      }
      flags->options.style = flags->style == "flags" ? TaskStyle::kFlags : TaskStyle::kTfConfig;
      flags->options.restart = *ParseRestartPolicy(flags->restart);
      flags->options.grace = std::chrono::milliseconds(static_cast<int64_t>(flags->grace_s * 1000));
      flags->options.stop_grace = std::chrono::milliseconds(static_cast<int64_t>(flags->stop_grace_s * 1000));
      if (flags->batch) return ExitCode(Annotate(LaunchAsBatchJob(*flags, *invocation), "tensorbraid launch"));
      auto engine = NewEngine(*flags, *invocation);
      if (!engine.ok()) return ExitCode(Annotate(engine.status(), "tensorbraid launch"));
      if (flags->dry_run) {
        const auto text = DescribeLaunch(flags->options, **engine);
        if (text.ok()) std::fputs(text->c_str(), stdout);
        return ExitCode(Annotate(text.status(), "tensorbraid launch"));
      }
      if (flags->detach) return ExitCode(Annotate(RunDetached(*flags, *std::move(engine)), "tensorbraid launch"));
      const auto result = Launch(flags->options, *std::move(engine));
      return result.ok() ? result->exit_code : ExitCode(Annotate(result.status(), "tensorbraid launch"));
    };
  });
}

}  // namespace tensorbraid
