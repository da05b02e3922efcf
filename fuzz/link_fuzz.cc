// Passes packets from an untrusted task, one after the other as the transport does, to a member of a cluster with its
// exchange, worker and master. Bit 0 of the first byte says whether the other side is a task of the cluster.
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "bounds.h"
#include "cluster/server/member.h"
#include "core/memory/allocator.h"
#include "core/threads/mutex.h"
#include "transport/codec.h"

namespace tensorbraid {
namespace {

// Counts replies, so that the target can wait for them.
class FuzzLink final : public Link {
 public:
  explicit FuzzLink(Hello peer) : peer_(std::move(peer)) {}
  const Hello& peer() const override { return peer_; }
  void Send(Message message) override {
    MutexLock lock(mu_);
    if (std::holds_alternative<Reply>(message)) ++replies_;
    cv_.NotifyAll();
  }
  void Close(Status) override {}
  void WaitForReplies(int count) {
    MutexLock lock(mu_);
    if (!cv_.WaitFor(mu_, kPatience, [&]() TB_REQUIRES(mu_) { return replies_ >= count; })) Hangs("a reply");
  }

 private:
  const Hello peer_;
  Mutex mu_;
  CondVar cv_;
  int replies_ TB_GUARDED_BY(mu_) = 0;
};

// A transport without any other tasks.
class FuzzTransport final : public Transport {
 public:
  StatusOr<int> Listen(const std::string&, LinkAcceptor* acceptor) override {
    this->acceptor = acceptor;
    return 1;
  }
  void Connect(const std::string&, const Hello&, std::chrono::milliseconds, ConnectDone done) override {
    done(absl::UnavailableError("no other task exists"));
  }
  void Shutdown() override {
    if (link != nullptr) handler->OnLinkDown(absl::CancelledError("the transport was shut down"));
    link = nullptr;
    handler = nullptr;
  }
  LinkAcceptor* acceptor = nullptr;
  std::shared_ptr<LinkHandler> handler;  // of `link`
  std::shared_ptr<FuzzLink> link;
};

void DeliverAll(std::string_view bytes, FuzzTransport* transport) {
  const std::shared_ptr<FuzzLink> link = transport->link;
  int requests = 0;
  while (bytes.size() >= kPacketPrefixBytes) {
    const auto prefix = ReadPacketPrefix(bytes.data());
    bytes.remove_prefix(kPacketPrefixBytes);
    if (!prefix.ok() || prefix->header_bytes > bytes.size()) return;
    const auto* header = reinterpret_cast<const std::byte*>(bytes.data());
    bytes.remove_prefix(prefix->header_bytes);
    if (prefix->payload_bytes > bytes.size()) return;
    Payload payload;
    if (prefix->payload_bytes > 0) {
      payload.pieces.push_back({reinterpret_cast<const std::byte*>(bytes.data()), prefix->payload_bytes});
    }
    bytes.remove_prefix(prefix->payload_bytes);
    auto decoded = DecodeLinkMessage({header, prefix->header_bytes}, std::move(payload));
    if (!decoded.ok()) return;
    if (const auto* lane = std::get_if<LaneMessage>(&*decoded)) {
      if (!transport->handler->OnLaneMessage(*lane).ok()) return;  // closes the link
    }
    auto* const message = std::get_if<Message>(&*decoded);
    if (message == nullptr) continue;
    std::string again;
    if (!AppendPacket(*message, &again).ok()) std::abort();
    const auto* graph = std::get_if<RegisterGraph>(message);
    if (graph != nullptr && MayTouchFiles(graph->partition)) return;
    const bool answered = graph != nullptr || std::holds_alternative<ResetContainers>(*message);
    transport->handler->OnMessage(std::move(*message));
    // The next packets may refer to what this request creates.
    if (answered) link->WaitForReplies(++requests);
  }
}

}  // namespace
}  // namespace tensorbraid

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tensorbraid;  // NOLINT: the target is the program
  SetAllocatorLimit(kMemoryLimit);
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.empty()) return 0;
  const bool is_member = (bytes[0] & 1) != 0;
  bytes.remove_prefix(1);
  (void)DecodeHandshake({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
  (void)DecodeHandshakeAnswer({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});

  const ClusterSpec cluster({{"ps", {"localhost:1"}}, {"worker", {"localhost:2"}}});
  const auto env = WorkerEnv::Create({.num_threads = 1});
  if (!env.ok()) std::abort();
  const auto transport = std::make_shared<FuzzTransport>();
  const auto member = Member::Create(env->get(), cluster, {.job = "ps", .index = 0}, transport);
  if (!member->Listen("localhost:1").ok()) std::abort();
  Hello hello, answer;
  hello.task = is_member ? "/job:worker/replica:0/task:0" : "/job:stranger/replica:0/task:7";
  hello.incarnation = 7;
  if (transport->acceptor->OnHello(hello, &answer).ok()) {
    transport->link = std::make_shared<FuzzLink>(hello);
    transport->handler = transport->acceptor->OnLinkUp(transport->link);
    DeliverAll(bytes, transport.get());
  }
  member->Stop(OkStatus());
  (*env)->StopThreads();
  return 0;
}
