// Clusters that sessions bring with them in ConfigProto.cluster_def.
//
// The master of such a session gives the cluster a random number and becomes a member of it (member.h), under the task
// name that the cluster_def has for it. Its Hello to the other tasks carries this number and the cluster_def; a process
// that receives a new number becomes a member too. All these members end when the session ends or its master is gone.
//
// A restarted master has the task name of the old one, but runs in another process, perhaps at another address. Once it
// connects for a new session, the sessions of the old process end: their next run is Aborted.
#ifndef TENSORBRAID_CLUSTER_SERVER_SESSION_CLUSTERS_H_
#define TENSORBRAID_CLUSTER_SERVER_SESSION_CLUSTERS_H_

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/server/member.h"
#include "cluster/server/shared_transport.h"
#include "core/threads/blocking_calls.h"

namespace tensorbraid {

// Thread-safe.
class SessionClusters {
 public:
  // Members use the options `membership` and `exchange` of `defaults`. `env` must outlive this object.
  SessionClusters(WorkerEnv* env, const MemberOptions& defaults, std::unique_ptr<Transport> transport);
  // REQUIRES: Shutdown has returned.
  ~SessionClusters();

  // The transport for the cluster in which the process was started.
  const std::shared_ptr<SharedTransport>& transport() const { return transport_; }
  // Sets the "host:port" that this process listens on. Open looks for it in a cluster that does not contain the
  // client's target.
  void set_own_address(const std::string& address);

  // Opens a cluster for a session whose master is this process. `target` is the address that the client
  // connected to ("grpc://host:port"). InvalidArgument if the cluster is invalid, or if it does not have exactly one
  // task at that address. The caller must stop the member.
  StatusOr<std::shared_ptr<Member>> Open(const ClusterSpec& cluster, const std::string& target);
  // This process as a member of each cluster that a session brought, except those that are stopping.
  std::vector<std::shared_ptr<ReportSource>> Members();
  // For the transport: makes this process a member of the cluster that `from` describes. Unavailable, which makes the
  // caller try again, if the session's master has not connected first, or is connecting at the same time. Aborted if
  // the session has ended because its master was restarted.
  Status Admit(const Hello& from);
  // Stops the members that Admit created, and admits no more. Blocks until they have stopped.
  void Shutdown();

 private:
  struct Admitted {
    std::shared_ptr<Member> member;  // null while it is being created
    std::string master;              // task name
    uint64_t master_process = 0;     // identifies the process of `master`
  };
  // Makes this process a member, for Admit. No lock is held meanwhile, because this function calls other objects. Until
  // it has created the member, the entry of the cluster in `members_` has none.
  Status Join(const Hello& from, const std::string& job, int index, const std::string& address) TB_EXCLUDES(mu_);
  void End(uint64_t cluster, const Status& why);

  WorkerEnv* const env_;
  const MemberOptions defaults_;
  const std::shared_ptr<SharedTransport> transport_;
  Mutex mu_;
  CondVar none_joining_;
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  int joining_ TB_GUARDED_BY(mu_) = 0;  // calls of Join
  std::string own_address_ TB_GUARDED_BY(mu_);
  std::vector<std::weak_ptr<Member>> opened_ TB_GUARDED_BY(mu_);  // created by Open; some may have ended
  std::map<uint64_t, Admitted> members_ TB_GUARDED_BY(mu_);       // created by Admit
  std::deque<uint64_t> replaced_ TB_GUARDED_BY(mu_);  // clusters of masters that were restarted; the latest few
  BlockingCalls endings_{4};                          // runs End
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_SERVER_SESSION_CLUSTERS_H_
