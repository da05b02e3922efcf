#include "cluster/master.h"

#include "cluster/master_step.h"
#include "core/logging.h"
#include "core/strings.h"

namespace tensorbraid {

Master::Master(std::string task, uint64_t incarnation, Worker* worker, Exchange* exchange, Links* links,
               std::vector<DeviceName> remote_devices, std::chrono::milliseconds slow_wait)
    : task_(std::move(task)),
      incarnation_(incarnation),
      worker_(worker),
      exchange_(exchange),
      links_(links),
      remote_devices_(std::move(remote_devices)),
      slow_wait_(slow_wait) {}

Master::~Master() { Shutdown(Cancelled("the master has ended")); }

std::shared_ptr<MasterSession> Master::NewSession(const Graph* graph, MasterSessionOptions options) {
  return std::make_shared<MasterSession>(this, graph, SessionId{incarnation_, next_id_++}, options);
}

std::vector<DeviceName> Master::devices() const {
  std::vector<DeviceName> devices = worker_->devices();
  devices.insert(devices.end(), remote_devices_.begin(), remote_devices_.end());
  return devices;
}

bool Master::OnMessage(const std::shared_ptr<Link>& link, const Message& message) {
  if (const auto* m = std::get_if<Reply>(&message)) {
    Call call;
    {
      MutexLock lock(mu_);
      const auto it = calls_.find(m->request);
      if (it == calls_.end()) return true;
      call = std::move(it->second);
      calls_.erase(it);
    }
    call.done(Annotate(m->status, ShortTaskName(link->peer().task)));
    return true;
  }
  if (const auto* m = std::get_if<StepDone>(&message)) {
    std::shared_ptr<MasterSession::Step> step;
    {
      MutexLock lock(mu_);
      const auto it = steps_.find(m->step.counter);
      if (m->step.master == incarnation_ && it != steps_.end()) step = it->second;
    }
    if (step != nullptr) step->OnRemoteDone(link, Annotate(m->status, ShortTaskName(link->peer().task)));
    return true;
  }
  return false;
}

void Master::OnLinkDown(const std::shared_ptr<Link>& link, const Status& why) {
  std::vector<Call> calls;
  std::vector<std::shared_ptr<MasterSession::Step>> steps;
  {
    MutexLock lock(mu_);
    for (auto it = calls_.begin(); it != calls_.end();) {
      if (it->second.link == link) {
        calls.push_back(std::move(it->second));
        calls_.erase(it++);
      } else {
        ++it;
      }
    }
    for (const auto& [id, step] : steps_) steps.push_back(step);
  }
  for (const Call& call : calls) call.done(why);
  for (const auto& step : steps) step->OnLinkDown(link, why);
}

void Master::Shutdown(const Status& why) {
  stopping_ = true;
  std::vector<Call> calls;
  std::vector<std::shared_ptr<MasterSession::Step>> steps;
  {
    MutexLock lock(mu_);
    for (auto& [id, call] : calls_) calls.push_back(std::move(call));
    calls_.clear();
    for (const auto& [id, step] : steps_) steps.push_back(step);
  }
  for (const Call& call : calls) call.done(why);
  for (const auto& step : steps) step->Abort(why);
}

StatusOr<std::shared_ptr<Link>> Master::ConnectedTo(const Hello& peer) const {
  auto link = links_->Find(peer.task);
  if (link == nullptr) {
    return Unavailable(ShortTaskName(peer.task), " (", links_->AddressOf(peer.task), ") is not connected");
  }
  if (link->peer().incarnation != peer.incarnation) {
    return Aborted(ShortTaskName(peer.task), " has been restarted: what it held is lost; make a new session");
  }
  return link;
}

std::vector<Master::Device> Master::ListDevices() const {
  std::vector<Device> devices;
  for (const DeviceName& d : worker_->devices()) {
    devices.push_back({.name = d, .incarnation = incarnation_, .is_local = true});
  }
  for (const DeviceName& d : remote_devices_) {
    const auto link = links_->Find(d.TaskString());
    devices.push_back({.name = d, .incarnation = link == nullptr ? 0 : link->peer().incarnation});
  }
  return devices;
}

Status Master::ResetContainers(const std::vector<std::string>& containers,
                               const std::vector<std::string>& device_filters) {
  worker_->ResetContainers(containers);
  std::string last;
  Status status;
  for (const DeviceName& d : remote_devices_) {
    const std::string task = d.TaskString();
    if (std::exchange(last, task) == task) continue;
    bool wanted = device_filters.empty();
    for (const std::string& filter : device_filters) {
      TF_ASSIGN_OR_RETURN(const DeviceName name, DeviceName::Parse(filter));
      wanted |= name.Matches(d);
    }
    const auto link = links_->Find(task);
    if (!wanted || link == nullptr) continue;
    const Status done = CallAndWait(link, tensorbraid::ResetContainers{.request = 0, .containers = containers},
                                    "to forget its variables", MasterSession::Deadline::max());
    if (status.ok()) status = done;
  }
  return status;
}

Status Master::CallAndWait(const std::shared_ptr<Link>& link, uint64_t id, Message request, const char* what,
                           MasterSession::Deadline deadline) {
  struct Shared {
    Mutex mu;
    CondVar cv;
    bool done = false;
    Status status;
  };
  auto shared = std::make_shared<Shared>();
  {
    MutexLock lock(mu_);
    calls_[id] = {link, [shared](const Status& status) {
                    MutexLock lock(shared->mu);
                    shared->done = true;
                    shared->status = status;
                    shared->cv.NotifyAll();
                  }};
  }
  link->Send(std::move(request));
  // The link may have gone down before the call was noted.
  if (links_->Find(link->peer().task) == nullptr)
    OnLinkDown(link, Unavailable(ShortTaskName(link->peer().task), " is gone"));
  MutexLock lock(shared->mu);
  const auto started = std::chrono::steady_clock::now();
  auto log_at = started + slow_wait_;
  while (true) {
    if (shared->cv.WaitUntil(shared->mu, std::min(deadline, log_at), [&] { return shared->done; }))
      return shared->status;
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) {
      return DeadlineExceeded(ShortTaskName(link->peer().task), " was asked ", what, " and has not done so in time");
    }
    log_at = now + slow_wait_;
    TB_LOG(Info, "cluster") << "waiting for " << ShortTaskName(link->peer().task) << " " << what;
  }
}

}  // namespace tensorbraid
