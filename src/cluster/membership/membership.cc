#include "cluster/membership/membership.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/text/device_name.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/stop.h"

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{100};  // the longest time between two checks of waiters, links and lost tasks

}  // namespace

Membership::Membership(Transport* transport, Timer* timer, const ClusterSpec& cluster, Hello self,
                       MembershipOptions options)
    : transport_(transport),
      timer_(timer),
      name_(self.task),
      own_devices_(self.devices),
      in_session_(self.cluster != 0),
      options_(options),
      connections_(transport, timer, std::move(self), options),
      heartbeats_(options) {
  Update(cluster);
}

Membership::~Membership() { Shutdown(OkStatus()); }

StatusOr<int> Membership::Listen(const std::string& address, LinkAcceptor* acceptor) {
  TF_ASSIGN_OR_RETURN(const int port, transport_->Listen(address, acceptor));
  connections_.set_own_address(StrCat(address.substr(0, address.rfind(':')), ":", port));
  MutexLock lock(mu_);
  tick_ = timer_->RunAfter(std::min(options_.heartbeat_interval, 5 * kTick), [this] { Tick(); });
  return port;
}

void Membership::Update(const ClusterSpec& cluster) {
  std::set<std::string> removed;
  {
    MutexLock lock(mu_);
    for (const NamedTask* const task : order_) removed.insert(task->first);
    order_.clear();
    for (const std::string& job : cluster.jobs()) {
      for (int index : cluster.task_indices(job)) {
        const std::string name = FullTaskName(job, index);
        if (name == name_) {
          is_ps_ = job == "ps";
          continue;
        }
        NamedTask& named = *tasks_.try_emplace(name).first;
        Task& task = named.second;
        const std::string address = *cluster.task_address(job, index);
        if (task.in_cluster && task.address != address) {
          TB_LOG(Info, "cluster") << ShortTaskName(name) << " is at " << address << " now, and no longer at "
                                  << task.address;
        }
        task.address = address;
        task.in_cluster = true;
        task.is_ps = job == "ps";
        connections_.SetAddress(name, task.address);
        order_.push_back(&named);
        removed.erase(name);
        Changed(task);
      }
    }
    for (const std::string& name : removed) {
      Task& task = tasks_[name];
      task.in_cluster = false;
      task.address.clear();
      Changed(task);
    }
  }
  for (const std::string& name : removed) connections_.Remove(name);
}

// --- The view.

void Membership::Changed(Task& task) {
  task.view = nullptr;
  ++version_;
  changed_.NotifyAll();
}

std::shared_ptr<const ClusterView> Membership::view() {
  MutexLock lock(mu_);
  return View();
}

const std::shared_ptr<const ClusterView>& Membership::View() {
  if (view_ != nullptr && view_->version == version_) return view_;
  auto view = std::make_shared<ClusterView>();
  view->version = version_;
  view->self = name_;
  view->own_devices = own_devices_;
  // Takes over what is known of tasks that have not changed: a view is made after each change, and a parameter server
  // sees some changes of every worker.
  view->others.reserve(order_.size());
  for (NamedTask* const named : order_) {
    auto& [name, task] = *named;
    if (task.view == nullptr) task.view = ViewOf(name, task);
    view->others.push_back(task.view);
  }
  view_ = std::move(view);
  return view_;
}

std::shared_ptr<const TaskView> Membership::ViewOf(const std::string& name, const Task& task) {
  const auto connection = connections_.Find(name);
  auto view = std::make_shared<TaskView>();
  view->name = name;
  view->address = task.address;
  view->is_ps = task.is_ps;
  view->only_serves = task.only_serves;
  view->leave_status = task.leave_status;
  view->work_over = task.work_over;
  view->state = task.lost               ? TaskView::State::kLost
                : task.left             ? TaskView::State::kLeft
                : connection != nullptr ? TaskView::State::kConnected
                : task.seen             ? TaskView::State::kDisconnected
                                        : TaskView::State::kNotSeen;
  if (connection != nullptr) {
    view->incarnation = connection->peer().incarnation;
    view->devices = connection->peer().devices;
  }
  return view;
}

std::shared_ptr<const ClusterView> Membership::AwaitView(Clock::time_point deadline,
                                                         const std::function<bool(const ClusterView&)>& done) {
  MutexLock lock(mu_);
  ++awaiting_;
  const bool in_time = changed_.WaitUntil(mu_, deadline, [&]() TB_REQUIRES(mu_) { return stopping_ || done(*View()); });
  std::shared_ptr<const ClusterView> view = in_time ? View() : nullptr;
  if (--awaiting_ == 0) changed_.NotifyAll();
  return view;
}

void Membership::WakeWaiters() {
  MutexLock lock(mu_);
  changed_.NotifyAll();
}

Status Membership::SessionEnded(const std::string& name) {
  MutexLock lock(mu_);
  const auto it = tasks_.find(name);
  if (!in_session_ || it == tasks_.end() || !it->second.left || !absl::IsAborted(it->second.leave_status)) {
    return OkStatus();
  }
  return Annotate(it->second.leave_status, DescribeTask(name, it->second.address));
}

std::vector<Membership::Received> Membership::AllReceived() {
  std::vector<Received> all;
  MutexLock lock(mu_);
  for (const auto& [name, task] : tasks_) {
    if (!task.seen) continue;
    const auto received = connections_.ReceivedFrom(name);
    all.push_back({.task = name,
                   .messages = received->messages.load(std::memory_order_relaxed),
                   .tensor_bytes = received->tensor_bytes.load(std::memory_order_relaxed)});
  }
  return all;
}

// --- Events.

Status Membership::OnHello(const Hello& from, Hello* answer) {
  if (from.protocol_version != Hello::kProtocolVersion) {
    return FailedPrecondition("this task uses protocol version ", Hello::kProtocolVersion, ", the caller uses ",
                              from.protocol_version, ": run the same release on all tasks");
  }
  if (!from.expected_task.empty() && from.expected_task != name_) {
    return FailedPrecondition("this address belongs to ", ShortTaskName(name_), ", but ", ShortTaskName(from.task),
                              " expects ", ShortTaskName(from.expected_task),
                              " here: are two hosts swapped in the flags of one of them?");
  }
  if (from.task == name_) {
    return FailedPrecondition("the caller and this task are both ", ShortTaskName(name_),
                              ": has the same task been started twice?");
  }
  if (from.incarnation == 0 || from.task.empty()) {
    return InvalidArgument("the caller's Hello lacks its task name or its incarnation");
  }
  *answer = connections_.self();
  answer->expected_task = from.task;
  answer->cluster_def.clear();  // the caller has sent it
  return OkStatus();
}

std::optional<MonotonicClock::time_point> Membership::last_joined() {
  MutexLock lock(mu_);
  return last_joined_;
}

void Membership::OnLinkUp(const std::shared_ptr<PeerConnection>& connection) {
  const Hello& peer = connection->peer();
  Connections::Added added;
  bool only_serves = false;
  {
    MutexLock lock(mu_);
    added = connections_.Add(connection);
    Task& task = tasks_[peer.task];
    if (added.primary == connection) {
      task.only_serves = task.told_over = false;  // until it says so again
      task.work_over.reset();
    }
    task.seen = true;
    if (!task.is_ps) last_joined_ = Clock::now();
    // A second link with a task that leaves may come up after its Leave on the first one.
    const bool is_late = !in_session_ && task.left && task.left_incarnation == peer.incarnation;
    if (!is_late) task.left = task.lost = false;
    connections_.SetLeft(peer.task, task.left);
    away_.erase(peer.task);
    only_serves = only_serves_;
    Changed(task);
  }
  for (const auto& old : added.outdated) {
    const Status restarted = Unavailable(ShortTaskName(peer.task), " has been restarted");
    old->worker()->OnLinkDown(restarted);
    old->link()->Close(restarted);
  }
  if (only_serves) connection->link()->Send(Heartbeat{.only_serves = true});
  for (const auto& done : added.waiters) done(added.primary);
}

void Membership::OnHeartbeat(const Hello& from, const Heartbeat& m) {
  if (!m.only_serves) return;
  {
    MutexLock lock(mu_);
    Task& task = tasks_[from.task];
    if (std::exchange(task.only_serves, true)) return;
    TB_LOG(Debug, "cluster") << DescribeTask(from.task, task.address) << " only serves";
    Changed(task);
  }
  TellWorkOver();
}

void Membership::OnLeave(const Hello& from, const Leave& m) {
  NoteLeave(from, m);
  TellWorkOver();
}

void Membership::NoteLeave(const Hello& from, const Leave& m) {
  MutexLock lock(mu_);
  Task& task = tasks_[from.task];
  task.left = true;
  task.leave_status = m.status;
  task.left_incarnation = from.incarnation;
  connections_.SetLeft(from.task, true);
  if (in_session_) {
    // Logged at Debug only, because it happens at the end of every session.
    TB_LOG(Debug, "cluster") << ShortTaskName(from.task) << " has left the cluster of a session";
  } else if (m.status.ok()) {
    TB_LOG(Info, "cluster") << ShortTaskName(from.task) << " has left";
  } else {
    TB_LOG(Warning, "cluster") << ShortTaskName(from.task) << " has left: " << ToString(m.status);
  }
  Changed(task);
}

void Membership::OnWorkOver(const Hello& from, const WorkOver& m) {
  MutexLock lock(mu_);
  Task& task = tasks_[from.task];
  if (!task.is_ps) return;
  if (!WorkIsOver(*View())) {
    TB_LOG(Info, "cluster") << ShortTaskName(from.task) << " says that the work is over";
  }
  task.work_over = m.how;
  Changed(task);
}

Status Membership::OnLinkDown(const std::shared_ptr<PeerConnection>& connection, const Status& why) {
  const std::string& name = connection->peer().task;
  const bool is_connected = connections_.Erase(connection);
  MutexLock lock(mu_);
  Task& task = tasks_[name];
  const Status named = Unavailable(DescribeTask(name, task.address), " is gone: ", std::string(why.message()));
  if (!is_connected) {
    task.down_since = Clock::now();
    if (!task.is_ps) away_.emplace(name, &task);
    if (!task.left && !stopping_) {
      TB_LOG(Warning, "cluster") << named.message();
    }
  }
  Changed(task);
  return named;
}

// --- Watching the tasks.

void Membership::Tick() {
  bool only_serves = false;
  bool some_lost = false;
  {
    MutexLock lock(mu_);
    if (stopping_) return;
    only_serves = only_serves_;
    some_lost = LookForLostTasks();
  }
  if (some_lost) TellWorkOver();
  if (only_serves) WatchWorkers();
  connections_.Tick();
  heartbeats_.Tick(connections_.All(), only_serves);
  MutexLock lock(mu_);
  if (!stopping_) tick_ = timer_->RunAfter(std::min(options_.heartbeat_interval, kTick), [this] { Tick(); });
}

bool Membership::LookForLostTasks() {
  bool some_lost = false;
  const auto now = Clock::now();
  for (auto it = away_.begin(); it != away_.end();) {
    const auto& [name, away] = *it;
    Task& task = *away;
    if (!task.left && now - task.down_since < options_.lost_after) {
      ++it;
      continue;
    }
    // A task that was never seen is lost only while no parameter server can tell of it (WatchWorkers).
    if (!task.left && (task.seen || !WillHearOfTheEnd(*View()))) {
      some_lost = true;
      task.lost = true;
      const long long seconds = std::chrono::duration_cast<std::chrono::seconds>(now - task.down_since).count();
      TB_LOG(Warning, "cluster") << DescribeTask(name, task.address) << " is lost: unreachable for " << seconds << " s";
      Changed(task);
    }
    it = away_.erase(it);
  }
  return some_lost;
}

// --- The end of the work.

void Membership::OnlyServe() {
  {
    MutexLock lock(mu_);
    only_serves_ = true;
  }
  WatchWorkers();
  for (const auto& c : connections_.All()) c->link()->Send(Heartbeat{.only_serves = true});
}

void Membership::TellWorkOver() {
  std::vector<std::shared_ptr<PeerConnection>> untold;
  WorkOver over;
  {
    MutexLock lock(mu_);
    if (!is_ps_ || in_session_) return;
    for (NamedTask* const named : order_) {
      auto& [name, task] = *named;
      if (task.is_ps || !task.only_serves || task.told_over || task.left) continue;
      auto connection = connections_.Find(name);
      if (connection == nullptr) continue;
      if (untold.empty()) {
        if (!WorkIsOverForServing(*View())) return;
        over.how = HowWorkEnded(*View());
      }
      task.told_over = true;
      untold.push_back(std::move(connection));
    }
    if (untold.empty()) return;
    ++telling_;
  }
  for (const auto& connection : untold) connection->link()->Send(over);
  MutexLock lock(mu_);
  if (--telling_ == 0) changed_.NotifyAll();
}

void Membership::WatchWorkers() {
  std::vector<std::string> others;
  {
    MutexLock lock(mu_);
    if (is_ps_ || watches_workers_ || WorkIsOver(*View())) return;
    const auto now = Clock::now();
    if (WillHearOfTheEnd(*View())) {
      hears_nothing_since_.reset();
      return;
    }
    const bool has_ps =
        std::any_of(order_.begin(), order_.end(), [](const auto* named) { return named->second.is_ps; });
    if (!hears_nothing_since_) hears_nothing_since_ = now;
    if (has_ps && now - *hears_nothing_since_ < options_.lost_after) return;
    watches_workers_ = true;
    for (NamedTask* const named : order_) {
      auto& [name, task] = *named;
      others.push_back(name);
      if (task.is_ps) connections_.SetLeft(name, false);  // it may come back
      // Without parameter servers it has yet to start. After them, it may have ended before this task could see it.
      if (has_ps && !task.is_ps && !task.seen && away_.emplace(name, &task).second) task.down_since = now;
    }
  }
  for (const std::string& name : others) connections_.KeepConnected(name, Connections::Waits::kSilent);
}

void Membership::Shutdown(const Status& why) {
  Timer::Id tick;
  {
    MutexLock lock(mu_);
    if (std::exchange(stopping_, true)) return;
    tick = tick_;
  }
  if (tick != 0) timer_->CancelAndWait(tick);
  TellWorkOver();
  {
    // A worker that only serves gets WorkOver before Leave.
    MutexLock lock(mu_);
    changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return telling_ == 0; });
  }
  connections_.Shutdown(why);
  {
    // This object may be destroyed once it has shut down.
    MutexLock lock(mu_);
    changed_.NotifyAll();
    changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return awaiting_ == 0; });
  }
  if (transport_ != nullptr) transport_->Shutdown();
}

}  // namespace tensorbraid
