// gRPC's own threads cannot run under the scheduler of a simulation. Here the threads of the gRPC transport are
// ordinary threads, but each lock that they take may stop them for a while, as on a busy machine. A seed decides when.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "core/system/env_testutil.h"
#include "core/threads/mutex.h"
#include "transport/grpc/grpc_transport.h"
#include "transport/transport_test_util.h"

namespace tensorbraid {
namespace {

// Makes threads pause now and then when they take a lock: the threads that it starts, and those that have called Enter.
class JitterEnv final : public ForwardingEnv, private LockScheduler {
 public:
  explicit JitterEnv(uint64_t seed) : seed_(seed) {}
  // From now on, the calling thread pauses now and then, too.
  void Enter() { lock_scheduler = this; }
  static void Leave() { lock_scheduler = nullptr; }

  std::unique_ptr<Thread::Handle> StartThread(const std::string& name, std::function<void()> body) override {
    return System().StartThread(name, [this, body = std::move(body)]() mutable {
      Enter();
      body();
      body = nullptr;
      Leave();
    });
  }

 private:
  void Lock(bool (*try_lock)(void*), void* lock, std::source_location) override {
    // Short pauses change the order of threads. A long pause is longer than a handshake.
    constexpr uint64_t kShortOneIn = 8, kLongOneIn = 64;
    constexpr uint64_t kShortUs = 2'000, kLongUs = 50'000;
    static std::atomic<uint64_t> threads{0};
    thread_local std::mt19937_64 random(seed_ + 1000 * threads++);
    uint64_t most = 0;
    if (random() % kShortOneIn == 0) most = kShortUs;
    if (random() % kLongOneIn == 0) most = kLongUs;
    if (most > 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % most));
    while (!try_lock(lock)) std::this_thread::yield();
  }

  const uint64_t seed_;
};

struct JitterTask {
  explicit JitterTask(const std::string& name) : handler(name), transport(NewGrpcTransport()) {
    address = StrCat("localhost:", transport->Listen("localhost:0", &handler).value());
  }
  Recorder handler;
  std::unique_ptr<Transport> transport;
  std::string address;
};

// A thread that opens a channel may pause right after, while the rest of the handshake happens.
TEST(Jitter, ALinkThatIsUpHasBothChannels) {
  uint64_t seeds = 20;
  if (const char* number = std::getenv("TENSORBRAID_SIMULATION_SEEDS")) seeds = std::strtoull(number, nullptr, 10);
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    std::cout << "seed " << seed << std::endl;  // flushed before the test runs, so that a crash shows the seed
    JitterEnv env(seed);
    const ScopedEnv scope(&env);
    env.Enter();
    {
      JitterTask server("server");
      JitterTask client("client");
      auto link = ConnectAndWait(*client.transport, server.address, HelloFrom("client"));
      ASSERT_TRUE(link.ok()) << link.status();
      (*link)->Send(MakeBulk(1, Pattern(10, 1)));
      (*link)->Send(Heartbeat{});
      server.handler.WaitForControl(1);
      server.handler.WaitForBulk(1);
      EXPECT_EQ(client.handler.downs(), 0u);
    }
    JitterEnv::Leave();
  }
}

}  // namespace
}  // namespace tensorbraid
