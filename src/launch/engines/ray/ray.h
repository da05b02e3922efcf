// Starts the tasks of a job on the nodes of a Ray cluster (docs/design/0026).
#ifndef TENSORBRAID_LAUNCH_ENGINES_RAY_RAY_H_
#define TENSORBRAID_LAUNCH_ENGINES_RAY_RAY_H_

#include <string>
#include <vector>

#include "launch/agent/agent_engine.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct RayOptions {
  int ps = 1;
  int workers = 2;                // with the chief
  bool chief = false;             // the first worker is called chief/0
  bool evaluator = false;         // one more task
  std::string address = "";       // of the cluster; "": that of RAY_ADDRESS, or the one that runs on this machine
  std::string resources = "";     // of each task: "CPU=1,GPU=1"; "": CPU=1
  std::string ps_resources = "";  // of each parameter server; "": as the workers
  std::string placement = "SPREAD";
  double wait_s = 300;                        // how long to wait for the resources
  std::string python = "python3";             // with the packages ray and tensorbraid
  std::vector<std::string> sync = {};         // at most one directory, which Ray brings to the nodes
  std::string agent_program = "tensorbraid";  // as for AgentScript
};

// Asks for this many GPUs for each task but the parameter servers; 0: nothing. InvalidArgument if the resources name
// GPUs, too.
Status AddGpus(int gpus_per_worker, RayOptions* options);

// What starts the agents: `python3 -m tensorbraid.ray` makes an actor for each task, which runs the agent. So each task
// has its own resources, such as a GPU. InvalidArgument if Ray could not do what is asked.
StatusOr<SharedChannel> RayChannel(const RayOptions& options);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_ENGINES_RAY_RAY_H_
