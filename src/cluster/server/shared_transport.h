// Shares one transport, and so one address, between several clusters: a process takes part in the cluster that it was
// started in, and in those that sessions bring with them.
#ifndef TENSORBRAID_CLUSTER_SERVER_SHARED_TRANSPORT_H_
#define TENSORBRAID_CLUSTER_SERVER_SHARED_TRANSPORT_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/threads/mutex.h"
#include "transport/transport.h"

namespace tensorbraid {

// The transport of cluster 0, in which the process was started: Listen opens the address, Shutdown closes it for all
// clusters. A new link goes to the cluster that the peer's Hello names, and its messages then go to that cluster's
// handler without passing this object. Thread-safe.
class SharedTransport final : public Transport, private LinkAcceptor {
 public:
  // Called, on a transport thread, when a Hello names a cluster that has no transport here. Must not block. Returns OK
  // after calling ForCluster and the Listen of its result; an error is sent back to the peer.
  using Admit = std::function<Status(const Hello& from)>;

  SharedTransport(std::unique_ptr<Transport> transport, Admit admit);
  // REQUIRES: all transports of other clusters have been shut down.
  ~SharedTransport() override;

  // Creates the transport of another cluster. It has no address of its own: Listen only sets the acceptor of its links.
  // Shutdown closes its links and waits for their handlers' calls, as any transport's does; later callers are refused.
  std::shared_ptr<Transport> ForCluster(uint64_t cluster);

  void ServeCalls(CallHandler* handler) override { transport_->ServeCalls(handler); }
  StatusOr<int> Listen(const std::string& address, LinkAcceptor* acceptor) override;
  void Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
               ConnectDone done) override;
  void Shutdown() override { transport_->Shutdown(); }

 private:
  class ClusterTransport;

  Status OnHello(const Hello& from, Hello* answer) override;
  std::shared_ptr<LinkHandler> OnLinkUp(const std::shared_ptr<Link>& link) override;
  // Null if the cluster has no transport here, or if that transport has been shut down.
  std::shared_ptr<ClusterTransport> Find(uint64_t cluster);

  const std::unique_ptr<Transport> transport_;
  const Admit admit_;
  LinkAcceptor* acceptor_ = nullptr;  // of cluster 0; set by Listen, before the first link comes up
  Mutex mu_;
  std::map<uint64_t, std::shared_ptr<ClusterTransport>> clusters_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_SERVER_SHARED_TRANSPORT_H_
