#include "cluster/server/session_clusters.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/text/device_name.h"
#include "core/text/host_port.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "transport/address.h"

namespace tensorbraid {
namespace {

// Admit creates a member before the link to the session's master is up. If there is no such link after this time, the
// member is stopped.
constexpr std::chrono::seconds kMasterConnectTimeout{20};

// Number of sessions to remember that have ended because their master was restarted.
constexpr size_t kKeptReplaced = 1024;

// Identifies the process that sent `hello`. A member's incarnation cannot do so, because a process has another one in
// each session's cluster.
uint64_t ProcessOf(const Hello& hello) { return hello.devices.empty() ? 0 : hello.devices.front().incarnation; }

Status Replaced(const std::string& master) {
  // The message begins with TensorFlow's text, because programs search for it.
  return Aborted("Session handle is not found: the session has ended, because its master, ", ShortTaskName(master),
                 ", has been restarted and has a new session; create a new session");
}

struct TaskAddress {
  std::string job;
  int index;
  std::string address;
};

std::vector<TaskAddress> TaskAddressesOf(const ClusterSpec& cluster) {
  std::vector<TaskAddress> tasks;
  for (const std::string& job : cluster.jobs()) {
    for (int index : cluster.task_indices(job)) tasks.push_back({job, index, *cluster.task_address(job, index)});
  }
  return tasks;
}

// Whether both addresses have the same port, and the same host or two names of the loopback host.
bool IsSameAddress(const std::string& a, const std::string& b) {
  const auto x = ParseHostPort(a);
  const auto y = ParseHostPort(b);
  if (!x.ok() || !y.ok() || x->port != y->port) return false;
  return x->host == y->host || (IsLoopbackHost(x->host) && IsLoopbackHost(y->host));
}

}  // namespace

SessionClusters::SessionClusters(WorkerEnv* env, const MemberOptions& defaults, std::unique_ptr<Transport> transport)
    : env_(env),
      defaults_(defaults),
      transport_(
          std::make_shared<SharedTransport>(std::move(transport), [this](const Hello& from) { return Admit(from); })) {}

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
  std::vector<TaskAddress> found;
  for (const TaskAddress& task : TaskAddressesOf(cluster)) {
    if (task.address == called) found.push_back(task);
  }
  for (const TaskAddress& task : found.empty() ? TaskAddressesOf(cluster) : std::vector<TaskAddress>()) {
    if (IsSameAddress(task.address, called) || IsSameAddress(task.address, own)) found.push_back(task);
  }
  if (found.size() != 1) {
    return InvalidArgument("the session's cluster_def must have exactly one task at the address of its master, '",
                           called.empty() ? own : called, "', but has ", found.size(), ": ", cluster.ToString());
  }
  MemberOptions options = defaults_;
  options.job = found[0].job;
  options.index = found[0].index;
  options.cluster_id = NewIncarnation();
  options.cluster_def = cluster.ToClusterDef();
  options.cluster_master = FullTaskName(options.job, options.index);
  options.outlives_steps = true;
  auto member = Member::Create(env_, cluster, options, transport_->ForCluster(options.cluster_id));
  TF_RETURN_IF_ERROR(member->Listen(found[0].address).status());
  MutexLock lock(mu_);
  std::erase_if(opened_, [](const auto& opened) { return opened.expired(); });
  opened_.push_back(member);
  return member;
}

std::vector<std::shared_ptr<ReportSource>> SessionClusters::Members() {
  std::vector<std::shared_ptr<Member>> members;
  {
    MutexLock lock(mu_);
    for (const auto& opened : opened_) members.push_back(opened.lock());
    for (const auto& [cluster, admitted] : members_) members.push_back(admitted.member);
  }
  std::erase_if(members, [](const auto& member) { return member == nullptr || member->is_stopped(); });
  return {members.begin(), members.end()};
}

Status SessionClusters::Admit(const Hello& from) {
  TF_ASSIGN_OR_RETURN(const ClusterSpec cluster, ClusterSpec::FromClusterDef(from.cluster_def));
  TF_RETURN_IF_ERROR(cluster.Validate());
  TF_ASSIGN_OR_RETURN(const DeviceName self, DeviceName::Parse(from.expected_task));
  if (!self.job.has_value() || !self.task.has_value()) {
    return InvalidArgument("the caller expects task '", from.expected_task, "', which is not a full task name");
  }
  TF_ASSIGN_OR_RETURN(const std::string address, cluster.task_address(*self.job, *self.task));
  {
    MutexLock lock(mu_);
    if (stopping_) return Unavailable("the task is stopping");
    if (const auto it = members_.find(from.cluster); it != members_.end()) {
      return it->second.member != nullptr ? OkStatus() : Unavailable("this task is just joining the session's cluster");
    }
    if (std::find(replaced_.begin(), replaced_.end(), from.cluster) != replaced_.end()) {
      return Replaced(from.cluster_master);
    }
    if (from.task != from.cluster_master) {
      return Unavailable("the session's master has not connected to this task yet");
    }
    members_[from.cluster] = {.member = nullptr, .master = from.task, .master_process = ProcessOf(from)};
    ++joining_;
  }
  const Status joined = Join(from, *self.job, *self.task, address);
  MutexLock lock(mu_);
  if (--joining_ == 0) none_joining_.NotifyAll();
  return joined;
}

Status SessionClusters::Join(const Hello& from, const std::string& job, int index, const std::string& address) {
  MemberOptions options = defaults_;
  options.job = job;
  options.index = index;
  options.cluster_id = from.cluster;
  options.cluster_def = from.cluster_def;
  options.cluster_master = from.cluster_master;
  options.outlives_steps = true;
  options.on_master_gone = [this, cluster = from.cluster] {
    endings_.Run([this, cluster] { End(cluster, OkStatus()); });
  };
  // Checked by Admit.
  TF_ASSIGN_OR_RETURN(const ClusterSpec spec, ClusterSpec::FromClusterDef(from.cluster_def));
  const auto member = Member::Create(env_, spec, options, transport_->ForCluster(from.cluster));
  const Status listening = member->Listen(address).status();
  std::vector<uint64_t> replaced;
  bool has_ended = false;
  {
    MutexLock lock(mu_);
    const auto own = members_.find(from.cluster);
    has_ended = own == members_.end();  // the master was restarted, and its new process has connected meanwhile
    if (!has_ended && !listening.ok()) members_.erase(own);
    if (!has_ended && listening.ok()) {
      own->second.member = member;
      for (const auto& [cluster, other] : members_) {
        if (other.master == from.task && other.master_process != ProcessOf(from)) replaced.push_back(cluster);
      }
      for (const uint64_t cluster : replaced) {
        replaced_.push_back(cluster);
        if (replaced_.size() > kKeptReplaced) replaced_.pop_front();
      }
    }
  }
  TF_RETURN_IF_ERROR(listening);
  if (has_ended) {
    endings_.Run([member, why = Replaced(from.task)] { member->Stop(why); });
    return Replaced(from.task);
  }
  TB_LOG(Debug, "cluster") << "joining the cluster of a session of " << ShortTaskName(from.task) << " as "
                           << ShortTaskName(member->name());
  for (const uint64_t cluster : replaced) {
    TB_LOG(Info, "cluster") << ShortTaskName(from.task) << " has been restarted; its old session ends";
    endings_.Run([this, cluster, master = from.task] { End(cluster, Replaced(master)); });
  }
  env_->timer()->RunAfter(kMasterConnectTimeout,
                          [this, cluster = from.cluster, master = from.task, weak = std::weak_ptr<Member>(member)] {
                            const auto member = weak.lock();
                            if (member == nullptr || member->membership().connections().Find(master) != nullptr) return;
                            endings_.Run([this, cluster] { End(cluster, OkStatus()); });
                          });
  return OkStatus();
}

void SessionClusters::End(uint64_t cluster, const Status& why) {
  std::shared_ptr<Member> member;
  {
    MutexLock lock(mu_);
    const auto it = members_.find(cluster);
    if (it == members_.end()) return;
    member = std::move(it->second.member);
    members_.erase(it);
  }
  if (member != nullptr) member->Stop(why);  // else Join stops it
}

void SessionClusters::Shutdown() {
  std::map<uint64_t, Admitted> members;
  {
    MutexLock lock(mu_);
    stopping_ = true;
    none_joining_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return joining_ == 0; });
    members.swap(members_);
  }
  for (const auto& [cluster, admitted] : members) admitted.member->Stop(OkStatus());
  endings_.WaitUntilIdle();
}

}  // namespace tensorbraid
