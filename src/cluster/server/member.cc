#include "cluster/server/member.h"

#include <algorithm>
#include <chrono>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "cluster/protobuf/report.pb.h"
#include "cluster/status/task_report.h"
#include "core/device_name.h"
#include "core/strings.h"
#include "transport/codec.h"

namespace tensorbraid {
namespace {

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

// The messages of the exchange.
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
      exchange_(options.exchange, self.incarnation, &membership_) {}

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
                                                           .owner = owner});
  return member;
}

void Member::Stop(const Status& why) {
  master_->Shutdown(Cancelled(ShortTaskName(name_), " is stopping"));
  membership_.Shutdown(why);
}

void Member::OnLinkUp(const std::shared_ptr<Link>& link) {
  exchange_.OnLinkUp(*link);
  remote_workers_.OnLinkUp(link);  // before the membership, which wakes callers that wait for this worker
  membership_.OnLinkUp(link);
}

// The one place where messages are told apart. A message of a new type does not compile until it has a line here.
void Member::OnMessage(const std::shared_ptr<Link>& link, Message message) {
  const Payload* const payload = PayloadOf(message);
  membership_.OnAnyMessage(*link, payload == nullptr ? 0 : payload->size());
  std::visit(Overloaded{
                 [&](const Heartbeat& m) { membership_.OnHeartbeat(*link, m); },
                 [&](const Leave& m) { membership_.OnLeave(*link, m); },
                 [&](const RegisterGraph& m) { worker_->OnRegisterGraph(link, m); },
                 [&](const DeregisterGraph& m) { worker_->Deregister(m.session, m.handle); },
                 [&](const CloseSession& m) { worker_->Close(m.session); },
                 [&](const ResetContainers& m) { worker_->OnResetContainers(*link, m); },
                 [&](const GetReport& m) { OnGetReport(link, m); },
                 [&](const RunGraph& m) { worker_->OnRunGraph(link, m); },
                 [&](const AbortStep& m) { worker_->OnAbortStep(m); },
                 [&](const EndStep& m) { worker_->OnEndStep(m); },
                 [&](const Reply& m) { remote_workers_.OnReply(*link, m); },
                 [&](const StepDone& m) { remote_workers_.OnStepDone(*link, m); },
                 [&](const TensorMessage auto& m) { exchange_.On(link, m); },
                 [&](const LaneChoice&) {
                   // The transport keeps those of its own links for itself.
                   link->Close(InvalidArgument(link->peer().task, " has chosen a lane that was not offered"));
                 },
             },
             message);
}

void Member::FillReport(proto::TaskReport* report) {
  FillTaskReport(
      {.env = *env_, .membership = membership_, .exchange = exchange_, .worker = *worker_, .master = *master_}, report);
}

void Member::OnGetReport(const std::shared_ptr<Link>& link, const GetReport& m) {
  // Not on the transport's thread, and not behind long kernels on the pool.
  env_->pool().ScheduleBlocking([this, link, request = m.request, held = owner_.lock()] {
    proto::TaskReport report;
    FillReport(&report);
    link->Send(Reply{.request = request, .status = OkStatus(), .body = report.SerializeAsString()});
  });
}

void Member::OnLinkDown(const std::shared_ptr<Link>& link, const Status& why) {
  const Status named = membership_.OnLinkDown(link, why);
  exchange_.OnLinkDown(*link, named);
  worker_->ForgetMaster(link->peer().incarnation, named);
  remote_workers_.OnLinkDown(*link, named);
  if (options_.on_master_gone != nullptr && link->peer().task == options_.cluster_master &&
      membership_.Find(link->peer().task) == nullptr) {
    options_.on_master_gone();
  }
}

}  // namespace tensorbraid
