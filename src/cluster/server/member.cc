#include "cluster/server/member.h"

#include <algorithm>
#include <chrono>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "cluster/peer/graph_parts.h"
#include "cluster/protobuf/report.pb.h"
#include "cluster/status/cluster_report.h"
#include "cluster/status/task_report.h"
#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "transport/codec.h"

namespace tensorbraid {
namespace {

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

// The messages that the exchange handles.
template <typename M>
concept TensorMessage = std::is_same_v<M, EagerTensor> || std::is_same_v<M, AnnounceTensor> ||
    std::is_same_v<M, GrantTensor> || std::is_same_v<M, BulkTensor> || std::is_same_v<M, EagerCredit>;

Hello HelloOf(const WorkerEnv& env, const MemberOptions& options) {
  Hello self;
  self.task = FullTaskName(options.job, options.index);
  self.incarnation = NewIncarnation();
  self.devices = env.device_infos();
  self.cluster = options.cluster_id;
  self.cluster_def = options.cluster_def;
  self.cluster_master = options.cluster_master;
  return self;
}

std::vector<DeviceName> DeviceNamesOf(const WorkerEnv& env, const MemberOptions& options) {
  std::vector<DeviceName> names;
  for (const DeviceInfo& d : env.device_infos()) {
    names.push_back({.job = options.job, .replica = 0, .task = options.index, .type = d.type, .id = d.id});
  }
  return names;
}

}  // namespace

Member::Member(WorkerEnv* env, const MemberOptions& options, const ClusterSpec& cluster, const Hello& self,
               std::shared_ptr<Transport> transport)
    : env_(env),
      options_(options),
      name_(self.task),
      transport_(std::move(transport)),
      membership_(transport_.get(), env->timer(), cluster, self, options.membership),
      remote_workers_(&membership_),
      exchange_(options.exchange, self.incarnation, &membership_.connections()) {}

Member::~Member() = default;

std::shared_ptr<Member> Member::Create(WorkerEnv* env, const ClusterSpec& cluster, const MemberOptions& options,
                                       std::shared_ptr<Transport> transport) {
  const Hello self = HelloOf(*env, options);
  auto member = std::shared_ptr<Member>(new Member(env, options, cluster, self, std::move(transport)));
  const std::weak_ptr<void> owner = options.outlives_steps ? std::weak_ptr<void>(member) : std::weak_ptr<void>();
  member->owner_ = owner;
  member->worker_ = std::make_unique<Worker>(DeviceNamesOf(*env, options), env, &member->exchange_, owner);
  member->master_ = std::make_unique<Master>(MasterOptions{.task = member->name_,
                                                           .incarnation = self.incarnation,
                                                           .worker = member->worker_.get(),
                                                           .exchange = &member->exchange_,
                                                           .membership = &member->membership_,
                                                           .remote_workers = &member->remote_workers_,
                                                           .slow_wait = options.membership.slow_wait,
                                                           .wire = options.wire,
                                                           .owner = owner});
  return member;
}

void Member::Stop(const Status& why) {
  stopped_ = true;
  master_->Shutdown(Cancelled(ShortTaskName(name_), " is stopping"));
  membership_.Shutdown(why);
}

// A connection of this member, which handles the messages of its link.
class Member::Connection final : public PeerConnection, public LinkHandler {
 public:
  Connection(Member* member, std::shared_ptr<Link> link, std::shared_ptr<Traffic> received)
      : PeerConnection(std::move(link), std::move(received)), member_(member) {}
  void OnMessage(Message message) override;
  void OnLinkDown(const Status& why) override;

 private:
  void OnRegisterGraph(RegisterGraph m);

  Member* const member_;
  GraphParts graph_parts_;  // used by one thread at a time: all graphs come on the control channel
};

std::shared_ptr<LinkHandler> Member::OnLinkUp(const std::shared_ptr<Link>& link) {
  const Hello& peer = link->peer();
  const auto connection = std::make_shared<Connection>(this, link, membership_.connections().ReceivedFrom(peer.task));
  exchange_.OnLinkUp(peer);
  membership_.OnLinkUp(connection);
  return connection;
}

// The only place that distinguishes the types of messages. A new type does not compile until it has a line here.
void Member::Connection::OnMessage(Message message) {
  const Payload* const payload = PayloadOf(message);
  const Handling handling(*this, payload == nullptr ? 0 : payload->size());
  Worker& worker = *member_->worker_;
  std::visit(Overloaded{
                 [&](const Heartbeat& m) { member_->membership_.OnHeartbeat(peer(), m); },
                 [&](const Leave& m) { member_->membership_.OnLeave(peer(), m); },
                 [&](const WorkOver& m) { member_->membership_.OnWorkOver(peer(), m); },
                 [&](const GraphPart& m) { graph_parts_.Add(m); },
                 [&](RegisterGraph& m) { OnRegisterGraph(std::move(m)); },
                 [&](const DeregisterGraph& m) { worker.Deregister(m.session, m.handle); },
                 [&](const CloseSession& m) { worker.Close(m.session); },
                 [&](const ResetContainers& m) { worker.OnResetContainers(*link(), m); },
                 [&](const GetReport& m) { member_->OnGetReport(link(), m); },
                 [&](const RunGraph& m) { worker.OnRunGraph(link(), m); },
                 [&](const AbortStep& m) { worker.OnAbortStep(m); },
                 [&](const EndStep& m) { worker.OnEndStep(m); },
                 [&](const Reply& m) { this->worker()->OnReply(m); },
                 [&](const StepDone& m) { this->worker()->OnStepDone(m); },
                 [&](const TensorMessage auto& m) { member_->exchange_.On(shared_from_this(), m); },
             },
             message);
}

void Member::Connection::OnRegisterGraph(RegisterGraph m) {
  if (const Status status = graph_parts_.Complete(&m); !status.ok()) {
    link()->Send(Reply{.request = m.request, .status = status, .body = ""});
    return;
  }
  member_->worker_->OnRegisterGraph(link(), std::move(m));
}

void Member::Connection::OnLinkDown(const Status& why) {
  const Status named = member_->membership_.OnLinkDown(shared_from_this(), why);
  member_->exchange_.OnLinkDown(peer(), named);
  member_->worker_->ForgetMaster(peer().incarnation, named);
  worker()->OnLinkDown(named);
  member_->OnTaskDown(peer().task);
}

void Member::OnTaskDown(const std::string& task) {
  if (options_.on_master_gone == nullptr || task != options_.cluster_master) return;
  if (membership_.connections().Find(task) == nullptr) options_.on_master_gone();
}

void Member::FillReport(proto::TaskReport* report) {
  std::vector<std::shared_ptr<ResourceManager>> resources;
  if (cluster_id() == 0) {
    resources.emplace_back(std::shared_ptr<void>(), &env_->resources());  // not owned
  } else {
    resources = worker_->SessionResources();
  }
  FillTaskReport({.env = *env_,
                  .resources = resources,
                  .membership = membership_,
                  .exchange = exchange_,
                  .worker = *worker_,
                  .master = *master_},
                 report);
}

std::vector<std::shared_ptr<ReportSource>> Member::ReportedClusters() const {
  if (is_session_master()) {
    const auto self = std::static_pointer_cast<Member>(owner_.lock());
    return self == nullptr ? std::vector<std::shared_ptr<ReportSource>>()
                           : std::vector<std::shared_ptr<ReportSource>>{self};
  }
  if (options_.session_members == nullptr) return {};
  auto members = options_.session_members();
  // The master of a cluster knows it best. If each task reported all its clusters, a cluster would be reported once for
  // each of its tasks.
  std::erase_if(members, [](const auto& m) { return m->membership().view()->self != m->cluster_master(); });
  return members;
}

void Member::OnGetReport(const std::shared_ptr<Link>& link, const GetReport& m) {
  // A report may wait for locks, so it is not made on the transport's thread. The pool's threads may be busy with long
  // kernels, so it is not made there either.
  env_->pool().ScheduleBlocking([this, weak_link = std::weak_ptr<Link>(link), m, held = owner_.lock()] {
    const auto answer = std::make_shared<proto::TaskAnswer>();
    const auto send = [weak_link, request = m.request, answer] {
      const auto link = weak_link.lock();
      if (link == nullptr) return;
      link->Send(Reply{.request = request, .status = OkStatus(), .body = answer->SerializeAsString()});
    };
    const auto within = [](uint32_t ms) { return std::min(std::chrono::milliseconds(ms), kMaxReportTimeout); };
    if (m.whole_cluster_within_ms > 0 && cluster_id() == 0) {
      const std::shared_ptr<ReportSource> self(std::shared_ptr<void>(), this);  // not owned
      const auto sessions = options_.session_members == nullptr ? std::vector<std::shared_ptr<ReportSource>>()
                                                                : options_.session_members();
      return CollectClusterReport(self, sessions, env_->timer(), within(m.whole_cluster_within_ms),
                                  [answer, send](const proto::ClusterReport& cluster) {
                                    *answer->mutable_whole_cluster() = cluster;
                                    send();
                                  });
    }
    FillReport(answer->mutable_task());
    CollectSessionClusters(
        m.session_clusters_within_ms == 0 ? std::vector<std::shared_ptr<ReportSource>>() : ReportedClusters(),
        env_->timer(), within(m.session_clusters_within_ms),
        [answer, send](const std::vector<proto::ClusterReport>& clusters) {
          for (const auto& cluster : clusters) *answer->add_session_clusters() = cluster;
          send();
        });
  });
}

}  // namespace tensorbraid
