// The flags that describe a cluster and the task in it that this process runs.
#ifndef TENSORBRAID_CLUSTER_TASK_FLAGS_H_
#define TENSORBRAID_CLUSTER_TASK_FLAGS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tensorbraid/cluster/cluster_spec.h"
#include "tensorbraid/core/flags.h"
#include "tensorbraid/core/wire.h"
#include "tensorbraid/transport/tls_options.h"

namespace tensorbraid {

struct FoundTask;
struct ServerOptions;

// The cluster, and the task in it that this process runs. Both come from the flags --ps_hosts, --worker_hosts,
// --job_name and --task_index, or, if none of these is given, from the environment variable TF_CONFIG, or from the
// engine that has started the process: Kubernetes, MPI, Slurm (docs/discovery.md). The flags --issync, --tls_cert,
// --tls_key,
// --tls_ca, --insecure, --token_file, --client_token_file, --allow_path, --load, --protocol, --wire and --metrics_port
// can be used in all cases. Flags::Parse sets and checks the values, which do not change afterwards.
//
// Under MPI and Slurm, tasks listen on free ports, and Flags::Parse blocks until all of them have started. The port of
// this process stays reserved for its Server as long as this object lives.
struct TaskFlags {
  // The addresses of the parameter servers.
  std::vector<std::string> ps_hosts;
  // The addresses of the training tasks, so worker_hosts.size() is the number of replicas. If TF_CONFIG has a job
  // "chief" (or "master", its older name), the task of this job comes first.
  std::vector<std::string> worker_hosts;
  // The job in cluster() to which this process's task belongs; "" without a cluster.
  std::string job_name;
  // The index of this process's task in its job.
  int task_index = 0;
  // Whether training is synchronous, so that each update uses the gradients of all replicas. The library only stores
  // this flag; the program must act on it.
  bool issync = false;
  // Each member from here on sets the field of the same name in ServerOptions, unless its comment names another.
  TlsOptions tls;
  bool insecure = false;
  std::string token_file;
  std::string client_token_file;
  std::vector<std::string> allow_path;  // ServerOptions::allow_paths
  std::vector<std::string> load;        // ServerOptions::op_libraries
  std::string protocol;
  std::vector<std::string> wire;  // rules for ServerOptions::wire, such as "ps:int8" (ParseWireRules)
  int metrics_port = -1;

  // The functions below log an error if they are called before Flags::Parse.

  // False if the program was given no cluster, so that it runs by itself (see Flags::DefineTask).
  bool has_cluster() const;
  // Empty without a cluster.
  const ClusterSpec& cluster() const;
  // The options of this task's server: its job, its index, and all members from `tls` on.
  ServerOptions server_options() const;
  // The device of this task, such as "/job:worker/task:1"; "" without a cluster.
  std::string device() const;
  // Whether this task initialises the variables. The chief is task 0 of the job "chief" or "master" if the cluster has
  // such a job, else task 0 of the job "worker". True without a cluster.
  bool is_chief() const;

 private:
  friend class TaskFlagsParser;
  void CheckParsed(const char* what) const;
  ClusterSpec cluster_;
  std::map<std::string, WireTypes> wire_types_;
  std::shared_ptr<FoundTask> found_;  // null without a cluster
  bool parsed_ = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_TASK_FLAGS_H_
