// Starts the tasks of a job on machines that Slurm allocates (docs/design/0026).
#ifndef TENSORBRAID_LAUNCH_ENGINES_SLURM_SLURM_H_
#define TENSORBRAID_LAUNCH_ENGINES_SLURM_SLURM_H_

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "launch/agent/agent_engine.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct SlurmOptions {
  int tasks = 1;        // of the job
  std::string program;  // the job's name
  // What to ask Slurm for. 0 and "": its default, or what an allocation has.
  std::string partition = "";
  int nodes = 0;        // without the spare ones
  int spare_nodes = 0;  // further nodes, in place of those that are lost
  int tasks_per_node = 0;
  int cpus_per_task = 1;
  std::string time = "";                      // as for srun: "30", "2:00:00", "1-0"
  std::string gres = "";                      // of each node: "gpu:2"
  int gpus_per_worker = 0;                    // asks for as many GPUs on each node as tasks there may need
  int workers = 0;                            // the tasks that need them
  std::vector<std::string> arguments = {};    // further ones for srun or sbatch
  std::chrono::milliseconds stop_grace{0};    // how long the tasks may take to save before the time is up
  bool requeue = false;                       // a batch job whose time is up, or which loses a node, begins again
  std::string agent_program = "tensorbraid";  // see AgentScript
  std::string munge = "";                     // see AgentOptions
};

// What the launcher needs to know about a cluster.
struct SlurmConfiguration {
  // Slurm's signals reach the agents of a step only, and not all of its processes (ProctrackType=proctrack/pgid).
  bool signals_agents_only = false;
  // Slurm binds processes to cores (TaskPlugin), unless it is told not to.
  bool binds_cores = true;
  // Its machines trust each other by MUNGE (AuthType).
  bool has_munge = true;
};
// Asks Slurm. NotFound without Slurm's commands; Unavailable if its controller does not answer.
StatusOr<SlurmConfiguration> ReadSlurmConfiguration();

// What starts the agents, by srun. Within an allocation (`variables` has SLURM_JOB_ID: a batch script, or the shell of
// salloc) they run on its nodes, otherwise srun asks for one. InvalidArgument names what does not fit the allocation.
StatusOr<SharedChannel> SlurmChannel(const SlurmOptions& options, const SlurmConfiguration& configuration,
                                     const std::map<std::string, std::string>& variables);

// A script for sbatch that runs `command`, a `tensorbraid launch --on=slurm` without the options above. Before its time
// is up, the command gets SIGTERM.
std::string SlurmBatchScript(const SlurmOptions& options, const std::vector<std::string>& command);
// Gives a script to sbatch, and returns what that prints. Blocks until Slurm has answered. Unavailable, with what
// sbatch says, if Slurm refuses it.
StatusOr<std::string> SubmitToSlurm(const SlurmOptions& options, const std::string& script);

// The arguments of a `tensorbraid launch` for its batch script: without what the script's head has, which only
// SlurmOptions and --batch itself are.
std::vector<std::string> WithoutBatchOptions(const std::vector<std::string>& arguments);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_ENGINES_SLURM_SLURM_H_
