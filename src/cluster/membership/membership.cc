#include "cluster/membership/membership.h"

#include <algorithm>
#include <utility>

#include "core/text/device_name.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/stop.h"

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDialTimeout{5000};
// How long a step that needs a task without a link waits for it to connect before it fails.
constexpr milliseconds kMaxStepWait{5000};
// Time between two attempts to reach a task: a waiting task notices another within this time after it has started.
constexpr milliseconds kRedial{100};
constexpr milliseconds kMaxJoinLogInterval{600'000};
constexpr milliseconds kRedialRefused{2000};  // a server answers, but refuses the connection

Status NoSuchTask(const std::string& task) { return NotFound("task '", task, "' does not exist in the cluster"); }

long long Seconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration_cast<std::chrono::seconds>(d).count();
}

}  // namespace

Membership::Membership(Transport* transport, Timer* timer, const ClusterSpec& cluster, Hello self,
                       MembershipOptions options)
    : transport_(transport),
      timer_(timer),
      name_(self.task),
      in_session_(self.cluster != 0),
      options_(options),
      self_(std::move(self)) {
  Update(cluster);
}

Membership::~Membership() { Shutdown(OkStatus()); }

StatusOr<int> Membership::Listen(const std::string& address, LinkAcceptor* acceptor) {
  TF_ASSIGN_OR_RETURN(const int port, transport_->Listen(address, acceptor));
  MutexLock lock(mu_);
  self_.address = StrCat(address.substr(0, address.rfind(':')), ":", port);
  tick_ = timer_->RunAfter(std::min(options_.heartbeat_interval, milliseconds(500)), [this] { Tick(); });
  return port;
}

void Membership::Update(const ClusterSpec& cluster) {
  std::vector<std::shared_ptr<Link>> removed_links;
  std::vector<std::pair<GetDone, Status>> removed_waiters;
  {
    MutexLock lock(mu_);
    std::set<std::string> before(order_.begin(), order_.end());
    order_.clear();
    for (const std::string& job : cluster.jobs()) {
      for (int index : cluster.task_indices(job)) {
        const std::string task = FullTaskName(job, index);
        if (task == name_) {
          is_ps_ = job == "ps";
          continue;
        }
        Peer& peer = PeerOf(task);
        peer.address = *cluster.task_address(job, index);
        peer.in_cluster = true;
        peer.is_ps = job == "ps";
        order_.push_back(task);
        before.erase(task);
      }
    }
    for (const std::string& task : before) {
      Peer& peer = PeerOf(task);
      peer.in_cluster = peer.keep = false;
      peer.address.clear();
      for (Waiter& w : peer.waiters) removed_waiters.emplace_back(std::move(w.done), NoSuchTask(task));
      peer.waiters.clear();
      removed_links.insert(removed_links.end(), peer.links.begin(), peer.links.end());
    }
    Changed();
  }
  for (const auto& [done, why] : removed_waiters) done(why);
  for (const auto& link : removed_links) {
    link->Close(Unavailable(ShortTaskName(link->peer().task), " is no longer in the cluster"));
  }
}

void Membership::Changed() {
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
  view->own_devices = self_.devices;
  for (const std::string& task : order_) {
    const Peer& peer = peers_.at(task);
    TaskView& out = view->others.emplace_back();
    out.name = task;
    out.address = peer.address;
    out.is_ps = peer.is_ps;
    out.only_serves = peer.only_serves;
    out.leave_status = peer.leave_status;
    out.state = peer.lost             ? TaskView::State::kLost
                : peer.left           ? TaskView::State::kLeft
                : !peer.links.empty() ? TaskView::State::kConnected
                : peer.seen           ? TaskView::State::kDisconnected
                                      : TaskView::State::kNotSeen;
    if (!peer.links.empty()) {
      const Hello& hello = peer.links.front()->peer();
      out.incarnation = hello.incarnation;
      out.devices = hello.devices;
    }
  }
  view_ = std::move(view);
  return view_;
}

std::string Membership::Describe(const Peer& peer) {
  return StrCat(ShortTaskName(peer.task), peer.address.empty() ? "" : StrCat(" (", peer.address, ")"));
}

std::string Membership::AddressOf(const std::string& task) {
  MutexLock lock(mu_);
  const auto it = peers_.find(task);
  return it == peers_.end() ? "" : it->second.address;
}

Status Membership::LastError(const std::string& task) {
  MutexLock lock(mu_);
  const auto it = peers_.find(task);
  return it == peers_.end() ? OkStatus() : it->second.last_error;
}

std::string Membership::own_address() {
  MutexLock lock(mu_);
  return self_.address;
}

Status Membership::SessionEnded(const std::string& task) {
  MutexLock lock(mu_);
  const auto it = peers_.find(task);
  if (!in_session_ || it == peers_.end() || !it->second.left || !absl::IsAborted(it->second.leave_status)) {
    return OkStatus();
  }
  return Annotate(it->second.leave_status, Describe(it->second));
}

Membership::Peer& Membership::PeerOf(const std::string& task) {
  Peer& peer = peers_[task];
  if (peer.task.empty()) {
    peer.task = task;
    peer.number = static_cast<uint32_t>(numbered_.size());
    numbered_.push_back(&peer);
  }
  return peer;
}

std::shared_ptr<Link> Membership::Find(const std::string& task) {
  MutexLock lock(mu_);
  const auto it = peers_.find(task);
  if (it == peers_.end() || it->second.links.empty()) return nullptr;
  return it->second.links.front();
}

StatusOr<uint32_t> Membership::NumberOf(const std::string& task) {
  MutexLock lock(mu_);
  const auto it = peers_.find(task);
  if (it == peers_.end()) return NoSuchTask(task);
  return it->second.number;
}

void Membership::GetLink(uint32_t peer, LinkDone done) {
  std::shared_ptr<Link> link;
  std::string task;
  {
    MutexLock lock(mu_);
    const Peer& wanted = *numbered_.at(peer);
    if (wanted.links.empty()) {
      task = wanted.task;
    } else {
      link = wanted.links.front();
    }
  }
  if (link != nullptr) return done(std::move(link));
  Get(task, std::min(options_.heartbeat_timeout, kMaxStepWait), std::move(done));
}

void Membership::Get(const std::string& task, milliseconds timeout, GetDone done) {
  std::shared_ptr<Link> link;
  Status error;
  {
    MutexLock lock(mu_);
    Peer& peer = PeerOf(task);
    if (stopping_) {
      error = Cancelled(ShortTaskName(name_), " is stopping");
    } else if (!peer.links.empty()) {
      link = peer.links.front();
    } else if (peer.address.empty()) {
      error = NoSuchTask(task);
    } else {
      const auto now = Clock::now();
      // The slices of WaitFor count as one wait, and so does a wait for a peer that is being dialed anyway.
      constexpr milliseconds kBetweenSlices{1000};
      const bool continues = peer.keep || !peer.waiters.empty() || now - peer.waited_at < kBetweenSlices;
      if (!continues) peer.wait_since = peer.wait_logged = now;
      peer.waited_at = now;
      peer.waiters.push_back({std::exchange(done, nullptr), now + timeout});
      WantDial(&peer);
    }
  }
  Dial();
  if (done == nullptr) return;
  if (link != nullptr) return done(link);
  done(error);
}

StatusOr<std::shared_ptr<Link>> Membership::WaitFor(const std::string& task, Clock::time_point deadline,
                                                    const StillWanted& still_wanted) {
  struct Shared {
    Mutex mu;
    CondVar cv;
    bool done = false;
    StatusOr<std::shared_ptr<Link>> link = std::shared_ptr<Link>();
  };
  while (true) {
    auto shared = std::make_shared<Shared>();
    // Waits in slices, to notice when the link is no longer wanted. A connection is noticed at once.
    Get(task, milliseconds(200), [shared](StatusOr<std::shared_ptr<Link>> link) {
      MutexLock lock(shared->mu);
      shared->link = std::move(link);
      shared->done = true;
      shared->cv.NotifyAll();
    });
    MutexLock lock(shared->mu);
    shared->cv.Wait(shared->mu, [&] { return shared->done; });
    if (shared->link.ok() || !absl::IsUnavailable(shared->link.status())) return shared->link;
    TF_RETURN_IF_ERROR(CheckStillWanted(still_wanted));
    if (Clock::now() >= deadline) {
      return DeadlineExceeded("the deadline has passed while waiting for ", ShortTaskName(task), " at ",
                              AddressOf(task), ": ", std::string(shared->link.status().message()));
    }
  }
}

void Membership::KeepConnected(const std::string& task) {
  {
    MutexLock lock(mu_);
    Keep(&PeerOf(task));
  }
  Dial();
}

void Membership::Keep(Peer* peer) {
  peer->keep = true;
  if (peer->links.empty() && !peer->left) {
    peer->wait_since = peer->wait_logged = Clock::now();
    WantDial(peer);
  }
}

void Membership::WantDial(Peer* peer) {
  if (stopping_ || peer->dialing || peer->address.empty()) return;
  peer->dialing = true;
  Hello hello = self_;
  hello.expected_task = peer->task;
  dials_.emplace_back(peer->address, std::move(hello));
}

void Membership::Dial() {
  std::vector<std::pair<std::string, Hello>> dials;
  {
    MutexLock lock(mu_);
    dials.swap(dials_);
  }
  for (auto& [address, hello] : dials) {
    transport_->Connect(
        address, hello, kDialTimeout,
        [this, task = hello.expected_task](const StatusOr<std::shared_ptr<Link>>& link) { OnDialed(task, link); });
  }
}

void Membership::DialLater(const std::string& task, milliseconds delay) {
  if (stopping_) return;
  auto id = std::make_shared<Timer::Id>(0);
  *id = timer_->RunAfter(delay, [this, task, id] {
    {
      MutexLock lock(mu_);
      Peer& peer = PeerOf(task);
      if (peer.links.empty() && (peer.keep || !peer.waiters.empty())) WantDial(&peer);
    }
    Dial();
    // The last access to this object: Shutdown waits for the timers that it finds here.
    MutexLock lock(mu_);
    redials_.erase(*id);
  });
  redials_.insert(*id);
}

void Membership::OnDialed(const std::string& task, const StatusOr<std::shared_ptr<Link>>& link) {
  std::vector<Waiter> refused;
  Status error;
  {
    MutexLock lock(mu_);
    Peer& peer = PeerOf(task);
    peer.dialing = false;
    if (link.ok()) {
      peer.failures = 0;
      return;  // OnLinkUp has served the waiters
    }
    if (stopping_ || !peer.links.empty()) return;
    ++peer.failures;
    const bool unreachable = absl::IsUnavailable(link.status());
    if (!unreachable && peer.last_error.code() != link.status().code()) {
      TB_LOG(Error, "cluster") << Describe(peer) << ": " << link.status().message();
    }
    peer.last_error = link.status();
    if (!unreachable) {
      refused.swap(peer.waiters);
      error = Annotate(link.status(), Describe(peer));
    }
    if (peer.keep || !peer.waiters.empty()) {
      DialLater(task, unreachable ? kRedial : kRedialRefused);
    }
  }
  for (const Waiter& w : refused) w.done(error);
}

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
  {
    MutexLock lock(mu_);
    *answer = self_;
  }
  answer->expected_task = from.task;
  answer->cluster_def.clear();  // the caller has sent it
  return OkStatus();
}

void Membership::OnLinkUp(const std::shared_ptr<Link>& link) {
  std::vector<Waiter> waiters;
  std::vector<std::shared_ptr<Link>> outdated;
  std::shared_ptr<Link> primary;
  bool only_serves = false;
  {
    MutexLock lock(mu_);
    auto heard = std::make_shared<Heard>();
    heard->last = Clock::now().time_since_epoch().count();
    Peer& peer = PeerOf(link->peer().task);
    heard->received = peer.received;
    heard_[link.get()] = std::move(heard);
    for (const auto& old : peer.links) {
      if (old->peer().incarnation != link->peer().incarnation) outdated.push_back(old);
    }
    std::erase_if(peer.links, [&](const auto& l) { return l->peer().incarnation != link->peer().incarnation; });
    if (peer.links.empty()) peer.only_serves = false;  // until it says so again
    peer.links.push_back(link);
    peer.seen = true;
    // A second link with a task that leaves may come up after its word on the first one.
    const bool is_late = !in_session_ && peer.left && peer.left_incarnation == link->peer().incarnation;
    if (!is_late) peer.left = peer.lost = false;
    peer.last_error = OkStatus();
    waiters.swap(peer.waiters);
    primary = peer.links.front();
    only_serves = only_serves_;
    Changed();
    TB_LOG(Debug, "cluster") << "connected to " << Describe(peer);
  }
  for (const auto& old : outdated) old->Close(Unavailable(ShortTaskName(link->peer().task), " has been restarted"));
  if (only_serves) link->Send(Heartbeat{.only_serves = true});
  for (const Waiter& w : waiters) w.done(primary);
}

void Membership::OnAnyMessage(const Link& link, uint64_t tensor_bytes) {
  std::shared_ptr<Heard> heard;
  {
    MutexLock lock(mu_);
    const auto it = heard_.find(&link);
    if (it == heard_.end()) return;
    heard = it->second;
  }
  heard->last.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  heard->received->messages.fetch_add(1, std::memory_order_relaxed);
  heard->received->tensor_bytes.fetch_add(tensor_bytes, std::memory_order_relaxed);
}

std::vector<Membership::Traffic> Membership::Received() {
  std::vector<Traffic> all;
  MutexLock lock(mu_);
  for (const auto& [task, peer] : peers_) {
    if (!peer.seen) continue;
    all.push_back({.task = task,
                   .messages = peer.received->messages.load(std::memory_order_relaxed),
                   .tensor_bytes = peer.received->tensor_bytes.load(std::memory_order_relaxed)});
  }
  return all;
}

void Membership::OnHeartbeat(const Link& link, const Heartbeat& m) {
  if (!m.only_serves) return;
  MutexLock lock(mu_);
  Peer& peer = PeerOf(link.peer().task);
  if (std::exchange(peer.only_serves, true)) return;
  TB_LOG(Debug, "cluster") << Describe(peer) << " only serves";
  Changed();
}

void Membership::OnLeave(const Link& link, const Leave& m) {
  MutexLock lock(mu_);
  Peer& peer = PeerOf(link.peer().task);
  peer.left = true;
  peer.leave_status = m.status;
  peer.left_incarnation = link.peer().incarnation;
  if (in_session_) {
    // Logged at Debug only, because it happens at the end of every session.
    TB_LOG(Debug, "cluster") << ShortTaskName(peer.task) << " has left the cluster of a session";
  } else if (m.status.ok()) {
    TB_LOG(Info, "cluster") << ShortTaskName(peer.task) << " has left";
  } else {
    TB_LOG(Warning, "cluster") << ShortTaskName(peer.task) << " has left: " << ToString(m.status);
  }
  Changed();
}

Status Membership::OnLinkDown(const std::shared_ptr<Link>& link, const Status& why) {
  Status named;
  {
    MutexLock lock(mu_);
    heard_.erase(link.get());
    Peer& peer = PeerOf(link->peer().task);
    std::erase(peer.links, link);
    named = Unavailable(Describe(peer), " is gone: ", std::string(why.message()));
    if (peer.links.empty()) {
      peer.down_since = Clock::now();
      peer.wait_since = peer.wait_logged = peer.down_since;
      if (!peer.left && !stopping_) {
        TB_LOG(Warning, "cluster") << named.message();
      }
      if (peer.keep && !stopping_ && !peer.left) WantDial(&peer);
    }
    Changed();
  }
  Dial();
  return named;
}

// Sends heartbeats, closes silent links, fails overdue waiters, logs long waits and detects lost tasks.
void Membership::Tick() {
  std::vector<std::shared_ptr<Link>> alive;
  std::vector<std::pair<std::shared_ptr<Link>, Status>> silent;
  std::vector<std::pair<GetDone, Status>> overdue;
  bool only_serves = false;
  {
    MutexLock lock(mu_);
    if (stopping_) return;
    only_serves = only_serves_;
    const auto now = Clock::now();
    for (auto& [task, peer] : peers_) {
      for (const auto& link : peer.links) {
        const auto it = heard_.find(link.get());
        if (it == heard_.end()) continue;
        const auto quiet = now.time_since_epoch() - Clock::duration(it->second->last.load(std::memory_order_relaxed));
        if (quiet > options_.heartbeat_timeout) {
          silent.emplace_back(link, Unavailable("no sign of life for ", Seconds(quiet), " s"));
        } else {
          alive.push_back(link);
        }
      }
      std::erase_if(peer.waiters, [&, &peer = peer](Waiter& w) {
        peer.waited_at = now;
        if (w.deadline > now) return false;
        overdue.emplace_back(std::move(w.done), Unavailable("cannot reach ", Describe(peer), ": ",
                                                            std::string(peer.last_error.message())));
        return true;
      });
      const bool logged_by_join = only_serves_ && !peer.is_ps && peer.waiters.empty();
      if (peer.links.empty() && !peer.left && (peer.keep || !peer.waiters.empty() || peer.dialing) && !logged_by_join &&
          now - peer.wait_logged >= options_.slow_wait) {
        peer.wait_logged = now;
        TB_LOG(Info, "cluster") << "still waiting for " << Describe(peer) << " after " << Seconds(now - peer.wait_since)
                                << " s" << (peer.last_error.ok() ? "" : ": ") << peer.last_error.message();
      }
      if (!peer.is_ps && peer.seen && !peer.left && !peer.lost && peer.links.empty() &&
          now - peer.down_since >= options_.lost_after) {
        peer.lost = true;
        TB_LOG(Warning, "cluster") << Describe(peer) << " is lost: unreachable for " << Seconds(now - peer.down_since)
                                   << " s";
        Changed();
      }
    }
    tick_ = timer_->RunAfter(std::min(options_.heartbeat_interval, milliseconds(100)), [this] { Tick(); });
    if (now < next_heartbeat_) alive.clear();
    if (!alive.empty()) next_heartbeat_ = now + options_.heartbeat_interval;
  }
  for (const auto& link : alive) link->Send(Heartbeat{.only_serves = only_serves});
  for (const auto& [link, why] : silent) link->Close(why);
  for (const auto& [done, why] : overdue) done(why);
}

Status Membership::Join() {
  std::vector<std::shared_ptr<Link>> links;
  {
    MutexLock lock(mu_);
    only_serves_ = true;
    for (auto& [task, peer] : peers_) {
      links.insert(links.end(), peer.links.begin(), peer.links.end());
      // Every other task connects to a parameter server by itself, but two workers may have no link.
      if (!is_ps_ && peer.in_cluster && !peer.is_ps) Keep(&peer);
    }
  }
  Dial();
  for (const auto& link : links) link->Send(Heartbeat{.only_serves = true});
  const OnStopRequest on_stop([this] {
    MutexLock lock(mu_);
    changed_.NotifyAll();
  });
  MutexLock lock(mu_);
  const auto& others = View()->others;
  const bool only_ps = std::all_of(others.begin(), others.end(), [](const TaskView& t) { return t.is_ps; });
  if (only_ps) {
    TB_LOG(Info, "cluster") << "the cluster has only parameter servers, which wait for no task: "
                            << ShortTaskName(name_) << " serves until it is stopped";
  }
  const auto started = Clock::now();
  milliseconds interval = options_.join_log_after;
  while (!changed_.WaitUntil(mu_, Clock::now() + interval, [this]() TB_REQUIRES(mu_) {
    return stopping_ || StopRequested() || WorkIsOver(*View());
  })) {
    std::vector<std::string> missing;
    for (const auto& [task, peer] : peers_) {
      if (peer.in_cluster && !peer.is_ps && !peer.seen) missing.push_back(Describe(peer));
    }
    if (!missing.empty()) {
      TB_LOG(Info, "cluster") << "still waiting for " << StrJoin(missing, ", ") << " after "
                              << Seconds(Clock::now() - started) << " s: not connected yet";
    }
    interval = std::min(2 * interval, std::max(kMaxJoinLogInterval, options_.join_log_after));
  }
  if (StopRequested()) WaitForWorkingTasks();
  return HowWorkEnded(*View());
}

void Membership::WaitForWorkingTasks() {
  std::vector<std::string> working = WorkingTasks(*View());
  if (!working.empty()) {
    TB_LOG(Info, "cluster") << "stopping once " << StrJoin(working, ", ") << " have left, or after "
                            << options_.stop_grace.count() / 1000.0 << " s";
  }
  const bool left = changed_.WaitFor(mu_, options_.stop_grace, [&]() TB_REQUIRES(mu_) {
    working = WorkingTasks(*View());
    return stopping_ || working.empty();
  });
  if (!left) {
    TB_LOG(Warning, "cluster") << "stopping, although " << StrJoin(working, ", ") << " still work";
  }
}

void Membership::Shutdown(const Status& why) {
  std::vector<std::shared_ptr<Link>> links;
  std::vector<GetDone> waiters;
  std::set<Timer::Id> timers;
  {
    MutexLock lock(mu_);
    if (stopping_) return;
    stopping_ = true;
    timers.swap(redials_);
    if (tick_ != 0) timers.insert(tick_);
    for (auto& [task, peer] : peers_) {
      links.insert(links.end(), peer.links.begin(), peer.links.end());
      for (Waiter& w : peer.waiters) waiters.push_back(std::move(w.done));
      peer.waiters.clear();
    }
  }
  for (const Timer::Id id : timers) timer_->CancelAndWait(id);
  for (const GetDone& done : waiters) done(Cancelled(ShortTaskName(name_), " is stopping"));
  for (const auto& link : links) {
    link->Send(Leave{.status = why});
    link->Close(Cancelled(ShortTaskName(name_), " is stopping"));
  }
  changed_.NotifyAll();
  if (transport_ != nullptr) transport_->Shutdown();
}

}  // namespace tensorbraid
