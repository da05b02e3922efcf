// The flags that describe a cluster and the task in it that this process runs.
#ifndef TENSORBRAID_CLUSTER_TASK_FLAGS_H_
#define TENSORBRAID_CLUSTER_TASK_FLAGS_H_

#include <map>
#include <string>
#include <vector>

#include "tensorbraid/cluster/cluster_spec.h"
#include "tensorbraid/core/flags.h"
#include "tensorbraid/core/wire.h"
#include "tensorbraid/transport/tls_options.h"

namespace tensorbraid {

struct ServerOptions;

// The cluster, and the task in it that this process runs. Both come from the flags --ps_hosts, --worker_hosts,
// --job_name and --task_index, or, if none of these is given, from the environment variable TF_CONFIG. The flags
// --issync, --tls_cert, --tls_key, --tls_ca, --insecure, --token_file, --client_token_file, --allow_path, --protocol,
// --wire and --metrics_port can be used in both cases. Flags::Parse sets and checks the values, which do not change
// afterwards.
struct TaskFlags {
  // Addresses of the parameter servers and of the training tasks. If TF_CONFIG has a job "chief" (or "master", its
  // older name), that task comes first in worker_hosts, so worker_hosts.size() is always the number of replicas.
  std::vector<std::string> ps_hosts;
  std::vector<std::string> worker_hosts;
  // `job_name` and `task_index` name a task of cluster().
  std::string job_name;
  int task_index = 0;
  // Whether training is synchronous, so that each update uses the gradients of all replicas. The library only stores
  // this flag; the program must act on it.
  bool issync = false;
  // The fields of the same names in ServerOptions.
  TlsOptions tls;
  bool insecure = false;
  std::string token_file;
  std::string client_token_file;
  std::vector<std::string> allow_path;  // ServerOptions::allow_paths
  std::string protocol;
  std::vector<std::string> wire;  // rules for ServerOptions::wire, such as "ps:int8" (ParseWireRules)
  int metrics_port = -1;

  // These functions log an error if they are called before Flags::Parse. False if the program runs by itself (see
  // Flags::DefineTask): cluster() is then empty and device() "".
  bool has_cluster() const;
  const ClusterSpec& cluster() const;
  // The options of this task's server: its job, its index, and how its connections are protected.
  ServerOptions server_options() const;
  // "/job:worker/task:1".
  std::string device() const;
  // The task that initialises variables: chief/0 or master/0 where such a job exists, else worker/0. True without a
  // cluster.
  bool is_chief() const;

 private:
  friend class TaskFlagsParser;
  void CheckParsed(const char* what) const;
  ClusterSpec cluster_;
  std::map<std::string, WireTypes> wire_types_;
  bool parsed_ = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_TASK_FLAGS_H_
