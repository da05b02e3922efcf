// One address, several clusters: a process takes part in the cluster that it was started in, and in those that sessions
// bring with them. Each has a door of its own here, which is all that it sees of the transport.
#ifndef TENSORBRAID_CLUSTER_SWITCHBOARD_H_
#define TENSORBRAID_CLUSTER_SWITCHBOARD_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/mutex.h"
#include "transport/transport.h"

namespace tensorbraid {

// Hands links to the cluster that their Hello names. Thread-safe.
class Switchboard final : private LinkHandler {
 public:
  // Asked on the transport's threads, must not block: somebody calls for a cluster that has no door here. OK: there is
  // one now, and it listens. An error is what the caller gets.
  using Admit = std::function<Status(const Hello& from)>;

  Switchboard(std::unique_ptr<Transport> transport, Admit admit);
  // REQUIRES: all doors have been shut down.
  ~Switchboard() override;

  // That of cluster 0. What it does, the transport does: Listen opens the address, Shutdown closes it for all.
  Transport* home() { return home_.get(); }
  // That of another cluster. It has no address of its own: Listen only names who handles its links. Shutdown takes down
  // the links of this door, and waits for the handler as that of any transport does; from then on callers are refused.
  std::unique_ptr<Transport> NewDoor(uint64_t cluster);

 private:
  class HomeDoor;
  class Door;
  struct Room;

  Status OnHello(const Hello& from, Hello* answer) override;
  void OnLinkUp(const std::shared_ptr<Link>& link) override;
  void OnMessage(const std::shared_ptr<Link>& link, Message message) override;
  void OnLinkDown(const std::shared_ptr<Link>& link, const Status& why) override;
  std::shared_ptr<Room> FindRoom(uint64_t cluster);

  const std::unique_ptr<Transport> transport_;
  const Admit admit_;
  const std::unique_ptr<Transport> home_;
  LinkHandler* home_handler_ = nullptr;  // set by Listen, before anybody can call
  Mutex mu_;
  std::map<uint64_t, std::shared_ptr<Room>> rooms_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_SWITCHBOARD_H_
