// Tests the limits for callers: too many connections, requests or sessions, requests that are too large, and
// connections on which nothing arrives. Also tests a connection that is recorded and replayed.
#include <arpa/inet.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <list>
#include <thread>

#include "core/system/fd.h"
#include "core/text/host_port.h"
#include "tensorbraid/tensorbraid.h"
#include "tls/access_testutil.h"

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

void ExpectExhausted(const Status& status, const std::string& text) {
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(text));
}

// Connects from the IPv4 address `from`, which must be one of this machine.
Fd ConnectTo(const std::string& address, const char* from = "127.0.0.1") {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(ParseHostPort(address)->port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in own{};
  own.sin_family = AF_INET;
  EXPECT_EQ(::inet_pton(AF_INET, from, &own.sin_addr), 1);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  return socket;
}

// Reads until the other side closes the connection. Fails if the connection stays open for kTestPatience.
std::string ReadToEnd(const Fd& socket) {
  const timeval patience{.tv_sec = kTestPatience.count(), .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::string all(1 << 16, '\0');
  size_t size = 0;
  ssize_t n;
  while ((n = ::recv(socket.get(), all.data() + size, all.size() - size, 0)) > 0) size += static_cast<size_t>(n);
  EXPECT_FALSE(n < 0 && errno == EAGAIN) << "the connection has stayed open";
  all.resize(size);
  return all;
}

// A server of calls that answers them when the test calls Answer.
class HoldingServer : public CallHandler {
 public:
  explicit HoldingServer(const GrpcOptions& options) : handler_("server"), transport_(NewGrpcTransport(options)) {
    transport_->ServeCalls(this);
    address_ = StrCat("localhost:", transport_->Listen("localhost:0", &handler_).value());
  }
  ~HoldingServer() override {
    Answer();
    transport_->Shutdown();
  }
  void OnCall(std::shared_ptr<Call> call) override {
    MutexLock lock(mu_);
    if (answering_) return call->Answer({OwnedPayload("answer")});
    calls_.push_back(std::move(call));
    changed_.NotifyAll();
  }
  void WaitForCalls(size_t n) {
    MutexLock lock(mu_);
    EXPECT_TRUE(changed_.WaitFor(mu_, kTestPatience, [&]() TB_REQUIRES(mu_) { return calls_.size() >= n; }));
  }
  // Answers the calls so far, and later ones at once.
  void Answer() {
    std::vector<std::shared_ptr<Call>> calls;
    {
      MutexLock lock(mu_);
      answering_ = true;
      calls.swap(calls_);
    }
    for (const auto& call : calls) call->Answer({OwnedPayload("answer")});
  }
  const std::string& address() const { return address_; }

 private:
  Recorder handler_;
  const std::unique_ptr<Transport> transport_;
  std::string address_;
  Mutex mu_;
  CondVar changed_;
  bool answering_ TB_GUARDED_BY(mu_) = false;
  std::vector<std::shared_ptr<Call>> calls_ TB_GUARDED_BY(mu_);
};

Status AskWith(CallClient& client, const std::string& request = "request") {
  return client.Ask("/a.Service/Method", {OwnedPayload(request)}, CallClient::Deadline::max()).status;
}

class BoundsTest : public AccessTest {};

TEST_F(BoundsTest, ConnectionsBeyondTheBoundAreClosedAndLeaveRoomWhenTheyEnd) {
  Peer server("server", GrpcOptions{.limits = {.max_connections = 3}});
  std::list<Fd> open;
  for (int i = 0; i < 3; ++i) open.push_back(ConnectTo(server.address));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ReadToEnd(ConnectTo(server.address)), "");
  const std::string told = "too many connections";
  const Status refused = AskUntilTold(told, server.address, {});
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr(told));
  open.clear();
  const Status accepted = Ask(server.address, {});
  EXPECT_EQ(accepted, OkStatus());
}

TEST_F(BoundsTest, OneAddressDoesNotTakeAllConnections) {
  Peer server("server", GrpcOptions{.limits = {.max_connections = 6, .max_connections_per_address = 2}});
  std::list<Fd> open;
  for (int i = 0; i < 2; ++i) open.push_back(ConnectTo(server.address, "127.0.0.2"));
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ReadToEnd(ConnectTo(server.address, "127.0.0.2")), "");
  const std::string log = ::testing::internal::GetCapturedStderr();
  const std::string line = "turning connections from 127.0.0.2 away: 2 are open; --max_connections_per_address";
  EXPECT_THAT(log, HasSubstr(line));
  EXPECT_EQ(log.find(line), log.rfind(line)) << "logged again: " << log;
  EXPECT_EQ(Ask(server.address, {}), OkStatus());
  open.clear();
  // A connection that is let in gets the server's first HTTP/2 frame at once.
  const auto give_up = MonotonicClock::now() + kTestPatience;
  const auto is_let_in = [&] {
    const Fd again = ConnectTo(server.address, "127.0.0.2");
    char byte = 0;
    return ::recv(again.get(), &byte, 1, 0) == 1;
  };
  while (!is_let_in()) ASSERT_LT(MonotonicClock::now(), give_up);
}

TEST_F(BoundsTest, ByDefaultAnotherAddressMayTakeHalfOfAllConnectionsAndTheOwnMachineAll) {
  Peer server("server", GrpcOptions{.limits = {.max_connections = 4}});
  std::list<Fd> open;
  for (int i = 0; i < 2; ++i) open.push_back(ConnectTo(server.address, "127.0.0.2"));
  EXPECT_EQ(ReadToEnd(ConnectTo(server.address, "127.0.0.2")), "");
  EXPECT_EQ(Ask(server.address, {}), OkStatus());
  Peer own("own", GrpcOptions{.limits = {.max_connections = 4}});
  for (int i = 0; i < 3; ++i) open.push_back(ConnectTo(own.address));
  EXPECT_EQ(Ask(own.address, {}), OkStatus());
}

TEST_F(BoundsTest, ConnectionsWithoutAHandshakeAreClosed) {
  for (const TlsOptions& tls : {TlsOptions(), good_}) {
    Peer server("server", GrpcOptions{.tls = tls, .handshake_timeout = milliseconds(200)});
    const Fd silent = ConnectTo(server.address), slow = ConnectTo(server.address);
    // A part of HTTP/2's greeting; with TLS, no handshake. On a busy machine the connection may be closed already.
    (void)!::send(slow.get(), "PRI * HT", 8, MSG_NOSIGNAL);
    ReadToEnd(silent);
    ReadToEnd(slow);
    // On a busy machine a good handshake may take as long, too, so that the server closes the connection of a call.
    const auto give_up = MonotonicClock::now() + kTestPatience;
    Status served = Ask(server.address, tls);
    while (absl::IsUnavailable(served) && MonotonicClock::now() < give_up) served = Ask(server.address, tls);
    EXPECT_EQ(served, OkStatus());
  }
}

TEST_F(BoundsTest, IdleConnectionsAreClosedAndClientsReconnect) {
  HoldingServer server(GrpcOptions{.limits = {.idle_timeout = milliseconds(100)}});
  server.Answer();
  const auto client = NewGrpcCallClient(server.address(), kTestPatience).value();
  ASSERT_EQ(AskWith(*client), OkStatus());
  // HTTP/2 without a request: the preface and empty settings.
  const Fd idle = ConnectTo(server.address());
  const std::string hello("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
  (void)!::send(idle.get(), hello.data(), hello.size(), MSG_NOSIGNAL);  // it may be closed already on a busy machine
  ReadToEnd(idle);
  EXPECT_EQ(AskWith(*client), OkStatus());
}

TEST_F(BoundsTest, ACallWhoseRequestDoesNotComeIsCancelled) {
  HoldingServer server(GrpcOptions{.limits = {.request_timeout = milliseconds(1000)}});
  const auto channel = grpc::CreateChannel("127.0.0.1" + server.address().substr(server.address().find(':')),
                                           grpc::InsecureChannelCredentials());
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  void* tag = nullptr;
  bool ok = false;
  const auto call = stub.PrepareCall(&context, "/a.Service/Method", &queue);
  call->StartCall(&context);
  ASSERT_TRUE(queue.Next(&tag, &ok) && ok);
  grpc::Status status;
  call->Finish(&status, &context);  // sends nothing, and waits for the end
  ASSERT_EQ(queue.AsyncNext(&tag, &ok, std::chrono::system_clock::now() + kTestPatience),
            grpc::CompletionQueue::GOT_EVENT);
  EXPECT_NE(status.error_code(), grpc::StatusCode::OK);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  // A call is not cancelled if the server works on it for longer than request_timeout.
  const auto client = NewGrpcCallClient(server.address(), kTestPatience).value();
  auto held = std::async(std::launch::async, [&] { return AskWith(*client); });
  server.WaitForCalls(1);
  EXPECT_EQ(held.wait_for(milliseconds(1500)), std::future_status::timeout);
  server.Answer();
  EXPECT_EQ(held.get(), OkStatus());
}

TEST_F(BoundsTest, RequestsOfOneConnectionAreBounded) {
  HoldingServer server(GrpcOptions{.limits = {.max_requests = 2}});
  const auto client = NewGrpcCallClient(server.address(), kTestPatience).value();
  const auto other = NewGrpcCallClient(server.address(), kTestPatience).value();
  std::vector<std::future<Status>> held;
  for (const auto* c : {&client, &client, &other}) {
    held.push_back(std::async(std::launch::async, [c] { return AskWith(**c); }));
  }
  server.WaitForCalls(3);
  ExpectExhausted(AskWith(*client), "has 2 requests in progress; the server's --max_requests allows no more");
  server.Answer();
  for (auto& call : held) EXPECT_EQ(call.get(), OkStatus());
  EXPECT_EQ(AskWith(*client), OkStatus());
}

TEST_F(BoundsTest, LargeRequestsAreRefusedAndTheBoundIsNamed) {
  HoldingServer server(GrpcOptions{.limits = {.max_message_bytes = 1000, .max_graph_bytes = 1000}});
  server.Answer();
  const auto client = NewGrpcCallClient(server.address(), kTestPatience).value();
  EXPECT_EQ(AskWith(*client, std::string(1000, 'x')), OkStatus());
  ExpectExhausted(AskWith(*client, std::string(1001, 'x')), "1001 bytes exceeds the server's --max_message_bytes=1000");
  // This request is so large that gRPC itself refuses it.
  ExpectExhausted(AskWith(*client, std::string(20 << 20, 'x')), "--max_message_bytes");
  EXPECT_EQ(AskWith(*client), OkStatus());
}

TEST_F(BoundsTest, TheBytesOfAllRequestsTogetherAreBounded) {
  HoldingServer server(GrpcOptions{.limits = {.max_total_request_bytes = 10000}});
  const auto client = NewGrpcCallClient(server.address(), kTestPatience).value();
  const auto other = NewGrpcCallClient(server.address(), kTestPatience).value();
  std::vector<std::future<Status>> held;
  for (const auto* c : {&client, &other}) {
    held.push_back(std::async(std::launch::async, [c] { return AskWith(**c, std::string(4000, 'x')); }));
  }
  server.WaitForCalls(2);
  for (const auto* c : {&client, &other}) {
    ExpectExhausted(AskWith(**c, std::string(2001, 'x')),
                    "a request of 2001 bytes and the 8000 bytes of other requests in progress exceed the server's "
                    "--max_total_request_bytes=10000");
  }
  held.push_back(std::async(std::launch::async, [&] { return AskWith(*client, std::string(2000, 'x')); }));
  server.WaitForCalls(3);
  server.Answer();
  for (auto& call : held) EXPECT_EQ(call.get(), OkStatus());
  EXPECT_EQ(AskWith(*other, std::string(4000, 'x')), OkStatus());
  ExpectExhausted(AskWith(*client, std::string(10001, 'x')), "--max_total_request_bytes");
}

// A server with one task whose sessions come as if from another process.
class SessionBoundsTest : public BoundsTest {
 protected:
  void Start(const ServerLimits& limits) {
    auto server = Server::Create(ClusterSpec({{"worker", {"localhost:0"}}}), {.job_name = "worker", .limits = limits});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    target_ = StrCat("grpc://127.0.0.1:", ParseHostPort(server_->address())->port);
  }
  std::unique_ptr<Server> server_;
  std::string target_;
};

TEST_F(SessionBoundsTest, GraphsAreBoundedAlsoWhenTheyGrow) {
  Start({.max_graph_bytes = 10000});
  Graph large;
  Const(large, Tensor::Vector(std::vector<float>(10000, 0.5f)));
  ExpectExhausted(Session::Create(large, {.target = target_}).status(), "--max_graph_bytes");
  Graph growing;
  auto x = Placeholder(growing, kFloat32, {}, "x");
  auto session = Session::Create(growing, {.target = target_});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ((*session)->Run({x}, {{x, Tensor::Scalar(1.0f)}}).status(), OkStatus());
  Status grown;
  Output y = x;
  for (int i = 0; i < 100 && grown.ok(); ++i) {
    for (int j = 0; j < 10; ++j) y = y + x;
    grown = (*session)->Run({y}, {{x, Tensor::Scalar(1.0f)}}).status();
  }
  ExpectExhausted(grown, "--max_graph_bytes of worker/0 allows 10000");
}

TEST_F(SessionBoundsTest, ASessionIsRefusedWhenAllOthersAreBusy) {
  Start({.max_sessions = 2});
  Graph g;
  ASSERT_EQ(g.ImportGraphDefText(R"(
      node { name: 'queue' op: 'FIFOQueueV2' attr { key: 'component_types' value { list { type: DT_FLOAT } } }
             attr { key: 'shared_name' value { s: 'q' } } }
      node { name: 'value' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
             attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1 } } } }
      node { name: 'put' op: 'QueueEnqueueV2' input: 'queue' input: 'value'
             attr { key: 'Tcomponents' value { list { type: DT_FLOAT } } } }
      node { name: 'size' op: 'QueueSizeV2' input: 'queue' }
      node { name: 'take' op: 'QueueDequeueV2' input: 'queue'
             attr { key: 'component_types' value { list { type: DT_FLOAT } } } })"),
            OkStatus());
  const auto first = Session::Create(g, {.target = target_}).value();
  const auto second = Session::Create(g, {.target = target_}).value();
  // `second` is idle, so a third session replaces it.
  auto taken = std::async(std::launch::async, [&] { return first->Run({"take"}).status(); });
  Status refused;
  std::vector<std::unique_ptr<Session>> others;
  std::vector<std::future<Status>> waiting;
  // Makes each new session busy, until the server has no room. The beginning of a step cannot be observed from outside,
  // so a new session may still replace one whose step is about to begin.
  for (int i = 0; i < 100 && refused.ok(); ++i) {
    auto next = Session::Create(g, {.target = target_});
    refused = next.status();
    if (!next.ok()) break;
    others.push_back(*std::move(next));
    waiting.push_back(std::async(std::launch::async, [s = others.back().get()] { return s->Run({"take"}).status(); }));
  }
  ExpectExhausted(refused, "2 sessions, all with requests in progress; its --max_sessions allows no more");
  first->Close().IgnoreError();
  taken.wait();
  for (auto& session : others) session->Close().IgnoreError();
  for (auto& step : waiting) step.wait();
  EXPECT_TRUE(Session::Create(g, {.target = target_}).ok());
}

TEST_F(SessionBoundsTest, LargeTensorsAreRefused) {
  Start({.max_tensor_bytes = 1 << 20});
  Graph g;
  const auto rows = Placeholder(g, kInt32, {1}, "rows");
  const auto filled = Fill(g, rows, 1.0f);
  const auto session = Session::Create(g, {.target = target_}).value();
  const auto run = [&](int n) {
    return session->Run({ReduceSum(filled)}, {{rows, Tensor::Vector(std::vector<int32_t>{n})}}).status();
  };
  EXPECT_EQ(run(1 << 18), OkStatus());
  ExpectExhausted(run((1 << 18) + 1), "exceeds --max_tensor_bytes=1048576");
  server_ = Server::Create(ClusterSpec({{"worker", {"localhost:0"}}}), {.job_name = "worker"}).value();
  SUCCEED() << "the default is set again for other tests";
}

// Passes connections on to a server, and keeps what the clients send.
class RecordingRelay {
 public:
  explicit RecordingRelay(std::string server) : server_(std::move(server)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
    address = StrCat("localhost:", ntohs(at.sin_port));
    thread_ = std::thread([this] { Loop(); });
  }
  // Ends the relay, and returns the bytes that the clients have sent on each connection.
  std::vector<std::string> Stop() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
    std::vector<std::string> recorded;
    for (Passing& passing : passing_) {
      ::shutdown(passing.client.get(), SHUT_RDWR);
      ::shutdown(passing.server.get(), SHUT_RDWR);
      passing.up.join();
      passing.down.join();
      recorded.push_back(passing.sent);
    }
    return recorded;
  }
  std::string address;

 private:
  struct Passing {
    Fd client, server;
    std::string sent;
    std::thread up, down;
  };
  static void Copy(const Fd& from, const Fd& to, std::string* record) {
    char bytes[4096];
    ssize_t n;
    while ((n = ::recv(from.get(), bytes, sizeof bytes, 0)) > 0) {
      if (record != nullptr) record->append(bytes, static_cast<size_t>(n));
      if (::send(to.get(), bytes, static_cast<size_t>(n), MSG_NOSIGNAL) != n) break;
    }
    ::shutdown(to.get(), SHUT_WR);
  }
  void Loop() {
    while (true) {
      Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client.is_open()) return;
      Passing& passing = passing_.emplace_back();
      passing.client = std::move(client);
      passing.server = ConnectTo(server_);
      passing.up = std::thread([&passing] { Copy(passing.client, passing.server, &passing.sent); });
      passing.down = std::thread([&passing] { Copy(passing.server, passing.client, nullptr); });
    }
  }

  const std::string server_;
  const Fd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::list<Passing> passing_;
  std::thread thread_;
};

TEST_F(BoundsTest, AReplayedConnectionIsNotLetIn) {
  Peer server("server", good_);
  std::vector<std::string> recorded;
  {
    RecordingRelay relay(server.address);
    Peer task("task", Files("task", authority_, authority_));
    const auto link = ConnectAndWait(*task.transport, relay.address, HelloFrom("task"));
    ASSERT_TRUE(link.ok()) << link.status();
    (*link)->Send(MakeEager(1, "message"));
    server.handler.WaitForControl(1);
    recorded = relay.Stop();
    EXPECT_FALSE(server.handler.WaitForDown().ok());
  }
  ASSERT_EQ(recorded.size(), 2);  // a link has two connections
  std::vector<Fd> replays;
  for (const std::string& bytes : recorded) {
    ASSERT_GT(bytes.size(), 1000);
    replays.push_back(ConnectTo(server.address));
    ASSERT_EQ(::send(replays.back().get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), bytes.size());
  }
  for (const Fd& replay : replays) ReadToEnd(replay);
  EXPECT_EQ(server.handler.ups(), 1);
  EXPECT_EQ(server.handler.control_messages(), 1);
}

}  // namespace
}  // namespace tensorbraid
