// Clusters that sessions bring with them: ConfigProto.cluster_def.
//
// The master of such a session gives the cluster a number and becomes a member of it (member.h), under the name that
// the cluster has for it. Its Hello to the other tasks carries number and cluster, and makes each a member that has not
// heard of it before. When the session ends, or its master is gone, so do all these members.
#ifndef TENSORBRAID_CLUSTER_SESSION_CLUSTERS_H_
#define TENSORBRAID_CLUSTER_SESSION_CLUSTERS_H_

#include <map>
#include <memory>
#include <string>

#include "cluster/blocking_calls.h"
#include "cluster/member.h"
#include "cluster/switchboard.h"

namespace tensorbraid {

// Thread-safe.
class SessionClusters {
 public:
  // What the members take from the task: links and exchange of `defaults`. The machine must outlive this object.
  SessionClusters(const Machine& machine, const MemberOptions& defaults);
  // REQUIRES: Shutdown.
  ~SessionClusters();

  // To be said before anything else. The switchboard must outlive the members: that is, until Shutdown has returned.
  void set_switchboard(Switchboard* switchboard) { switchboard_ = switchboard; }
  // "host:port" where this process listens: what stands for it in a cluster if the client's target does not.
  void set_own_address(const std::string& address);

  // Opens a cluster whose session this process is the master of. `target` is where the client believes to be talking to
  // ("grpc://host:port"). InvalidArgument when the cluster is none, or has no task at that address, or several. To be
  // stopped by the caller.
  StatusOr<std::shared_ptr<Member>> Open(const ClusterSpec& cluster, const std::string& target);
  // For the switchboard: takes part in the cluster that a master speaks of. Unavailable, which makes the caller come
  // again, when it is another task that calls first.
  Status Admit(const Hello& from);
  // Ends the memberships that Admit began, and begins no more. Blocks until they have ended.
  void Shutdown();

 private:
  void End(uint64_t cluster);

  const Machine machine_;
  const MemberOptions defaults_;
  Switchboard* switchboard_ = nullptr;
  Mutex mu_;
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  std::string own_address_ TB_GUARDED_BY(mu_);
  std::map<uint64_t, std::shared_ptr<Member>> members_ TB_GUARDED_BY(mu_);  // that others are masters of
  BlockingCalls endings_{4};
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_SESSION_CLUSTERS_H_
