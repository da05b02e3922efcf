#include "cluster/membership/connections.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/text/device_name.h"
#include "core/text/logging.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDialTimeout{5000};
// A step that needs a task without a link fails if the task does not connect within this time.
constexpr milliseconds kMaxStepWait{5000};
// Time between two attempts to reach a task: a waiting task notices another within this time after it has started.
constexpr milliseconds kRedial{100};
constexpr milliseconds kRedialRefused{2000};  // used instead if a server answers, but refuses the connection
// Waits for a task that follow each other within this time are logged as one.
constexpr milliseconds kBetweenWaits{1000};

Status NoSuchTask(const std::string& task) { return NotFound("task '", task, "' does not exist in the cluster"); }

}  // namespace

std::string DescribeTask(const std::string& task, const std::string& address) {
  return StrCat(ShortTaskName(task), address.empty() ? "" : StrCat(" (", address, ")"));
}

Connections::Connections(Transport* transport, Timer* timer, Hello self, const MembershipOptions& options)
    : transport_(transport),
      timer_(timer),
      name_(self.task),
      step_wait_(std::min(options.heartbeat_timeout, kMaxStepWait)),
      slow_wait_(options.slow_wait),
      self_(std::move(self)) {}

// --- The tasks.

Hello Connections::self() {
  MutexLock lock(mu_);
  return self_;
}

void Connections::set_own_address(const std::string& address) {
  MutexLock lock(mu_);
  self_.address = address;
}

Connections::Peer& Connections::PeerOf(const std::string& task) {
  Peer& peer = peers_[task];
  if (peer.task.empty()) {
    peer.task = task;
    peer.number = static_cast<uint32_t>(numbered_.size());
    numbered_.push_back(&peer);
  }
  return peer;
}

void Connections::SetAddress(const std::string& task, const std::string& address) {
  MutexLock lock(mu_);
  PeerOf(task).address = address;
}

void Connections::Remove(const std::string& task) {
  std::vector<std::shared_ptr<PeerConnection>> links;
  std::vector<Waiter> waiters;
  {
    MutexLock lock(mu_);
    Peer& peer = PeerOf(task);
    peer.address.clear();
    peer.keep = Keep::kNo;
    waiters.swap(peer.waiters);
    links = peer.links;
  }
  for (const Waiter& w : waiters) w.done(NoSuchTask(task));
  for (const auto& c : links) c->link()->Close(Unavailable(ShortTaskName(task), " is no longer in the cluster"));
}

std::string Connections::AddressOf(const std::string& task) {
  MutexLock lock(mu_);
  const auto it = peers_.find(task);
  return it == peers_.end() ? "" : it->second.address;
}

Status Connections::LastError(const std::string& task) {
  MutexLock lock(mu_);
  const auto it = peers_.find(task);
  return it == peers_.end() ? OkStatus() : it->second.last_error;
}

std::shared_ptr<Traffic> Connections::ReceivedFrom(const std::string& task) {
  MutexLock lock(mu_);
  Peer& peer = PeerOf(task);
  if (peer.received == nullptr) peer.received = std::make_shared<Traffic>();
  return peer.received;
}

// --- Finding connections.

std::shared_ptr<PeerConnection> Connections::Find(const std::string& task) {
  MutexLock lock(mu_);
  const auto it = peers_.find(task);
  if (it == peers_.end() || it->second.links.empty()) return nullptr;
  return it->second.links.front();
}

std::vector<std::shared_ptr<PeerConnection>> Connections::All() {
  MutexLock lock(mu_);
  return up_;
}

StatusOr<uint32_t> Connections::NumberOf(const std::string& task) {
  MutexLock lock(mu_);
  const auto it = peers_.find(task);
  if (it == peers_.end()) return NoSuchTask(task);
  return it->second.number;
}

void Connections::GetConnection(uint32_t peer, ConnectionDone done) {
  std::shared_ptr<PeerConnection> connection;
  std::string task;
  {
    MutexLock lock(mu_);
    const Peer& wanted = *numbered_.at(peer);
    if (wanted.links.empty()) {
      task = wanted.task;
    } else {
      connection = wanted.links.front();
    }
  }
  if (connection != nullptr) return done(std::move(connection));
  Get(task, step_wait_, std::move(done));
}

void Connections::Get(const std::string& task, milliseconds timeout, GetDone done) {
  std::shared_ptr<PeerConnection> connection;
  Status error;
  {
    MutexLock lock(mu_);
    Peer& peer = PeerOf(task);
    if (stopping_) {
      error = Cancelled(ShortTaskName(name_), " is stopping");
    } else if (!peer.links.empty()) {
      connection = peer.links.front();
    } else if (peer.address.empty()) {
      error = NoSuchTask(task);
    } else {
      const auto now = Clock::now();
      // The slices of WaitFor count as one wait, and so does a wait for a peer that is being dialed anyway.
      const bool continues = peer.keep != Keep::kNo || !peer.waiters.empty() || now - peer.wait.asked < kBetweenWaits;
      if (!continues) peer.wait.since = peer.wait.logged = now;
      peer.wait.asked = now;
      peer.waiters.push_back({std::exchange(done, nullptr), now + timeout});
      Await(peer);
      WantDial(&peer);
    }
  }
  Dial();
  if (done == nullptr) return;
  if (connection != nullptr) return done(connection);
  done(error);
}

StatusOr<std::shared_ptr<PeerConnection>> Connections::WaitFor(const std::string& task, Clock::time_point deadline,
                                                               const StillWanted& still_wanted) {
  struct Shared {
    Mutex mu;
    CondVar cv;
    bool done = false;
    StatusOr<std::shared_ptr<PeerConnection>> connection = std::shared_ptr<PeerConnection>();
  };
  while (true) {
    auto shared = std::make_shared<Shared>();
    // Waits in slices, to notice when the connection is no longer wanted. A connection is noticed at once.
    Get(task, milliseconds(200), [shared](StatusOr<std::shared_ptr<PeerConnection>> connection) {
      MutexLock lock(shared->mu);
      shared->connection = std::move(connection);
      shared->done = true;
      shared->cv.NotifyAll();
    });
    MutexLock lock(shared->mu);
    shared->cv.Wait(shared->mu, [&] { return shared->done; });
    if (shared->connection.ok() || !absl::IsUnavailable(shared->connection.status())) return shared->connection;
    TF_RETURN_IF_ERROR(CheckStillWanted(still_wanted));
    if (Clock::now() >= deadline) {
      return DeadlineExceeded("the deadline has passed while waiting for ", ShortTaskName(task), " at ",
                              AddressOf(task), ": ", std::string(shared->connection.status().message()));
    }
  }
}

void Connections::KeepConnected(const std::string& task, Waits waits) {
  {
    MutexLock lock(mu_);
    Peer& peer = PeerOf(task);
    peer.keep = std::max(peer.keep, waits == Waits::kLogged ? Keep::kYes : Keep::kSilently);
    if (peer.links.empty() && !peer.left) {
      peer.wait.since = peer.wait.logged = Clock::now();
      Await(peer);
      WantDial(&peer);
    }
  }
  Dial();
}

// --- Dialing.

void Connections::WantDial(Peer* peer) {
  if (stopping_ || peer->dialing || peer->address.empty()) return;
  peer->dialing = true;
  Hello hello = self_;
  hello.expected_task = peer->task;
  dials_.emplace_back(peer->address, std::move(hello));
}

void Connections::Dial() {
  std::vector<std::pair<std::string, Hello>> dials;
  {
    MutexLock lock(mu_);
    dials.swap(dials_);
  }
  for (auto& [address, hello] : dials) {
    transport_->Connect(address, hello, kDialTimeout,
                        [this, task = hello.expected_task](const StatusOr<std::shared_ptr<Link>>& link) {
                          OnDialed(task, link.status());
                        });
  }
}

void Connections::DialLater(const std::string& task, milliseconds delay) {
  if (stopping_) return;
  auto id = std::make_shared<Timer::Id>(0);
  *id = timer_->RunAfter(delay, [this, task, id] {
    {
      MutexLock lock(mu_);
      Peer& peer = PeerOf(task);
      if (peer.links.empty() && (peer.keep != Keep::kNo || !peer.waiters.empty())) WantDial(&peer);
    }
    Dial();
    // The last access to this object: Shutdown waits for the timers that it finds in redials_.
    MutexLock lock(mu_);
    redials_.erase(*id);
  });
  redials_.insert(*id);
}

void Connections::OnDialed(const std::string& task, const Status& result) {
  std::vector<Waiter> refused;
  Status error;
  {
    MutexLock lock(mu_);
    Peer& peer = PeerOf(task);
    peer.dialing = false;
    if (result.ok()) return;  // Add has been called, and has found the waiters
    if (stopping_ || !peer.links.empty()) return;
    const bool unreachable = absl::IsUnavailable(result);
    if (!unreachable && peer.last_error.code() != result.code()) {
      TB_LOG(Error, "cluster") << DescribeTask(task, peer.address) << ": " << result.message();
    }
    peer.last_error = result;
    if (!unreachable) {
      refused.swap(peer.waiters);
      error = Annotate(result, DescribeTask(task, peer.address));
    }
    if (peer.keep != Keep::kNo || !peer.waiters.empty()) DialLater(task, unreachable ? kRedial : kRedialRefused);
  }
  for (const Waiter& w : refused) w.done(error);
}

// --- Events.

Connections::Added Connections::Add(const std::shared_ptr<PeerConnection>& connection) {
  const Hello& hello = connection->peer();
  const auto is_outdated = [&](const auto& c) { return c->peer().incarnation != hello.incarnation; };
  Added added;
  MutexLock lock(mu_);
  Peer& peer = PeerOf(hello.task);
  std::copy_if(peer.links.begin(), peer.links.end(), std::back_inserter(added.outdated), is_outdated);
  std::erase_if(peer.links, is_outdated);
  for (const auto& outdated : added.outdated) std::erase(up_, outdated);
  peer.links.push_back(connection);
  up_.push_back(connection);
  peer.last_error = OkStatus();
  added.primary = peer.links.front();
  for (Waiter& w : peer.waiters) added.waiters.push_back(std::move(w.done));
  peer.waiters.clear();
  TB_LOG(Debug, "cluster") << "connected to " << DescribeTask(peer.task, peer.address);
  return added;
}

bool Connections::Erase(const std::shared_ptr<PeerConnection>& connection) {
  {
    MutexLock lock(mu_);
    Peer& peer = PeerOf(connection->peer().task);
    std::erase(peer.links, connection);
    std::erase(up_, connection);
    if (!peer.links.empty()) return true;
    peer.wait.since = peer.wait.logged = Clock::now();
    if (peer.keep != Keep::kNo && !peer.left) {
      Await(peer);
      WantDial(&peer);
    }
  }
  Dial();
  return false;
}

void Connections::SetLeft(const std::string& task, bool left) {
  MutexLock lock(mu_);
  PeerOf(task).left = left;
}

bool Connections::StillAwaited(Peer& peer, Clock::time_point now, std::vector<std::pair<GetDone, Status>>* overdue) {
  std::erase_if(peer.waiters, [&](Waiter& w) {
    peer.wait.asked = now;
    if (w.deadline > now) return false;
    overdue->emplace_back(std::move(w.done),
                          Unavailable("cannot reach ", DescribeTask(peer.task, peer.address), ": ",
                                      peer.last_error.ok() ? "no attempt has ended yet" : peer.last_error.message()));
    return true;
  });
  if (!peer.links.empty() || peer.left || (peer.keep == Keep::kNo && peer.waiters.empty())) {
    return !peer.waiters.empty();
  }
  const bool is_logged = peer.keep == Keep::kYes || !peer.waiters.empty();
  if (is_logged && now - peer.wait.logged >= slow_wait_) {
    peer.wait.logged = now;
    TB_LOG(Info, "cluster") << "still waiting for " << DescribeTask(peer.task, peer.address) << " after "
                            << std::chrono::duration_cast<std::chrono::seconds>(now - peer.wait.since).count() << " s"
                            << (peer.last_error.ok() ? "" : ": ") << peer.last_error.message();
  }
  return true;
}

void Connections::Tick() {
  std::vector<std::pair<GetDone, Status>> overdue;
  {
    MutexLock lock(mu_);
    const auto now = Clock::now();
    std::erase_if(awaited_,
                  [&](uint32_t number) TB_REQUIRES(mu_) { return !StillAwaited(*numbered_[number], now, &overdue); });
  }
  for (const auto& [done, why] : overdue) done(why);
}

void Connections::Shutdown(const Status& why) {
  std::vector<std::shared_ptr<PeerConnection>> links;
  std::vector<Waiter> waiters;
  std::set<Timer::Id> redials;
  {
    MutexLock lock(mu_);
    if (std::exchange(stopping_, true)) return;
    redials.swap(redials_);
    for (auto& [task, peer] : peers_) {
      links.insert(links.end(), peer.links.begin(), peer.links.end());
      std::move(peer.waiters.begin(), peer.waiters.end(), std::back_inserter(waiters));
      peer.waiters.clear();
    }
  }
  for (const Timer::Id id : redials) timer_->CancelAndWait(id);
  const Status stopping = Cancelled(ShortTaskName(name_), " is stopping");
  for (const Waiter& w : waiters) w.done(stopping);
  for (const auto& c : links) {
    c->link()->Send(Leave{.status = why});
    c->link()->Close(stopping);
  }
}

}  // namespace tensorbraid
