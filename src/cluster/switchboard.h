// Shares one address between several clusters: a process takes part in the cluster that it was started in, and in those
// that sessions bring with them. Each cluster gets a Transport of its own, on top of the one real transport.
#ifndef TENSORBRAID_CLUSTER_SWITCHBOARD_H_
#define TENSORBRAID_CLUSTER_SWITCHBOARD_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/mutex.h"
#include "transport/transport.h"

namespace tensorbraid {

// Passes each link to the handler of the cluster that its Hello names. Thread-safe.
class Switchboard final : private LinkHandler {
 public:
  // Called, on a transport thread, when a Hello names a cluster that has no transport here. Must not block. Returns OK
  // after creating the transport and calling its Listen; an error is sent back to the peer.
  using Admit = std::function<Status(const Hello& from)>;

  Switchboard(std::unique_ptr<Transport> transport, Admit admit);
  // REQUIRES: all its transports have been shut down.
  ~Switchboard() override;

  // The transport of cluster 0, in which the process was started. It forwards to the real one: Listen opens the
  // address, Shutdown closes it for all clusters.
  Transport* home() { return home_.get(); }
  // Creates the transport of another cluster. It has no address of its own: Listen only sets the handler of its links.
  // Shutdown closes its links and waits for the handler's calls, as any transport's does; later callers are refused.
  std::unique_ptr<Transport> NewTransport(uint64_t cluster);

 private:
  class HomeTransport;
  class ClusterTransport;
  struct Endpoint;

  Status OnHello(const Hello& from, Hello* answer) override;
  void OnLinkUp(const std::shared_ptr<Link>& link) override;
  void OnMessage(const std::shared_ptr<Link>& link, Message message) override;
  void OnLinkDown(const std::shared_ptr<Link>& link, const Status& why) override;
  std::shared_ptr<Endpoint> FindEndpoint(uint64_t cluster);

  const std::unique_ptr<Transport> transport_;
  const Admit admit_;
  const std::unique_ptr<Transport> home_;
  LinkHandler* home_handler_ = nullptr;  // set by Listen, before the first link comes up
  Mutex mu_;
  std::map<uint64_t, std::shared_ptr<Endpoint>> endpoints_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_SWITCHBOARD_H_
