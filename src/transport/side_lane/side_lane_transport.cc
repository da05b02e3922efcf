#include "transport/side_lane/side_lane_transport.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/live_count.h"
#include "core/threads/mutex.h"
#include "transport/side_lane/lane_link.h"

namespace tensorbraid {
namespace {

class SideLaneTransport final : public Transport, private LinkAcceptor {
 public:
  SideLaneTransport(std::unique_ptr<Transport> base, std::vector<std::shared_ptr<LaneKind>> kinds,
                    const SideLaneOptions& options)
      : base_(std::move(base)), kinds_(std::move(kinds)), options_(options) {}
  ~SideLaneTransport() override { Shutdown(); }

  void ServeCalls(CallHandler* handler) override { base_->ServeCalls(handler); }
  StatusOr<int> Listen(const std::string& address, LinkAcceptor* acceptor) override;
  void Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
               ConnectDone done) override;
  void Shutdown() override;

 private:
  // The kind on which the two ends of a link have agreed.
  struct Agreed {
    LaneKind* kind;
    bool connected;    // this end has connected
    std::string word;  // what the peer's Hello says of this kind
  };

  // The events of the base.
  Status OnHello(const Hello& from, Hello* answer) override;
  std::shared_ptr<LinkHandler> OnLinkUp(const std::shared_ptr<Link>& base) override;

  std::optional<Agreed> AgreedWith(const Hello& peer) const;
  // The first kind that accepts one of the offers. Adds the reasons of the others to `why_not`.
  std::optional<Agreed> Choose(const std::vector<LaneOffer>& offers, std::vector<std::string>* why_not) const;

  const std::unique_ptr<Transport> base_;
  std::vector<std::shared_ptr<LaneKind>> kinds_;  // constant after Listen
  const SideLaneOptions options_;
  LinkAcceptor* acceptor_ = nullptr;  // set by Listen
  LiveCount threads_;

  Mutex mu_;
  // The links with lanes that this end has dialed, by their bases, until Connect is done with them.
  absl::flat_hash_map<const Link*, std::shared_ptr<LaneLink>> dialed_ TB_GUARDED_BY(mu_);
};

StatusOr<int> SideLaneTransport::Listen(const std::string& address, LinkAcceptor* acceptor) {
  TB_CHECK(acceptor_ == nullptr);
  acceptor_ = acceptor;
  std::erase_if(kinds_, [](const auto& kind) {
    const Status started = kind->Start();
    if (started.ok()) return false;
    TB_LOG(Warning, "transport") << "tensors of this task will not pass through " << kind->name() << ": "
                                 << started.message();
    return true;
  });
  auto port = base_->Listen(address, this);
  if (!port.ok()) acceptor_ = nullptr;
  return port;
}

void SideLaneTransport::Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
                                ConnectDone done) {
  Hello offering = hello;
  for (const auto& kind : kinds_) offering.lanes.push_back({.kind = kind->id(), .word = kind->Offer()});
  base_->Connect(address, offering, timeout, [this, done = std::move(done)](StatusOr<std::shared_ptr<Link>> base) {
    std::shared_ptr<LaneLink> link;
    if (base.ok()) {
      MutexLock lock(mu_);
      const auto it = dialed_.find(base->get());
      if (it != dialed_.end()) {
        link = std::move(it->second);
        dialed_.erase(it);
      }
    }
    if (link == nullptr) return done(std::move(base));
    done(std::shared_ptr<Link>(link));
  });
}

void SideLaneTransport::Shutdown() {
  base_->Shutdown();
  threads_.WaitForNone();
  for (const auto& kind : kinds_) kind->Stop();
  MutexLock lock(mu_);
  dialed_.clear();
}

std::optional<SideLaneTransport::Agreed> SideLaneTransport::Choose(const std::vector<LaneOffer>& offers,
                                                                   std::vector<std::string>* why_not) const {
  for (const auto& kind : kinds_) {
    for (const LaneOffer& offer : offers) {
      if (offer.kind != kind->id()) continue;
      const Status accepts = kind->Accepts(offer.word);
      if (accepts.ok()) return Agreed{.kind = kind.get(), .connected = false, .word = offer.word};
      if (!accepts.message().empty()) why_not->push_back(StrCat(kind->name(), ": ", std::string(accepts.message())));
    }
  }
  return std::nullopt;
}

Status SideLaneTransport::OnHello(const Hello& from, Hello* answer) {
  for (const LaneOffer& offer : from.lanes) {
    if (offer.is_answer) return InvalidArgument("the caller answers the offer of a side lane that it has not got");
  }
  TF_RETURN_IF_ERROR(acceptor_->OnHello(from, answer));
  std::vector<std::string> why_not;
  if (const auto chosen = Choose(from.lanes, &why_not)) {
    answer->lanes = {{.kind = chosen->kind->id(), .word = chosen->kind->Answer(chosen->word), .is_answer = true}};
  }
  for (const std::string& reason : why_not) {
    TB_LOG(Info, "transport") << "tensors to and from " << from.task << " do not pass through " << reason;
  }
  return OkStatus();
}

std::optional<SideLaneTransport::Agreed> SideLaneTransport::AgreedWith(const Hello& peer) const {
  if (peer.lanes.empty() || !peer.lanes[0].is_answer) {
    // This end has accepted the link, so makes the same choice as in OnHello, which has logged the reasons.
    std::vector<std::string> logged_before;
    return Choose(peer.lanes, &logged_before);
  }
  for (const auto& kind : kinds_) {
    if (kind->id() == peer.lanes[0].kind) return Agreed{kind.get(), /*connected=*/true, peer.lanes[0].word};
  }
  return std::nullopt;
}

std::shared_ptr<LinkHandler> SideLaneTransport::OnLinkUp(const std::shared_ptr<Link>& base) {
  auto agreed = AgreedWith(base->peer());
  if (!agreed) return acceptor_->OnLinkUp(base);
  const auto link = std::make_shared<LaneLink>(base, agreed->kind, agreed->connected, std::move(agreed->word),
                                               &threads_, options_.stay_awake);
  if (agreed->connected) {
    MutexLock lock(mu_);
    dialed_[base.get()] = link;
  }
  agreed->kind->OnAgreed();
  link->Start(acceptor_->OnLinkUp(link));
  return link;
}

}  // namespace

std::unique_ptr<Transport> NewSideLaneTransport(std::unique_ptr<Transport> base,
                                                std::vector<std::shared_ptr<LaneKind>> kinds,
                                                const SideLaneOptions& options) {
  return std::make_unique<SideLaneTransport>(std::move(base), std::move(kinds), options);
}

}  // namespace tensorbraid
