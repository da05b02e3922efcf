#include "transport/ucx/ucx_transport.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/system/env.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/live_count.h"
#include "core/threads/thread.h"
#include "transport/local/lane_socket.h"
#include "transport/side_lane/lane_link.h"
#include "transport/ucx/ucx_lane.h"

namespace tensorbraid {
namespace {

// How long a worker lives after its address was sent, at least.
constexpr std::chrono::milliseconds kConnectGrace{100};

// What the two ends of a link have to agree on before they switch to UCX.
class Negotiation {
 public:
  enum class Choice { kOpen, kLane, kBase, kDown };

  // Events of the base.
  void SetPeer(UcxAddress address) {
    MutexLock lock(mu_);
    peer_ = std::move(address);
    cv_.NotifyAll();
  }
  // Only the first choice counts; returns it.
  Choice Choose(Choice choice, std::string why) {
    MutexLock lock(mu_);
    if (choice_ == Choice::kOpen) {
      choice_ = choice;
      why_ = std::move(why);
      cv_.NotifyAll();
    }
    return choice_;
  }

  // Blocks until the peer's address has come. An error if the choice is made or the deadline passes before.
  StatusOr<UcxAddress> AwaitPeer(MonotonicClock::time_point deadline) {
    MutexLock lock(mu_);
    cv_.WaitUntil(mu_, deadline, [this]() TB_REQUIRES(mu_) { return peer_.has_value() || choice_ != Choice::kOpen; });
    if (choice_ != Choice::kOpen) return Unavailable(why_);
    if (!peer_.has_value()) return absl::DeadlineExceededError("it did not answer in time");
    return *peer_;
  }
  Choice choice() {
    MutexLock lock(mu_);
    return choice_;
  }
  std::string why() {
    MutexLock lock(mu_);
    return why_;
  }

 private:
  Mutex mu_;
  CondVar cv_;
  std::optional<UcxAddress> peer_ TB_GUARDED_BY(mu_);
  Choice choice_ TB_GUARDED_BY(mu_) = Choice::kOpen;
  std::string why_ TB_GUARDED_BY(mu_);
};
using Choice = Negotiation::Choice;

class UcxTransport final : public Transport, private LinkHandler {
 public:
  UcxTransport(std::unique_ptr<Transport> base, std::shared_ptr<UcxContext> context, const UcxTransportOptions& options)
      : base_(std::move(base)), context_(std::move(context)), options_(options) {}
  ~UcxTransport() override { Shutdown(); }

  void ServeCalls(CallHandler* handler) override { base_->ServeCalls(handler); }
  StatusOr<int> Listen(const std::string& address, LinkHandler* handler) override;
  void Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
               ConnectDone done) override;
  void Shutdown() override;

 private:
  struct OpenLink {
    std::shared_ptr<LaneLink> link;
    std::shared_ptr<Negotiation> negotiation;  // null if there is nothing to choose
  };

  // Events of the base.
  Status OnHello(const Hello& from, Hello* answer) override;
  void OnLinkUp(const std::shared_ptr<Link>& base) override;
  void OnMessage(const std::shared_ptr<Link>& base, Message message) override;
  void OnLinkDown(const std::shared_ptr<Link>& base, const Status& why) override;

  // Whether this side answers the offer of a task that connects with its own.
  bool Accepts(const Hello& from) const;
  // Switches the link to UCX if that is possible.
  void Negotiate(const std::shared_ptr<Link>& base, const OpenLink& open, bool connecting);
  // Agrees with the peer until messages come through `lane`.
  Status OpenLane(Link& base, Negotiation& negotiation, UcxLane& lane, bool connecting);
  OpenLink Find(const std::shared_ptr<Link>& base);

  const std::unique_ptr<Transport> base_;
  const std::shared_ptr<UcxContext> context_;
  const UcxTransportOptions options_;
  LinkHandler* handler_ = nullptr;  // set by Listen
  LiveCount threads_;

  Mutex mu_;
  absl::flat_hash_map<const Link*, OpenLink> links_ TB_GUARDED_BY(mu_);
};

StatusOr<int> UcxTransport::Listen(const std::string& address, LinkHandler* handler) {
  TB_CHECK(handler_ == nullptr);
  handler_ = handler;
  auto port = base_->Listen(address, this);
  if (!port.ok()) handler_ = nullptr;
  return port;
}

void UcxTransport::Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
                           ConnectDone done) {
  Hello offering = hello;
  offering.ucx = {.version = context_->library().version, .accepted = false};
  base_->Connect(address, offering, timeout,
                 [this, address, done = std::move(done)](StatusOr<std::shared_ptr<Link>> base) {
                   if (!base.ok()) return done(base.status());
                   const auto link = Find(*base).link;
                   if (link == nullptr) {
                     return done(Unavailable("the connection to ", address, " was closed before it was up"));
                   }
                   done(std::shared_ptr<Link>(link));
                 });
}

void UcxTransport::Shutdown() {
  base_->Shutdown();
  threads_.WaitForNone();
}

UcxTransport::OpenLink UcxTransport::Find(const std::shared_ptr<Link>& base) {
  MutexLock lock(mu_);
  const auto it = links_.find(base.get());
  return it == links_.end() ? OpenLink{} : it->second;
}

bool UcxTransport::Accepts(const Hello& from) const {
  if (from.ucx.version != context_->library().version) return false;
  const std::string& machine = from.local_lane.machine;
  return !options_.leave_neighbours || machine.empty() || machine != MachineAndUser();
}

Status UcxTransport::OnHello(const Hello& from, Hello* answer) {
  TF_RETURN_IF_ERROR(handler_->OnHello(from, answer));
  if (Accepts(from)) answer->ucx = {.version = context_->library().version, .accepted = true};
  return OkStatus();
}

void UcxTransport::OnLinkUp(const std::shared_ptr<Link>& base) {
  const Hello& peer = base->peer();
  const bool connecting = peer.ucx.accepted;
  const bool negotiates = connecting || Accepts(peer);
  OpenLink open{.link = std::make_shared<LaneLink>(base, negotiates, handler_, &threads_, options_.stay_awake),
                .negotiation = negotiates ? std::make_shared<Negotiation>() : nullptr};
  {
    MutexLock lock(mu_);
    links_[base.get()] = open;
  }
  handler_->OnLinkUp(open.link);
  if (!negotiates) return;
  threads_.Add();
  Thread("tb-ucx", [this, base, open = std::move(open), connecting] {
    Negotiate(base, open, connecting);
    threads_.Remove();
  }).Detach();
}

void UcxTransport::Negotiate(const std::shared_ptr<Link>& base, const OpenLink& open, bool connecting) {
  Negotiation& negotiation = *open.negotiation;
  auto lane = UcxLane::Create(context_);
  Status opened = lane.status();
  if (opened.ok()) opened = OpenLane(*base, negotiation, **lane, connecting);
  const std::string error(opened.message());
  // The connecting side chooses the lane; either may choose the base.
  Choice choice = negotiation.choice();
  if (choice == Choice::kOpen) {
    const Choice wanted = opened.ok() ? Choice::kLane : Choice::kBase;
    choice = negotiation.Choose(wanted, error);
    if (choice == wanted && !opened.ok()) {
      base->Send(LaneChoice{.side_lane = false, .bulk_tensors = 0, .why = error});
    }
  }
  if (choice == Choice::kLane && !opened.ok()) {
    // The two have chosen at the same time, and differently. The next link has a new chance.
    base->Close(Aborted("the two ends did not agree on a lane by UCX"));
    return open.link->StayOnBase();
  }
  if (choice == Choice::kLane && open.link->Switch(*lane)) {
    TB_LOG(Info, "transport") << "messages to and from " << base->peer().task << " pass through UCX "
                              << context_->library().version;
    return;
  }
  if (choice == Choice::kBase) {
    TB_LOG(Warning, "transport") << "messages to and from " << base->peer().task
                                 << " do not pass through UCX: " << negotiation.why();
    open.link->StayOnBase();
  }
  if (!lane.ok()) return;
  // UCX 1.13 can end the peer's process if this end's worker is destroyed while the peer connects to it. So a peer that
  // has this end's address gets the time to connect. Once both are connected, each waits for the other to say that it
  // closes.
  if ((*lane)->is_connected()) {
    const auto is_drained = [&] { return !(*lane)->Receive([](Message) {}).ok() || (*lane)->IsDrained(); };
    (*lane)->WorkUntil(MonotonicClock::time_point::max(), is_drained).IgnoreError();  // it may be broken already
  } else {
    SleepFor(kConnectGrace);
  }
  (*lane)->End();
}

Status UcxTransport::OpenLane(Link& base, Negotiation& negotiation, UcxLane& lane, bool connecting) {
  const auto deadline = MonotonicClock::now() + options_.choice_timeout;
  base.Send(lane.address());
  TF_ASSIGN_OR_RETURN(const UcxAddress peer, negotiation.AwaitPeer(deadline));
  TF_RETURN_IF_ERROR(lane.Connect(peer));
  lane.SendProbe();
  TF_RETURN_IF_ERROR(lane.WorkUntil(deadline, [&] { return lane.probed() || negotiation.choice() == Choice::kDown; }));
  if (connecting) return OkStatus();
  // This side's probe may need the lane's work until it has arrived.
  return lane.WorkUntil(deadline, [&] { return negotiation.choice() != Choice::kOpen; });
}

void UcxTransport::OnMessage(const std::shared_ptr<Link>& base, Message message) {
  const OpenLink open = Find(base);
  if (open.link == nullptr) return;
  if (open.negotiation != nullptr) {
    if (auto* address = std::get_if<UcxAddress>(&message)) return open.negotiation->SetPeer(std::move(*address));
    if (const auto* choice = std::get_if<LaneChoice>(&message)) {
      const Choice theirs = choice->side_lane ? Choice::kLane : Choice::kBase;
      if (open.negotiation->Choose(theirs, choice->why) != theirs) {
        base->Close(Aborted("the two ends did not agree on a lane by UCX"));
      }
      if (choice->side_lane) open.link->OnPeerSwitched(choice->bulk_tensors);
      return;
    }
  }
  open.link->OnBaseMessage(std::move(message));
}

void UcxTransport::OnLinkDown(const std::shared_ptr<Link>& base, const Status& why) {
  OpenLink open;
  {
    MutexLock lock(mu_);
    const auto it = links_.find(base.get());
    if (it == links_.end()) return;
    open = std::move(it->second);
    links_.erase(it);
  }
  if (open.negotiation != nullptr) open.negotiation->Choose(Choice::kDown, std::string(why.message()));
  open.link->OnBaseDown(why);
}

}  // namespace

std::unique_ptr<Transport> NewUcxTransport(std::unique_ptr<Transport> base, std::shared_ptr<UcxContext> context,
                                           const UcxTransportOptions& options) {
  return std::make_unique<UcxTransport>(std::move(base), std::move(context), options);
}

}  // namespace tensorbraid
