// Tests the paths of the status server that supervisors probe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

// The options that Debian's library was compiled with.
#define CPPHTTPLIB_OPENSSL_SUPPORT
#define CPPHTTPLIB_ZLIB_SUPPORT
#define CPPHTTPLIB_BROTLI_SUPPORT
#include <httplib.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cluster/protobuf/report.pb.h"
#include "cluster/status/status_server.h"
#include "core/system/fd.h"
#include "core/threads/mutex.h"
#include "io/file.h"
#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

constexpr std::chrono::seconds kPatience{60};

// The status and the body of the answer.
using Answer = std::pair<int, std::string>;
Answer Get(const StatusServer& server, const std::string& path) {
  std::string url = server.url();
  url.pop_back();
  httplib::Client client(url);
  client.set_read_timeout(kPatience);
  const auto got = client.Get(path);
  return got ? Answer(got->status, got->body) : Answer(-1, httplib::to_string(got.error()));
}

// Keeps the questions of a status server until they are answered.
class SlowSource {
 public:
  using Done = std::function<void(const proto::ClusterReport&)>;
  void Ask(Done done) {
    MutexLock lock(mu_);
    asked_.push_back(std::move(done));
    changed_.NotifyAll();
  }
  // Waits until the server has asked, and answers it.
  void Answer() {
    std::vector<Done> asked;
    {
      MutexLock lock(mu_);
      changed_.WaitFor(mu_, kPatience, [this]() TB_REQUIRES(mu_) { return !asked_.empty(); });
      asked.swap(asked_);
    }
    for (const Done& done : asked) done({});
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::vector<Done> asked_ TB_GUARDED_BY(mu_);
};

TEST(ProbesTest, NeedNoTokenAndSayWhyTheTaskIsNotReady) {
  const TempDir dir;
  dir.Write("token", "a-token-of-the-tasks\n");
  std::atomic<bool> ready = false;
  const auto server = StatusServer::Start(
      {.address = "localhost:0", .token_file = dir.path() + "/token"}, [](const auto& done) { done({}); },
      [&ready] { return ready ? OkStatus() : Unavailable("waits for ps/0 (not reached yet)"); });
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(Get(**server, "/healthz"), Answer(200, "ok\n"));
  EXPECT_EQ(Get(**server, "/readyz"), Answer(503, "not ready: waits for ps/0 (not reached yet)\n"));
  ready = true;
  EXPECT_EQ(Get(**server, "/readyz"), Answer(200, "ready\n"));
  for (const char* path : {"/metrics", "/report.json", "/", "/healthz/", "/readyz/../metrics"}) {
    EXPECT_EQ(Get(**server, path).first, 401) << path;
  }
}

TEST(ProbesTest, AreAnsweredWhileReadersOfTheStatusWait) {
  SlowSource source;
  const auto server = StatusServer::Start(
      {.address = "localhost:0"}, [&source](auto done) { source.Ask(std::move(done)); }, [] { return OkStatus(); });
  ASSERT_TRUE(server.ok()) << server.status();
  // More readers than may wait for a report. Those that it has no room for are told so at once.
  std::atomic<int> answered = 0, refused = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 20; ++i) {
    readers.emplace_back([&] {
      const int status = Get(**server, "/metrics").first;
      ++(status == 503 ? refused : answered);
      EXPECT_THAT(status, ::testing::AnyOf(200, 503));
    });
  }
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (refused < 4 && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
  EXPECT_EQ(refused, 4);
  EXPECT_EQ(Get(**server, "/healthz"), Answer(200, "ok\n"));
  EXPECT_EQ(Get(**server, "/readyz"), Answer(200, "ready\n"));
  EXPECT_EQ(answered, 0);
  source.Answer();
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(answered, 16);
}

// A client that has connected and sent these bytes.
Fd Connect(const StatusServer& server, const std::string& sent) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  address.sin_port = ::htons(static_cast<uint16_t>(std::stoi(server.url().substr(server.url().rfind(':') + 1))));
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::send(socket.get(), sent.data(), sent.size(), MSG_NOSIGNAL), static_cast<ssize_t>(sent.size()));
  return socket;
}

StatusOr<std::unique_ptr<StatusServer>> StartWith(std::chrono::milliseconds request_time) {
  return StatusServer::Start(
      {.address = "127.0.0.1:0", .request_time = request_time}, [](const auto& done) { done({}); },
      [] { return OkStatus(); });
}

TEST(ProbesTest, AreAnsweredWhileClientsSayNothing) {
  const auto server = StartWith(10 * kPatience);
  ASSERT_TRUE(server.ok()) << server.status();
  // More than the server has threads. They have nothing but time.
  std::vector<Fd> clients;
  for (int i = 0; i < 100; ++i) {
    for (const char* text : {"", "GET /metrics HTTP/1.1\r\nHost:", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n"}) {
      clients.push_back(Connect(**server, text));
    }
    if (i % 20 != 0) continue;
    EXPECT_EQ(Get(**server, "/healthz"), Answer(200, "ok\n"));
    EXPECT_EQ(Get(**server, "/metrics").first, 200);
  }
  // The server ends, and does not wait for them.
}

TEST(ProbesTest, AClientThatNeverFinishesItsRequestIsCutOff) {
  const auto server = StartWith(std::chrono::milliseconds(200));
  ASSERT_TRUE(server.ok()) << server.status();
  const Fd client = Connect(**server, "GET /metrics HTTP/1.1\r\n");
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  bool is_open = true;
  // A byte now and then, so no single read of the server takes long.
  while (is_open && std::chrono::steady_clock::now() < give_up) {
    pollfd event = {client.get(), POLLIN, 0};
    is_open = ::poll(&event, 1, 10) == 0 && ::send(client.get(), "a", 1, MSG_NOSIGNAL) == 1;
  }
  EXPECT_FALSE(is_open);
  EXPECT_EQ(Get(**server, "/healthz"), Answer(200, "ok\n"));
}

}  // namespace
}  // namespace tensorbraid
