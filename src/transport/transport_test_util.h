// Helpers for tests of transports: a recording handler, test messages and a blocking Connect.
#ifndef TENSORBRAID_TRANSPORT_TRANSPORT_TEST_UTIL_H_
#define TENSORBRAID_TRANSPORT_TRANSPORT_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "transport/side_lane/lane_link.h"
#include "transport/transport.h"

namespace tensorbraid {

inline constexpr std::chrono::seconds kTestPatience{60};  // only a failing test waits this long

// Random, or the value of TENSORBRAID_TEST_SEED, to repeat a failure.
inline uint32_t TestSeed() {
  const char* fixed = std::getenv("TENSORBRAID_TEST_SEED");
  return fixed != nullptr ? static_cast<uint32_t>(std::strtoul(fixed, nullptr, 10)) : std::random_device{}();
}

// Prints how to repeat the test if it has failed.
class SeedReport {
 public:
  explicit SeedReport(uint32_t seed) : seed_(seed) {}
  ~SeedReport() {
    if (::testing::Test::HasFailure()) std::cerr << "to repeat: TENSORBRAID_TEST_SEED=" << seed_ << std::endl;
  }

 private:
  const uint32_t seed_;
};

// A message and a copy of its payload.
struct Received {
  Message message = Heartbeat();
  std::string bytes;
};

// Records the calls for all links of one transport. Hooks run before a call is recorded, without the lock held; set
// them before Listen.
class Recorder : public LinkAcceptor {
 public:
  std::function<Status(const Hello&, Hello*)> on_hello;
  std::function<void(const std::shared_ptr<Link>&)> on_up;
  std::function<void(const std::shared_ptr<Link>&, const Message&)> on_message;

  explicit Recorder(std::string task) : task_(std::move(task)) {}

  Status OnHello(const Hello& from, Hello* answer) override {
    answer->task = task_;
    answer->expected_task = from.task;
    answer->incarnation = 77;
    return on_hello ? on_hello(from, answer) : OkStatus();
  }
  std::shared_ptr<LinkHandler> OnLinkUp(const std::shared_ptr<Link>& link) override {
    if (on_up) on_up(link);
    MutexLock lock(mu_);
    ups_.push_back(link);
    cv_.NotifyAll();
    return std::make_shared<Handler>(this, link);
  }
  void OnMessage(const std::shared_ptr<Link>& link, Message message) {
    if (on_message) on_message(link, message);
    Received r;
    if (Payload* payload = PayloadOf(message)) {
      r.bytes.resize(payload->size());
      payload->CopyTo(r.bytes.data());
      payload->pieces.clear();
      payload->owner.reset();
    }
    r.message = std::move(message);
    MutexLock lock(mu_);
    if (downs_by_link_[link.get()] > 0) ADD_FAILURE() << "a message after OnLinkDown";
    (std::holds_alternative<BulkTensor>(r.message) ? bulk_ : control_).push_back(std::move(r));
    cv_.NotifyAll();
  }
  void OnLinkDown(const std::shared_ptr<Link>& link, const Status& why) {
    MutexLock lock(mu_);
    if (++downs_by_link_[link.get()] > 1) ADD_FAILURE() << "OnLinkDown called twice";
    downs_.push_back(why);
    cv_.NotifyAll();
  }

  std::shared_ptr<Link> WaitForLink(size_t n = 1) {
    MutexLock lock(mu_);
    Wait([&]() TB_REQUIRES(mu_) { return ups_.size() >= n; }, "a link");
    return ups_.size() >= n ? ups_[n - 1] : nullptr;
  }
  std::vector<Received> WaitForControl(size_t n) {
    MutexLock lock(mu_);
    Wait([&]() TB_REQUIRES(mu_) { return control_.size() >= n; }, "control messages");
    return {control_.begin(), control_.end()};
  }
  // The first `n` tensors that are complete, in the order of their completion, each joined from its parts. Checks that
  // the parts of each arrived in order.
  std::vector<std::string> WaitForBulk(size_t n) {
    MutexLock lock(mu_);
    Wait([&]() TB_REQUIRES(mu_) { return WholeTensors() >= n; }, "bulk tensors");
    std::vector<std::string> whole;
    absl::flat_hash_map<uint64_t, std::string> arriving;  // by edge
    for (const Received& r : bulk_) {
      const auto& part = std::get<BulkTensor>(r.message);
      std::string& tensor = arriving[part.key.edge];
      if (part.offset != tensor.size()) ADD_FAILURE() << "a part of tensor " << part.key.edge << " out of order";
      tensor += r.bytes;
      if (tensor.size() < part.meta.bytes) continue;
      whole.push_back(std::move(tensor));
      arriving.erase(part.key.edge);
    }
    whole.resize(n);
    return whole;
  }
  size_t control_messages() {
    MutexLock lock(mu_);
    return control_.size();
  }
  size_t bulk_parts() {
    MutexLock lock(mu_);
    return bulk_.size();
  }
  Status WaitForDown(size_t n = 1) {
    MutexLock lock(mu_);
    Wait([&]() TB_REQUIRES(mu_) { return downs_.size() >= n; }, "OnLinkDown");
    return downs_.size() >= n ? downs_[n - 1] : Status(absl::StatusCode::kInternal, "never went down");
  }
  size_t downs() {
    MutexLock lock(mu_);
    return downs_.size();
  }
  size_t ups() {
    MutexLock lock(mu_);
    return ups_.size();
  }

  static Payload* PayloadOf(Message& message) {
    if (auto* eager = std::get_if<EagerTensor>(&message)) return &eager->payload;
    if (auto* bulk = std::get_if<BulkTensor>(&message)) return &bulk->payload;
    return nullptr;
  }

 private:
  // Passes on the calls of one link.
  class Handler final : public LinkHandler {
   public:
    Handler(Recorder* recorder, std::shared_ptr<Link> link) : recorder_(recorder), link_(std::move(link)) {}
    void OnMessage(Message message) override { recorder_->OnMessage(link_, std::move(message)); }
    void OnLinkDown(const Status& why) override { recorder_->OnLinkDown(link_, why); }

   private:
    Recorder* const recorder_;
    const std::shared_ptr<Link> link_;
  };

  template <typename Pred>
  void Wait(Pred pred, const char* what) TB_REQUIRES(mu_) {
    if (!cv_.WaitFor(mu_, kTestPatience, pred)) ADD_FAILURE() << task_ << " timed out waiting for " << what;
  }
  size_t WholeTensors() const TB_REQUIRES(mu_) {
    size_t n = 0;
    for (const Received& r : bulk_) {
      const auto& part = std::get<BulkTensor>(r.message);
      n += part.offset + r.bytes.size() == part.meta.bytes;
    }
    return n;
  }

  const std::string task_;
  Mutex mu_;
  CondVar cv_;
  std::vector<std::shared_ptr<Link>> ups_ TB_GUARDED_BY(mu_);
  std::vector<Status> downs_ TB_GUARDED_BY(mu_);
  absl::flat_hash_map<const Link*, int> downs_by_link_ TB_GUARDED_BY(mu_);
  std::deque<Received> control_ TB_GUARDED_BY(mu_);
  std::deque<Received> bulk_ TB_GUARDED_BY(mu_);
};

// Returns once the messages of `sender`, the other end of `link`, come over a side lane. REQUIRES: `link` has one.
// `receiver` is the handler of `link` and has received no control messages yet.
inline void AwaitSideLane(const Link& link, Link& sender, Recorder& receiver) {
  const auto* const lane_link = dynamic_cast<const LaneLink*>(&link);
  ASSERT_NE(lane_link, nullptr) << "the link has no side lane";
  for (size_t n = receiver.control_messages() + 1; !lane_link->receives_by_side_lane(); ++n) {
    sender.Send(Heartbeat{});
    if (receiver.WaitForControl(n).size() < n) return;  // has failed
  }
}

// A buffer that counts its instances, so that a test sees when a transport has released it.
class CountedBuffer : public Buffer {
 public:
  CountedBuffer(std::string bytes, std::atomic<int>* alive)
      : Buffer(nullptr, 0), bytes_(std::move(bytes)), alive_(alive) {
    if (alive_ != nullptr) ++*alive_;
  }
  ~CountedBuffer() override {
    if (alive_ != nullptr) --*alive_;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  const std::string bytes_;
  std::atomic<int>* const alive_;
};

inline Payload PayloadFrom(std::string bytes, std::atomic<int>* alive = nullptr) {
  auto buffer = MakeRef<CountedBuffer>(std::move(bytes), alive);
  Payload payload;
  payload.pieces.push_back(std::as_bytes(std::span(buffer->bytes())));
  payload.owner = std::move(buffer);
  return payload;
}

inline TensorMeta BytesMeta(size_t n) { return {.dtype = kUint8, .shape = {static_cast<int64_t>(n)}, .bytes = n}; }

inline BulkTensor MakeBulk(uint32_t edge, std::string bytes, std::atomic<int>* alive = nullptr) {
  const size_t n = bytes.size();
  return {{{1, 1}, edge}, BytesMeta(n), 0, PayloadFrom(std::move(bytes), alive)};
}

inline EagerTensor MakeEager(uint32_t edge, std::string bytes, std::atomic<int>* alive = nullptr) {
  const size_t n = bytes.size();
  return {{{1, 1}, edge}, BytesMeta(n), PayloadFrom(std::move(bytes), alive)};
}

// Pseudo-random bytes, the same for the same `seed`.
inline std::string Pattern(size_t n, uint32_t seed) {
  std::string s(n, 0);
  uint64_t x = seed * 2654435761u + 1;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    std::memcpy(&s[i], &x, 8);
  }
  if (i < n) std::memcpy(&s[i], &x, n - i);
  return s;
}

// Connects once and waits for the result.
inline StatusOr<std::shared_ptr<Link>> ConnectAndWait(Transport& transport, const std::string& address,
                                                      const Hello& hello,
                                                      std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
  struct Shared {
    Mutex mu;
    CondVar cv;
    std::vector<StatusOr<std::shared_ptr<Link>>> results;
  };
  auto shared = std::make_shared<Shared>();
  transport.Connect(address, hello, timeout, [shared](StatusOr<std::shared_ptr<Link>> result) {
    MutexLock lock(shared->mu);
    shared->results.push_back(std::move(result));
    shared->cv.NotifyAll();
  });
  MutexLock lock(shared->mu);
  if (!shared->cv.WaitFor(shared->mu, kTestPatience, [&] { return !shared->results.empty(); })) {
    return absl::InternalError("Connect never answered");
  }
  return shared->results[0];
}

inline Hello HelloFrom(const std::string& task, const std::string& expected = "") {
  Hello hello;
  hello.task = task;
  hello.expected_task = expected;
  hello.incarnation = 42;
  hello.address = "localhost:1";
  hello.devices = {{.type = "CPU", .id = 1, .memory_limit = 5, .incarnation = 6}};
  hello.cluster = 7;
  hello.cluster_def = "def";
  hello.cluster_master = "master";
  return hello;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_TRANSPORT_TEST_UTIL_H_
