#include "cluster/session_clusters.h"

#include <utility>
#include <vector>

#include "core/host_port.h"
#include "core/logging.h"
#include "core/strings.h"
#include "transport/address.h"

namespace tensorbraid {
namespace {

// A member that was made for a link with the master which did not come up is forgotten.
constexpr std::chrono::seconds kMasterMustConnect{20};

struct Place {
  std::string job;
  int index;
  std::string address;
};

std::vector<Place> PlacesIn(const ClusterSpec& cluster) {
  std::vector<Place> places;
  for (const std::string& job : cluster.jobs()) {
    for (int index : cluster.task_indices(job)) places.push_back({job, index, *cluster.task_address(job, index)});
  }
  return places;
}

// Whether both are the same port of this machine, or of one host.
bool SamePlace(const std::string& a, const std::string& b) {
  const auto x = ParseHostPort(a);
  const auto y = ParseHostPort(b);
  if (!x.ok() || !y.ok() || x->port != y->port) return false;
  return x->host == y->host || (IsLoopbackHost(x->host) && IsLoopbackHost(y->host));
}

}  // namespace

SessionClusters::SessionClusters(const Machine& machine, const MemberOptions& defaults)
    : machine_(machine), defaults_(defaults) {}

SessionClusters::~SessionClusters() = default;

void SessionClusters::set_own_address(const std::string& address) {
  MutexLock lock(mu_);
  own_address_ = address;
}

StatusOr<std::shared_ptr<Member>> SessionClusters::Open(const ClusterSpec& cluster, const std::string& target) {
  TF_RETURN_IF_ERROR(Annotate(cluster.Validate(), "cluster_def"));
  const size_t scheme = target.find("://");
  const std::string called = scheme == std::string::npos ? target : target.substr(scheme + 3);
  std::string own;
  {
    MutexLock lock(mu_);
    own = own_address_;
  }
  std::vector<Place> found;
  for (const Place& place : PlacesIn(cluster)) {
    if (place.address == called) found.push_back(place);
  }
  for (const Place& place : found.empty() ? PlacesIn(cluster) : std::vector<Place>()) {
    if (SamePlace(place.address, called) || SamePlace(place.address, own)) found.push_back(place);
  }
  if (found.size() != 1) {
    return InvalidArgument("the session's cluster_def must have one task at the address of its master, ",
                           called.empty() ? own : called, ", and has ", found.size(), ": ", cluster.ToString());
  }
  MemberOptions options = defaults_;
  options.job = found[0].job;
  options.index = found[0].index;
  options.cluster_id = NewIncarnation();
  options.cluster_def = cluster.ToClusterDef();
  options.cluster_master = FullTaskName(options.job, options.index);
  options.outlives_steps = true;
  auto member = Member::Create(machine_, cluster, options, switchboard_->NewDoor(options.cluster_id));
  TF_RETURN_IF_ERROR(member->links()->Listen(found[0].address).status());
  return member;
}

Status SessionClusters::Admit(const Hello& from) {
  TF_ASSIGN_OR_RETURN(const ClusterSpec cluster, ClusterSpec::FromClusterDef(from.cluster_def));
  TF_RETURN_IF_ERROR(cluster.Validate());
  TF_ASSIGN_OR_RETURN(const DeviceName self, DeviceName::Parse(from.expected_task));
  if (!self.job.has_value() || !self.task.has_value()) return InvalidArgument("the caller does not say whom it calls");
  TF_ASSIGN_OR_RETURN(const std::string address, cluster.task_address(*self.job, *self.task));
  MutexLock lock(mu_);
  if (stopping_) return Unavailable("the task is stopping");
  if (members_.contains(from.cluster)) return OkStatus();
  if (from.task != from.cluster_master) return Unavailable("the session's master has not been here yet");
  MemberOptions options = defaults_;
  options.job = *self.job;
  options.index = *self.task;
  options.cluster_id = from.cluster;
  options.cluster_def = from.cluster_def;
  options.cluster_master = from.cluster_master;
  options.outlives_steps = true;
  options.on_master_gone = [this, cluster = from.cluster] { endings_.Run([this, cluster] { End(cluster); }); };
  auto member = Member::Create(machine_, cluster, options, switchboard_->NewDoor(from.cluster));
  TF_RETURN_IF_ERROR(member->links()->Listen(address).status());
  TB_LOG(Debug, "cluster") << "takes part as " << ShortTaskName(member->name()) << " in a cluster that a session of "
                           << ShortTaskName(from.task) << " has brought";
  members_[from.cluster] = member;
  machine_.timer->RunAfter(kMasterMustConnect,
                           [this, cluster = from.cluster, master = from.task, weak = std::weak_ptr<Member>(member)] {
                             const auto member = weak.lock();
                             if (member == nullptr || member->links()->Find(master) != nullptr) return;
                             endings_.Run([this, cluster] { End(cluster); });
                           });
  return OkStatus();
}

void SessionClusters::End(uint64_t cluster) {
  std::shared_ptr<Member> member;
  {
    MutexLock lock(mu_);
    const auto it = members_.find(cluster);
    if (it == members_.end()) return;
    member = std::move(it->second);
    members_.erase(it);
  }
  member->Stop(OkStatus());
}

void SessionClusters::Shutdown() {
  std::map<uint64_t, std::shared_ptr<Member>> members;
  {
    MutexLock lock(mu_);
    stopping_ = true;
    members.swap(members_);
  }
  for (const auto& [cluster, member] : members) member->Stop(OkStatus());
  endings_.WaitUntilIdle();
}

}  // namespace tensorbraid
