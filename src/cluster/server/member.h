// A process as a task of one cluster: its name, incarnation, membership, exchange, worker and master. A process is a
// member of the cluster that it was started in, and of every cluster that a session brings to it
// (session_clusters.h).
#ifndef TENSORBRAID_CLUSTER_SERVER_MEMBER_H_
#define TENSORBRAID_CLUSTER_SERVER_MEMBER_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/client_service/session_host.h"
#include "cluster/exchange/exchange.h"
#include "cluster/master/master.h"
#include "cluster/membership/membership.h"
#include "cluster/membership/remote_workers.h"
#include "cluster/status/report_source.h"
#include "cluster/worker/worker.h"
#include "tensorbraid/cluster/cluster_spec.h"
#include "tensorbraid/core/wire.h"

namespace tensorbraid {

struct MemberOptions {
  std::string job = "localhost";
  int index = 0;
  MembershipOptions membership = {};
  ExchangeOptions exchange = {};
  std::map<std::string, WireTypes> wire = {};  // see ServerOptions::wire
  // For a cluster whose ClusterSpec came with a session: the fields of the same names in Hello (transport/messages.h).
  uint64_t cluster_id = 0;
  std::string cluster_def = {};
  std::string cluster_master = {};
  // Called on a transport thread when the last link to the task that holds the session is down.
  std::function<void()> on_master_gone = nullptr;
  // For the cluster that the process was started in: the members of clusters that sessions brought. May be null.
  SessionSources session_members = nullptr;
  // Whether running steps keep the member alive. Must be true if the process goes on after the member has ended.
  bool outlives_steps = false;
};

// Accepts the links of its transport. Thread-safe.
class Member final : public ReportSource, public SessionHost, private LinkAcceptor {
 public:
  // A null transport makes a cluster of one. `env` must outlive the member.
  static std::shared_ptr<Member> Create(WorkerEnv* env, const ClusterSpec& cluster, const MemberOptions& options,
                                        std::shared_ptr<Transport> transport);
  // REQUIRES: Stop has returned, or no link was ever up.
  ~Member() override;

  // Listens on `address`, and returns the port.
  StatusOr<int> Listen(const std::string& address) { return membership_.Listen(address, this); }
  // Fails running steps and leaves the cluster; see Server::Stop. Idempotent. Must not be called on a transport thread.
  void Stop(const Status& why) override;

  Master& master() override { return *master_; }
  Membership& membership() override { return membership_; }
  const Worker& worker() const { return *worker_; }
  const Exchange& exchange() const { return exchange_; }
  const std::string& name() const { return name_; }  // "/job:worker/replica:0/task:1"
  uint64_t cluster_id() const override { return options_.cluster_id; }
  const std::string& cluster_master() const override { return options_.cluster_master; }
  bool is_session_master() const { return cluster_id() != 0 && name_ == cluster_master(); }
  bool is_stopped() const { return stopped_; }  // whether Stop has been called
  void FillReport(proto::TaskReport* report) override;

 private:
  class Connection;
  Member(WorkerEnv* env, const MemberOptions& options, const ClusterSpec& cluster, const Hello& self,
         std::shared_ptr<Transport> transport);

  Status OnHello(const Hello& from, Hello* answer) override { return membership_.OnHello(from, answer); }
  std::shared_ptr<LinkHandler> OnLinkUp(const std::shared_ptr<Link>& link) override;
  // A link to the task is down. Calls on_master_gone if it was the last link to the session's master.
  void OnTaskDown(const std::string& task);
  void OnGetReport(const std::shared_ptr<Link>& link, const GetReport& m);
  // The members whose reports an answer to GetReport (transport/messages.h) includes, besides the report of this task.
  std::vector<std::shared_ptr<ReportSource>> ReportedClusters() const;

  WorkerEnv* const env_;
  const MemberOptions options_;
  const std::string name_;
  const std::shared_ptr<Transport> transport_;  // null in a cluster of one
  Membership membership_;
  RemoteWorkers remote_workers_;
  Exchange exchange_;
  std::atomic<bool> stopped_{false};
  std::weak_ptr<void> owner_;  // this object, which running steps lock; null unless options_.outlives_steps
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<Master> master_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_SERVER_MEMBER_H_
