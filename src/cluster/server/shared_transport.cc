#include "cluster/server/shared_transport.h"

#include <set>
#include <utility>

#include "core/text/host_port.h"
#include "core/text/logging.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// The handler of a link that is being closed.
class DroppingHandler final : public LinkHandler {
  void OnMessage(Message) override {}
  void OnLinkDown(const Status&) override {}
};

Status NotAMember() { return Unavailable("this task is not, or no longer, a member of the session's cluster"); }

std::shared_ptr<LinkHandler> Refuse(const std::shared_ptr<Link>& link) {
  link->Close(NotAMember());
  return std::make_shared<DroppingHandler>();
}

}  // namespace

// Knows the acceptor of one cluster, its links, and how many calls are running that need the acceptor.
class SharedTransport::ClusterTransport final : public Transport,
                                                public std::enable_shared_from_this<ClusterTransport> {
 public:
  ClusterTransport(SharedTransport* shared, uint64_t cluster) : shared_(shared), cluster_(cluster) {}

  StatusOr<int> Listen(const std::string& address, LinkAcceptor* acceptor) override {
    TF_ASSIGN_OR_RETURN(const HostPort where, ParseHostPort(address));
    {
      MutexLock lock(mu_);
      acceptor_ = acceptor;
    }
    MutexLock lock(shared_->mu_);
    if (!shared_->clusters_.emplace(cluster_, shared_from_this()).second) {
      return AlreadyExists("the cluster already has a transport");
    }
    return where.port;
  }

  void Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
               ConnectDone done) override {
    shared_->transport_->Connect(
        address, hello, timeout,
        [self = shared_from_this(), done = std::move(done)](StatusOr<std::shared_ptr<Link>> link) {
          if (self->BeginCall() == nullptr) return;
          done(std::move(link));
          self->EndCall();
        });
  }

  void Shutdown() override {
    std::set<std::shared_ptr<Link>> up;
    {
      MutexLock lock(mu_);
      if (std::exchange(closing_, true)) return;
      up = up_;
    }
    for (const auto& link : up) link->Close(Cancelled("the session has been closed"));
    up.clear();
    {
      MutexLock lock(mu_);
      changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return up_.empty() && running_calls_ == 0; });
      acceptor_ = nullptr;
    }
    std::shared_ptr<ClusterTransport> self;  // released without the lock
    MutexLock lock(shared_->mu_);
    const auto it = shared_->clusters_.find(cluster_);
    if (it == shared_->clusters_.end() || it->second.get() != this) return;
    self = std::move(it->second);
    shared_->clusters_.erase(it);
  }

  Status OnHello(const Hello& from, Hello* answer) {
    LinkAcceptor* const acceptor = BeginCall();
    if (acceptor == nullptr) return NotAMember();
    const Status status = acceptor->OnHello(from, answer);
    EndCall();
    return status;
  }

  std::shared_ptr<LinkHandler> OnLinkUp(const std::shared_ptr<Link>& link) {
    LinkAcceptor* acceptor = nullptr;
    {
      MutexLock lock(mu_);
      if (!closing_ && acceptor_ != nullptr) {
        acceptor = acceptor_;
        ++running_calls_;
        up_.insert(link);
      }
    }
    if (acceptor == nullptr) return Refuse(link);
    auto handler = acceptor->OnLinkUp(link);
    EndCall();
    // A link releases its handler when it is down and no call is running. The deleter then removes the link from up_.
    LinkHandler* const calls = handler.get();
    return {calls, [self = shared_from_this(), link, handler = std::move(handler)](LinkHandler*) mutable {
              handler = nullptr;
              self->Released(link);
            }};
  }

 private:
  // Returns the acceptor, which stays valid until EndCall; null if it has not been set or the transport has shut down.
  LinkAcceptor* BeginCall() {
    MutexLock lock(mu_);
    if (acceptor_ != nullptr) ++running_calls_;
    return acceptor_;
  }
  void EndCall() {
    MutexLock lock(mu_);
    if (--running_calls_ == 0) changed_.NotifyAll();
  }
  void Released(const std::shared_ptr<Link>& link) {
    MutexLock lock(mu_);
    up_.erase(link);
    changed_.NotifyAll();
  }

  SharedTransport* const shared_;
  const uint64_t cluster_;
  Mutex mu_;
  CondVar changed_;
  LinkAcceptor* acceptor_ TB_GUARDED_BY(mu_) = nullptr;
  bool closing_ TB_GUARDED_BY(mu_) = false;
  int running_calls_ TB_GUARDED_BY(mu_) = 0;
  std::set<std::shared_ptr<Link>> up_ TB_GUARDED_BY(mu_);
};

SharedTransport::SharedTransport(std::unique_ptr<Transport> transport, Admit admit)
    : transport_(std::move(transport)), admit_(std::move(admit)) {}

SharedTransport::~SharedTransport() { transport_->Shutdown(); }

std::shared_ptr<Transport> SharedTransport::ForCluster(uint64_t cluster) {
  TB_CHECK(cluster != 0);
  return std::make_shared<ClusterTransport>(this, cluster);
}

StatusOr<int> SharedTransport::Listen(const std::string& address, LinkAcceptor* acceptor) {
  acceptor_ = acceptor;
  return transport_->Listen(address, this);
}

void SharedTransport::Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
                              ConnectDone done) {
  transport_->Connect(address, hello, timeout, std::move(done));
}

std::shared_ptr<SharedTransport::ClusterTransport> SharedTransport::Find(uint64_t cluster) {
  MutexLock lock(mu_);
  const auto it = clusters_.find(cluster);
  return it == clusters_.end() ? nullptr : it->second;
}

Status SharedTransport::OnHello(const Hello& from, Hello* answer) {
  if (from.cluster == 0) return acceptor_->OnHello(from, answer);
  auto cluster = Find(from.cluster);
  if (cluster == nullptr) {
    TF_RETURN_IF_ERROR(admit_(from));
    cluster = Find(from.cluster);
  }
  return cluster == nullptr ? NotAMember() : cluster->OnHello(from, answer);
}

std::shared_ptr<LinkHandler> SharedTransport::OnLinkUp(const std::shared_ptr<Link>& link) {
  if (link->peer().cluster == 0) return acceptor_->OnLinkUp(link);
  const auto cluster = Find(link->peer().cluster);
  return cluster == nullptr ? Refuse(link) : cluster->OnLinkUp(link);
}

}  // namespace tensorbraid
