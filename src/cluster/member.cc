#include "cluster/member.h"

#include <algorithm>
#include <utility>

#include "core/device_name.h"
#include "core/env.h"
#include "core/strings.h"

namespace tensorbraid {
namespace {

std::vector<DeviceName> NamesOf(const std::vector<DeviceInfo>& devices, const std::string& job, int task) {
  std::vector<DeviceName> names;
  for (const DeviceInfo& d : devices) {
    names.push_back({.job = job, .replica = 0, .task = task, .type = d.type, .id = d.id});
  }
  return names;
}

}  // namespace

uint64_t NewIncarnation() { return RandomSeed() | 1; }  // never 0

std::vector<DeviceInfo> DescribeDevices(const DeviceSet& devices) {
  std::vector<DeviceInfo> infos;
  for (const auto& device : devices.devices()) {
    infos.push_back({.type = device->type(),
                     .id = device->id(),
                     .memory_limit = device->memory_limit(),
                     .incarnation = NewIncarnation()});
  }
  return infos;
}

Member::Member(const MemberOptions& options)
    : options_(options), name_(FullTaskName(options.job, options.index)), incarnation_(NewIncarnation()) {}

Member::~Member() = default;

std::shared_ptr<Member> Member::Create(const Machine& machine, const ClusterSpec& cluster, const MemberOptions& options,
                                       std::unique_ptr<Transport> transport) {
  auto member = Create(machine, cluster, options, transport.get());
  member->transport_ = std::move(transport);
  return member;
}

std::shared_ptr<Member> Member::Create(const Machine& machine, const ClusterSpec& cluster, const MemberOptions& options,
                                       Transport* transport) {
  auto member = std::shared_ptr<Member>(new Member(options));
  const std::weak_ptr<void> owner = options.outlives_steps ? std::weak_ptr<void>(member) : std::weak_ptr<void>();
  Links* links = nullptr;
  if (transport == nullptr) {
    member->exchange_ = std::make_unique<Exchange>(options.exchange, [](const std::string& peer, auto done) {
      done(Internal("a local session has no task ", peer));
    });
  } else {
    Hello self;
    self.task = member->name_;
    self.incarnation = member->incarnation_;
    self.devices = machine.devices;
    self.cluster = options.cluster_id;
    self.cluster_def = options.cluster_def;
    self.cluster_master = options.cluster_master;
    member->links_ =
        std::make_unique<Links>(transport, machine.timer, cluster, std::move(self), options.links, member.get());
    links = member->links_.get();
    // A step that needs a peer without a link waits this long for it to connect, then fails.
    const auto connect_timeout = std::min(options.links.heartbeat_timeout, std::chrono::milliseconds(5000));
    member->exchange_ =
        std::make_unique<Exchange>(options.exchange, [links, connect_timeout](const std::string& peer, auto done) {
          if (auto link = links->Find(peer)) return done(std::move(link));
          links->Get(peer, connect_timeout, std::move(done));
        });
  }
  member->worker_ = std::make_unique<Worker>(NamesOf(machine.devices, options.job, options.index), machine.device_set,
                                             machine.resources, machine.pool, member->exchange_.get(), owner);
  // Another task reports its devices when it connects. Until then it is assumed to have the same ones as this task.
  std::vector<DeviceName> remote;
  for (const std::string& job : cluster.jobs()) {
    for (int index : cluster.task_indices(job)) {
      if (job == options.job && index == options.index) continue;
      for (DeviceName& d : NamesOf(machine.devices, job, index)) remote.push_back(std::move(d));
    }
  }
  member->master_ =
      std::make_unique<Master>(member->name_, member->incarnation_, member->worker_.get(), member->exchange_.get(),
                               links, machine.devices, std::move(remote), options.links.slow_wait, owner);
  return member;
}

void Member::Stop(const Status& why) {
  master_->Shutdown(Cancelled(ShortTaskName(name_), " is stopping"));
  if (links_ != nullptr) links_->Shutdown(why);
}

void Member::OnMessage(const std::shared_ptr<Link>& link, Message message) {
  if (exchange_->OnMessage(link, message)) return;
  if (worker_->OnMessage(link, message)) return;
  master_->OnMessage(link, message);
}

void Member::OnLinkDown(const std::shared_ptr<Link>& link, const Status& why) {
  exchange_->OnLinkDown(*link, why);
  worker_->ForgetMaster(link->peer().incarnation, why);
  master_->OnLinkDown(link, why);
  if (options_.on_master_gone != nullptr && link->peer().task == options_.cluster_master &&
      links_->Find(link->peer().task) == nullptr) {
    options_.on_master_gone();
  }
}

}  // namespace tensorbraid
