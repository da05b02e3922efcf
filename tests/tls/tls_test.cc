// Tests links of tasks, calls of clients and sessions with a server that uses TLS, with the right certificate and with
// each kind of wrong certificate. docs/security.md says what TLS protects.
#include "core/system/held_port.h"
#include "launch/processes/child_process.h"
#include "launch/processes/process_testutil.h"
#include "tensorbraid/tensorbraid.h"
#include "tls/access_testutil.h"

namespace tensorbraid {
namespace {

using TlsTest = AccessTest;

TEST_F(TlsTest, TasksAndClientsOfOneAuthorityReachEachOther) {
  Peer server("server", good_);
  ExpectAccepted(server, Files("client", authority_, authority_));
  EXPECT_EQ(server.handler.ups(), 1);
}

TEST_F(TlsTest, BothChannelsCarryMessagesAsSent) {
  Peer server("server", good_), task("task", good_);
  const auto link = ConnectAndWait(*task.transport, server.address, HelloFrom("task"));
  ASSERT_TRUE(link.ok()) << link.status();
  const std::string large = Pattern(32 << 20, 1), small = Pattern(5000, 2);
  (*link)->Send(MakeBulk(1, large));
  (*link)->Send(MakeEager(2, small));
  EXPECT_EQ(server.handler.WaitForControl(1).at(0).bytes, small);
  EXPECT_TRUE(server.handler.WaitForBulk(1).at(0) == large);
  server.handler.WaitForLink()->Send(MakeBulk(3, large));
  EXPECT_TRUE(task.handler.WaitForBulk(1).at(0) == large);
}

TEST_F(TlsTest, PlainClientIsTurnedAwayAndToldOfTls) {
  Peer server("server", good_);
  ExpectRefused(server, {}, absl::StatusCode::kUnavailable, "needs --tls_ca, --tls_cert and --tls_key");
  const std::string told = "needs --tls_ca, --tls_cert and --tls_key";
  const Status call = AskUntilTold(told, server.address, {});
  EXPECT_TRUE(absl::IsUnavailable(call)) << call;
  EXPECT_THAT(std::string(call.message()), HasSubstr(told));
  EXPECT_EQ(server.handler.ups(), 0);
  ExpectAccepted(server, good_);
}

TEST_F(TlsTest, ClientWithTlsDoesNotTalkToAPlainServer) {
  Peer server("server", TlsOptions());
  ExpectRefused(server, good_, absl::StatusCode::kUnauthenticated, "does not use TLS");
}

TEST_F(TlsTest, ServerOfAnotherAuthorityIsNotTrusted) {
  Peer server("server", Files("server", other_authority_, authority_));
  ExpectRefused(server, good_, absl::StatusCode::kUnauthenticated, "does not come from an authority in --tls_ca=");
}

TEST_F(TlsTest, ServerWithAnExpiredCertificateIsNotTrusted) {
  Peer server("server", Files("server", authority_, authority_, Loopback(), Expired()));
  ExpectRefused(server, good_, absl::StatusCode::kUnauthenticated, "has expired");
}

TEST_F(TlsTest, ServerWithTheCertificateOfAnotherHostIsNotTrusted) {
  Peer server("server", Files("server", authority_, authority_, {"beta"}));
  ExpectRefused(server, good_, absl::StatusCode::kUnauthenticated, "not for this host name");
}

TEST_F(TlsTest, ClientWithoutAGoodCertificateIsTurnedAway) {
  Peer server("server", good_);
  ExpectRefused(server, Files("other", other_authority_, authority_), absl::StatusCode::kUnavailable,
                "come from another authority");
  ExpectRefused(server, Files("expired", authority_, authority_, Loopback(), Expired()), absl::StatusCode::kUnavailable,
                "may have expired");
  const std::string told = "a client without --tls_cert";
  const Status call = AskUntilTold(told, server.address, {.ca = good_.ca});
  EXPECT_TRUE(absl::IsUnavailable(call)) << call;
  EXPECT_THAT(std::string(call.message()), HasSubstr(told));
  EXPECT_EQ(server.handler.ups(), 0);
  ExpectAccepted(server, good_);
}

TEST_F(TlsTest, ServerWithoutAnAuthorityAcceptsClientsWithoutCertificates) {
  Peer server("server", {.cert = good_.cert, .key = good_.key});
  const Status call = Ask(server.address, {.ca = good_.ca});
  EXPECT_TRUE(call.ok()) << call;
}

TEST_F(TlsTest, ReplacedFilesAreUsedWithoutARestart) {
  const TlsOptions files = Files("server", authority_, authority_);
  Write("server-ca.pem", authority_.certificate + other_authority_.certificate);
  Peer server("server", files);
  Peer old("old", good_);
  ASSERT_TRUE(old.Connect(server.address).ok());
  const TlsOptions other = Files("other", other_authority_, other_authority_);
  Peer task("new", other);
  EXPECT_TRUE(absl::IsUnauthenticated(task.Connect(server.address)));

  const Certificate renewed = MakeCertificate(other_authority_, Loopback(), Valid()).value();
  Write("server-key.pem", renewed.key);
  Write("server.pem", renewed.certificate);
  const auto give_up = MonotonicClock::now() + kTestPatience;
  Status link = task.Connect(server.address);
  while (!link.ok() && MonotonicClock::now() < give_up) link = task.Connect(server.address);
  EXPECT_TRUE(link.ok()) << link;
  EXPECT_EQ(old.handler.downs(), 0) << "an open connection was lost";
  EXPECT_TRUE(absl::IsUnauthenticated(Peer("old", good_).Connect(server.address)));
}

TEST_F(TlsTest, ErrorsNameTheFlagAndTheFile) {
  const auto listen = [](const TlsOptions& tls) {
    Recorder handler("a");
    return NewGrpcTransport({.tls = tls})->Listen("localhost:0", &handler).status();
  };
  const auto expect = [](const Status& got, absl::StatusCode code, const std::string& flag, const std::string& text) {
    EXPECT_EQ(got.code(), code) << got;
    EXPECT_THAT(std::string(got.message()), HasSubstr(flag));
    EXPECT_THAT(std::string(got.message()), HasSubstr(text));
  };
  using enum absl::StatusCode;
  TlsOptions tls = good_;
  tls.cert = "/no/such/file";
  expect(listen(tls), kNotFound, "--tls_cert", "/no/such/file");
  tls = good_;
  tls.key = tls.ca;
  expect(listen(tls), kInvalidArgument, "--tls_key", tls.ca);
  tls = good_;
  tls.ca = Write("empty.pem", "");
  expect(listen(tls), kInvalidArgument, "--tls_ca", tls.ca);
  expect(Ask("localhost:1", tls), kInvalidArgument, "--tls_ca", tls.ca);
  expect(listen({.ca = good_.ca}), kInvalidArgument, "--tls_cert", "needs a certificate");
  expect(listen({.cert = good_.cert}), kInvalidArgument, "--tls_key", "missing");
  expect(Ask("localhost:1", {.key = good_.key}), kInvalidArgument, "--tls_cert", "missing");
}

TEST_F(TlsTest, AWholeClusterAndItsSessionsUseTls) {
  auto ports = std::vector<HeldPort>();
  for (int i = 0; i < 2; ++i) ports.push_back(HeldPort::Take().value());
  const auto address = [&](int i) { return StrCat("localhost:", ports[i].port()); };
  const ClusterSpec cluster({{"ps", {address(0)}}, {"worker", {address(1)}}});
  auto ps = Server::Create(cluster, {.job_name = "ps", .tls = Files("ps", authority_, authority_)});
  ASSERT_TRUE(ps.ok()) << ps.status();
  auto worker = Server::Create(cluster, {.job_name = "worker", .tls = Files("worker", authority_, authority_)});
  ASSERT_TRUE(worker.ok()) << worker.status();

  Graph g;
  const auto counter = [&g] {
    const auto on_ps = g.Device("/job:ps");
    return Variable(g, {}, Zeros(), {.name = "counter"});
  }();
  // This name of the server is not known in the process, so the session connects as if from another process.
  const std::string target = StrCat("grpc://127.0.0.1:", ports[1].port());
  auto session = Session::Create(g, {.target = target, .tls = good_});
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run({GlobalVariablesInitializer(g)}).ok());
  const auto value = (*session)->Run({counter});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ((*value)[0].scalar<float>(), 0);

  const auto stranger = Session::Create(g, {.target = target, .tls = Files("s", other_authority_, other_authority_)});
  EXPECT_TRUE(absl::IsUnauthenticated(stranger.status())) << stranger.status();
  EXPECT_THAT(std::string(stranger.status().message()), HasSubstr(target));
}

TEST_F(TlsTest, ServeUsesTheFilesThatCertsMakes) {
  const std::string dir = directory_.path() + "/certs";
  auto certs = ChildProcess::Start({TENSORBRAID_PROGRAM, "certs", dir, "--hosts=localhost,beta"}, {});
  ASSERT_TRUE(certs.ok()) << certs.status();
  ASSERT_TRUE(certs->Reap().ok());
  const auto serve = [&](const std::string& host, const std::string& files, const std::string& more) {
    return ChildProcess::Start(
        {TENSORBRAID_PROGRAM, "serve", "--cluster_spec=local|" + host + ":0", "--job_name=local",
         "--tls_cert=" + dir + "/" + files + ".pem", "--tls_key=" + dir + "/" + files + "-key.pem", more},
        {});
  };
  auto server = serve("localhost", "localhost", "--tls_ca=" + dir + "/ca.pem");
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string target = AwaitLine(server->out(), "local/0 serves at ");
  ASSERT_NE(target, "");
  Graph g;
  const auto x = Placeholder(g, kFloat32, {}, "x");
  const TlsOptions beta = {.cert = dir + "/beta.pem", .key = dir + "/beta-key.pem", .ca = dir + "/ca.pem"};
  auto session = Session::Create(g, {.target = target, .tls = beta});
  ASSERT_TRUE(session.ok()) << session.status();
  const auto value = (*session)->Run({x + x}, {{x, Tensor::Scalar(1.5f)}});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ((*value)[0].scalar<float>(), 3);

  auto wrong = serve("localhost", "missing", "--tls_ca=" + dir + "/ca.pem");
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  EXPECT_THAT(AwaitLine(wrong->err(), "NOT_FOUND: --tls_cert: "), HasSubstr(dir + "/missing.pem"));
}

TEST_F(TlsTest, PlainClientReachesAServerThroughTheProxy) {
  auto server = Server::Create(ClusterSpec({{"worker", {"localhost:0"}}}), {.job_name = "worker", .tls = good_});
  ASSERT_TRUE(server.ok()) << server.status();
  const auto proxy = [&](const TlsOptions& tls) {
    return ChildProcess::Start({TENSORBRAID_PROGRAM, "proxy", "--target=" + (*server)->address(),
                                "--tls_cert=" + tls.cert, "--tls_key=" + tls.key, "--tls_ca=" + tls.ca},
                               {});
  };
  const std::string ready = StrCat("proxy for ", (*server)->address(), " serves at ");
  auto good = proxy(Files("client", authority_, authority_));
  ASSERT_TRUE(good.ok()) << good.status();
  Graph g;
  const auto x = Placeholder(g, kFloat32, {-1}, "x");
  auto session = Session::Create(g, {.target = AwaitLine(good->out(), ready)});
  ASSERT_TRUE(session.ok()) << session.status();
  // The request and its result are both larger than the buffers of the sockets.
  std::vector<float> values(8 << 20);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1000);
  const auto sums = (*session)->Run({x + x}, {{x, Tensor::Of<float>({8 << 20}, values)}});
  ASSERT_TRUE(sums.ok()) << sums.status();
  const auto doubled = (*sums)[0].data<float>();
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(doubled[i], 2 * values[i]) << i;
  ASSERT_TRUE((*session)->Close().ok());
  good->Signal(SIGTERM);
  EXPECT_TRUE(good->Reap().ok());

  auto wrong = proxy(Files("other", other_authority_, other_authority_));
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  const std::string target = AwaitLine(wrong->out(), ready);
  const Status refused = Ask(target.substr(std::string("grpc://").size()), {}, std::chrono::milliseconds(500));
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  char line[512] = {};
  pollfd event = {wrong->err().get(), POLLIN, 0};
  ASSERT_EQ(::poll(&event, 1, 60000), 1);
  ASSERT_GT(::read(wrong->err().get(), line, sizeof line - 1), 0);
  EXPECT_THAT(std::string(line), HasSubstr("the server's certificate is not accepted"));
}

TEST_F(TlsTest, ServeRefusesOtherMachinesWithoutTls) {
  const auto serve = [&](const std::string& more) {
    return ChildProcess::Start(
        {TENSORBRAID_PROGRAM, "serve", "--cluster_spec=local|alpha:0", "--job_name=local", "--verbosity=1", more}, {});
  };
  auto refused = serve("--task_index=0");
  ASSERT_TRUE(refused.ok()) << refused.status();
  const std::string why = AwaitLine(refused->err(), "INVALID_ARGUMENT: ");
  for (const char* part : {"alpha:0", "--tls_cert", "tensorbraid certs", "--insecure"}) {
    EXPECT_THAT(why, HasSubstr(part));
  }
  EXPECT_EQ(refused->Reap().exit_code, 2);
  auto allowed = serve("--insecure");
  ASSERT_TRUE(allowed.ok()) << allowed.status();
  EXPECT_THAT(AwaitLine(allowed->out(), "local/0 serves at "), HasSubstr("grpc://alpha:"));
}

}  // namespace
}  // namespace tensorbraid
