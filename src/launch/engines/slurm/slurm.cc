#include "launch/engines/slurm/slurm.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/numbers.h"
#include "core/text/strings.h"
#include "launch/credentials/job_folder.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {
namespace {

// Slurm looks at time limits about twice a minute, so its signal may come late.
constexpr std::chrono::seconds kSignalMargin{30};

int CeilDiv(int a, int b) { return (a + b - 1) / b; }

std::string Get(const std::map<std::string, std::string>& variables, const std::string& name) {
  const auto found = variables.find(name);
  return found == variables.end() ? "" : found->second;
}

// "2(x3),1" as {2, 2, 2, 1}: the tasks on each node.
StatusOr<std::vector<int>> ParseTasksPerNode(const std::string& text) {
  const auto wrong = [&text] {
    return InvalidArgument("SLURM_TASKS_PER_NODE='", text, "' is not a list such as 2(x3),1");
  };
  std::vector<int> slots;
  for (std::string part : StrSplit(text, ',')) {
    int repeat = 1;
    if (const size_t times = part.find("(x"); times != std::string::npos) {
      if (!part.ends_with(')') || !absl::SimpleAtoi(part.substr(times + 2, part.size() - times - 3), &repeat)) {
        return wrong();
      }
      part.resize(times);
    }
    int tasks = 0;
    if (!absl::SimpleAtoi(part, &tasks) || tasks < 1 || repeat < 1 || repeat > 100'000) return wrong();
    slots.insert(slots.end(), static_cast<size_t>(repeat), tasks);
  }
  return slots;
}

int NodesToAskFor(const SlurmOptions& options) {
  if (options.nodes > 0) return options.nodes;
  return options.tasks_per_node > 0 ? CeilDiv(options.tasks, options.tasks_per_node) : 1;
}
int TasksPerNode(const SlurmOptions& options) {
  return options.tasks_per_node > 0 ? options.tasks_per_node : CeilDiv(options.tasks, NodesToAskFor(options));
}
std::string SignalTime(const SlurmOptions& options) {
  return StrCat("@", std::chrono::ceil<std::chrono::seconds>(options.stop_grace + kSignalMargin).count());
}

// The options that srun and sbatch share.
std::vector<std::string> AllocationArguments(const SlurmOptions& options) {
  std::vector<std::string> arguments = {StrCat("--job-name=", options.program),
                                        StrCat("--nodes=", NodesToAskFor(options) + options.spare_nodes)};
  if (!options.partition.empty()) arguments.push_back("--partition=" + options.partition);
  if (!options.time.empty()) arguments.push_back("--time=" + options.time);
  if (!options.gres.empty()) arguments.push_back("--gres=" + options.gres);
  // Not --gpus-per-task: a task of Slurm is here an agent, whose GPUs the tasks of the job share.
  if (options.gpus_per_worker > 0 && options.gres.find("gpu") == std::string::npos) {
    const int workers = std::min(options.workers, TasksPerNode(options));
    arguments.push_back(StrCat("--gpus-per-node=", workers * options.gpus_per_worker));
  }
  return arguments;
}

// Sets what an allocation says about nodes and tasks.
Status ReadAllocation(const SlurmOptions& options, const std::map<std::string, std::string>& variables,
                      SharedChannel* channel) {
  const std::string job = Get(variables, "SLURM_JOB_ID");
  // A batch script has no step; a shell of salloc may run in a special one, with a huge number.
  const std::string step = Get(variables, "SLURM_STEP_ID");
  const bool in_step = !step.empty() && step.size() <= 9;
  int step_tasks = 1;
  if (in_step && absl::SimpleAtoi(Get(variables, "SLURM_STEP_NUM_TASKS"), &step_tasks) && step_tasks > 1) {
    return InvalidArgument("srun has started ", step_tasks, " launchers (step ", job, ".", step,
                           "): start one, without srun, in the batch script or in the shell of salloc");
  }
  int nodes = 0;
  if (!absl::SimpleAtoi(Get(variables, "SLURM_JOB_NUM_NODES"), &nodes) || nodes < 1) {
    return InvalidArgument("SLURM_JOB_NUM_NODES='", Get(variables, "SLURM_JOB_NUM_NODES"),
                           "' is not the number of nodes of job ", job,
                           "; unset SLURM_JOB_ID if this shell has left it");
  }
  const int asked = std::max(options.nodes, options.spare_nodes > 0 ? 1 : 0) + options.spare_nodes;
  if (asked > nodes) {
    return InvalidArgument(options.nodes > 0 ? StrCat("--nodes=", options.nodes) : "",
                           options.nodes > 0 && options.spare_nodes > 0 ? ", " : "",
                           options.spare_nodes > 0 ? StrCat("--spare_nodes=", options.spare_nodes) : "", ", but job ",
                           job, " has ", nodes, nodes == 1 ? " node" : " nodes",
                           ": start it with sbatch or salloc --nodes=", asked);
  }
  channel->agents = options.nodes > 0 ? asked : nodes;
  channel->room_hint = StrCat("start job ", job, " with sbatch or salloc --ntasks=", options.tasks);
  if (options.tasks_per_node > 0) {
    channel->slots = {options.tasks_per_node};
  } else if (!in_step && !Get(variables, "SLURM_NTASKS").empty() && !Get(variables, "SLURM_TASKS_PER_NODE").empty()) {
    TF_ASSIGN_OR_RETURN(channel->slots, ParseTasksPerNode(Get(variables, "SLURM_TASKS_PER_NODE")));
  }
  return OkStatus();
}

}  // namespace

StatusOr<SlurmConfiguration> ReadSlurmConfiguration() {
  auto text = RunCommand({"scontrol", "show", "config"});
  if (absl::IsNotFound(text.status())) {
    return absl::NotFoundError(
        "Slurm's commands are not here (there is no program 'scontrol'): start the job on a machine from which users "
        "of the cluster submit theirs");
  }
  TF_RETURN_IF_ERROR(text.status());
  SlurmConfiguration configuration;
  for (const std::string& line : StrSplit(*text, '\n')) {
    if (line.starts_with("ProctrackType ")) configuration.signals_agents_only = line.ends_with("proctrack/pgid");
    if (line.starts_with("AuthType ")) configuration.has_munge = line.ends_with("auth/munge");
    if (line.starts_with("TaskPlugin ")) configuration.binds_cores = !line.ends_with("task/none");
  }
  return configuration;
}

StatusOr<SharedChannel> SlurmChannel(const SlurmOptions& options, const SlurmConfiguration& configuration,
                                     const std::map<std::string, std::string>& variables) {
  SharedChannel channel{.engine = "Slurm", .command = {"srun"}, .spares = options.spare_nodes};
  channel.state_command = [](const std::string& job) {
    return std::vector<std::string>{"squeue", "--noheader", "--jobs=" + job, "--format=%T"};
  };
  channel.suspended_state = "SUSPENDED";
  channel.resume_command = "scontrol resume";
  channel.signals_agents_only = configuration.signals_agents_only;
  std::vector<std::string>& command = channel.command;
  if (Get(variables, "SLURM_JOB_ID").empty()) {
    channel.agents = NodesToAskFor(options) + options.spare_nodes;
    if (options.tasks_per_node > 0) channel.slots = {options.tasks_per_node};
    channel.room_hint = "give --nodes or --tasks_per_node a larger number";
    for (std::string& argument : AllocationArguments(options)) command.push_back(std::move(argument));
    command.push_back(StrCat("--cpus-per-task=", TasksPerNode(options) * options.cpus_per_task));
    command.push_back(StrCat("--signal=TERM", SignalTime(options)));
  } else {
    TF_RETURN_IF_ERROR(ReadAllocation(options, variables, &channel));
    // The agents may use all that the job has, also beside the step of an interactive shell.
    command.insert(command.end(), {StrCat("--nodes=", channel.agents), "--overlap"});
  }
  // One agent on each node, whose tasks may use all of the job's cores there. The loss of one leaves the others alone.
  command.insert(command.end(), {StrCat("--ntasks=", channel.agents), "--ntasks-per-node=1", "--mpi=none",
                                 "--input=all", "--kill-on-bad-exit=0", "--wait=0", "--no-kill"});
  if (configuration.binds_cores) command.push_back("--cpu-bind=none");
  command.insert(command.end(), options.arguments.begin(), options.arguments.end());
  const std::string agent = options.munge.empty() ? "--shared" : "--shared --munge=" + options.munge;
  command.insert(command.end(), {"sh", "-c", AgentScript(options.agent_program, agent)});
  channel.error_hints = {
      {"Requested node configuration is not available",
       "no node of the partition has what was asked for (--gpus_per_worker, --gres, --cpus_per_task, --nodes): "
       "sinfo -o '%P %D %c %G %l' lists nodes, cores, GPUs and time limits of each partition"},
      {"generic resource", "sinfo -o '%P %G' lists the GPUs of each partition, for --gres"},
      {"nvalid partition", "sinfo lists the partitions, for --partition"},
      {"time limit", "sinfo -o '%P %l' lists the longest --time of each partition"},
      {"nable to contact slurm controller", "sinfo must work on this machine"},
  };
  return channel;
}

std::string SlurmBatchScript(const SlurmOptions& options, const std::vector<std::string>& command) {
  std::vector<std::string> head = AllocationArguments(options);
  head.push_back(StrCat("--ntasks-per-node=", TasksPerNode(options)));
  head.push_back(StrCat("--cpus-per-task=", options.cpus_per_task));
  // Only this shell gets the signal, and passes it on to the launcher.
  head.push_back(StrCat("--signal=B:", options.requeue ? "USR1" : "TERM", SignalTime(options)));
  if (options.spare_nodes > 0) head.push_back("--no-kill");  // the job outlives a node
  if (options.requeue) head.insert(head.end(), {"--requeue", "--open-mode=append"});
  std::string script = "#!/bin/bash\n";
  for (const std::string& argument : head) script += StrCat("#SBATCH ", ShellWord(argument), "\n");
  if (!options.requeue) return StrCat(script, "exec ", ShellWords(command), "\n");
  // The launcher says in a file that a machine was lost: its exit code, 255, may also be that of a program.
  const auto program = std::find(command.begin(), command.end(), "--");
  return StrCat(script, "lost=$(mktemp)\n", ShellWords({command.begin(), program}), " --lost_file=\"$lost\" ",
                ShellWords({program, command.end()}), R"( &
launcher=$!
trap 'is_over=yes; kill -TERM "$launcher"' USR1
trap : TERM  # of scancel, which the launcher gets, too
while wait "$launcher"; code=$?; kill -0 "$launcher" 2> /dev/null; do :; done
# The time is up, or a machine was lost: the job waits for its turn again, and goes on from its last checkpoint.
if [ "${is_over:-no}" = yes ] || [ -s "$lost" ]; then again=yes; fi
rm -f "$lost"
if [ "${again:-no}" = yes ]; then scontrol requeue "$SLURM_JOB_ID"; fi
exit "$code"
)");
}

StatusOr<std::string> SubmitToSlurm(const SlurmOptions& options, const std::string& script) {
  TF_ASSIGN_OR_RETURN(const JobFolder folder, JobFolder::Make());
  TF_RETURN_IF_ERROR(folder.Add({{"script", script}}));
  std::vector<std::string> command = {"sbatch"};
  command.insert(command.end(), options.arguments.begin(), options.arguments.end());
  command.push_back(folder.path() + "/script");
  return RunCommand(command);
}

std::vector<std::string> WithoutBatchOptions(const std::vector<std::string>& arguments) {
  constexpr std::string_view kFlags[] = {"--batch", "--requeue", "--dry-run", "--dry_run"};
  constexpr std::string_view kWithValue[] = {
      "--partition",     "--nodes", "--tasks_per_node", "--tasks-per-node", "--cpus_per_task",
      "--cpus-per-task", "--time",  "--gres",           "--engine_args",    "--engine-args"};
  std::vector<std::string> kept;
  bool is_program = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    is_program = is_program || argument == "--";
    const std::string name = argument.substr(0, argument.find('='));
    if (!is_program && std::find(std::begin(kFlags), std::end(kFlags), name) != std::end(kFlags)) continue;
    if (!is_program && std::find(std::begin(kWithValue), std::end(kWithValue), name) != std::end(kWithValue)) {
      if (name == argument) ++i;  // the value is the next argument
      continue;
    }
    kept.push_back(argument);
  }
  return kept;
}

}  // namespace tensorbraid
