#include "transport/inproc/inproc_transport.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "core/text/host_port.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/thread.h"
#include "transport/address.h"
#include "transport/link_messages.h"

namespace tensorbraid {
namespace inproc {

// One thread that runs closures in order.
class SerialQueue {
 public:
  explicit SerialQueue(const char* name) : thread_(name, [this] { Loop(); }) {}
  ~SerialQueue() { Stop(); }

  // False when stopped; `work` is then dropped.
  bool Post(std::function<void()> work) {
    MutexLock lock(mu_);
    if (stopping_) return false;
    queue_.push_back(std::move(work));
    if (queue_.size() == 1) cv_.NotifyOne();
    return true;
  }
  // Runs what is queued, then ends the thread.
  void Stop() {
    {
      MutexLock lock(mu_);
      stopping_ = true;
    }
    cv_.NotifyOne();
    if (thread_.joinable()) thread_.Join();
  }

 private:
  void Loop() {
    mu_.Lock();
    for (;;) {
      cv_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) break;
      std::deque<std::function<void()>> batch;
      batch.swap(queue_);
      mu_.Unlock();
      for (auto& work : batch) {
        work();
        work = nullptr;
      }
      mu_.Lock();
    }
    mu_.Unlock();
  }

  Mutex mu_;
  CondVar cv_;
  std::deque<std::function<void()>> queue_ TB_GUARDED_BY(mu_);
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  Thread thread_;
};

class InprocLink;

// Two threads, one for each channel of a link. As in the gRPC transport, such a pair serves several links but not all
// of them, so that handlers run concurrently for different links in tests too.
struct ChannelThreads {
  SerialQueue control{"tb-inproc-ctl"};
  SerialQueue bulk{"tb-inproc-blk"};
};

// The state that a transport shares with its links and with the transports that connect to it.
class Node {
 public:
  explicit Node(const InprocOptions& options) : options(options) {}

  // The threads for the link that the call of Connect with this number makes.
  ChannelThreads& threads_of(uint64_t connect) { return threads[connect % threads.size()]; }

  // False when the node is stopping.
  bool AddLink(std::shared_ptr<InprocLink> link) {
    MutexLock lock(mu);
    if (stopping) return false;
    links.insert(std::move(link));
    return true;
  }
  void RemoveLink(const std::shared_ptr<InprocLink>& link) {
    MutexLock lock(mu);
    links.erase(link);
  }
  // Null when it has already been taken.
  Transport::ConnectDone TakeConnect(uint64_t id) {
    MutexLock lock(mu);
    auto found = connects.extract(id);
    return found.empty() ? nullptr : std::move(found.mapped());
  }

  const InprocOptions options;
  LinkAcceptor* acceptor = nullptr;  // set by Listen, before other transports can find the node
  std::array<ChannelThreads, 2> threads;
  Mutex mu;
  bool stopping TB_GUARDED_BY(mu) = false;
  absl::flat_hash_set<std::shared_ptr<InprocLink>> links TB_GUARDED_BY(mu);
  absl::flat_hash_map<uint64_t, Transport::ConnectDone> connects TB_GUARDED_BY(mu);
};

// One end of a link. Both ends share a mutex, under which messages and the notice of the link's end are queued, so that
// the end is the last entry in each queue.
class InprocLink final : public Link, public std::enable_shared_from_this<InprocLink> {
 public:
  struct Shared {
    Mutex mu;
    bool closed TB_GUARDED_BY(mu) = false;
  };

  InprocLink(std::shared_ptr<Node> node, uint64_t connect, Hello peer, std::shared_ptr<Shared> shared)
      : node_(std::move(node)),
        threads_(node_->threads_of(connect)),
        peer_(std::move(peer)),
        shared_(std::move(shared)) {}

  static void Pair(const std::shared_ptr<InprocLink>& a, const std::shared_ptr<InprocLink>& b) {
    a->other_ = b;
    b->other_ = a;
  }

  const Hello& peer() const override { return peer_; }

  void Send(Message message) override {
    const std::shared_ptr<InprocLink> other = other_.lock();
    if (other == nullptr) return;
    auto* bulk = std::get_if<BulkTensor>(&message);
    MutexLock lock(shared_->mu);
    if (shared_->closed) return;
    if (bulk == nullptr) {
      other->threads_.control.Post([other, m = std::move(message)]() mutable { other->Deliver(std::move(m)); });
      return;
    }
    const size_t size = bulk->payload.size();
    const size_t part = node_->options.bulk_part_bytes;
    if (part == 0 || size <= part) {
      other->QueueBulk(std::move(message));
      return;
    }
    for (size_t begin = 0; begin < size; begin += part) {
      other->QueueBulk(BulkTensor{bulk->key, bulk->meta, bulk->offset + begin,
                                  bulk->payload.Part(begin, std::min(part, size - begin))});
    }
  }

  void SendLaneMessage(const LaneMessage& message) override {
    const std::shared_ptr<InprocLink> other = other_.lock();
    if (other == nullptr) return;
    MutexLock lock(shared_->mu);
    if (!shared_->closed) other->threads_.control.Post([other, message] { other->Deliver(message); });
  }

  void Close(Status why) override {
    const std::shared_ptr<InprocLink> other = other_.lock();
    MutexLock lock(shared_->mu);
    if (shared_->closed) return;
    shared_->closed = true;
    if (other != nullptr) {
      other->QueueDown(Unavailable(other->peer_.task, " closed the connection: ", ToString(why)));
    }
    dropping_.store(true, std::memory_order_relaxed);
    QueueDown(std::move(why));
  }

  // Runs on the control thread. A link that the other end has already closed comes up, too: its messages, and then its
  // end, are queued behind this call. False if this end was closed before this call was queued.
  bool GoUp() {
    {
      MutexLock lock(shared_->mu);
      if (control_ended_) return false;
      announced_ = true;
    }
    handler_ = node_->acceptor->OnLinkUp(shared_from_this());
    MutexLock lock(shared_->mu);
    up_ = true;
    if (!shared_->closed) {
      for (Message& m : early_) QueueBulk(std::move(m));
    }
    early_.clear();
    return true;
  }

 private:
  // Call these two with the shared mutex held.
  void QueueBulk(Message message) {
    if (!up_) {
      early_.push_back(std::move(message));
      return;
    }
    threads_.bulk.Post([self = shared_from_this(), m = std::move(message)]() mutable { self->Deliver(std::move(m)); });
  }
  void QueueDown(Status why) {
    early_.clear();
    threads_.control.Post([self = shared_from_this(), why] {
      {
        MutexLock lock(self->shared_->mu);
        self->control_ended_ = true;
      }
      self->ChannelEnds(why);
    });
    threads_.bulk.Post([self = shared_from_this(), why] { self->ChannelEnds(why); });
  }

  void Deliver(Message message) {
    if (!dropping_.load(std::memory_order_relaxed)) handler_->OnMessage(std::move(message));
  }
  void Deliver(const LaneMessage& message) {
    if (dropping_.load(std::memory_order_relaxed)) return;
    if (const Status s = handler_->OnLaneMessage(message); !s.ok()) Close(s);
  }

  // The second channel to end takes the link down; no message can be delivered after that.
  void ChannelEnds(const Status& why) {
    if (channels_left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    bool announced;
    {
      MutexLock lock(shared_->mu);
      announced = announced_;
    }
    if (announced) handler_->OnLinkDown(why);
    handler_ = nullptr;
    node_->RemoveLink(shared_from_this());
  }

  const std::shared_ptr<Node> node_;
  std::shared_ptr<LinkHandler> handler_;  // set by GoUp, released when the link is down
  ChannelThreads& threads_;               // on which the handler is called
  const Hello peer_;
  const std::shared_ptr<Shared> shared_;
  std::weak_ptr<InprocLink> other_;
  bool announced_ = false;      // OnLinkUp has been or is being called; guarded by the shared mutex
  bool control_ended_ = false;  // the end of the control channel has been delivered; guarded by the shared mutex
  bool up_ = false;             // OnLinkUp has returned; guarded by the shared mutex
  std::vector<Message> early_;  // bulk messages that arrived before OnLinkUp returned; guarded by the shared mutex
  std::atomic<bool> dropping_{false};  // closed by this side: messages that still arrive are dropped
  std::atomic<int> channels_left_{2};
};

namespace {

// The number of the next call of Connect. All transports count together, so that the links of a task to which several
// others connect are on different threads.
std::atomic<uint64_t> next_connect{1};

// Runs on the control thread of the connecting side.
void FinishConnect(const std::shared_ptr<Node>& node, uint64_t id, StatusOr<std::shared_ptr<Link>> result) {
  if (auto done = node->TakeConnect(id)) done(std::move(result));
}

void PostFailure(const std::shared_ptr<Node>& node, uint64_t id, Status why) {
  node->threads_of(id).control.Post([=] { FinishConnect(node, id, why); });
}

// Runs on the control thread of the accepting side.
void Accept(const std::shared_ptr<Node>& node, const std::shared_ptr<Node>& from, uint64_t id, const Hello& hello,
            const std::string& address) {
  const auto gone = [&] { PostFailure(from, id, Unavailable("no task listens on ", address)); };
  {
    MutexLock lock(node->mu);
    if (node->stopping) return gone();
  }
  Hello answer;
  if (Status refused = node->acceptor->OnHello(hello, &answer); !refused.ok()) return PostFailure(from, id, refused);

  auto shared = std::make_shared<InprocLink::Shared>();
  auto theirs = std::make_shared<InprocLink>(from, id, answer, shared);
  auto ours = std::make_shared<InprocLink>(node, id, hello, shared);
  InprocLink::Pair(theirs, ours);
  if (!node->AddLink(ours)) return gone();
  if (!from->AddLink(theirs)) return node->RemoveLink(ours);
  // Queued before our side comes up and can send, so that OnLinkUp on their side comes before all messages.
  from->threads_of(id).control.Post([from, id, theirs, address] {
    if (theirs->GoUp()) {
      FinishConnect(from, id, std::shared_ptr<Link>(theirs));
    } else {
      FinishConnect(from, id, Unavailable("the connection to ", address, " was closed before it was up"));
    }
  });
  ours->GoUp();
}

class InprocTransport final : public Transport {
 public:
  InprocTransport(std::shared_ptr<InprocNetwork> network, const InprocOptions& options)
      : network_(std::move(network)), node_(std::make_shared<Node>(options)) {}
  ~InprocTransport() override { Shutdown(); }

  StatusOr<int> Listen(const std::string& address, LinkAcceptor* acceptor) override {
    TB_CHECK(node_->acceptor == nullptr);
    node_->acceptor = acceptor;
    auto port = network_->Add(address, node_);
    if (!port.ok()) node_->acceptor = nullptr;
    return port;
  }

  void Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
               ConnectDone done) override {
    TB_CHECK(node_->acceptor != nullptr);
    uint64_t id;
    {
      MutexLock lock(node_->mu);
      if (node_->stopping) return;
      id = next_connect++;
      node_->connects.emplace(id, std::move(done));
    }
    const std::shared_ptr<Node> other = network_->Find(address);
    const auto accept = [other, from = node_, id, hello, address] { Accept(other, from, id, hello, address); };
    if (other == nullptr || !other->threads_of(id).control.Post(accept)) {
      PostFailure(node_, id, Unavailable("no task listens on ", address));
    }
  }

  void Shutdown() override {
    network_->Remove(node_.get());
    absl::flat_hash_set<std::shared_ptr<InprocLink>> links;
    absl::flat_hash_map<uint64_t, ConnectDone> connects;
    {
      MutexLock lock(node_->mu);
      if (std::exchange(node_->stopping, true)) return;
      links = node_->links;
      connects.swap(node_->connects);
    }
    for (const auto& link : links) link->Close(Cancelled("the transport was shut down"));
    for (auto& [id, done] : connects) {
      node_->threads_of(id).control.Post([done = std::move(done)] { done(Cancelled("the transport was shut down")); });
    }
    for (auto& threads : node_->threads) threads.control.Stop();
    for (auto& threads : node_->threads) threads.bulk.Stop();
  }

 private:
  const std::shared_ptr<InprocNetwork> network_;
  const std::shared_ptr<Node> node_;
};

// The key of an address in InprocNetwork. All loopback names have the same key.
std::string KeyOf(const HostPort& address) {
  return IsLoopbackHost(address.host) ? StrCat("localhost:", address.port) : address.ToString();
}

}  // namespace
}  // namespace inproc

StatusOr<int> InprocNetwork::Add(const std::string& address, const std::shared_ptr<inproc::Node>& node) {
  TF_ASSIGN_OR_RETURN(HostPort where, ParseHostPort(address));
  MutexLock lock(mu_);
  if (where.port == 0) {
    do {
      where.port = next_port_++;
    } while (listeners_.contains(inproc::KeyOf(where)));
  }
  if (!listeners_.emplace(inproc::KeyOf(where), node).second)
    return AlreadyExists("cannot listen on ", address, ": the port is taken");
  return where.port;
}

void InprocNetwork::Remove(const inproc::Node* node) {
  MutexLock lock(mu_);
  for (auto it = listeners_.begin(); it != listeners_.end();) {
    if (it->second.get() == node) {
      listeners_.erase(it++);
    } else {
      ++it;
    }
  }
}

std::shared_ptr<inproc::Node> InprocNetwork::Find(const std::string& address) {
  const auto where = ParseHostPort(address);
  if (!where.ok()) return nullptr;
  MutexLock lock(mu_);
  auto it = listeners_.find(inproc::KeyOf(*where));
  return it == listeners_.end() ? nullptr : it->second;
}

std::unique_ptr<Transport> NewInprocTransport(std::shared_ptr<InprocNetwork> network, const InprocOptions& options) {
  return std::make_unique<inproc::InprocTransport>(std::move(network), options);
}

}  // namespace tensorbraid
