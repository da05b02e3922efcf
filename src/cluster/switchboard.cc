#include "cluster/switchboard.h"

#include <set>
#include <utility>

#include "core/host_port.h"
#include "core/logging.h"
#include "core/strings.h"

namespace tensorbraid {
namespace {

Status NotAMember() { return Unavailable("this task is not, or no longer, a member of the session's cluster"); }

}  // namespace

// The link handler of one cluster, its links, and the number of calls that are running in the handler.
struct Switchboard::Endpoint {
  // Returns the handler, which stays valid until EndCall; null if it has not been set or the transport has shut down.
  LinkHandler* BeginCall() {
    MutexLock lock(mu);
    if (handler != nullptr) ++running_calls;
    return handler;
  }
  void EndCall() {
    MutexLock lock(mu);
    if (--running_calls == 0) changed.NotifyAll();
  }
  // As BeginCall; also null if `link` is not up in this cluster.
  LinkHandler* BeginCall(const std::shared_ptr<Link>& link) {
    MutexLock lock(mu);
    if (handler == nullptr || !up.contains(link)) return nullptr;
    ++running_calls;
    return handler;
  }

  Mutex mu;
  CondVar changed;
  LinkHandler* handler TB_GUARDED_BY(mu) = nullptr;
  bool closing TB_GUARDED_BY(mu) = false;
  int running_calls TB_GUARDED_BY(mu) = 0;
  std::set<std::shared_ptr<Link>> up TB_GUARDED_BY(mu);
};

class Switchboard::HomeTransport final : public Transport {
 public:
  explicit HomeTransport(Switchboard* board) : board_(board) {}
  void ServeCalls(CallHandler* handler) override { board_->transport_->ServeCalls(handler); }
  StatusOr<int> Listen(const std::string& address, LinkHandler* handler) override {
    board_->home_handler_ = handler;
    return board_->transport_->Listen(address, board_);
  }
  void Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
               ConnectDone done) override {
    board_->transport_->Connect(address, hello, timeout, std::move(done));
  }
  void Shutdown() override { board_->transport_->Shutdown(); }

 private:
  Switchboard* const board_;
};

class Switchboard::ClusterTransport final : public Transport {
 public:
  ClusterTransport(Switchboard* board, uint64_t cluster)
      : board_(board), cluster_(cluster), endpoint_(std::make_shared<Endpoint>()) {}
  ~ClusterTransport() override { Shutdown(); }

  StatusOr<int> Listen(const std::string& address, LinkHandler* handler) override {
    TF_ASSIGN_OR_RETURN(const HostPort where, ParseHostPort(address));
    {
      MutexLock lock(endpoint_->mu);
      endpoint_->handler = handler;
    }
    MutexLock lock(board_->mu_);
    if (!board_->endpoints_.emplace(cluster_, endpoint_).second)
      return AlreadyExists("the cluster already has a transport");
    return where.port;
  }

  void Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
               ConnectDone done) override {
    board_->transport_->Connect(address, hello, timeout,
                                [endpoint = endpoint_, done = std::move(done)](StatusOr<std::shared_ptr<Link>> link) {
                                  if (endpoint->BeginCall() == nullptr) return;
                                  done(std::move(link));
                                  endpoint->EndCall();
                                });
  }

  void Shutdown() override {
    std::set<std::shared_ptr<Link>> up;
    {
      MutexLock lock(endpoint_->mu);
      if (std::exchange(endpoint_->closing, true)) return;
      up = endpoint_->up;
    }
    for (const auto& link : up) link->Close(Cancelled("the session has been closed"));
    up.clear();
    {
      MutexLock lock(endpoint_->mu);
      endpoint_->changed.Wait(endpoint_->mu, [this]() TB_REQUIRES(endpoint_->mu) {
        return endpoint_->up.empty() && endpoint_->running_calls == 0;
      });
      endpoint_->handler = nullptr;
    }
    MutexLock lock(board_->mu_);
    const auto it = board_->endpoints_.find(cluster_);
    if (it != board_->endpoints_.end() && it->second == endpoint_) board_->endpoints_.erase(it);
  }

 private:
  Switchboard* const board_;
  const uint64_t cluster_;
  const std::shared_ptr<Endpoint> endpoint_;
};

Switchboard::Switchboard(std::unique_ptr<Transport> transport, Admit admit)
    : transport_(std::move(transport)), admit_(std::move(admit)), home_(std::make_unique<HomeTransport>(this)) {}

Switchboard::~Switchboard() { transport_->Shutdown(); }

std::unique_ptr<Transport> Switchboard::NewTransport(uint64_t cluster) {
  TB_CHECK(cluster != 0);
  return std::make_unique<ClusterTransport>(this, cluster);
}

std::shared_ptr<Switchboard::Endpoint> Switchboard::FindEndpoint(uint64_t cluster) {
  MutexLock lock(mu_);
  const auto it = endpoints_.find(cluster);
  return it == endpoints_.end() ? nullptr : it->second;
}

Status Switchboard::OnHello(const Hello& from, Hello* answer) {
  if (from.cluster == 0) return home_handler_->OnHello(from, answer);
  auto endpoint = FindEndpoint(from.cluster);
  if (endpoint == nullptr) {
    TF_RETURN_IF_ERROR(admit_(from));
    endpoint = FindEndpoint(from.cluster);
  }
  LinkHandler* const handler = endpoint == nullptr ? nullptr : endpoint->BeginCall();
  if (handler == nullptr) return NotAMember();
  const Status status = handler->OnHello(from, answer);
  endpoint->EndCall();
  return status;
}

void Switchboard::OnLinkUp(const std::shared_ptr<Link>& link) {
  if (link->peer().cluster == 0) return home_handler_->OnLinkUp(link);
  const auto endpoint = FindEndpoint(link->peer().cluster);
  LinkHandler* handler = nullptr;
  if (endpoint != nullptr) {
    MutexLock lock(endpoint->mu);
    if (!endpoint->closing && endpoint->handler != nullptr) {
      handler = endpoint->handler;
      ++endpoint->running_calls;
      endpoint->up.insert(link);
    }
  }
  if (handler == nullptr) return link->Close(NotAMember());
  handler->OnLinkUp(link);
  endpoint->EndCall();
}

void Switchboard::OnMessage(const std::shared_ptr<Link>& link, Message message) {
  if (link->peer().cluster == 0) return home_handler_->OnMessage(link, std::move(message));
  const auto endpoint = FindEndpoint(link->peer().cluster);
  LinkHandler* const handler = endpoint == nullptr ? nullptr : endpoint->BeginCall(link);
  if (handler == nullptr) return;
  handler->OnMessage(link, std::move(message));
  endpoint->EndCall();
}

void Switchboard::OnLinkDown(const std::shared_ptr<Link>& link, const Status& why) {
  if (link->peer().cluster == 0) return home_handler_->OnLinkDown(link, why);
  const auto endpoint = FindEndpoint(link->peer().cluster);
  LinkHandler* const handler = endpoint == nullptr ? nullptr : endpoint->BeginCall(link);
  if (handler == nullptr) return;
  handler->OnLinkDown(link, why);
  {
    MutexLock lock(endpoint->mu);
    endpoint->up.erase(link);
  }
  endpoint->EndCall();
}

}  // namespace tensorbraid
