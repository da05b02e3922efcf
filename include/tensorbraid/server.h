// A task of a cluster.
#ifndef TENSORBRAID_SERVER_H_
#define TENSORBRAID_SERVER_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tensorbraid/cluster_spec.h"
#include "tensorbraid/graph.h"
#include "tensorbraid/status.h"

namespace tensorbraid {

struct ServerOptions {
  std::string job_name = "";
  int task_index = 0;
  std::string protocol = "grpc";
  // How many virtual devices of a type this task has.
  std::map<std::string, int> device_count = {};
  int inter_op_parallelism_threads = 0;  // 0: as many as cores
  // A ConfigProto in text form: device_count and inter_op_parallelism_threads, which stand in place of those above, and
  // what the sessions of clients take where they say nothing (allow_soft_placement: true).
  std::string config = "";
  bool start = true;  // false: call Start
  // Listens on this address instead of the one that the cluster names ("" for the default; see the class).
  std::string bind_address = "";
  std::chrono::milliseconds heartbeat_interval{1000};
  // A connected task that has not been heard of for so long is dead.
  std::chrono::milliseconds heartbeat_timeout{10000};
  // A task other than a parameter server that has been unreachable for so long is lost (see Join).
  std::chrono::milliseconds lost_after{30000};
  // Waits longer than this are logged, with what is waited for.
  std::chrono::milliseconds slow_wait{5000};
};

// Runs one task: holds its devices and variables, serves steps of sessions on any task of the cluster, and can be the
// master of sessions itself (target). Listens on the task's address; a loopback name binds loopback only, any other
// name all interfaces. Port 0 takes a free one (see address). Thread-safe.
class Server {
 public:
  // InvalidArgument for a job or task that the cluster does not have or an address that cannot be bound,
  // AlreadyExists for a port that is taken.
  static StatusOr<std::unique_ptr<Server>> Create(const ClusterSpec& cluster, ServerOptions options);
  ~Server();  // Stops.
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Listens, and begins to make itself known to the parameter servers. Done by Create unless options.start is false.
  Status Start();

  // What a Session's target must be to run on this cluster with this task as master: "grpc://host:port".
  std::string target() const;
  // "host:port" with the port that is listened on.
  std::string address() const;

  // Blocks until the work of the cluster is over: every task that is not a parameter server has left (its Server was
  // stopped) or is lost (unreachable for lost_after without coming back), or until Stop. OK if all left well, otherwise
  // Unavailable naming those that did not.
  Status Join();

  // Leaves the cluster: tells the connected tasks that this one is done, well or with an error, fails what still runs
  // here and stops listening. Later calls do nothing.
  void Stop(const Status& why = OkStatus());

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

struct ReplicaDeviceSetterOptions {
  ClusterSpec cluster = {};
  int ps_tasks = 0;  // taken from the cluster when that is given
  std::string ps_device = "/job:ps";
  std::string worker_device = "/job:worker";
  // Ops that go to the parameter servers.
  std::vector<std::string> ps_ops = {"Variable",
                                     "VariableV2",
                                     "AutoReloadVariable",
                                     "MutableHashTable",
                                     "MutableHashTableV2",
                                     "VarHandleOp",
                                     "BoostedTreesEnsembleResourceHandleOp"};
  // Chooses the parameter server of a node among `ps_tasks`; empty: round robin.
  std::function<int(const Operation& op, int ps_tasks)> strategy = nullptr;
};

// Device function that puts variables on the parameter servers in turn and everything else on the worker.
// Source: tf.train.replica_device_setter. Use it with Graph::Device.
DeviceFunction ReplicaDeviceSetter(ReplicaDeviceSetterOptions options);
// A strategy: each variable goes where the fewest bytes are. Source: GreedyLoadBalancingStrategy with
// byte_size_load_fn.
std::function<int(const Operation& op, int ps_tasks)> LeastBytesStrategy(int ps_tasks);

}  // namespace tensorbraid

#endif  // TENSORBRAID_SERVER_H_
