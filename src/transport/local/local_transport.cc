#include "transport/local/local_transport.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/system/env.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/live_count.h"
#include "core/threads/thread.h"
#include "transport/local/lane_socket.h"
#include "transport/side_lane/lane_link.h"

namespace tensorbraid {
namespace {

constexpr std::chrono::milliseconds kReceiveTimeout{200};
// Offers that the other side has not taken yet. More are forgotten, oldest first.
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
  // A link to a neighbour that has no lane yet, on the accepting side.
  struct Offer {
    std::shared_ptr<Link> base;  // once it is up
    Fd socket, rings;            // once they have come over the Unix socket
  };
  struct OpenLink {
    std::shared_ptr<LaneLink> link;
    std::shared_ptr<LocalLane> dialed = nullptr;  // on the connecting side, until the other side has answered
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
  // Switches the link to its lane if both its base and its rings are there.
  void Complete(uint64_t secret);
  void OnLaneChoice(const std::shared_ptr<Link>& base, const LaneChoice& choice);
  // Leaves the link without a local lane, and tells the other side.
  void UseBase(const std::shared_ptr<Link>& base, const std::string& why);
  std::shared_ptr<LaneLink> Find(const std::shared_ptr<Link>& base);
  void ForgetOffer(uint64_t secret) TB_REQUIRES(mu_);
  void Switch(const std::shared_ptr<Link>& base, std::shared_ptr<LocalLane> lane);
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
                   done(std::shared_ptr<Link>(link));
                 });
}

void LocalTransport::Shutdown() {
  base_->Shutdown();
  if (listening_.is_open()) ::shutdown(listening_.get(), SHUT_RDWR);
  if (acceptor_.joinable()) acceptor_.Join();
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
  const bool neighbours = !machine_.empty() && offer.machine == machine_ && offer.secret != 0;
  const auto link = std::make_shared<LaneLink>(base, neighbours, handler_, &threads_, options_.stay_awake);
  {
    MutexLock lock(mu_);
    links_[base.get()].link = link;
  }
  if (neighbours) SetHasNeighbours();  // plans that are made from now on use shared memory
  handler_->OnLinkUp(link);
  if (!neighbours) {
    if (IsOtherUser(machine_, offer.machine)) LogBase(base, "it runs as another user");
    return;
  }
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
  if (!rings.ok() || message.b != options_.lane.ring_bytes) return;
  {
    MutexLock lock(mu_);
    const auto it = offers_.find(message.a);
    if (it == offers_.end() || it->second.rings.is_open()) return;
    it->second.socket = std::move(socket);
    it->second.rings = *std::move(rings);
  }
  Complete(message.a);
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
  Switch(offer.base,
         std::make_shared<LocalLane>(options_.lane, *std::move(rings), /*connected=*/false, std::move(offer.socket)));
}

void LocalTransport::Switch(const std::shared_ptr<Link>& base, std::shared_ptr<LocalLane> lane) {
  const auto link = Find(base);
  if (link == nullptr || !link->Switch(std::move(lane))) return;  // it is down
  TB_LOG(Info, "transport") << "tensors to and from " << base->peer().task << " pass through shared memory";
}

void LocalTransport::OnLaneChoice(const std::shared_ptr<Link>& base, const LaneChoice& choice) {
  std::shared_ptr<LaneLink> link;
  std::shared_ptr<LocalLane> dialed;
  {
    MutexLock lock(mu_);
    const auto it = links_.find(base.get());
    if (it == links_.end()) return;
    link = it->second.link;
    dialed = std::exchange(it->second.dialed, nullptr);
    ForgetOffer(base->peer().local_lane.secret);
  }
  if (choice.side_lane) {
    // The accepting side has switched first.
    if (dialed != nullptr) Switch(base, std::move(dialed));
    return link->OnPeerSwitched(choice.bulk_tensors);
  }
  LogBase(base, choice.why);
  link->StayOnBase();
}

void LocalTransport::UseBase(const std::shared_ptr<Link>& base, const std::string& why) {
  const auto link = Find(base);
  if (link == nullptr) return;
  LogBase(base, why);
  base->Send(LaneChoice{.side_lane = false, .bulk_tensors = 0, .why = why});
  link->StayOnBase();
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
