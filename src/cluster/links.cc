#include "cluster/links.h"

#include <algorithm>
#include <utility>

#include "core/device_name.h"
#include "core/logging.h"
#include "core/strings.h"

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDialTimeout{5000};
// Time between two attempts to reach a task: a waiting task notices another within this time after it has started.
constexpr milliseconds kRedial{100};
constexpr milliseconds kMaxJoinLogInterval{600'000};
constexpr milliseconds kRedialRefused{2000};  // a server answers, but refuses the connection

long long Seconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration_cast<std::chrono::seconds>(d).count();
}

}  // namespace

Links::Links(Transport* transport, Timer* timer, const ClusterSpec& cluster, Hello self, LinksOptions options,
             Observer* observer)
    : transport_(transport), timer_(timer), self_(std::move(self)), options_(options), observer_(observer) {
  MutexLock lock(mu_);
  for (const std::string& job : cluster.jobs()) {
    for (int index : cluster.task_indices(job)) {
      const std::string task = FullTaskName(job, index);
      if (task == self_.task) {
        is_ps_ = job == "ps";
        continue;
      }
      Peer& peer = peers_[task];
      peer.task = task;
      peer.address = *cluster.task_address(job, index);
      peer.in_cluster = true;
      peer.is_ps = job == "ps";
    }
  }
}

Links::~Links() { Shutdown(OkStatus()); }

StatusOr<int> Links::Listen(const std::string& address) {
  TF_ASSIGN_OR_RETURN(const int port, transport_->Listen(address, this));
  MutexLock lock(mu_);
  self_.address = StrCat(address.substr(0, address.rfind(':')), ":", port);
  tick_ = timer_->RunAfter(std::min(options_.heartbeat_interval, milliseconds(500)), [this] { Tick(); });
  return port;
}

std::string Links::Describe(const Peer& peer) {
  return StrCat(ShortTaskName(peer.task), peer.address.empty() ? "" : StrCat(" (", peer.address, ")"));
}

std::string Links::AddressOf(const std::string& task) const {
  auto* self = const_cast<Links*>(this);
  MutexLock lock(self->mu_);
  const auto it = self->peers_.find(task);
  return it == self->peers_.end() ? "" : it->second.address;
}

Status Links::SessionEnded(const std::string& task) {
  MutexLock lock(mu_);
  const auto it = peers_.find(task);
  if (self_.cluster == 0 || it == peers_.end() || !it->second.left || !absl::IsAborted(it->second.leave_status)) {
    return OkStatus();
  }
  return Annotate(it->second.leave_status, Describe(it->second));
}

Links::Peer& Links::PeerOf(const std::string& task) {
  Peer& peer = peers_[task];
  if (peer.task.empty()) peer.task = task;
  return peer;
}

std::shared_ptr<Link> Links::Find(const std::string& task) {
  MutexLock lock(mu_);
  const auto it = peers_.find(task);
  if (it == peers_.end() || it->second.links.empty()) return nullptr;
  return it->second.links.front();
}

void Links::Get(const std::string& task, milliseconds timeout, GetDone done) {
  std::shared_ptr<Link> link;
  Status error;
  {
    MutexLock lock(mu_);
    Peer& peer = PeerOf(task);
    if (stopping_) {
      error = Cancelled(ShortTaskName(self_.task), " is stopping");
    } else if (!peer.links.empty()) {
      link = peer.links.front();
    } else if (peer.address.empty()) {
      error = NotFound("task '", task, "' does not exist in the cluster");
    } else {
      const auto now = Clock::now();
      // The slices of WaitFor count as one wait, and so does a wait for a peer that is being dialed anyway.
      constexpr milliseconds kBetweenSlices{1000};
      const bool continues = peer.keep || !peer.waiters.empty() || now - peer.waited_at < kBetweenSlices;
      if (!continues) peer.wait_since = peer.wait_logged = now;
      peer.waited_at = now;
      peer.waiters.push_back({std::move(done), now + timeout});
      Dial(&peer);
      return;
    }
  }
  if (link != nullptr) return done(link);
  done(error);
}

StatusOr<std::shared_ptr<Link>> Links::WaitFor(const std::string& task, Clock::time_point deadline,
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

void Links::KeepConnected(const std::string& task) {
  MutexLock lock(mu_);
  Keep(&PeerOf(task));
}

void Links::Keep(Peer* peer) {
  peer->keep = true;
  if (peer->links.empty() && !peer->left) {
    peer->wait_since = peer->wait_logged = Clock::now();
    Dial(peer);
  }
}

void Links::Dial(Peer* peer) {
  if (stopping_ || peer->dialing) return;
  peer->dialing = true;
  Hello hello = self_;
  hello.expected_task = peer->task;
  transport_->Connect(peer->address, hello, kDialTimeout,
                      [this, task = peer->task](const StatusOr<std::shared_ptr<Link>>& link) { OnDialed(task, link); });
}

void Links::DialLater(const std::string& task, milliseconds delay) {
  if (stopping_) return;
  auto id = std::make_shared<Timer::Id>(0);
  *id = timer_->RunAfter(delay, [this, task, id] {
    MutexLock lock(mu_);
    redials_.erase(*id);
    Peer& peer = PeerOf(task);
    if (peer.links.empty() && (peer.keep || !peer.waiters.empty())) Dial(&peer);
  });
  redials_.insert(*id);
}

void Links::OnDialed(const std::string& task, const StatusOr<std::shared_ptr<Link>>& link) {
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

Status Links::OnHello(const Hello& from, Hello* answer) {
  if (from.protocol_version != Hello::kProtocolVersion) {
    return FailedPrecondition("this task uses protocol version ", Hello::kProtocolVersion, ", the caller uses ",
                              from.protocol_version, ": run the same release on all tasks");
  }
  if (!from.expected_task.empty() && from.expected_task != self_.task) {
    return FailedPrecondition("this address belongs to ", ShortTaskName(self_.task), ", but ", ShortTaskName(from.task),
                              " expects ", ShortTaskName(from.expected_task),
                              " here: are two hosts swapped in the flags of one of them?");
  }
  if (from.task == self_.task) {
    return FailedPrecondition("the caller and this task are both ", ShortTaskName(self_.task),
                              ": has the same task been started twice?");
  }
  if (from.incarnation == 0 || from.task.empty()) {
    return InvalidArgument("the caller's Hello lacks its task name or its incarnation");
  }
  *answer = self_;
  answer->expected_task = from.task;
  answer->cluster_def.clear();  // the caller has sent it
  return OkStatus();
}

void Links::OnLinkUp(const std::shared_ptr<Link>& link) {
  std::vector<Waiter> waiters;
  std::vector<std::shared_ptr<Link>> outdated;
  std::shared_ptr<Link> primary;
  bool only_serves = false;
  {
    MutexLock lock(mu_);
    auto heard = std::make_shared<Heard>();
    heard->last = Clock::now().time_since_epoch().count();
    heard_[link.get()] = std::move(heard);
    Peer& peer = PeerOf(link->peer().task);
    for (const auto& old : peer.links) {
      if (old->peer().incarnation != link->peer().incarnation) outdated.push_back(old);
    }
    std::erase_if(peer.links, [&](const auto& l) { return l->peer().incarnation != link->peer().incarnation; });
    if (peer.links.empty()) peer.only_serves = false;  // until it says so again
    peer.links.push_back(link);
    peer.seen = true;
    peer.left = peer.lost = false;
    peer.last_error = OkStatus();
    waiters.swap(peer.waiters);
    primary = peer.links.front();
    only_serves = only_serves_;
    TB_LOG(Debug, "cluster") << "connected to " << Describe(peer);
  }
  for (const auto& old : outdated) old->Close(Unavailable(ShortTaskName(link->peer().task), " has been restarted"));
  if (only_serves) link->Send(Heartbeat{.only_serves = true});
  for (const Waiter& w : waiters) w.done(primary);
  changed_.NotifyAll();
}

void Links::OnMessage(const std::shared_ptr<Link>& link, Message message) {
  std::shared_ptr<Heard> heard;
  {
    MutexLock lock(mu_);
    const auto it = heard_.find(link.get());
    if (it != heard_.end()) heard = it->second;
  }
  if (heard != nullptr) heard->last.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  if (const Heartbeat* heartbeat = std::get_if<Heartbeat>(&message)) {
    if (!heartbeat->only_serves) return;
    MutexLock lock(mu_);
    Peer& peer = PeerOf(link->peer().task);
    if (!std::exchange(peer.only_serves, true)) {
      TB_LOG(Debug, "cluster") << Describe(peer) << " only serves";
      changed_.NotifyAll();
    }
    return;
  }
  if (const Leave* leave = std::get_if<Leave>(&message)) {
    MutexLock lock(mu_);
    Peer& peer = PeerOf(link->peer().task);
    peer.left = true;
    peer.leave_status = leave->status;
    if (self_.cluster != 0) {
      // Logged at Debug only, because it happens at the end of every session.
      TB_LOG(Debug, "cluster") << ShortTaskName(peer.task) << " has left the cluster of a session";
    } else if (leave->status.ok()) {
      TB_LOG(Info, "cluster") << ShortTaskName(peer.task) << " has left";
    } else {
      TB_LOG(Warning, "cluster") << ShortTaskName(peer.task) << " has left: " << ToString(leave->status);
    }
    changed_.NotifyAll();
    return;
  }
  observer_->OnMessage(link, std::move(message));
}

void Links::OnLinkDown(const std::shared_ptr<Link>& link, const Status& why) {
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
      if (peer.keep && !stopping_ && !peer.left) Dial(&peer);
    }
  }
  observer_->OnLinkDown(link, named);
  changed_.NotifyAll();
}

// Sends heartbeats, closes silent links, fails overdue waiters, logs long waits and detects lost tasks.
void Links::Tick() {
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
        changed_.NotifyAll();
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

bool Links::WorkIsOver() {
  bool any = false;        // whether there is a task that is not a parameter server
  bool all_ended = true;   // whether all of them have ended
  bool work_done = false;  // whether one has ended that did not only serve
  for (const auto& [task, peer] : peers_) {
    if (peer.is_ps || !peer.in_cluster) continue;
    any = true;
    const bool ended = peer.left || peer.lost;
    if (!ended && !peer.only_serves) return false;
    all_ended = all_ended && ended;
    work_done = work_done || (ended && !peer.only_serves);
  }
  return any && (all_ended || work_done);
}

Status Links::Join() {
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
  for (const auto& link : links) link->Send(Heartbeat{.only_serves = true});
  MutexLock lock(mu_);
  const bool only_ps =
      std::none_of(peers_.begin(), peers_.end(), [](const auto& p) { return p.second.in_cluster && !p.second.is_ps; });
  if (only_ps) {
    TB_LOG(Info, "cluster") << "the cluster has only parameter servers, which wait for no task: "
                            << ShortTaskName(self_.task) << " serves until it is stopped";
  }
  const auto started = Clock::now();
  milliseconds interval = options_.join_log_after;
  while (!changed_.WaitUntil(mu_, Clock::now() + interval,
                             [this]() TB_REQUIRES(mu_) { return stopping_ || WorkIsOver(); })) {
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
  std::vector<std::string> bad;
  for (const auto& [task, peer] : peers_) {
    if (peer.is_ps || !peer.in_cluster) continue;
    if (peer.lost) bad.push_back(StrCat(ShortTaskName(task), " is lost"));
    if (peer.left && !peer.leave_status.ok()) {
      bad.push_back(StrCat(ShortTaskName(task), " failed with ", ToString(peer.leave_status)));
    }
  }
  if (bad.empty()) return OkStatus();
  return Unavailable("not all tasks ended well: ", StrJoin(bad, "; "));
}

void Links::Shutdown(const Status& why) {
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
  for (const GetDone& done : waiters) done(Cancelled(ShortTaskName(self_.task), " is stopping"));
  for (const auto& link : links) {
    link->Send(Leave{.status = why});
    link->Close(Cancelled(ShortTaskName(self_.task), " is stopping"));
  }
  changed_.NotifyAll();
  transport_->Shutdown();
}

}  // namespace tensorbraid
