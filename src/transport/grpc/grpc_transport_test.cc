// Tests what only the gRPC transport has to deal with: other programs on its port, bad streams, the environment.
#include "transport/grpc/grpc_transport.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "core/system/fd.h"
#include "core/threads/stop.h"
#include "transport/codec.h"
#include "transport/grpc/call_client.h"
#include "transport/grpc/packets.h"
#include "transport/transport_test_util.h"

#ifndef TENSORBRAID_TSAN

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct GrpcTask {
  explicit GrpcTask(const std::string& name, const GrpcOptions& options = {})
      : handler(name), transport(NewGrpcTransport(options)) {
    auto got = transport->Listen("localhost:0", &handler);
    EXPECT_TRUE(got.ok()) << got.status();
    port = got.value_or(0);
    address = StrCat("localhost:", port);
  }
  Recorder handler;
  std::unique_ptr<Transport> transport;
  int port;
  std::string address;
};

void ExpectAlive(GrpcTask& server) {
  GrpcTask client("client");
  auto link = ConnectAndWait(*client.transport, server.address, HelloFrom("client"));
  ASSERT_TRUE(link.ok()) << link.status();
  const size_t before = server.handler.control_messages();
  (*link)->Send(Heartbeat{});
  server.handler.WaitForControl(before + 1);
}

int RawSocket(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  return fd;
}

// A channel stream opened by hand, to send what a link never sends.
class HandmadeStream {
 public:
  HandmadeStream(int port, const std::string& method)
      : stub_(grpc::CreateChannel(StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials())),
        rw_(stub_.PrepareCall(&context_, method, &queue_)) {
    rw_->StartCall(this);
    Wait();
  }
  ~HandmadeStream() {
    context_.TryCancel();
    queue_.Shutdown();
    void* tag;
    bool ok;
    while (queue_.Next(&tag, &ok)) {
    }
  }
  bool Write(const std::string& bytes) {
    const grpc::Slice slice(bytes);
    rw_->Write(grpc::ByteBuffer(&slice, 1), this);
    return Wait();
  }
  bool Read() {
    rw_->Read(&incoming_, this);
    return Wait();
  }
  const grpc::ByteBuffer& incoming() const { return incoming_; }  // what the last Read got
  void EndWrites() {
    rw_->WritesDone(this);
    Wait();
  }
  grpc::Status Finish() {
    grpc::Status status;
    rw_->Finish(&status, this);
    Wait();
    return status;
  }
  void ReadToEnd() {
    while (Read()) {
    }
  }

 private:
  bool Wait() {
    void* tag;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }
  grpc::CompletionQueue queue_;
  grpc::ClientContext context_;
  grpc::GenericStub stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> rw_;
  grpc::ByteBuffer incoming_;
};

std::string HandshakeBytes(uint64_t link, uint32_t channel) {
  std::string packet;
  AppendPacket(Handshake{link, channel, HelloFrom("by hand")}, &packet);
  return packet;
}

// A long path to a port of this machine: what is sent arrives `delay` later.
class LongPath {
 public:
  LongPath(int port, std::chrono::milliseconds delay) : to_(port), delay_(delay) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(listen(listener_.get(), 16), 0);
    EXPECT_EQ(getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
    address = StrCat("localhost:", ntohs(at.sin_port));
    accepting_ = std::thread([this] { Accept(); });
  }
  ~LongPath() {
    shutdown(listener_.get(), SHUT_RDWR);
    accepting_.join();
    for (const Fd& end : ends_) shutdown(end.get(), SHUT_RDWR);
    for (std::thread& copying : copying_) copying.join();
  }
  std::string address;

 private:
  void Accept() {
    for (;;) {
      Fd near(accept(listener_.get(), nullptr, nullptr));
      if (!near.is_open()) return;
      Fd far(RawSocket(to_));
      copying_.emplace_back([this, from = near.get(), to = far.get()] { Copy(from, to); });
      copying_.emplace_back([this, from = far.get(), to = near.get()] { Copy(from, to); });
      ends_.push_back(std::move(near));
      ends_.push_back(std::move(far));
    }
  }
  void Copy(int from, int to) const {
    char bytes[4096];
    for (ssize_t n; (n = recv(from, bytes, sizeof bytes, 0)) > 0;) {
      std::this_thread::sleep_for(delay_);
      if (send(to, bytes, static_cast<size_t>(n), MSG_NOSIGNAL) != n) break;
    }
    shutdown(to, SHUT_WR);
  }

  const int to_;
  const std::chrono::milliseconds delay_;
  Fd listener_{socket(AF_INET, SOCK_STREAM, 0)};
  std::deque<Fd> ends_;
  std::deque<std::thread> copying_;
  std::thread accepting_;
};

// An attempt to connect must have more time than the pause before the next attempt (100 ms). Here the round trip alone
// takes 160 ms. See GRPC_ARG_MIN_RECONNECT_BACKOFF_MS in settings.cc.
TEST(GrpcTransportTest, TasksConnectOverALongPath) {
  GrpcTask server("server");
  GrpcTask client("client");
  LongPath path(server.port, std::chrono::milliseconds(80));
  const auto link = ConnectAndWait(*client.transport, path.address, HelloFrom("client"));
  ASSERT_TRUE(link.ok()) << link.status();
  (*link)->Send(Heartbeat{});
  server.handler.WaitForControl(1);
  client.transport->Shutdown();
}

TEST(GrpcTransportTest, ErrorNamesAPortTakenByAnotherProgram) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&at), size), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  ASSERT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size), 0);
  for (const std::string host : {"localhost", "a.name.of.elsewhere"}) {
    Recorder handler("a");
    auto transport = NewGrpcTransport({.insecure = true});
    auto port = transport->Listen(StrCat(host, ":", ntohs(at.sin_port)), &handler);
    EXPECT_EQ(port.status().code(), absl::StatusCode::kAlreadyExists) << port.status();
    EXPECT_THAT(port.status().message(), HasSubstr(StrCat(ntohs(at.sin_port))));
  }
  close(fd);
}

TEST(GrpcTransportTest, BindAddressOverridesTheName) {
  Recorder handler("a");
  auto transport = NewGrpcTransport({.bind_address = "127.0.0.1"});
  EXPECT_TRUE(transport->Listen("a.name.of.elsewhere:0", &handler).ok());
  // No machine has this address, which is reserved for documentation.
  auto nowhere = NewGrpcTransport({.bind_address = "192.0.2.1", .insecure = true});
  EXPECT_EQ(nowhere->Listen("localhost:0", &handler).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(GrpcTransportTest, WithoutTlsOnlyLoopbackIsBound) {
  Recorder handler("a");
  for (const GrpcOptions& options : {GrpcOptions{}, GrpcOptions{.bind_address = "0.0.0.0"}}) {
    const Status refused = NewGrpcTransport(options)->Listen("a.name.of.elsewhere:0", &handler).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
    for (const char* way : {"a.name.of.elsewhere:0", "--tls_cert", "tensorbraid certs", "--insecure"}) {
      EXPECT_THAT(refused.message(), HasSubstr(way));
    }
  }
  EXPECT_TRUE(NewGrpcTransport({.insecure = true})->Listen("a.name.of.elsewhere:0", &handler).ok());
}

TEST(GrpcTransportTest, ProxiesOfTheEnvironmentAreIgnored) {
  for (const char* name : {"http_proxy", "https_proxy", "grpc_proxy"}) setenv(name, "http://127.0.0.1:1", 1);
  GrpcTask server("server");
  ExpectAlive(server);
  for (const char* name : {"http_proxy", "https_proxy", "grpc_proxy"}) unsetenv(name);
}

TEST(GrpcTransportTest, RandomBytesOnThePortDoNoHarm) {
  const uint32_t seed = TestSeed();
  const SeedReport report(seed);
  std::mt19937 random(seed);
  GrpcTask server("server");
  std::vector<int> idle;
  for (int i = 0; i < 20; ++i) {
    const int fd = RawSocket(server.port);
    std::string bytes(random() % 5000, 0);
    for (char& c : bytes) c = static_cast<char>(random());
    if (i % 3 == 0) bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes;
    static_cast<void>(!send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    if (i % 2 == 0) {
      close(fd);
    } else {
      idle.push_back(fd);
    }
  }
  ExpectAlive(server);
  for (const int fd : idle) close(fd);
}

TEST(GrpcTransportTest, UnknownMethodIsUnimplemented) {
  GrpcTask server("server");
  HandmadeStream stream(server.port, "/tensorflow.MasterService/CreateSession");
  EXPECT_FALSE(stream.Read());
  EXPECT_EQ(stream.Finish().error_code(), grpc::StatusCode::UNIMPLEMENTED);
  ExpectAlive(server);
}

TEST(GrpcTransportTest, BadHandshakesAreDropped) {
  GrpcTask server("server");
  const std::string good = HandshakeBytes(5, 0);
  const std::vector<std::string> bad = {"",
                                        "x",
                                        std::string(100, '\xff'),
                                        good.substr(0, good.size() - 1),
                                        good + "x",
                                        HandshakeBytes(6, 1),  // the bulk channel on the stream of the control channel
                                        HandshakeBytes(6, 99)};
  for (const std::string& bytes : bad) {
    HandmadeStream stream(server.port, "/tensorbraid.Worker/Control");
    EXPECT_TRUE(stream.Write(bytes));
    stream.ReadToEnd();  // ends because the server drops it
  }
  // The same channel of the same link twice.
  HandmadeStream first(server.port, "/tensorbraid.Worker/Control"), second(server.port, "/tensorbraid.Worker/Control");
  EXPECT_TRUE(first.Write(good));
  EXPECT_TRUE(second.Write(good));
  second.ReadToEnd();
  EXPECT_EQ(server.handler.ups(), 0u);
  ExpectAlive(server);
}

TEST(GrpcTransportTest, HalfOpenHandshakesTimeOut) {
  GrpcOptions options;
  // On a busy machine a good handshake takes a while, too.
  options.handshake_timeout = std::chrono::milliseconds(1000);
  GrpcTask server("server", options);
  HandmadeStream silent(server.port, "/tensorbraid.Worker/Bulk");
  HandmadeStream alone(server.port, "/tensorbraid.Worker/Control");
  EXPECT_TRUE(alone.Write(HandshakeBytes(7, 0)));
  silent.ReadToEnd();
  alone.ReadToEnd();
  EXPECT_EQ(server.handler.ups(), 0u);
  ExpectAlive(server);
}

TEST(GrpcTransportTest, ControlMessagesArriveAfterTheEndOfTheBulkChannel) {
  GrpcTask server("server", {.close_grace = std::chrono::seconds(5)});
  HandmadeStream control(server.port, "/tensorbraid.Worker/Control");
  HandmadeStream bulk(server.port, "/tensorbraid.Worker/Bulk");
  EXPECT_TRUE(control.Write(HandshakeBytes(9, 0)));
  EXPECT_TRUE(bulk.Write(HandshakeBytes(9, 1)));
  EXPECT_TRUE(control.Read());  // the answer
  bulk.EndWrites();
  bulk.ReadToEnd();  // the server knows that the channel has ended
  std::string leave;
  ASSERT_TRUE(AppendPacket(Leave{}, &leave).ok());
  EXPECT_TRUE(control.Write(leave));
  server.handler.WaitForControl(1);
  EXPECT_EQ(server.handler.downs(), 0u);
  control.EndWrites();
  EXPECT_EQ(server.handler.WaitForDown(1).code(), absl::StatusCode::kUnavailable);
}

TEST(GrpcTransportTest, GarbageOnALinkCutsItAndNothingElse) {
  GrpcTask server("server");
  GrpcTask bystander("bystander");
  auto link = ConnectAndWait(*bystander.transport, server.address, HelloFrom("bystander"));
  ASSERT_TRUE(link.ok());
  std::string truncated;
  ASSERT_TRUE(AppendPacket(MakeEager(1, "abcdef"), &truncated).ok());
  truncated += "abc";
  size_t downs = 0;
  // 12 zero bytes are the prefix of a packet with an empty header.
  for (const std::string& bytes : {std::string("x"), std::string(50, '\xff'), std::string(12, '\0'), truncated}) {
    for (const int channel : {0, 1}) {
      HandmadeStream control(server.port, "/tensorbraid.Worker/Control");
      HandmadeStream bulk(server.port, "/tensorbraid.Worker/Bulk");
      EXPECT_TRUE(control.Write(HandshakeBytes(8, 0)));
      EXPECT_TRUE(bulk.Write(HandshakeBytes(8, 1)));
      EXPECT_TRUE(control.Read());  // the answer
      EXPECT_TRUE((channel == 0 ? control : bulk).Write(bytes));
      const Status why = server.handler.WaitForDown(++downs);
      EXPECT_EQ(why.code(), absl::StatusCode::kUnavailable);
      EXPECT_THAT(why.message(), HasSubstr("by hand"));
      control.ReadToEnd();
      bulk.ReadToEnd();
    }
  }
  EXPECT_EQ(bystander.handler.downs(), 0u);
  const size_t before = server.handler.control_messages();
  (*link)->Send(Heartbeat{});
  server.handler.WaitForControl(before + 1);
}

TEST(GrpcTransportTest, ALinkAnswersAFewPingsAndPassesNoneOn) {
  GrpcTask server("server");
  HandmadeStream control(server.port, "/tensorbraid.Worker/Control");
  HandmadeStream bulk(server.port, "/tensorbraid.Worker/Bulk");
  ASSERT_TRUE(control.Write(HandshakeBytes(8, 0)));
  ASSERT_TRUE(bulk.Write(HandshakeBytes(8, 1)));
  ASSERT_TRUE(control.Read());  // the answer to the handshake
  std::string packets;
  // 7 is out of order, and a link answers only four pings.
  for (const uint32_t number : {7u, 0u, 1u, 2u, 3u, 4u, 5u}) {
    AppendPacket(Ping{.number = number, .is_answer = false}, &packets);
  }
  ASSERT_TRUE(AppendPacket(Heartbeat{}, &packets).ok());
  ASSERT_TRUE(control.Write(packets));
  control.EndWrites();
  std::vector<uint32_t> answered;
  while (control.Read()) {
    PacketReader reader(control.incoming());
    std::span<const std::byte> header;
    Payload payload;
    while (reader.Next(&header, &payload).value_or(false)) {
      const auto message = DecodeLinkMessage(header, {});
      ASSERT_TRUE(message.ok()) << message.status();
      if (const auto* ping = std::get_if<Ping>(&*message); ping != nullptr && ping->is_answer) {
        answered.push_back(ping->number);
      }
    }
  }
  EXPECT_THAT(answered, ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(std::holds_alternative<Heartbeat>(server.handler.WaitForControl(1)[0].message));
  EXPECT_EQ(server.handler.control_messages(), 1u);
}

// A thread that opens a channel may be preempted right after that, and the whole handshake may happen before it runs
// again. Here that thread gets the processor only when all others are idle.
TEST(GrpcTransportTest, LinksOpenedByASlowThreadWork) {
  GrpcTask server("server");
  std::vector<std::unique_ptr<GrpcTask>> clients;
  for (int i = 0; i < 30; ++i) clients.push_back(std::make_unique<GrpcTask>("client"));
  std::atomic<bool> stop{false};
  std::vector<std::thread> busy;
  for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) {
    busy.emplace_back([&] {
      while (!stop) std::this_thread::yield();
    });
  }
  std::thread slow([&] {
    sched_param none{};
    EXPECT_EQ(sched_setscheduler(0, SCHED_IDLE, &none), 0);
    for (size_t i = 0; i < clients.size(); ++i) {
      auto link = ConnectAndWait(*clients[i]->transport, server.address, HelloFrom("client"));
      // On a busy machine the thread may not run for longer than the handshake's timeout. Tasks then connect again.
      while (absl::IsUnavailable(link.status())) {
        link = ConnectAndWait(*clients[i]->transport, server.address, HelloFrom("client"));
      }
      ASSERT_TRUE(link.ok()) << link.status();
      (*link)->Send(Heartbeat{});
      server.handler.WaitForControl(i + 1);
      EXPECT_EQ(clients[i]->handler.downs(), 0u);
    }
  });
  slow.join();
  stop = true;
  for (auto& thread : busy) thread.join();
}

TEST(GrpcTransportTest, ConnectingToASilentServerTimesOut) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&at), size), 0);
  ASSERT_EQ(listen(fd, 8), 0);
  ASSERT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size), 0);
  GrpcTask client("client");
  const std::string address = StrCat("localhost:", ntohs(at.sin_port));
  auto link = ConnectAndWait(*client.transport, address, HelloFrom("client"), std::chrono::milliseconds(100));
  EXPECT_EQ(link.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(link.status().message(), HasSubstr(address));
  close(fd);
}

// A message of 2 GiB, which is beyond the size limit, that uses little memory: its pieces are all the same buffer.
MessageParts Huge() {
  static const std::vector<std::byte> once(1 << 20);
  Payload payload;
  payload.pieces.assign(2048, once);
  return {std::move(payload)};
}

TEST(GrpcTransportTest, MessagesOfCallsBeyondTheLimitFailAtOnce) {
  class : public CallHandler {
    void OnCall(std::shared_ptr<Call> call) override { call->Answer(Huge()); }
  } answers;
  Recorder handler("server");
  auto transport = NewGrpcTransport({});
  transport->ServeCalls(&answers);
  const auto port = transport->Listen("localhost:0", &handler);
  ASSERT_TRUE(port.ok()) << port.status();
  auto client = NewGrpcCallClient(StrCat("localhost:", *port), std::chrono::seconds(60)).value();
  const auto ask = [&](const MessageParts& request) {
    return client->Ask("/tensorflow.MasterService/RunStep", request, CallClient::Deadline::max()).status;
  };
  EXPECT_TRUE(absl::IsResourceExhausted(ask({OwnedPayload("a small request")})));
  EXPECT_TRUE(absl::IsResourceExhausted(ask(Huge())));
}

TEST(GrpcTransportTest, ARequestToStopEndsTheWaitForAServer) {
  auto client = NewGrpcCallClient("localhost:1", std::chrono::hours(1)).value();
  RequestStop("a test");
  const auto result =
      client->Ask("/tensorflow.MasterService/RunStep", {OwnedPayload("a request")}, CallClient::Deadline::max());
  WithdrawStopRequest();
  EXPECT_TRUE(absl::IsUnavailable(result.status)) << result.status;
}

}  // namespace
}  // namespace tensorbraid

#endif  // TENSORBRAID_TSAN
