// Other users of the machine reach no server on loopback without a token or a certificate, and servers of other users
// get nothing from our clients.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdio>
#include <memory>
#include <string>

#include "cluster/status/http_server.h"
#include "core/system/fd.h"
#include "core/testing/other_user.h"
#include "launch/processes/child_process.h"
#include "launch/processes/process_testutil.h"
#include "tensorbraid/cluster/server.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/session/session.h"
#include "tls/access_testutil.h"

namespace tensorbraid {
namespace {

constexpr char kUserToken[] = "a-token-of-the-users-test";

void ExpectRefusal(const Status& status) {
  EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
  for (const char* part : {"runs as user 0", "--token_file", "--tls_ca", "--insecure"}) {
    EXPECT_THAT(std::string(status.message()), HasSubstr(part));
  }
}

// A port of another user that nobody serves. It counts what it receives.
class Squatter {
 public:
  Squatter() {
    AsOtherUser([this] {
      socket_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_in at{};
      at.sin_family = AF_INET;
      at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      socklen_t size = sizeof at;
      EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
      EXPECT_EQ(::listen(socket_.get(), 8), 0);
      EXPECT_EQ(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
      port_ = ntohs(at.sin_port);
    });
  }
  std::string address() const { return StrCat("127.0.0.1:", port_); }
  // Takes the connection that a client has made and given up. Returns how many bytes it has sent.
  ssize_t Received() const {
    const Fd client(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    char bytes[64];
    return ::recv(client.get(), bytes, sizeof bytes, 0);
  }

 private:
  Fd socket_;
  int port_ = 0;
};

class UsersTest : public AccessTest {
 protected:
  void SetUp() override { TB_NEEDS_OTHER_USER(); }

  // The other user cannot read this user's files, so the client opens them before.
  static Status AskAsOtherUser(const std::string& address, const TlsOptions& tls = {}, const std::string& token = "") {
    auto client = NewGrpcCallClient(address, std::chrono::seconds(20), tls, token).value();
    Status status;
    AsOtherUser([&] {
      status = client->Ask("/a.Service/Method", {OwnedPayload("request")}, CallClient::Deadline::max()).status;
    });
    return status;
  }
  // Runs `tensorbraid status` as a process of the other user, with everything that it writes in `output`. Returns its
  // exit code, or -1 if that user cannot run the program where it is.
  static int StatusAsOtherUser(const std::string& address, const std::string& flags, std::string* output) {
    const std::string command = StrCat("exec setpriv --reuid=", kOtherUser, " --regid=", kOtherUser,
                                       " --clear-groups sh -c 'test -x ", TENSORBRAID_PROGRAM, " || exit 99; exec ",
                                       TENSORBRAID_PROGRAM, " status ", address, " ", flags, "' 2>&1");
    FILE* const process = ::popen(command.c_str(), "r");
    if (process == nullptr) return -1;
    char bytes[4096];
    for (size_t n; (n = std::fread(bytes, 1, sizeof bytes, process)) > 0;) output->append(bytes, n);
    const int end = ::pclose(process);
    return WIFEXITED(end) && WEXITSTATUS(end) != 99 ? WEXITSTATUS(end) : -1;
  }
  static StatusOr<std::unique_ptr<Server>> StartServer(ServerOptions options) {
    options.job_name = "worker";
    return Server::Create(ClusterSpec({{"worker", {"localhost:0"}}}), options);
  }
  // This name of the server is not known in the process, so sessions connect as if from another process.
  static std::string Target(const Server& server) {
    const std::string address = server.address();
    return "grpc://127.0.0.1" + address.substr(address.find(':'));
  }
  // The status of an HTTP request of the other user.
  static int GetAsOtherUser(const std::string& url, const char* path, std::string* body) {
    int status = 0;
    AsOtherUser([&] {
      httplib::Client client(url.substr(0, url.size() - 1));
      const auto result = client.Get(path);
      if (!result) return;
      status = result->status;
      *body = result->body;
    });
    return status;
  }
};

TEST_F(UsersTest, OnlyTheOwnUserAndRootCallAServerOnLoopback) {
  Peer server("server", GrpcOptions{});
  EXPECT_EQ(Ask(server.address, {}), OkStatus());
  ExpectRefusal(AskAsOtherUser(server.address));
  EXPECT_EQ(Ask(server.address, {}), OkStatus());  // also after the refusal
}

TEST_F(UsersTest, ATaskOfAnotherUserIsRefused) {
  Peer server("server", GrpcOptions{}), task("task", GrpcOptions{});
  Status status;
  AsOtherUser([&] { status = task.Connect(server.address); });
  ExpectRefusal(status);
  EXPECT_EQ(task.Connect(server.address), OkStatus());
}

TEST_F(UsersTest, ATokenACertificateOrInsecureServesEveryUser) {
  const std::string token = Write("token", kUserToken);
  Peer with_token("with_token", GrpcOptions{.token_file = token});
  EXPECT_EQ(AskAsOtherUser(with_token.address, {}, token), OkStatus());
  EXPECT_TRUE(absl::IsUnauthenticated(AskAsOtherUser(with_token.address)));

  const TlsOptions tls = Files("good", authority_, authority_);
  Peer with_certificate("with_certificate", GrpcOptions{.tls = tls});
  EXPECT_EQ(AskAsOtherUser(with_certificate.address, tls), OkStatus());

  Peer insecure("insecure", GrpcOptions{.insecure = true});
  EXPECT_EQ(AskAsOtherUser(insecure.address), OkStatus());
}

// A real process of the other user, without any of root's rights.
TEST_F(UsersTest, TheStatusIsForTheOwnUserUnlessTheServerSaysMore) {
  const TlsOptions full = Files("good", authority_, authority_);
  const std::string ca = "--tls_ca=" + full.ca;
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);  // the certificate of the authority is no secret
  ASSERT_EQ(::chmod(full.ca.c_str(), 0644), 0);
  struct Case {
    ServerOptions server;
    std::string flags;
    bool is_served;
  };
  const Case cases[] = {{{}, "", false},
                        {{.tls = {.cert = full.cert, .key = full.key}}, ca, false},  // encryption alone
                        {{.insecure = true}, "", true}};
  for (const Case& c : cases) {
    auto server = StartServer(c.server);
    ASSERT_TRUE(server.ok()) << server.status();
    std::string output;
    const int code = StatusAsOtherUser((*server)->address(), c.flags, &output);
    if (code == -1) GTEST_SKIP() << "other users cannot run " << TENSORBRAID_PROGRAM;
    EXPECT_EQ(code == 0, c.is_served) << output;
    EXPECT_EQ(output.find("runs as user 0") != std::string::npos, !c.is_served) << output;
  }
}

TEST_F(UsersTest, ManyRefusedCallersKeepNobodyOut) {
  Peer server("server", GrpcOptions{.limits = {.max_connections = 2}});
  for (int i = 0; i < 4; ++i) ExpectRefusal(AskAsOtherUser(server.address));
  EXPECT_EQ(Ask(server.address, {}), OkStatus());
}

TEST_F(UsersTest, ASessionOfAnotherUserIsRefused) {
  auto server = StartServer({});
  ASSERT_TRUE(server.ok()) << server.status();
  Graph graph;
  const Output x = Const(graph, Tensor::Scalar(1.5f));
  const auto run = [&]() -> Status {
    TF_ASSIGN_OR_RETURN(auto session, Session::Create(graph, {.target = Target(**server)}));
    return session->Run({x}).status();
  };
  EXPECT_EQ(run(), OkStatus());
  Status status;
  AsOtherUser([&] { status = run(); });
  ExpectRefusal(status);
}

TEST_F(UsersTest, ThePageOfTheStatusIsForTheOwnUser) {
  auto server = StartServer({.metrics_port = 0});
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string url = (*server)->status_url();
  const auto own = httplib::Client(url.substr(0, url.size() - 1)).Get("/metrics");
  ASSERT_TRUE(own) << url;
  EXPECT_EQ(own->status, 200);
  std::string body;
  for (const char* path : {"/metrics", "/report.json", "/"}) {
    EXPECT_EQ(GetAsOtherUser(url, path, &body), 403) << path;
    EXPECT_THAT(body, HasSubstr("--token_file"));
  }
  EXPECT_EQ(GetAsOtherUser(url, "/healthz", &body), 200);  // a supervisor may run as another user
}

TEST_F(UsersTest, AProxyServesItsOwnUser) {
  const std::string token = Write("token", kUserToken);
  auto server = StartServer({.token_file = token});
  ASSERT_TRUE(server.ok()) << server.status();
  for (const bool insecure : {false, true}) {
    std::vector<std::string> command = {TENSORBRAID_PROGRAM, "proxy", "--target=" + (*server)->address(),
                                        "--token_file=" + token};
    if (insecure) command.push_back("--insecure");
    auto proxy = ChildProcess::Start(command, {});
    ASSERT_TRUE(proxy.ok()) << proxy.status();
    const std::string target = AwaitLine(proxy->out(), StrCat("proxy for ", (*server)->address(), " serves at "));
    Graph graph;
    const auto create = [&] { return Session::Create(graph, {.target = target}).status(); };
    EXPECT_EQ(create(), OkStatus());
    // A connection that the proxy passes on gets the greeting of the server; another one is closed.
    const int port = std::stoi(target.substr(target.rfind(':') + 1));
    ssize_t received = -1;
    AsOtherUser([&] {
      const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_in at{};
      at.sin_family = AF_INET;
      at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      at.sin_port = htons(static_cast<uint16_t>(port));
      ASSERT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
      char bytes[64];
      received = ::recv(socket.get(), bytes, sizeof bytes, 0);
    });
    EXPECT_EQ(received > 0, insecure);
  }
}

TEST_F(UsersTest, NothingIsSentToAServerOfAnotherUser) {
  const std::string token = Write("token", kUserToken);
  for (const std::string& file : {std::string(), token}) {
    const Squatter squatter;
    const Status status = Ask(squatter.address(), {}, std::chrono::seconds(20), file);
    EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("belongs to user 23456"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("--insecure"));
    EXPECT_EQ(squatter.Received(), 0);
  }
}

TEST_F(UsersTest, ATaskConnectsToNoTaskOfAnotherUser) {
  const Squatter squatter;
  Peer task("task", GrpcOptions{});
  const Status status = task.Connect(squatter.address());
  EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("belongs to user 23456"));
  EXPECT_EQ(squatter.Received(), 0);
}

TEST_F(UsersTest, AClientThatTrustsAllUsersUsesTheServersOfAll) {
  std::unique_ptr<Peer> server;
  AsOtherUser([&] { server = std::make_unique<Peer>("server", GrpcOptions{.insecure = true}); });
  EXPECT_TRUE(absl::IsUnauthenticated(Ask(server->address, {})));
  auto client = NewGrpcCallClient(server->address, std::chrono::seconds(20), {}, "", /*insecure=*/true).value();
  EXPECT_EQ(client->Ask("/a.Service/Method", {OwnedPayload("request")}, CallClient::Deadline::max()).status,
            OkStatus());
}

TEST_F(UsersTest, AClientConnectsAgainToAServerThatHasStartedAgain) {
  auto server = std::make_unique<Peer>("server", GrpcOptions{});
  const std::string address = server->address;
  auto client = NewGrpcCallClient(address, std::chrono::seconds(20)).value();
  const auto ask = [&] {
    return client->Ask("/a.Service/Method", {OwnedPayload("request")}, CallClient::Deadline::max()).status;
  };
  EXPECT_EQ(ask(), OkStatus());
  server->transport->Shutdown();
  Recorder handler("server");
  const auto next = NewGrpcTransport();
  next->ServeCalls(server.get());
  ASSERT_TRUE(next->Listen(address, &handler).ok());
  EXPECT_EQ(ask(), OkStatus());
}

TEST_F(UsersTest, KeysAndTokensThatOthersCanReadAreRefused) {
  const std::string token = Write("token", kUserToken);
  const TlsOptions tls = Files("good", authority_, authority_);
  for (const std::string& file : {token, tls.key}) ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  const auto expect = [](const Status& status, const std::string& flag) {
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(flag + ": other users can read the file"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("chmod 600"));
  };
  expect(NewGrpcCallClient("localhost:1", std::chrono::seconds(1), {}, token).status(), "--token_file");
  expect(NewGrpcCallClient("localhost:1", std::chrono::seconds(1), tls).status(), "--tls_key");
  expect(StartServer({.token_file = token}).status(), "--token_file");
  expect(StartServer({.tls = tls}).status(), "--tls_key");
}

}  // namespace
}  // namespace tensorbraid
