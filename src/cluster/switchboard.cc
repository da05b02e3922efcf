#include "cluster/switchboard.h"

#include <set>
#include <utility>

#include "core/host_port.h"
#include "core/logging.h"
#include "core/strings.h"

namespace tensorbraid {
namespace {

Status NobodyHere() { return Unavailable("this task does not take part in that session's cluster (any more)"); }

}  // namespace

// Behind a door: who handles its links, and how many threads are with him.
struct Switchboard::Room {
  // The handler, who is there until Leave; null when there is none (any more).
  LinkHandler* Enter() {
    MutexLock lock(mu);
    if (handler != nullptr) ++inside;
    return handler;
  }
  void Leave() {
    MutexLock lock(mu);
    if (--inside == 0) changed.NotifyAll();
  }
  // As Enter, for a link that is up here.
  LinkHandler* EnterWith(const std::shared_ptr<Link>& link) {
    MutexLock lock(mu);
    if (handler == nullptr || !up.contains(link)) return nullptr;
    ++inside;
    return handler;
  }

  Mutex mu;
  CondVar changed;
  LinkHandler* handler TB_GUARDED_BY(mu) = nullptr;
  bool closing TB_GUARDED_BY(mu) = false;
  int inside TB_GUARDED_BY(mu) = 0;
  std::set<std::shared_ptr<Link>> up TB_GUARDED_BY(mu);
};

class Switchboard::HomeDoor final : public Transport {
 public:
  explicit HomeDoor(Switchboard* board) : board_(board) {}
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

class Switchboard::Door final : public Transport {
 public:
  Door(Switchboard* board, uint64_t cluster) : board_(board), cluster_(cluster), room_(std::make_shared<Room>()) {}
  ~Door() override { Shutdown(); }

  StatusOr<int> Listen(const std::string& address, LinkHandler* handler) override {
    TF_ASSIGN_OR_RETURN(const HostPort where, ParseHostPort(address));
    {
      MutexLock lock(room_->mu);
      room_->handler = handler;
    }
    MutexLock lock(board_->mu_);
    if (!board_->rooms_.emplace(cluster_, room_).second) return AlreadyExists("the cluster has a door already");
    return where.port;
  }

  void Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
               ConnectDone done) override {
    board_->transport_->Connect(address, hello, timeout,
                                [room = room_, done = std::move(done)](StatusOr<std::shared_ptr<Link>> link) {
                                  if (room->Enter() == nullptr) return;
                                  done(std::move(link));
                                  room->Leave();
                                });
  }

  void Shutdown() override {
    std::set<std::shared_ptr<Link>> up;
    {
      MutexLock lock(room_->mu);
      if (std::exchange(room_->closing, true)) return;
      up = room_->up;
    }
    for (const auto& link : up) link->Close(Cancelled("the session has been closed"));
    up.clear();
    {
      MutexLock lock(room_->mu);
      room_->changed.Wait(room_->mu,
                          [this]() TB_REQUIRES(room_->mu) { return room_->up.empty() && room_->inside == 0; });
      room_->handler = nullptr;
    }
    MutexLock lock(board_->mu_);
    const auto it = board_->rooms_.find(cluster_);
    if (it != board_->rooms_.end() && it->second == room_) board_->rooms_.erase(it);
  }

 private:
  Switchboard* const board_;
  const uint64_t cluster_;
  const std::shared_ptr<Room> room_;
};

Switchboard::Switchboard(std::unique_ptr<Transport> transport, Admit admit)
    : transport_(std::move(transport)), admit_(std::move(admit)), home_(std::make_unique<HomeDoor>(this)) {}

Switchboard::~Switchboard() { transport_->Shutdown(); }

std::unique_ptr<Transport> Switchboard::NewDoor(uint64_t cluster) {
  TB_CHECK(cluster != 0);
  return std::make_unique<Door>(this, cluster);
}

std::shared_ptr<Switchboard::Room> Switchboard::FindRoom(uint64_t cluster) {
  MutexLock lock(mu_);
  const auto it = rooms_.find(cluster);
  return it == rooms_.end() ? nullptr : it->second;
}

Status Switchboard::OnHello(const Hello& from, Hello* answer) {
  if (from.cluster == 0) return home_handler_->OnHello(from, answer);
  auto room = FindRoom(from.cluster);
  if (room == nullptr) {
    TF_RETURN_IF_ERROR(admit_(from));
    room = FindRoom(from.cluster);
  }
  LinkHandler* const handler = room == nullptr ? nullptr : room->Enter();
  if (handler == nullptr) return NobodyHere();
  const Status status = handler->OnHello(from, answer);
  room->Leave();
  return status;
}

void Switchboard::OnLinkUp(const std::shared_ptr<Link>& link) {
  if (link->peer().cluster == 0) return home_handler_->OnLinkUp(link);
  const auto room = FindRoom(link->peer().cluster);
  LinkHandler* handler = nullptr;
  if (room != nullptr) {
    MutexLock lock(room->mu);
    if (!room->closing && room->handler != nullptr) {
      handler = room->handler;
      ++room->inside;
      room->up.insert(link);
    }
  }
  if (handler == nullptr) return link->Close(NobodyHere());
  handler->OnLinkUp(link);
  room->Leave();
}

void Switchboard::OnMessage(const std::shared_ptr<Link>& link, Message message) {
  if (link->peer().cluster == 0) return home_handler_->OnMessage(link, std::move(message));
  const auto room = FindRoom(link->peer().cluster);
  LinkHandler* const handler = room == nullptr ? nullptr : room->EnterWith(link);
  if (handler == nullptr) return;
  handler->OnMessage(link, std::move(message));
  room->Leave();
}

void Switchboard::OnLinkDown(const std::shared_ptr<Link>& link, const Status& why) {
  if (link->peer().cluster == 0) return home_handler_->OnLinkDown(link, why);
  const auto room = FindRoom(link->peer().cluster);
  LinkHandler* const handler = room == nullptr ? nullptr : room->EnterWith(link);
  if (handler == nullptr) return;
  handler->OnLinkDown(link, why);
  {
    MutexLock lock(room->mu);
    room->up.erase(link);
  }
  room->Leave();
}

}  // namespace tensorbraid
