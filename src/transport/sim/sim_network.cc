#include "transport/sim/sim_network.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "core/text/host_port.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "core/threads/thread.h"
#include "transport/address.h"
#include "transport/codec.h"

namespace tensorbraid {
namespace sim {

using Time = std::chrono::microseconds;  // since the network's start

class SimLink;
struct LinkOrder {
  bool operator()(const std::shared_ptr<SimLink>& a, const std::shared_ptr<SimLink>& b) const;
};

// A task. Used only on the scheduler's thread (the thread of Core), except `key` and `acceptor`, which are set once
// before that, and the counters.
struct Node {
  struct Counters {
    std::atomic<size_t> links{0};
    std::atomic<uint64_t> messages{0}, heartbeats{0}, control_bytes{0}, tensor_bytes{0};
  };
  LinkAcceptor* acceptor = nullptr;
  std::string key;  // where it listens
  bool stopped = false;
  std::set<std::shared_ptr<SimLink>, LinkOrder> links;
  std::map<uint64_t, Transport::ConnectDone> connects;
  uint64_t last_connect = 0;
  Counters counters;
};

std::string KeyOf(const HostPort& address) {
  return IsLoopbackHost(address.host) ? StrCat("localhost:", address.port) : address.ToString();
}
std::string KeyOf(const std::string& address) {
  const auto where = ParseHostPort(address);
  return where.ok() ? KeyOf(*where) : address;
}

// The schedule and the listening tasks.
class Core : public std::enable_shared_from_this<Core> {
 public:
  using Event = std::function<void()>;

  Core(uint32_t seed, const SimOptions& options) : options(options), random_(seed), link_loss_(options.link_loss) {}
  void Start() {
    thread_ = Thread("tb-sim", [this] { Loop(); });
  }
  void Stop() {
    {
      MutexLock lock(mu_);
      stopping_ = true;
    }
    cv_.NotifyAll();
    thread_.Join();
    std::map<std::pair<Time, uint64_t>, Event> dropped;
    MutexLock lock(mu_);
    dropped.swap(events_);
    listeners_.clear();
  }

  // Schedules `event` at now + `delay`, but not before `not_before`. Returns the time.
  Time At(Time delay, Event event, Time not_before = {}) {
    MutexLock lock(mu_);
    const Time time = std::max(Now() + delay, not_before);
    events_.emplace(std::pair(time, next_++), std::move(event));
    cv_.NotifyAll();
    return time;
  }
  // Runs `event` on the scheduler's thread and waits for it.
  void RunAndWait(const Event& event) {
    if (delivering == this) return event();
    Mutex mu;
    CondVar cv;
    bool done = false;
    At({}, [&] {
      event();
      MutexLock lock(mu);
      done = true;
      cv.NotifyAll();
    });
    MutexLock lock(mu);
    cv.Wait(mu, [&] { return done; });
  }
  // As At, for an event that travels from `from` to `to`, or happens inside of a task if these are equal. It waits
  // while that direction is cut, and while `to` is paused.
  Time Travel(const std::string& from, const std::string& to, Time delay, Event event, Time not_before = {}) {
    Letter letter{KeyOf(from), KeyOf(to), std::move(event)};
    {
      MutexLock lock(mu_);
      const auto slow = slow_.find({letter.from, letter.to});
      if (slow != slow_.end()) delay += Time(RandomUpToLocked(slow->second.count()));
    }
    return At(
        delay, [self = shared_from_this(), letter = std::move(letter)] { self->Deliver(letter); }, not_before);
  }

  // Different for each link of the network.
  uint64_t NextLinkId() {
    MutexLock lock(mu_);
    return next_link_++;
  }
  Time RandomDelay() { return Time(RandomUpTo(options.max_delay.count())); }
  uint64_t RandomUpTo(uint64_t n) {
    MutexLock lock(mu_);
    return RandomUpToLocked(n);
  }
  bool LosesLink() {
    double probability;
    {
      MutexLock lock(mu_);
      probability = link_loss_;
    }
    return Happens(probability);
  }
  ConnectFaults connect_faults() {
    MutexLock lock(mu_);
    return connect_faults_;
  }
  void set_link_loss(double probability) {
    MutexLock lock(mu_);
    link_loss_ = probability;
  }
  void set_connect_faults(const ConnectFaults& faults) {
    MutexLock lock(mu_);
    connect_faults_ = faults;
  }
  void Slow(const std::string& from, const std::string& to, Time most) {
    MutexLock lock(mu_);
    slow_[{KeyOf(from), KeyOf(to)}] = most;
  }
  bool Happens(double probability) {
    if (probability <= 0) return false;
    MutexLock lock(mu_);
    return std::uniform_real_distribution<double>(0, 1)(random_) < probability;
  }

  StatusOr<int> Listen(const std::string& address, const std::shared_ptr<Node>& node) {
    TF_ASSIGN_OR_RETURN(HostPort where, ParseHostPort(address));
    MutexLock lock(mu_);
    if (where.port == 0) {
      do {
        where.port = next_port_++;
      } while (listeners_.contains(KeyOf(where)));
    }
    node->key = KeyOf(where);
    if (!listeners_.emplace(node->key, node).second)
      return AlreadyExists("cannot listen on ", address, ": the port is taken");
    return where.port;
  }
  void StopListening(const Node& node) {
    MutexLock lock(mu_);
    auto it = listeners_.find(node.key);
    if (it != listeners_.end() && it->second.get() == &node) listeners_.erase(it);
  }
  std::shared_ptr<Node> Find(const std::string& key) {
    MutexLock lock(mu_);
    auto it = listeners_.find(key);
    return it == listeners_.end() ? nullptr : it->second;
  }

  // These run on the scheduler's thread.
  void Cut(const std::string& from, const std::string& to) { cut_.insert({KeyOf(from), KeyOf(to)}); }
  void Heal(const std::string& from, const std::string& to) {
    cut_.erase({KeyOf(from), KeyOf(to)});
    DeliverAll(std::exchange(waiting_[{KeyOf(from), KeyOf(to)}], {}));
  }
  void Pause(const std::string& key) { paused_.insert(key); }
  void Resume(const std::string& key) {
    if (paused_.erase(key) > 0) DeliverAll(std::exchange(waiting_at_[key], {}));
  }
  void AtMessage(uint64_t n, Event event) { at_message_.emplace_back(n, std::move(event)); }
  void CountMessage() {
    std::vector<Event> due;
    for (auto& [left, event] : at_message_) {
      if (--left == 0) due.push_back(std::move(event));
    }
    std::erase_if(at_message_, [](const auto& entry) { return entry.first == 0; });
    for (const Event& event : due) event();
  }

  const SimOptions options;

 private:
  // From task to task.
  using Direction = std::pair<std::string, std::string>;
  struct Letter {
    std::string from, to;
    Event event;
  };

  void Deliver(const Letter& letter) {
    if (cut_.contains({letter.from, letter.to})) {
      waiting_[{letter.from, letter.to}].push_back(letter);
    } else if (paused_.contains(letter.to)) {
      waiting_at_[letter.to].push_back(letter);
    } else {
      const std::shared_ptr<void> scope = options.before_delivery ? options.before_delivery(letter.to) : nullptr;
      letter.event();
    }
  }
  // Delivers them at once, so that no later letter of the same link overtakes these.
  void DeliverAll(const std::vector<Letter>& letters) {
    for (const Letter& letter : letters) Deliver(letter);
  }
  uint64_t RandomUpToLocked(uint64_t n) TB_REQUIRES(mu_) {
    return std::uniform_int_distribution<uint64_t>(0, n)(random_);
  }

  Time Now() TB_REQUIRES(mu_) {
    if (options.follow_clock) now_ = std::max(now_, std::chrono::ceil<Time>(MonotonicClock::now() - start_));
    return now_;
  }

  void Loop() {
    delivering = this;
    mu_.Lock();
    for (;;) {
      cv_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return stopping_ || !events_.empty(); });
      if (stopping_) break;
      if (const Time next = events_.begin()->first.first; options.follow_clock && next > Now()) {
        cv_.WaitUntil(mu_, start_ + next, [&]() TB_REQUIRES(mu_) {
          return stopping_ || events_.empty() || events_.begin()->first.first < next;
        });
        continue;
      }
      auto first = events_.extract(events_.begin());
      now_ = std::max(now_, first.key().first);
      mu_.Unlock();
      first.mapped()();
      first.mapped() = nullptr;
      mu_.Lock();
    }
    mu_.Unlock();
    delivering = nullptr;
  }

  // The network whose thread this is.
  static thread_local constinit inline Core* delivering = nullptr;

  const MonotonicClock::time_point start_ = MonotonicClock::now();
  Mutex mu_;
  CondVar cv_;
  std::map<std::pair<Time, uint64_t>, Event> events_ TB_GUARDED_BY(mu_);
  uint64_t next_ TB_GUARDED_BY(mu_) = 0;
  uint64_t next_link_ TB_GUARDED_BY(mu_) = 0;
  Time now_ TB_GUARDED_BY(mu_){};
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  std::mt19937_64 random_ TB_GUARDED_BY(mu_);
  std::map<std::string, std::shared_ptr<Node>> listeners_ TB_GUARDED_BY(mu_);
  int next_port_ TB_GUARDED_BY(mu_) = 10000;
  double link_loss_ TB_GUARDED_BY(mu_);
  ConnectFaults connect_faults_ TB_GUARDED_BY(mu_);
  std::map<Direction, Time> slow_ TB_GUARDED_BY(mu_);
  // Used on the scheduler's thread only.
  std::set<Direction> cut_;
  std::map<Direction, std::vector<Letter>> waiting_;
  std::set<std::string> paused_;
  std::map<std::string, std::vector<Letter>> waiting_at_;
  std::vector<std::pair<uint64_t, Event>> at_message_;
  Thread thread_;
};

// One end of a link.
class SimLink final : public Link, public std::enable_shared_from_this<SimLink> {
 public:
  SimLink(std::shared_ptr<Core> core, std::shared_ptr<Node> node, Hello peer)
      : core_(std::move(core)), node_(std::move(node)), peer_(std::move(peer)), id_(core_->NextLinkId()) {}
  static void Pair(const std::shared_ptr<SimLink>& a, const std::shared_ptr<SimLink>& b) {
    a->other_ = b;
    b->other_ = a;
  }
  const Hello& peer() const override { return peer_; }
  uint64_t id() const { return id_; }

  void Send(Message message) override {
    const auto other = other_.lock();
    if (other == nullptr) return;
    auto* bulk = std::get_if<BulkTensor>(&message);
    if (bulk == nullptr) return SendPart(message, other, /*channel=*/0);
    const size_t size = bulk->payload.size();
    size_t begin = 0;
    do {
      const size_t count =
          std::min<size_t>(size - begin, 1 + core_->RandomUpTo(core_->options.max_bulk_part_bytes - 1));
      SendPart(BulkTensor{bulk->key, bulk->meta, bulk->offset + begin, bulk->payload.Part(begin, count)}, other,
               /*channel=*/1);
      begin += count;
    } while (begin < size);
  }

  void SendLaneMessage(const LaneMessage& message) override {
    const auto other = other_.lock();
    if (other == nullptr) return;
    std::string packet;
    AppendPacket(message, &packet);
    SendPacket(std::move(packet), /*bytes=*/"", other, /*channel=*/0);
  }

  void Close(Status why) override {
    {
      MutexLock lock(mu_);
      if (std::exchange(closed_, true)) return;
    }
    // One event for both: the other side must not go down, and report it, before this one.
    core_->Travel(node_->key, node_->key, {}, [self = shared_from_this(), why] {
      if (const auto other = self->other_.lock()) {
        // Arrives after all control messages; bulk messages that arrive later are lost.
        self->core_->Travel(
            self->node_->key, other->node_->key, {},
            [other, why] {
              other->GoDown(Unavailable("connection to ", other->peer_.task, " closed: ", ToString(why)));
            },
            self->LastTime());
      }
      self->GoDown(why);
    });
  }

  // The other public functions run on the scheduler's thread.
  void GoUp() {
    up_ = true;
    handler_ = node_->acceptor->OnLinkUp(shared_from_this());
  }
  bool down() const { return down_; }
  void GoDown(const Status& why) {
    if (std::exchange(down_, true)) return;
    {
      MutexLock lock(mu_);
      closed_ = true;
    }
    const auto self = shared_from_this();
    node_->links.erase(self);
    node_->counters.links = node_->links.size();
    if (up_ && !node_->stopped) handler_->OnLinkDown(why);
    handler_ = nullptr;
    // Tell the other side. It ignores a second notice.
    if (const auto other = other_.lock(); other != nullptr && !other->down_) {
      core_->Travel(
          node_->key, other->node_->key, core_->RandomDelay(),
          [other] { other->GoDown(Unavailable("connection to ", other->peer_.task, " was lost")); }, LastTime());
    }
  }
  // Messages sent from here arrive no earlier than `time`.
  void HoldUntil(Time time) {
    MutexLock lock(mu_);
    last_[0] = last_[1] = time;
  }

 private:
  Time LastTime() {
    MutexLock lock(mu_);
    return last_[0];
  }

  void SendPart(const Message& message, const std::shared_ptr<SimLink>& other, int channel) {
    std::string packet, bytes;
    if (Status bad = AppendPacket(message, &packet); !bad.ok()) return Close(bad);
    if (const Payload* payload = PayloadOf(message)) {
      bytes.resize(payload->size());
      payload->CopyTo(bytes.data());
    }
    if (std::holds_alternative<Heartbeat>(message) || std::holds_alternative<Leave>(message))
      ++node_->counters.heartbeats;
    SendPacket(std::move(packet), std::move(bytes), other, channel);
  }

  void SendPacket(std::string packet, std::string bytes, const std::shared_ptr<SimLink>& other, int channel) {
    const bool lost = core_->LosesLink();
    const Time delay = core_->RandomDelay();
    const size_t cut = bytes.empty() ? 0 : core_->RandomUpTo(bytes.size());
    ++node_->counters.messages;
    node_->counters.control_bytes += packet.size();
    node_->counters.tensor_bytes += bytes.size();
    MutexLock lock(mu_);
    if (closed_) return;
    auto deliver = [other, lost, cut, packet = std::move(packet), bytes = std::move(bytes)] {
      if (lost) {
        other->GoDown(Unavailable("connection to ", other->peer_.task, " was lost"));
      } else {
        other->Deliver(packet, bytes, cut);
      }
    };
    last_[channel] = core_->Travel(node_->key, other->node_->key, delay, std::move(deliver), last_[channel]);
  }

  void GoDownForMalformedData(const Status& what) {
    GoDown(Unavailable("connection to ", peer_.task,
                       " was closed because it sent malformed data: ", std::string(what.message())));
  }

  void Deliver(const std::string& packet, const std::string& bytes, size_t cut) {
    core_->CountMessage();
    // A link does not come up here if its task no longer waits for it, for example because the other end took the same
    // request to connect twice. The other end is up, and sends until it hears of that.
    if (!up_ || down_ || node_->stopped) return;
    Payload payload;
    const auto whole = std::as_bytes(std::span(bytes));
    for (const auto piece : {whole.first(cut), whole.subspan(cut)}) {
      if (!piece.empty()) payload.pieces.push_back(piece);
    }
    auto message = DecodeLinkMessage(std::as_bytes(std::span(packet)).subspan(kPacketPrefixBytes), std::move(payload));
    if (!message.ok()) return GoDownForMalformedData(message.status());
    if (const auto* lane = std::get_if<LaneMessage>(&*message)) {
      if (const Status s = handler_->OnLaneMessage(*lane); !s.ok()) GoDownForMalformedData(s);
    } else if (auto* m = std::get_if<Message>(&*message)) {
      handler_->OnMessage(std::move(*m));
    }
  }

  const std::shared_ptr<Core> core_;
  const std::shared_ptr<Node> node_;
  const Hello peer_;
  const uint64_t id_;
  std::weak_ptr<SimLink> other_;
  // On the scheduler's thread.
  bool up_ = false, down_ = false;
  std::shared_ptr<LinkHandler> handler_;  // set by GoUp, released when the link is down
  Mutex mu_;
  bool closed_ TB_GUARDED_BY(mu_) = false;
  Time last_[2] TB_GUARDED_BY(mu_) = {};  // per channel: arrival time of the last message sent
};

// In the order of their creation, since addresses differ from run to run.
bool LinkOrder::operator()(const std::shared_ptr<SimLink>& a, const std::shared_ptr<SimLink>& b) const {
  return a->id() < b->id();
}

namespace {

class SimTransport final : public Transport {
 public:
  explicit SimTransport(std::shared_ptr<Core> core) : core_(std::move(core)) {}
  ~SimTransport() override { Shutdown(); }

  StatusOr<int> Listen(const std::string& address, LinkAcceptor* acceptor) override {
    TB_CHECK(node_->acceptor == nullptr);
    node_->acceptor = acceptor;
    auto port = core_->Listen(address, node_);
    if (!port.ok()) node_->acceptor = nullptr;
    return port;
  }

  void Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
               ConnectDone done) override {
    TB_CHECK(node_->acceptor != nullptr);
    core_->At({}, [core = core_, node = node_, address, hello, timeout, done = std::move(done)]() mutable {
      if (node->stopped) return;
      const uint64_t id = ++node->last_connect;
      node->connects.emplace(id, std::move(done));
      core->Travel(node->key, node->key, timeout, [=] {
        Finish(*node, id, Unavailable("no task answered at ", address, " before the connection timeout"));
      });
      const ConnectFaults faults = core->connect_faults();
      const auto call = [=] { Call(core, node, id, address, hello); };
      const auto lateness = [&] {
        return Time(core->RandomUpTo(std::chrono::duration_cast<Time>(faults.max_late).count()));
      };
      const bool late = core->Happens(faults.late), twice = core->Happens(faults.duplicate);
      core->Travel(node->key, address, core->RandomDelay() + (late ? lateness() : Time()), call);
      if (twice) core->Travel(node->key, address, core->RandomDelay() + lateness(), call);
    });
  }

  void Shutdown() override {
    if (node_->acceptor == nullptr || std::exchange(was_shut_down_, true)) return;
    core_->StopListening(*node_);
    core_->RunAndWait([this] {
      Stop(*core_, *node_, absl::CancelledError("the transport was shut down"));
      core_->Resume(node_->key);
    });
  }

  // Runs on the scheduler's thread, as do Finish and Call.
  static void Stop(Core& core, Node& node, const Status& why) {
    if (node.stopped) return;
    const auto links = node.links;  // GoDown removes them
    for (const auto& link : links) {
      link->Close(why);  // tells the other side, after all messages sent so far
      link->GoDown(why);
    }
    for (auto& [id, done] : std::exchange(node.connects, {})) done(why);
    node.stopped = true;
  }

 private:
  static void Finish(Node& node, uint64_t id, StatusOr<std::shared_ptr<Link>> result) {
    auto found = node.connects.extract(id);
    if (!found.empty()) found.mapped()(std::move(result));
  }

  static void Call(const std::shared_ptr<Core>& core, const std::shared_ptr<Node>& from, uint64_t id,
                   const std::string& address, const Hello& hello) {
    const auto answer_with = [=](Core::Event event) {
      return core->Travel(address, from->key, core->RandomDelay(), std::move(event));
    };
    const auto node = core->Find(KeyOf(address));
    if (node == nullptr || node->stopped) {
      answer_with([=] { Finish(*from, id, Unavailable("no task listens on ", address)); });
      return;
    }
    std::string packet;
    AppendPacket(Handshake{0, 0, hello}, &packet);
    const auto decoded = DecodeHandshake(std::as_bytes(std::span(packet)).subspan(kPacketPrefixBytes));
    Hello answer;
    Status refused = decoded.ok() ? node->acceptor->OnHello(decoded->hello, &answer) : decoded.status();
    if (!refused.ok()) {
      answer_with([=] { Finish(*from, id, refused); });
      return;
    }
    auto theirs = std::make_shared<SimLink>(core, from, answer);
    auto ours = std::make_shared<SimLink>(core, node, hello);
    SimLink::Pair(theirs, ours);
    node->links.insert(ours);
    node->counters.links = node->links.size();
    ours->HoldUntil(answer_with([=] {
      if (from->stopped || theirs->down() || !from->connects.contains(id)) {
        theirs->Close(Unavailable("the connecting task no longer waits for the answer"));
        return Finish(*from, id, Unavailable("the connection to ", address, " was closed before it was up"));
      }
      from->links.insert(theirs);
      from->counters.links = from->links.size();
      theirs->GoUp();
      Finish(*from, id, std::shared_ptr<Link>(theirs));
    }));
    ours->GoUp();
  }

  const std::shared_ptr<Core> core_;
  const std::shared_ptr<Node> node_ = std::make_shared<Node>();
  bool was_shut_down_ = false;
};

}  // namespace
}  // namespace sim

SimNetwork::SimNetwork(uint32_t seed, const SimOptions& options)
    : seed_(seed), core_(std::make_shared<sim::Core>(seed, options)) {
  core_->Start();
}

SimNetwork::~SimNetwork() { core_->Stop(); }

std::unique_ptr<Transport> SimNetwork::NewTransport() { return std::make_unique<sim::SimTransport>(core_); }

void SimNetwork::KillTask(const std::string& address) {
  core_->RunAndWait([&] {
    const auto node = core_->Find(sim::KeyOf(address));
    if (node == nullptr) return;
    core_->StopListening(*node);
    sim::SimTransport::Stop(*core_, *node, absl::UnavailableError("the task was killed"));
    core_->Resume(node->key);
  });
}

void SimNetwork::Partition(const std::string& a, const std::string& b) {
  core_->RunAndWait([&] {
    core_->Cut(a, b);
    core_->Cut(b, a);
  });
}

void SimNetwork::PartitionOneWay(const std::string& from, const std::string& to) {
  core_->RunAndWait([&] { core_->Cut(from, to); });
}

void SimNetwork::Heal(const std::string& a, const std::string& b) {
  core_->RunAndWait([&] {
    core_->Heal(a, b);
    core_->Heal(b, a);
  });
}

void SimNetwork::PauseTask(const std::string& address) {
  core_->RunAndWait([&] { core_->Pause(sim::KeyOf(address)); });
}

void SimNetwork::ResumeTask(const std::string& address) {
  core_->RunAndWait([&] { core_->Resume(sim::KeyOf(address)); });
}

void SimNetwork::SetExtraDelay(const std::string& from, const std::string& to, std::chrono::microseconds most) {
  core_->Slow(from, to, most);
}

void SimNetwork::SetLinkLoss(double probability) { core_->set_link_loss(probability); }

void SimNetwork::SetConnectFaults(const ConnectFaults& faults) { core_->set_connect_faults(faults); }

SimTraffic SimNetwork::TrafficOf(const std::string& address) {
  const auto node = core_->Find(sim::KeyOf(address));
  if (node == nullptr) return {};
  const auto& counters = node->counters;
  return {.links = counters.links,
          .messages = counters.messages,
          .heartbeats = counters.heartbeats,
          .control_bytes = counters.control_bytes,
          .tensor_bytes = counters.tensor_bytes};
}

void SimNetwork::AtMessage(uint64_t n, std::function<void()> event) {
  core_->RunAndWait([&] { core_->AtMessage(std::max<uint64_t>(n, 1), event); });
}

}  // namespace tensorbraid
