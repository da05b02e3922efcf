#include "transport/local/local_transport.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/env.h"
#include "core/live_count.h"
#include "core/logging.h"
#include "core/strings.h"
#include "core/thread.h"
#include "core/timer.h"
#include "transport/local/lane_socket.h"
#include "transport/side_lane/lane_link.h"

namespace tensorbraid {
namespace {

// How long two neighbours may take to agree on a local lane. Then the link uses its base.
constexpr std::chrono::seconds kChoiceTimeout{2};
constexpr std::chrono::milliseconds kReceiveTimeout{200};
// Offers whose links have not come up. More are forgotten, oldest first.
constexpr size_t kMaxOffers = 1024;

// Large blocks of shared memory have a descriptor each, and the usual limit of 1024 is low for that. A process may
// raise its limit to a maximum that the system sets.
void RaiseDescriptorLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

class LocalTransport final : public Transport, private LinkHandler {
 public:
  LocalTransport(std::unique_ptr<Transport> base, const LocalTransportOptions& options)
      : base_(std::move(base)), options_(options) {}
  ~LocalTransport() override { Shutdown(); }

  void ServeCalls(CallHandler* handler) override { base_->ServeCalls(handler); }
  StatusOr<int> Listen(const std::string& address, LinkHandler* handler) override;
  void Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
               ConnectDone done) override;
  void Shutdown() override;

 private:
  // A link to a neighbour that has not come up yet, on the accepting side.
  struct Offer {
    std::shared_ptr<Link> base;  // once it is up
    Fd socket, rings;            // once they have come over the Unix socket
  };
  enum class Choice { kOpen, kLocal, kBase };
  struct OpenLink {
    std::shared_ptr<LaneLink> link;
    std::shared_ptr<LocalLane> dialed = nullptr;  // on the connecting side, until the other side has answered
    Choice choice = Choice::kOpen;
  };

  // Events of the base.
  Status OnHello(const Hello& from, Hello* answer) override;
  void OnLinkUp(const std::shared_ptr<Link>& base) override;
  void OnMessage(const std::shared_ptr<Link>& base, Message message) override;
  void OnLinkDown(const std::shared_ptr<Link>& base, const Status& why) override;

  // The connecting side: passes the rings to the neighbour.
  StatusOr<std::shared_ptr<LocalLane>> Dial(const LocalLaneOffer& offer);
  // The accepting side.
  void AcceptLoop();
  void TakeRings(Fd socket);
  // Brings the link up if both its base and its rings are there.
  void Complete(uint64_t secret);
  // Makes the choice, unless it has been made. Returns whether it has; `*open` is then the link, with its choice.
  bool Choose(const std::shared_ptr<Link>& base, Choice choice, OpenLink* open);
  void OnLaneChoice(const std::shared_ptr<Link>& base, const LaneChoice& choice);
  // Brings the link up without a local lane, and tells the other side.
  void UseBase(const std::shared_ptr<Link>& base, const std::string& why);
  std::shared_ptr<LaneLink> Find(const std::shared_ptr<Link>& base);
  void ForgetOffer(uint64_t secret) TB_REQUIRES(mu_);
  static void LogLane(const std::shared_ptr<Link>& base);
  static void LogBase(const std::shared_ptr<Link>& base, const std::string& why);

  const std::unique_ptr<Transport> base_;
  const LocalTransportOptions options_;
  LinkHandler* handler_ = nullptr;  // set by Listen
  std::string machine_, socket_name_;
  Fd listening_;
  Thread acceptor_;
  LiveCount threads_;

  Mutex mu_;
  absl::flat_hash_map<const Link*, OpenLink> links_ TB_GUARDED_BY(mu_);
  absl::flat_hash_map<uint64_t, Offer> offers_ TB_GUARDED_BY(mu_);  // by secret
  std::deque<uint64_t> offer_order_ TB_GUARDED_BY(mu_);
  std::unique_ptr<Timer> timer_ = std::make_unique<Timer>();  // null after Shutdown
};

StatusOr<int> LocalTransport::Listen(const std::string& address, LinkHandler* handler) {
  TB_CHECK(handler_ == nullptr);
  handler_ = handler;
  RaiseDescriptorLimit();
  machine_ = MachineAndUser();
  StatusOr<Fd> listening = machine_.empty() ? Unavailable("the system does not tell the machine's identity")
                                            : ListenForNeighbours(&socket_name_);
  if (listening.ok()) {
    listening_ = *std::move(listening);
    acceptor_ = Thread("tb-local-accept", [this] { AcceptLoop(); });
  } else {
    TB_LOG(Warning, "transport") << "tasks of this machine will exchange tensors as over a network: "
                                 << listening.status().message();
    machine_.clear();
  }
  auto port = base_->Listen(address, this);
  if (!port.ok()) handler_ = nullptr;
  return port;
}

void LocalTransport::Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
                             ConnectDone done) {
  Hello offering = hello;
  if (!machine_.empty()) {
    offering.local_lane = {.machine = machine_, .socket = "", .secret = RandomSeed() | 1};
  }
  base_->Connect(address, offering, timeout,
                 [this, address, done = std::move(done)](StatusOr<std::shared_ptr<Link>> base) {
                   if (!base.ok()) return done(base.status());
                   const auto link = Find(*base);
                   if (link == nullptr) {
                     return done(Unavailable("the connection to ", address, " was closed before it was up"));
                   }
                   link->WhenUp(done);
                 });
}

void LocalTransport::Shutdown() {
  base_->Shutdown();
  if (listening_.is_open()) ::shutdown(listening_.get(), SHUT_RDWR);
  // These may be bringing a link up, which has gone down meanwhile.
  if (acceptor_.joinable()) acceptor_.Join();
  timer_.reset();
  threads_.WaitForNone();
  listening_.Close();
}

std::shared_ptr<LaneLink> LocalTransport::Find(const std::shared_ptr<Link>& base) {
  MutexLock lock(mu_);
  const auto it = links_.find(base.get());
  return it == links_.end() ? nullptr : it->second.link;
}

Status LocalTransport::OnHello(const Hello& from, Hello* answer) {
  TF_RETURN_IF_ERROR(handler_->OnHello(from, answer));
  const LocalLaneOffer& offer = from.local_lane;
  if (machine_.empty() || offer.machine != machine_ || offer.secret == 0) return OkStatus();
  MutexLock lock(mu_);
  if (!offers_.try_emplace(offer.secret).second) return InvalidArgument("two links name the same local lane");
  offer_order_.push_back(offer.secret);
  if (offer_order_.size() > kMaxOffers) {
    offers_.erase(offer_order_.front());
    offer_order_.pop_front();
  }
  answer->local_lane = {.machine = machine_, .socket = socket_name_, .secret = offer.secret};
  return OkStatus();
}

void LocalTransport::OnLinkUp(const std::shared_ptr<Link>& base) {
  const LocalLaneOffer& offer = base->peer().local_lane;
  const auto link = std::make_shared<LaneLink>(base, handler_, &threads_, options_.stay_awake);
  const bool neighbours = !machine_.empty() && offer.machine == machine_ && offer.secret != 0;
  {
    MutexLock lock(mu_);
    links_[base.get()].link = link;
  }
  if (!neighbours) {
    if (IsOtherUser(machine_, offer.machine)) LogBase(base, "it runs as another user");
    return link->ComeUp(nullptr);
  }
  timer_->RunAfter(kChoiceTimeout, [this, weak = std::weak_ptr<Link>(base)] {
    if (const auto base = weak.lock()) UseBase(base, "the two did not agree in time");
  });
  if (offer.socket.empty()) {
    {
      MutexLock lock(mu_);
      const auto it = offers_.find(offer.secret);
      if (it != offers_.end()) it->second.base = base;
    }
    return Complete(offer.secret);
  }
  auto lane = Dial(offer);
  if (!lane.ok()) return UseBase(base, std::string(lane.status().message()));
  MutexLock lock(mu_);
  const auto it = links_.find(base.get());
  if (it != links_.end()) it->second.dialed = *std::move(lane);
}

StatusOr<std::shared_ptr<LocalLane>> LocalTransport::Dial(const LocalLaneOffer& offer) {
  TF_ASSIGN_OR_RETURN(auto rings, LocalLane::NewRings(options_.lane));
  TF_ASSIGN_OR_RETURN(Fd socket, ConnectToNeighbour(offer.socket));
  TF_RETURN_IF_ERROR(SendFd(socket, {.a = offer.secret, .b = options_.lane.ring_bytes, .c = 0}, rings->fd()));
  return std::make_shared<LocalLane>(options_.lane, std::move(rings), /*connected=*/true, std::move(socket));
}

void LocalTransport::AcceptLoop() {
  for (;;) {
    StatusOr<Fd> socket = AcceptNeighbour(listening_);
    if (absl::IsCancelled(socket.status())) return;
    if (socket.ok()) {
      TakeRings(*std::move(socket));
    } else {
      TB_LOG(Warning, "transport") << socket.status().message();
      if (!absl::IsPermissionDenied(socket.status())) SleepFor(std::chrono::milliseconds(10));  // out of descriptors
    }
  }
}

void LocalTransport::TakeRings(Fd socket) {
  FdMessage message;
  StatusOr<Fd> rings = ReceiveFd(socket, kReceiveTimeout, &message);
  if (!rings.ok() || message.b != options_.lane.ring_bytes) return;  // the other side stops waiting for an answer
  {
    MutexLock lock(mu_);
    const auto it = offers_.find(message.a);
    if (it == offers_.end() || it->second.rings.is_open()) return;
    it->second.socket = std::move(socket);
    it->second.rings = *std::move(rings);
  }
  Complete(message.a);
}

bool LocalTransport::Choose(const std::shared_ptr<Link>& base, Choice choice, OpenLink* open) {
  MutexLock lock(mu_);
  const auto it = links_.find(base.get());
  if (it == links_.end()) return false;
  const bool is_open = it->second.choice == Choice::kOpen;
  if (is_open) {
    it->second.choice = choice;
    ForgetOffer(base->peer().local_lane.secret);
  }
  *open = {.link = it->second.link, .dialed = std::exchange(it->second.dialed, nullptr), .choice = it->second.choice};
  return is_open;
}

void LocalTransport::ForgetOffer(uint64_t secret) {
  if (offers_.erase(secret) > 0) std::erase(offer_order_, secret);
}

void LocalTransport::Complete(uint64_t secret) {
  Offer offer;
  {
    MutexLock lock(mu_);
    const auto it = offers_.find(secret);
    if (it == offers_.end() || it->second.base == nullptr || !it->second.rings.is_open()) return;
    offer = std::move(it->second);
    ForgetOffer(secret);
  }
  auto rings =
      SharedSegment::Map(std::move(offer.rings), LocalLane::RingsSize(options_.lane), SharedSegment::Others::kMayWrite);
  if (!rings.ok()) return UseBase(offer.base, std::string(rings.status().message()));
  OpenLink open;
  if (!Choose(offer.base, Choice::kLocal, &open)) return;
  offer.base->Send(LaneChoice{.side_lane = true, .why = ""});
  LogLane(offer.base);
  open.link->ComeUp(
      std::make_shared<LocalLane>(options_.lane, *std::move(rings), /*connected=*/false, std::move(offer.socket)));
}

void LocalTransport::LogLane(const std::shared_ptr<Link>& base) {
  SetHasNeighbours();
  TB_LOG(Info, "transport") << "tensors to and from " << base->peer().task << " pass through shared memory";
}

void LocalTransport::OnLaneChoice(const std::shared_ptr<Link>& base, const LaneChoice& choice) {
  OpenLink open;
  const bool chosen_now = Choose(base, choice.side_lane ? Choice::kLocal : Choice::kBase, &open);
  if (open.link == nullptr) return;
  const bool agree = open.choice == (choice.side_lane ? Choice::kLocal : Choice::kBase) &&
                     (!choice.side_lane || !chosen_now || open.dialed != nullptr);
  // The two have chosen at the same time, and differently. The next link has a new chance.
  if (!agree) return base->Close(Aborted("the two ends did not agree on a local lane"));
  if (!chosen_now) return;
  if (choice.side_lane) {
    LogLane(base);
  } else {
    LogBase(base, choice.why);
  }
  open.link->ComeUp(std::move(open.dialed));
}

void LocalTransport::UseBase(const std::shared_ptr<Link>& base, const std::string& why) {
  OpenLink open;
  if (!Choose(base, Choice::kBase, &open)) return;
  LogBase(base, why);
  base->Send(LaneChoice{.side_lane = false, .why = why});
  open.link->ComeUp(nullptr);
}

void LocalTransport::LogBase(const std::shared_ptr<Link>& base, const std::string& why) {
  TB_LOG(Info, "transport") << "tensors to and from " << base->peer().task
                            << " do not pass through shared memory, although it is on this machine: " << why;
}

void LocalTransport::OnMessage(const std::shared_ptr<Link>& base, Message message) {
  if (const auto* choice = std::get_if<LaneChoice>(&message)) return OnLaneChoice(base, *choice);
  if (const auto link = Find(base)) link->OnBaseMessage(std::move(message));
}

void LocalTransport::OnLinkDown(const std::shared_ptr<Link>& base, const Status& why) {
  OpenLink open;
  {
    MutexLock lock(mu_);
    const auto it = links_.find(base.get());
    if (it == links_.end()) return;
    open = std::move(it->second);
    links_.erase(it);
    ForgetOffer(base->peer().local_lane.secret);
  }
  open.link->OnBaseDown(why);
}

}  // namespace

std::unique_ptr<Transport> NewLocalTransport(std::unique_ptr<Transport> base, const LocalTransportOptions& options) {
  return std::make_unique<LocalTransport>(std::move(base), options);
}

}  // namespace tensorbraid
