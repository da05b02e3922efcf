// Everything that one task has. A Server is a task of a cluster; a local session has a task of its own, without links:
// a cluster of one.
#ifndef TENSORBRAID_CLUSTER_TASK_H_
#define TENSORBRAID_CLUSTER_TASK_H_

#include <map>
#include <memory>
#include <string>

#include "cluster/master_service.h"
#include "cluster/member.h"
#include "cluster/session_clusters.h"
#include "cluster/switchboard.h"
#include "core/thread_pool.h"
#include "core/timer.h"
#include "tensorbraid/cluster_spec.h"

namespace tensorbraid {

struct TaskOptions {
  std::string job = "localhost";
  int index = 0;
  std::map<std::string, int> device_count = {};
  int inter_op_threads = 0;  // 0: as many as cores
  LinksOptions links = {};
  ExchangeOptions exchange = {};
  // What clients' sessions take where they say nothing: a ConfigProto in binary form.
  std::string default_session_config = {};
};

// Thread-safe.
class Task final {
 public:
  // A cluster of one.
  static StatusOr<std::shared_ptr<Task>> CreateLocal(const TaskOptions& options);
  // A task of `cluster` that speaks over `transport`. Listens when Start is called.
  static StatusOr<std::shared_ptr<Task>> Create(const ClusterSpec& cluster, const TaskOptions& options,
                                                std::unique_ptr<Transport> transport);
  ~Task();

  // Listens on `address`, returns the port, and dials the parameter servers, now and whenever they are gone.
  StatusOr<int> Start(const std::string& address);
  // Leaves the cluster; see Server::Stop. Idempotent.
  void Stop(const Status& why);

  Master& master() { return home_->master(); }
  SessionClusters& session_clusters() { return *session_clusters_; }  // REQUIRES: the task has a network
  Links* links() { return home_->links(); }
  ResourceManager& resources() { return resources_; }
  const std::string& name() const { return home_->name(); }  // "/job:worker/replica:0/task:1"

 private:
  Task(const TaskOptions& options, ClusterSpec cluster);
  Machine machine(std::vector<DeviceInfo> devices);

  // Declared so that each outlives what uses it.
  const TaskOptions options_;
  const ClusterSpec cluster_;
  ResourceManager resources_;
  std::unique_ptr<Timer> timer_;
  std::unique_ptr<SessionClusters> session_clusters_;
  std::unique_ptr<Switchboard> switchboard_;
  std::unique_ptr<ThreadPool> pool_;
  std::shared_ptr<Member> home_;  // in the cluster that the task was started in
  std::unique_ptr<MasterService> service_;
};

// The tasks of this process by session target ("grpc://host:port"): how a session finds the master beside it.
void PublishTask(const std::string& target, const std::shared_ptr<Task>& task);
void WithdrawTask(const std::string& target);
// NotFound names the targets there are.
StatusOr<std::shared_ptr<Task>> FindTask(const std::string& target);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_TASK_H_
