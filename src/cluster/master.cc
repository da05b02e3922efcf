#include "cluster/master.h"

#include <algorithm>
#include <set>
#include <utility>

#include "cluster/master_step.h"
#include "core/clock.h"
#include "core/logging.h"
#include "core/strings.h"

namespace tensorbraid {
namespace {

// How long ListDevices waits for tasks to connect.
constexpr std::chrono::seconds kListDevicesTimeout{5};

bool MatchesAny(const DeviceName& device, const std::vector<DeviceName>& filters) {
  return filters.empty() ||
         std::any_of(filters.begin(), filters.end(), [&](const DeviceName& f) { return f.Matches(device); });
}

}  // namespace

Master::Master(std::string task, uint64_t incarnation, Worker* worker, Exchange* exchange, Links* links,
               std::vector<DeviceInfo> own_devices, std::vector<DeviceName> remote_devices,
               std::chrono::milliseconds slow_wait, std::weak_ptr<void> owner)
    : task_(std::move(task)),
      incarnation_(incarnation),
      worker_(worker),
      exchange_(exchange),
      links_(links),
      own_devices_(std::move(own_devices)),
      remote_devices_(std::move(remote_devices)),
      slow_wait_(slow_wait),
      owner_(std::move(owner)) {}

Master::~Master() { Shutdown(Cancelled("the master has been destroyed")); }

std::shared_ptr<MasterSession> Master::NewSession(const Graph* graph, MasterSessionOptions options) {
  return std::make_shared<MasterSession>(this, graph, SessionId{incarnation_, next_id_++}, options);
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
    if (step != nullptr) {
      step->OnRemoteDone(link, Annotate(m->status, ShortTaskName(link->peer().task)), m->stats);
    }
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
    TF_RETURN_IF_ERROR(links_->SessionEnded(peer.task));
    return Unavailable(ShortTaskName(peer.task), " (", links_->AddressOf(peer.task), ") is not connected");
  }
  if (link->peer().incarnation != peer.incarnation) {
    return Aborted(ShortTaskName(peer.task), " has been restarted and has lost its state; create a new session");
  }
  return link;
}

std::vector<Master::Device> Master::Devices(const std::vector<DeviceName>& filters) const {
  std::vector<Device> devices;
  for (size_t i = 0; i < own_devices_.size(); ++i) {
    devices.push_back({.name = worker_->devices()[i],
                       .memory_limit = own_devices_[i].memory_limit,
                       .incarnation = own_devices_[i].incarnation,
                       .is_local = true});
  }
  const auto add = [&](Device device) {
    if (MatchesAny(device.name, filters)) devices.push_back(std::move(device));
  };
  std::string last;
  std::shared_ptr<Link> link;
  for (const DeviceName& assumed : remote_devices_) {
    const std::string task = assumed.TaskString();
    const bool is_next = std::exchange(last, task) != task;
    if (is_next) link = links_->Find(task);
    if (link == nullptr) {
      add({.name = assumed, .memory_limit = own_devices_.front().memory_limit});
      continue;
    }
    if (!is_next) continue;
    for (const DeviceInfo& reported : link->peer().devices) {
      DeviceName name = assumed;
      name.type = reported.type;
      name.id = reported.id;
      add({.name = std::move(name), .memory_limit = reported.memory_limit, .incarnation = reported.incarnation});
    }
  }
  return devices;
}

std::vector<DeviceName> Master::DeviceNames(const std::vector<DeviceName>& filters) const {
  std::vector<DeviceName> names;
  for (Device& device : Devices(filters)) names.push_back(std::move(device.name));
  return names;
}

std::vector<Master::Device> Master::ListDevices(const std::vector<DeviceName>& filters) const {
  const auto deadline = MonotonicClock::now() + kListDevicesTimeout;
  std::set<std::string> tasks;
  for (const DeviceName& d : remote_devices_) {
    if (MatchesAny(d, filters)) tasks.insert(d.TaskString());
  }
  for (const std::string& task : tasks) {
    const auto link = links_->WaitFor(
        task, deadline, [this] { return stopping_ ? Cancelled("the server has been stopped") : OkStatus(); });
    if (!link.ok()) {
      TB_LOG(Warning, "cluster") << "cannot list the devices of " << task << ": " << link.status();
    }
  }
  return Devices(filters);
}

Status Master::ResetContainers(const std::vector<std::string>& containers,
                               const std::vector<std::string>& device_filters) {
  worker_->ResetContainers(containers);
  std::vector<DeviceName> filters;
  for (const std::string& filter : device_filters) {
    TF_ASSIGN_OR_RETURN(DeviceName name, DeviceName::Parse(filter));
    filters.push_back(std::move(name));
  }
  std::string last;
  Status status;
  for (const DeviceName& d : remote_devices_) {
    const std::string task = d.TaskString();
    if (std::exchange(last, task) == task) continue;
    const auto link = links_->Find(task);
    if (!MatchesAny(d, filters) || link == nullptr) continue;
    const Status done = CallAndWait(link, tensorbraid::ResetContainers{.request = 0, .containers = containers},
                                    "to clear its containers", MasterSession::Deadline::max());
    if (status.ok()) status = done;
  }
  return status;
}

Status Master::CallAndWait(const std::shared_ptr<Link>& link, uint64_t id, Message request, const char* what,
                           MasterSession::Deadline deadline, const StillWanted& still_wanted) {
  // Time between two calls of still_wanted.
  constexpr std::chrono::milliseconds kSlice{50};
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
  // If the link broke before the call was recorded, OnLinkDown has not seen the call.
  if (links_->Find(link->peer().task) == nullptr)
    OnLinkDown(link, Unavailable(ShortTaskName(link->peer().task), " is gone"));
  MutexLock lock(shared->mu);
  const auto started = MonotonicClock::now();
  auto log_at = started + slow_wait_;
  while (true) {
    auto until = std::min(deadline, log_at);
    if (still_wanted != nullptr) until = std::min(until, MonotonicClock::now() + kSlice);
    if (shared->cv.WaitUntil(shared->mu, until, [&] { return shared->done; })) return shared->status;
    TF_RETURN_IF_ERROR(CheckStillWanted(still_wanted));
    const auto now = MonotonicClock::now();
    if (now >= deadline) {
      return DeadlineExceeded("the deadline has passed while waiting for ", ShortTaskName(link->peer().task), " ",
                              what);
    }
    if (now < log_at) continue;
    log_at = now + slow_wait_;
    TB_LOG(Info, "cluster") << "waiting for " << ShortTaskName(link->peer().task) << " " << what;
  }
}

}  // namespace tensorbraid
