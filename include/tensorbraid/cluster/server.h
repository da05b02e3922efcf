// The server of a task: it runs the task's part of the steps of a cluster.
#ifndef TENSORBRAID_CLUSTER_SERVER_H_
#define TENSORBRAID_CLUSTER_SERVER_H_

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tensorbraid/cluster/cluster_spec.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/wire.h"
#include "tensorbraid/transport/server_limits.h"
#include "tensorbraid/transport/tls_options.h"

namespace tensorbraid {

class ClusterWatch;

struct ServerOptions {
  std::string job_name = "";
  int task_index = 0;
  // How tasks exchange messages. "": the best way that both ends have: shared memory for tasks of one machine and one
  // user, RDMA where the machines have it and TLS is not used, else gRPC. "grpc": gRPC alone. "grpc+ucx": UCX, with or
  // without RDMA (docs/rdma.md). Clients are always served by gRPC.
  std::string protocol = "";
  // Number of virtual devices of each type that this task has.
  std::map<std::string, int> device_count = {};
  int inter_op_parallelism_threads = 0;  // 0: as many as cores
  // A ConfigProto in text form. Its device_count and inter_op_parallelism_threads replace the fields above; its other
  // fields, such as allow_soft_placement, are defaults for the sessions of clients.
  std::string config = "";
  bool start = true;  // false: the caller calls Start
  // The address to listen on; "" for the default (see Server).
  std::string bind_address = "";
  // Encrypts all connections of this task, to clients and to the other tasks. All tasks of a cluster use TLS, or none.
  TlsOptions tls = {};
  // Allows the server to listen without TLS on an address that other machines can reach. Anyone there can then run
  // steps.
  bool insecure = false;
  // A file with the cluster's token, a line of 16 or more characters: tasks and clients must send it. The file is read
  // again when it changes; if it has several lines, each is accepted and the first is sent. All tasks of a cluster have
  // the same token, or none. Needs `tls`, or a task that listens on loopback.
  std::string token_file = "";
  // A file with tokens of clients, in the same form: a caller that sends one may create sessions and run them, but may
  // not reset the cluster, bring a cluster of its own, or connect as a task. Needs `token_file`.
  std::string client_token_file = "";
  // The directories, with everything beneath them, that graphs of sessions from other machines may read and write on
  // this task. Sessions that come over loopback, or from this process, may use any path.
  std::vector<std::string> allow_paths = {};
  // Libraries of custom ops that are loaded before the server starts (LoadOpLibrary in custom_op/library.h). Their ops
  // are then in this process, for all its servers and graphs. Clients cannot load libraries.
  std::vector<std::string> op_libraries = {};
  ServerLimits limits = {};
  // The wire types of variables of each job, such as {{"ps", Wire::kInt8}}, in sessions whose master is this task. A
  // graph can set other types for its variables (see ReplicaDeviceSetterOptions::wire).
  std::map<std::string, WireTypes> wire = {};
  // Serves the status of the whole cluster over HTTP on this port: metrics for Prometheus at /metrics, and a page for
  // browsers at /. 0: any free port (see status_url); -1: none. `bind_address`, `tls` and `insecure` apply to this
  // port, too: with TLS it serves HTTPS, and with a `ca` only clients that have a certificate. With a `token_file`,
  // requests must carry a token: as a bearer token or as the password of a browser, with any user name. Probes of this
  // task, /healthz and /readyz, need no token (docs/operations.md).
  int metrics_port = -1;
  std::chrono::milliseconds heartbeat_interval{1000};
  // A connected task is considered dead when nothing has been received from it for this long.
  std::chrono::milliseconds heartbeat_timeout{10000};
  // A task other than a parameter server is considered lost when it has been unreachable for this long (see Join).
  std::chrono::milliseconds lost_after{30000};
  // How long Join waits for the tasks that work after a signal has asked this process to stop (core/stop.h).
  std::chrono::milliseconds stop_grace{30000};
  // Waits longer than this are logged, with what they wait for.
  std::chrono::milliseconds slow_wait{5000};
  // Tells the server when a task of the cluster has come back at another address. TaskFlags::server_options() sets it
  // if the cluster comes from a registry (docs/discovery.md). Null: `tensorbraid launch` tells it, if that has started
  // this process and may move tasks; otherwise the addresses of the cluster stay.
  std::shared_ptr<ClusterWatch> watch = nullptr;
};

// Runs one task of a cluster: holds the task's devices and variables, runs its part of steps for sessions on any task
// of the cluster, and can itself be the master of sessions (see target). Listens on the task's port: only on loopback
// if the task's address is a loopback name, otherwise on all interfaces, which needs `tls` or `insecure`. Port 0 takes
// a free port (see address). Thread-safe.
class Server {
 public:
  // InvalidArgument when the cluster does not have this job or task, when the address cannot be bound, or when
  // listening on this address needs `tls` or `insecure`. AlreadyExists when a port is taken. If a file of `tls` or of
  // tokens is wrong, or if a directory of `allow_paths` does not exist, the error names the flag. The errors of
  // LoadOpLibrary for `op_libraries`.
  static StatusOr<std::unique_ptr<Server>> Create(const ClusterSpec& cluster, ServerOptions options);
  ~Server();  // Stops.
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Starts to listen and to connect to the parameter servers. Create calls it unless options.start is false.
  Status Start();

  // The target for a Session that runs on this cluster with this task as its master: "grpc://host:port".
  std::string target() const;
  // "host:port" with the actual port.
  std::string address() const;
  // Where the status of the cluster is served, "http://host:port/"; "" without a metrics_port, or before Start.
  std::string status_url() const;

  // For a task that only serves the others: blocks until the work of the cluster is over or Stop is called. The work is
  // over when every working task has left (its Server was stopped) or is lost (unreachable for lost_after). A task is a
  // working task unless it is a parameter server or waits in Join itself. If there never was a working task, because
  // sessions come from outside the cluster, the work is over when all tasks but the parameter servers have left or are
  // lost. A worker hears of it from the parameter servers, and has no connection to other workers; it watches them
  // itself if the cluster has no parameter server, or all of them have been gone for lost_after. After a signal has
  // asked this process to stop (core/stop.h), returns once the connected working tasks have left, or after stop_grace.
  // Returns OK, or Unavailable with the names of the tasks that were lost or left with an error.
  Status Join();

  // Leaves the cluster: tells the connected tasks that this one has ended, with success or with the error `why`, fails
  // steps that still run here, and stops listening. Later calls have no effect.
  void Stop(const Status& why = OkStatus());

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_SERVER_H_
