// Ways into a server besides certificates: tokens, roles, and what a caller may do once it is inside.
#include <utility>

#include "cli/child_process.h"
#include "cli/process_testutil.h"
#include "tensorbraid/tensorbraid.h"
#include "tls/doors_testutil.h"
#include "transport/token_file.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

constexpr char kToken[] = "the-token-of-the-cluster", kOther[] = "a-token-of-other-tasks", kGuest[] = "a-client's-token";

class TokenTest : public DoorsTest {
 protected:
  // A file with one token a line.
  std::string Tokens(const std::string& name, const std::string& lines) { return Write(name, lines + "\n"); }
  Status Connect(const Peer& server, const GrpcOptions& options) {
    Peer task("task", options);
    return task.Connect(server.address);
  }
  Status Call(const Peer& server, const GrpcOptions& options) {
    return Ask(server.address, options.tls, std::chrono::seconds(20), options.token_file);
  }
  static void ExpectError(const Status& got, absl::StatusCode code, const std::string& text) {
    EXPECT_EQ(got.code(), code) << got;
    EXPECT_THAT(std::string(got.message()), HasSubstr(text));
  }

  const std::string token_ = Tokens("token", kToken);
  const std::string guest_ = Tokens("guest", kGuest);
};

TEST_F(TokenTest, TasksAndClientsWithTheTokenAreAccepted) {
  for (const TlsOptions& tls : {TlsOptions(), good_, TlsOptions{.cert = good_.cert, .key = good_.key}}) {
    const Peer server("server", GrpcOptions{.tls = tls, .token_file = token_});
    const TlsOptions own = tls.enabled() ? good_ : TlsOptions();
    EXPECT_EQ(Connect(server, {.tls = own, .token_file = token_}), OkStatus());
    EXPECT_EQ(Call(server, {.tls = own, .token_file = token_}), OkStatus());
  }
}

TEST_F(TokenTest, WithoutATokenNobodyComesInAndHearsOfTheFlag) {
  Peer server("server", GrpcOptions{.tls = good_, .token_file = token_});
  for (const Status& refused : {Connect(server, {.tls = good_}), Call(server, {.tls = good_})}) {
    ExpectError(refused, absl::StatusCode::kUnauthenticated, "the server needs a token; give it with --token_file");
  }
  EXPECT_EQ(server.handler.ups(), 0);
}

TEST_F(TokenTest, AWrongTokenIsTurnedAway) {
  Peer server("server", GrpcOptions{.token_file = token_});
  for (const std::string& wrong : {std::string(kOther), std::string(kToken) + "x",
                                   std::string(kToken).substr(0, sizeof(kToken) - 2)}) {
    const GrpcOptions options{.token_file = Tokens("wrong", wrong)};
    ExpectError(Connect(server, options), absl::StatusCode::kUnauthenticated, "does not accept this token");
    ExpectError(Call(server, options), absl::StatusCode::kUnauthenticated, "does not accept this token");
  }
  EXPECT_EQ(server.handler.ups(), 0);
  EXPECT_EQ(Connect(server, {.token_file = token_}), OkStatus());
}

TEST_F(TokenTest, AReplacedTokenIsUsedWithoutARestart) {
  Peer server("server", GrpcOptions{.token_file = token_});
  const GrpcOptions next{.token_file = Tokens("next", kOther)};
  ASSERT_TRUE(absl::IsUnauthenticated(Call(server, next)));
  Tokens("token", StrCat(kToken, "\n", kOther));
  const auto give_up = MonotonicClock::now() + kTestPatience;
  while (!Call(server, next).ok() && MonotonicClock::now() < give_up) {
  }
  EXPECT_EQ(Connect(server, next), OkStatus());
  const GrpcOptions old{.token_file = Tokens("old", kToken)};
  EXPECT_EQ(Call(server, old), OkStatus());
  Tokens("token", kOther);
  while (Call(server, old).ok() && MonotonicClock::now() < give_up) {
  }
  ExpectError(Call(server, old), absl::StatusCode::kUnauthenticated, "does not accept this token");
}

TEST_F(TokenTest, ClientsMayCallButNotConnectAsTasks) {
  Peer server("server", GrpcOptions{.tls = good_, .token_file = token_, .client_token_file = guest_});
  const GrpcOptions by_token{.tls = good_, .token_file = guest_};
  const GrpcOptions by_certificate{
      .tls = Files("laptop", authority_, authority_, Loopback(), Valid(), CertificateUse::kClient),
      .token_file = token_};
  for (const GrpcOptions& client : {by_token, by_certificate}) {
    EXPECT_EQ(Call(server, client), OkStatus());
    auto peer = NewGrpcTransport(client);
    // A client's certificate is not for servers, but can be used to connect.
    Recorder handler("client");
    ASSERT_TRUE(peer->Listen("localhost:0", &handler).ok());
    ExpectError(ConnectAndWait(*peer, server.address, HelloFrom("client")).status(),
                absl::StatusCode::kPermissionDenied, "is for the tasks of the cluster");
    peer->Shutdown();
  }
  EXPECT_EQ(server.handler.ups(), 0);
}

TEST_F(TokenTest, ATokenIsNeverSentWhereItCouldBeRead) {
  const auto listen = [&](const GrpcOptions& options, const std::string& address) {
    Recorder handler("a");
    return NewGrpcTransport(options)->Listen(address, &handler).status();
  };
  ExpectError(listen({.token_file = token_, .insecure = true}, "alpha:0"), absl::StatusCode::kInvalidArgument,
              "the token could be read on the way");
  ExpectError(Ask("alpha:2222", {}, std::chrono::seconds(1), token_), absl::StatusCode::kInvalidArgument,
              "refuses to send the token of --token_file to alpha:2222 without TLS");
  Peer task("task", GrpcOptions{.token_file = token_});
  ExpectError(task.Connect("alpha:2222"), absl::StatusCode::kInvalidArgument, "refuses to send the token");
  ExpectError(listen({.client_token_file = guest_}, "localhost:0"), absl::StatusCode::kInvalidArgument,
              "--token_file is missing");
}

TEST_F(TokenTest, FilesWithoutATokenAreNamed) {
  const auto open = [](const std::string& path) { return TokenFile::Open("--token_file", path).status(); };
  ExpectError(open("/no/such/file"), absl::StatusCode::kNotFound, "--token_file: ");
  for (const std::string text : {"", "\n\n", "short", "with a space in the middle of it", "\x01\x02 not printable at all"}) {
    const std::string path = Write("bad", text);
    ExpectError(open(path), absl::StatusCode::kInvalidArgument, path);
    EXPECT_THAT(std::string(open(path).message()), HasSubstr("openssl rand -hex 32"));
    if (text.size() > 4) {
      EXPECT_THAT(std::string(open(path).message()), ::testing::Not(HasSubstr(text)));
    }
  }
  EXPECT_EQ(open(Write("windows", StrCat(kToken, "\r\n"))), OkStatus());
}

TEST(EqualInConstantTimeTest, ComparesWholeTexts) {
  EXPECT_TRUE(EqualInConstantTime("", ""));
  EXPECT_TRUE(EqualInConstantTime("abc", "abc"));
  for (const char* other : {"", "ab", "abcd", "abd", "xbc", "ABC"}) EXPECT_FALSE(EqualInConstantTime("abc", other));
}

// A session for the graph x + x on the server at `target`.
class SessionDoorsTest : public TokenTest {
 protected:
  StatusOr<std::unique_ptr<Server>> StartServer(ServerOptions options) {
    options.job_name = "worker";
    return Server::Create(ClusterSpec({{"worker", {"localhost:0"}}}), options);
  }
  // This name of the server is not known in the process, so sessions connect as if from another one.
  static std::string Target(const Server& server) {
    const std::string address = server.address();
    return "grpc://127.0.0.1" + address.substr(address.find(':'));
  }
  Status Train(SessionOptions options) {
    TF_ASSIGN_OR_RETURN(auto session, Session::Create(graph_, std::move(options)));
    TF_ASSIGN_OR_RETURN(const auto value, session->Run({sum_}, {{x_, Tensor::Scalar(1.5f)}}));
    EXPECT_EQ(value[0].scalar<float>(), 3);
    return session->Close();
  }

  Graph graph_;
  const Output x_ = Placeholder(graph_, kFloat32, {}, "x");
  const Output sum_ = x_ + x_;
};

TEST_F(SessionDoorsTest, AClientTrainsButDoesNotResetTheCluster) {
  auto server = StartServer({.token_file = token_, .client_token_file = guest_});
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string target = Target(**server);
  EXPECT_EQ(Train({.target = target, .token_file = token_}), OkStatus());
  EXPECT_EQ(Train({.target = target, .token_file = guest_}), OkStatus());
  ExpectError(Train({.target = target}), absl::StatusCode::kUnauthenticated, "SessionOptions::token_file");

  const std::string address = target.substr(std::string("grpc://").size());
  const ClusterSpec cluster({{"mine", {address}}});
  ExpectError(Train({.target = target, .token_file = guest_, .cluster = cluster}), absl::StatusCode::kPermissionDenied,
              "a session that brings its own cluster");
  EXPECT_EQ(Train({.target = target, .token_file = token_, .cluster = cluster}), OkStatus());
  // An empty ResetRequest resets the default container.
  const auto reset = [&](const std::string& token) {
    auto client = NewGrpcCallClient(address, std::chrono::seconds(20), {}, token).value();
    return client->Ask("/tensorflow.MasterService/Reset", {OwnedPayload("")}, CallClient::Deadline::max()).status;
  };
  ExpectError(reset(guest_), absl::StatusCode::kPermissionDenied, "Reset is for the tasks of the cluster");
  EXPECT_EQ(reset(token_), OkStatus());
}

TEST_F(SessionDoorsTest, TheProxyAddsTheTokenForPlainClients) {
  const auto proxy = [&](const Server& server, std::vector<std::string> flags) {
    flags.insert(flags.begin(), {TENSORBRAID_PROGRAM, "proxy", "--target=" + server.address()});
    return ChildProcess::Start(flags, {});
  };
  const TlsOptions own = Files("client", authority_, authority_);
  const std::vector<std::string> tls = {"--tls_cert=" + own.cert, "--tls_key=" + own.key, "--tls_ca=" + own.ca};
  for (const bool encrypted : {false, true}) {
    auto server = StartServer({.tls = encrypted ? good_ : TlsOptions(), .token_file = token_});
    ASSERT_TRUE(server.ok()) << server.status();
    std::vector<std::string> flags = encrypted ? tls : std::vector<std::string>();
    flags.push_back("--token_file=" + token_);
    auto with = proxy(**server, flags);
    ASSERT_TRUE(with.ok()) << with.status();
    const std::string ready = StrCat("proxy for ", (*server)->address(), " serves at ");
    EXPECT_EQ(Train({.target = AwaitLine(with->out(), ready)}), OkStatus());
  }
  auto server = StartServer({.tls = good_, .token_file = token_});
  auto without = proxy(**server, tls);
  ASSERT_TRUE(without.ok()) << without.status();
  const Status refused =
      Train({.target = AwaitLine(without->out(), StrCat("proxy for ", (*server)->address(), " serves at "))});
  ExpectError(refused, absl::StatusCode::kUnauthenticated, "'tensorbraid proxy --token_file'");
}

}  // namespace
}  // namespace tensorbraid
