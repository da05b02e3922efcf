#include "cli/launch/new_engine.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/duration.h"
#include "cluster/discovery/surroundings.h"
#include "cluster/registry/seal.h"
#include "core/system/env.h"
#include "core/system/held_port.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "launch/agent/agent_engine.h"
#include "launch/agent/agent_seal.h"
#include "launch/bring/libraries.h"
#include "launch/bring/python_environment.h"
#include "launch/bring/python_sync.h"
#include "launch/bring/sync.h"
#include "launch/engines/local/local_engine.h"
#include "launch/engines/mpi/mpi.h"
#include "launch/engines/ssh/ssh.h"
#include "launch/launcher/task_call.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {
namespace {

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

std::vector<std::string> WordsOf(const std::string& text) {
  std::vector<std::string> words = StrSplit(text, ' ');
  std::erase(words, "");
  return words;
}

// The words of an option that names a program and its first arguments.
StatusOr<std::vector<std::string>> ProgramOf(const std::string& option, const std::string& text) {
  std::vector<std::string> words = WordsOf(text);
  if (words.empty()) return InvalidArgument(option, " is empty; it names the program");
  return words;
}

// The options for Slurm with what the other flags say.
SlurmOptions SlurmOptionsOf(const LaunchFlags& flags, const Invocation& invocation) {
  SlurmOptions options = flags.slurm;
  options.tasks = static_cast<int>(TasksOf(flags.options).size());
  options.gpus_per_worker = flags.options.gpus_per_worker;
  options.workers = options.tasks - flags.options.ps;
  options.spare_nodes = flags.spare_nodes;
  options.program = invocation.program.empty() ? "" : std::filesystem::path(invocation.program[0]).filename();
  for (const std::string& text : flags.engine_arguments) {
    for (std::string& word : WordsOf(text)) options.arguments.push_back(std::move(word));
  }
  options.stop_grace = flags.options.stop_grace;
  options.agent_program = AgentProgram(flags);
  return options;
}

// The directory of the tasks on machines that have the same files.
std::string SharedDirectory(const LaunchFlags& flags) {
  return flags.directory.empty() ? std::filesystem::current_path().string() : flags.directory;
}

// What the engines with agents have in common.
AgentEngineOptions AgentOptionsOf(const LaunchFlags& flags, const Invocation& invocation) {
  return {.nodes = {},
          .command = nullptr,
          .version = invocation.version,
          .directory = SharedDirectory(flags),
          .checked_files = FilesOf(invocation.program),
          .silence = Milliseconds(flags.silence_s),
          .stop_grace = flags.options.stop_grace};
}

StatusOr<std::unique_ptr<Engine>> NewAgentEngine(AgentEngineOptions options, const LaunchFlags& flags) {
  if (!flags.insecure) TF_RETURN_IF_ERROR(AddJobCredentials(&options));
  return std::make_unique<AgentEngine>(std::move(options));
}

StatusOr<std::unique_ptr<Engine>> NewSlurmEngine(const LaunchFlags& flags, const Invocation& invocation) {
  AgentEngineOptions options = AgentOptionsOf(flags, invocation);
  // srun gives up its place in the queue. If its tasks run, it only says what they do, and ends with them.
  options.death_signal = SIGINT;
  SlurmConfiguration configuration;
  if (!flags.dry_run) {
    TF_ASSIGN_OR_RETURN(configuration, ReadSlurmConfiguration());
  }
  SlurmOptions slurm = SlurmOptionsOf(flags, invocation);
  const bool is_sealed = !flags.insecure && configuration.has_munge;
  if (is_sealed) slurm.munge = StrCat(Env::Default().RandomSeed());
  TF_ASSIGN_OR_RETURN(options.shared, SlurmChannel(slurm, configuration, Surroundings::OfProcess().variables));
  if (is_sealed && !flags.dry_run) {
    TF_ASSIGN_OR_RETURN(auto munge, NewMungeSeal());
    options.shared->seal = std::make_shared<AgentSeal>(std::move(munge), slurm.munge);
  }
  return NewAgentEngine(std::move(options), flags);
}

StatusOr<std::unique_ptr<Engine>> NewRayEngine(const LaunchFlags& flags, const Invocation& invocation) {
  AgentEngineOptions options = AgentOptionsOf(flags, invocation);
  if (!flags.sync.empty()) {
    if (!flags.directory.empty()) {
      return InvalidArgument("--directory: Ray chooses the place of what --sync brings, and the tasks run there");
    }
    options.directory = "";
  }
  options.death_signal = SIGTERM;  // it lets the agents end first
  RayOptions ray = flags.ray;
  TF_RETURN_IF_ERROR(AddGpus(flags.options.gpus_per_worker, &ray));
  ray.ps = flags.options.ps;
  ray.workers = flags.options.workers;
  ray.chief = flags.options.style == TaskStyle::kTfConfig;
  ray.evaluator = flags.options.evaluator;
  ray.sync = flags.sync;
  ray.agent_program = AgentProgram(flags);
  TF_ASSIGN_OR_RETURN(options.shared, RayChannel(ray));
  options.shared->replaces = flags.options.restart.max_restarts != 0;
  return NewAgentEngine(std::move(options), flags);
}

StatusOr<std::unique_ptr<Engine>> NewMpiEngine(const LaunchFlags& flags, const Invocation& invocation,
                                               const std::vector<AgentNode>& nodes) {
  if (!flags.sync.empty()) return InvalidArgument("--sync is for --on=ssh: mpirun brings no files");
  AgentEngineOptions options = AgentOptionsOf(flags, invocation);
  options.nodes = nodes;
  if (nodes.empty()) {
    TF_ASSIGN_OR_RETURN(options.nodes, NodesOfBatchSystem(Surroundings::OfProcess().variables));
  }
  TF_ASSIGN_OR_RETURN(const std::vector<std::string> mpirun, ProgramOf("--mpirun", flags.mpirun));
  TF_RETURN_IF_ERROR(UseMpirun(mpirun, AgentProgram(flags), &options));
  TF_RETURN_IF_ERROR(SetSpares(flags.spare_nodes, &options));
  return NewAgentEngine(std::move(options), flags);
}

Status CheckSpares(const LaunchFlags& flags) {
  if (flags.spare_nodes == 0) return OkStatus();
  if (flags.on == "local") return InvalidArgument("--spare_nodes is for --on=slurm, ssh and mpi");
  if (flags.on == "ray" || flags.on == "kubernetes") {
    return InvalidArgument("--spare_nodes: with --restart, ", flags.on == "ray" ? "Ray" : "Kubernetes",
                           " itself finds another node for a task whose node is lost");
  }
  if (flags.options.restart.max_restarts == 0) {
    return InvalidArgument("--spare_nodes is for tasks that are started again: add --restart=on-failure");
  }
  return OkStatus();
}

// Brings the libraries of a program in one of the directories, and tells the tasks where they are.
Status BringLibrariesOf(const std::string& program, const SyncOptions& options, const std::vector<std::string>& synced,
                        LaunchOptions* launch) {
  namespace fs = std::filesystem;
  if (program.find('/') == std::string::npos) return OkStatus();
  std::error_code error;
  const fs::path path = fs::canonical(program, error);
  const bool is_brought = std::any_of(synced.begin(), synced.end(), [&path](const fs::path& parent) {
    return std::mismatch(parent.begin(), parent.end(), path.begin(), path.end()).first == parent.end();
  });
  if (error || !is_brought) return OkStatus();
  TF_ASSIGN_OR_RETURN(std::string folder, BringLibraries(options.nodes, options.ssh, path));
  if (folder.empty()) return OkStatus();
  auto& environment = launch->environment;
  const auto given = std::find_if(environment.begin(), environment.end(),
                                  [](const auto& variable) { return variable.first == "LD_LIBRARY_PATH"; });
  if (given == environment.end()) {
    environment.emplace_back("LD_LIBRARY_PATH", folder);
  } else {
    given->second = StrCat(folder, ":", given->second);
  }
  return OkStatus();
}

// Brings the directories of --sync, and what the program in them needs: its libraries, or the packages of its Python,
// with which the tasks then run, and perhaps the agents. In a dry run nothing is brought.
Status Sync(const SyncOptions& options, LaunchFlags* flags) {
  std::vector<std::string> synced;
  for (const std::string& name : flags->sync) {
    TF_ASSIGN_OR_RETURN(synced.emplace_back(), SyncedDirectory(name));
    if (!flags->dry_run) TF_RETURN_IF_ERROR(BringDirectory(options, name));
  }
  std::vector<std::string>& command = flags->options.command;
  if (synced.empty() || command.empty()) return OkStatus();
  if (!IsPython(command[0])) {
    return flags->dry_run ? OkStatus() : BringLibrariesOf(command[0], options, synced, &flags->options);
  }
  const auto environment = ReadPythonEnvironment(command[0]);
  if (!environment.ok()) return Annotate(environment.status(), "--sync");
  const PythonPlace place = PlacePython(*environment, synced, SharedDirectory(*flags));
  if (!flags->dry_run) TF_RETURN_IF_ERROR(BringPython(options, *environment, place));
  command[0] = place.interpreter;
  if (flags->remote_program.empty()) flags->remote_program = place.agent;
  return OkStatus();
}

StatusOr<std::unique_ptr<Engine>> NewEngineOverSsh(const std::vector<AgentNode>& nodes, const Invocation& invocation,
                                                   LaunchFlags* flags) {
  TF_ASSIGN_OR_RETURN(const std::vector<std::string> ssh, ProgramOf("--ssh", flags->ssh));
  TF_RETURN_IF_ERROR(Sync({.nodes = nodes, .ssh = ssh}, flags));
  std::vector<std::string> checked_files = FilesOf(flags->options.command);
  // Each machine has a Python of its own.
  if (!flags->sync.empty() && !flags->options.command.empty() && IsPython(flags->options.command[0])) {
    std::erase(checked_files, flags->options.command[0]);
  }
  return NewSshEngine({.nodes = nodes,
                       .ssh = ssh,
                       .remote_program = AgentProgram(*flags),
                       .version = invocation.version,
                       .directory = SharedDirectory(*flags),
                       .checked_files = checked_files,
                       .silence = Milliseconds(flags->silence_s),
                       .stop_grace = flags->options.stop_grace,
                       .spare_nodes = flags->spare_nodes,
                       .tls = !flags->insecure});
}

}  // namespace

StatusOr<std::unique_ptr<Engine>> NewEngine(const Invocation& invocation, LaunchFlags* all_flags) {
  const LaunchFlags& flags = *all_flags;
  const bool has_machines = !flags.hosts.empty() || !flags.host_file.empty();
  TF_RETURN_IF_ERROR(CheckSpares(flags));
  if (flags.on == "local") {
    if (has_machines) return InvalidArgument("--hosts and --hostfile are for other machines: add --on=ssh");
    if (const int port = flags.options.metrics_port; port > 0 && !flags.dry_run) {
      TF_RETURN_IF_ERROR(Annotate(HeldPort::Take(port).status(), StrCat("--metrics_port=", port)));
    }
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
    // Pods have GPUs of their own.
    const int gpus = std::exchange(all_flags->options.gpus_per_worker, 0);
    return NewKubernetesEngine(flags.kubernetes, {.gpus_per_worker = gpus,
                                                  .program = invocation.program.empty() ? "" : invocation.program[0],
                                                  .directory = flags.directory,
                                                  .tls = !flags.insecure,
                                                  .stop_grace = flags.options.stop_grace});
  }
  if (!flags.hosts.empty() && !flags.host_file.empty()) return InvalidArgument("give --hosts or --hostfile, not both");
  std::vector<AgentNode> nodes;
  if (!flags.host_file.empty()) {
    TF_ASSIGN_OR_RETURN(nodes, ReadHostFile(flags.host_file));
  } else if (!flags.hosts.empty()) {
    TF_ASSIGN_OR_RETURN(nodes, ParseHosts(flags.hosts));
  }
  if (flags.on == "mpi") return NewMpiEngine(flags, invocation, nodes);
  return NewEngineOverSsh(nodes, invocation, all_flags);
}

Status LaunchAsBatchJob(const LaunchFlags& flags, const Invocation& invocation) {
  if (invocation.program.empty()) return InvalidArgument("no program to run; put it after '--'");
  TF_ASSIGN_OR_RETURN(const std::string words, ReadFile("/proc/self/cmdline"));
  std::vector<std::string> command = WithoutBatchOptions(StrSplit(words, '\0'));
  command.pop_back();  // after the last '\0'
  command[0] = ThisProgram();
  const SlurmOptions options = SlurmOptionsOf(flags, invocation);
  const std::string script = SlurmBatchScript(options, command);
  if (flags.dry_run) {
    std::vector<std::string> sbatch = options.arguments;
    sbatch.insert(sbatch.begin(), "sbatch");
    std::fputs(StrCat(ShellWords(sbatch), " would get the script\n\n", script).c_str(), stdout);
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(const std::string answer, SubmitToSlurm(options, script));
  std::fputs(answer.c_str(), stdout);
  return OkStatus();
}

}  // namespace tensorbraid
