// The flags of `tensorbraid launch`, as they are parsed.
#ifndef TENSORBRAID_CLI_LAUNCH_LAUNCH_FLAGS_H_
#define TENSORBRAID_CLI_LAUNCH_LAUNCH_FLAGS_H_

#include <string>
#include <vector>

#include "cli/launch/kubernetes_options.h"
#include "launch/engines/ray/ray.h"
#include "launch/engines/slurm/slurm.h"
#include "launch/launcher/launcher.h"

namespace tensorbraid {

struct LaunchFlags {
  LaunchOptions options;
  std::string on = "local";
  std::string hosts;
  std::string host_file;
  int spare_nodes = 0;
  std::string ssh = "ssh";
  std::string mpirun = "mpirun";
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
  std::string lost_file;
  double grace_s = 30;
  double stop_grace_s = 30;
  double silence_s = 120;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_LAUNCH_LAUNCH_FLAGS_H_
