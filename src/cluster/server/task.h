// A task: everything that a process needs to take part in a cluster. A Server has one. A local session has one too,
// without a network, in a cluster of one.
#ifndef TENSORBRAID_CLUSTER_SERVER_TASK_H_
#define TENSORBRAID_CLUSTER_SERVER_TASK_H_

#include <map>
#include <memory>
#include <string>

#include "cluster/client_service/master_service.h"
#include "cluster/server/member.h"
#include "cluster/server/session_clusters.h"
#include "cluster/status/status_service.h"
#include "cluster/worker/worker_env.h"
#include "tensorbraid/cluster/cluster_spec.h"
#include "tensorbraid/core/wire.h"
#include "tensorbraid/transport/server_limits.h"

namespace tensorbraid {

struct TaskOptions {
  std::string job = "localhost";
  int index = 0;
  std::map<std::string, int> device_count = {};
  int inter_op_threads = 0;  // 0: one per core
  MembershipOptions membership = {};
  ExchangeOptions exchange = {};
  // A serialized ConfigProto. The configs of clients' sessions override its fields.
  std::string default_session_config = {};
  // The directories that graphs of clients on other machines may use; InvalidArgument if one does not exist.
  std::vector<std::string> allow_paths = {};
  // Limits on the sessions of clients and their graphs.
  ServerLimits limits = {};
  // See ServerOptions::wire.
  std::map<std::string, WireTypes> wire = {};
};

// Counts the objects that a task keeps for sessions and steps. All counts are 0 when no session is open anywhere in the
// cluster.
struct TaskUse {
  size_t sessions = 0;   // that have partitions here
  size_t steps = 0;      // that exchange tensors here
  size_t own_steps = 0;  // of the master of this task
};

// Thread-safe.
class Task final {
 public:
  // Creates a task in a cluster of one, without a network.
  static StatusOr<std::shared_ptr<Task>> CreateLocal(const TaskOptions& options);
  // Creates a task of `cluster` that communicates over `transport`. It listens once Start is called.
  static StatusOr<std::shared_ptr<Task>> Create(const ClusterSpec& cluster, const TaskOptions& options,
                                                std::unique_ptr<Transport> transport);
  ~Task();

  // Listens on `address` and returns the port. Unless it is a parameter server itself, connects to all parameter
  // servers, and reconnects whenever a link breaks.
  StatusOr<int> Start(const std::string& address);
  // Leaves the cluster; see Server::Stop. Idempotent.
  void Stop(const Status& why);

  Master& master() { return home_->master(); }
  SessionClusters& session_clusters() { return *session_clusters_; }  // REQUIRES: the task has a network
  Membership& membership() { return home_->membership(); }
  StatusService& status() { return *status_; }  // REQUIRES: the task has a network
  void FillReport(proto::TaskReport* report) { home_->FillReport(report); }
  TaskUse use() const {
    return {.sessions = home_->worker().num_sessions(),
            .steps = home_->exchange().num_steps(),
            .own_steps = home_->master().steps().running.size()};
  }
  const std::string& name() const { return home_->name(); }  // "/job:worker/replica:0/task:1"

 private:
  Task(const TaskOptions& options, ClusterSpec cluster, std::unique_ptr<WorkerEnv> env);

  // Declared in this order so that each member outlives its users.
  const TaskOptions options_;
  const ClusterSpec cluster_;
  const std::unique_ptr<WorkerEnv> env_;
  std::unique_ptr<SessionClusters> session_clusters_;  // null without a network
  std::shared_ptr<Member> home_;                       // member of the cluster that the task was started in
  std::unique_ptr<MasterService> service_;
  std::unique_ptr<StatusService> status_;  // passes most calls on to service_
};

// The tasks of this process by session target ("grpc://host:port"). A session uses them to find a master in its own
// process.
void PublishTask(const std::string& target, const std::shared_ptr<Task>& task);
void WithdrawTask(const std::string& target);
// NotFound lists the targets that exist.
StatusOr<std::shared_ptr<Task>> FindTask(const std::string& target);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_SERVER_TASK_H_
