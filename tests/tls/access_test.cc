// Tests which callers a server accepts, apart from certificates: tokens, roles, and the rights of callers.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <filesystem>
#include <future>
#include <utility>

#include "core/system/held_port.h"
#include "core/text/logging.h"
#include "launch/processes/child_process.h"
#include "launch/processes/process_testutil.h"
#include "tensorbraid/tensorbraid.h"
#include "tls/access_testutil.h"
#include "transport/address.h"
#include "transport/token_file.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

constexpr char kToken[] = "the-token-of-the-cluster", kOther[] = "a-token-of-other-tasks",
               kGuest[] = "a-client's-token";

class TokenTest : public AccessTest {
 protected:
  // Writes a file with one token per line.
  std::string Tokens(const std::string& name, const std::string& lines) { return Write(name, lines + "\n"); }
  // Connects as a task.
  Status Connect(const Peer& server, const GrpcOptions& options) {
    Peer task("task", options);
    return task.Connect(server.address);
  }
  // Calls the server as a client.
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

TEST_F(TokenTest, WithoutATokenCallersAreRefusedAndTheErrorNamesTheFlag) {
  Peer server("server", GrpcOptions{.tls = good_, .token_file = token_});
  for (const Status& refused : {Connect(server, {.tls = good_}), Call(server, {.tls = good_})}) {
    ExpectError(refused, absl::StatusCode::kUnauthenticated, "the server needs a token; give it with --token_file");
  }
  EXPECT_EQ(server.handler.ups(), 0);
}

TEST_F(TokenTest, AWrongTokenIsTurnedAway) {
  Peer server("server", GrpcOptions{.token_file = token_});
  for (const std::string& wrong :
       {std::string(kOther), std::string(kToken) + "x", std::string(kToken).substr(0, sizeof(kToken) - 2)}) {
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
    // TLS accepts a client's certificate on a connection that its owner opens, so the server must refuse the task.
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
              "others on the network could read the token");
  ExpectError(Ask("alpha:2222", {}, std::chrono::seconds(1), token_), absl::StatusCode::kInvalidArgument,
              "refuses to send the token of --token_file to alpha:2222 without TLS");
  Peer task("task", GrpcOptions{.token_file = token_});
  ExpectError(task.Connect("alpha:2222"), absl::StatusCode::kInvalidArgument, "refuses to send the token");
  ExpectError(listen({.client_token_file = guest_}, "localhost:0"), absl::StatusCode::kInvalidArgument,
              "--token_file is missing");
}

TEST_F(TokenTest, ErrorsNameTheFileWithoutAValidToken) {
  const auto open = [](const std::string& path) { return TokenFile::Open("--token_file", path).status(); };
  ExpectError(open("/no/such/file"), absl::StatusCode::kNotFound, "--token_file: ");
  for (const std::string text :
       {"", "\n\n", "short", "with a space in the middle of it", "\x01\x02 not printable at all"}) {
    const std::string path = Write("bad", text);
    ExpectError(open(path), absl::StatusCode::kInvalidArgument, path);
    EXPECT_THAT(std::string(open(path).message()), HasSubstr("openssl rand -hex 32"));
    // The message must not show what may be a token.
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

// Sessions that run the graph x + x on a server.
class SessionAccessTest : public TokenTest {
 protected:
  StatusOr<std::unique_ptr<Server>> StartServer(ServerOptions options) {
    options.job_name = "worker";
    return Server::Create(ClusterSpec({{"worker", {"localhost:0"}}}), options);
  }
  // This name of the server is not known in the process, so sessions connect as if from another process.
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

TEST_F(SessionAccessTest, AClientMayTrainButNotResetTheCluster) {
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

TEST_F(SessionAccessTest, TheProxyAddsTheTokenForPlainClients) {
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

// An address of this machine that is not loopback, which a client uses as if it were on another machine; "" if the
// machine has none.
std::string OutsideAddress() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return "";
  std::string found;
  for (const ifaddrs* a = all; a != nullptr; a = a->ifa_next) {
    char text[INET_ADDRSTRLEN];
    if (a->ifa_addr == nullptr || a->ifa_addr->sa_family != AF_INET) continue;
    const auto* in = reinterpret_cast<const sockaddr_in*>(a->ifa_addr);
    if (::inet_ntop(AF_INET, &in->sin_addr, text, sizeof text) != nullptr && !IsLoopbackHost(text)) found = text;
  }
  ::freeifaddrs(all);
  return found;
}

// A parameter server and a worker, with TLS and a directory that sessions from other machines may use.
class PathTest : public SessionAccessTest {
 protected:
  void SetUp() override {
    outside_ = OutsideAddress();
    if (outside_.empty()) GTEST_SKIP() << "this machine has no address but loopback";
    TB_CHECK_OK(MakeDirectories(data_));
    TB_CHECK_OK(WriteFile(data_ + "/file", "inside"));
    secret_ = Write("secret", "outside");
    tls_ = Files("both", authority_, authority_, {"localhost", "127.0.0.1", outside_});
    std::vector<HeldPort> ports;
    for (int i = 0; i < 2; ++i) ports.push_back(HeldPort::Take().value());
    const auto address = [&](int i) { return StrCat("localhost:", ports[i].port()); };
    const ClusterSpec cluster({{"ps", {address(0)}}, {"worker", {address(1)}}});
    for (const char* job : {"ps", "worker"}) {
      auto server =
          Server::Create(cluster, {.job_name = job, .bind_address = "0.0.0.0", .tls = tls_, .allow_paths = {data_}});
      ASSERT_TRUE(server.ok()) << server.status();
      servers_.push_back(*std::move(server));
    }
    port_ = ports[1].port();
    held_ = std::move(ports);
  }
  static void ExpectRefused(const Status& status, const std::string& path) {
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path));
    EXPECT_THAT(std::string(status.message()), HasSubstr("--allow_path"));
  }

  const std::string data_ = directory_.path() + "/data";
  std::string outside_, secret_;
  TlsOptions tls_;
  int port_ = 0;
  std::vector<HeldPort> held_;
  std::vector<std::unique_ptr<Server>> servers_;
};

// Ops that use files. PATH stands for the path, which is also fed to the placeholder "name". The test runs the
// operation "op".
struct FileOp {
  const char* name;
  const char* nodes;
};
// NODE(name, op, inputs and attributes)
#define NODE(name, op, rest) "node { name: '" name "' op: '" op "' " rest " }\n"
#define TYPE(key, type) "attr { key: '" key "' value { type: " type " } } "
#define TYPES(key, type) "attr { key: '" key "' value { list { type: " type " } } } "
#define TEXT(key, text) "attr { key: '" key "' value { s: '" text "' } } "
#define NUMBER(key, number) "attr { key: '" key "' value { i: " number " } } "
#define CONST(name, type, shape, value)                                                                           \
  NODE(name, "Const",                                                                                             \
       TYPE("dtype", type) "attr { key: 'value' value { tensor { dtype: " type " tensor_shape {" shape "} " value \
                           " } } }")
#define GET_NEXT                                                                                           \
  NODE("iterator", "IteratorV2",                                                                           \
       TEXT("shared_name", "") TEXT("container", "")                                                       \
           TYPES("output_types", "DT_STRING") "attr { key: 'output_shapes' value { list { shape {} } } }") \
  NODE("make", "MakeIterator", "input: 'dataset' input: 'iterator'")                                       \
  NODE("op", "IteratorGetNext",                                                                            \
       "input: 'iterator' input: '^make' " TYPES(                                                          \
           "output_types", "DT_STRING") "attr { key: 'output_shapes' value { list { shape {} } } }")
const FileOp kFileOps[] = {
    {"ReadFile", NODE("op", "ReadFile", "input: 'name'")},
    {"ReadFile in a branch", CONST("yes", "DT_BOOL", "", "bool_val: true")
                                 NODE("switch", "Switch", "input: 'name' input: 'yes' " TYPE("T", "DT_STRING"))
                                     NODE("op", "ReadFile", "input: 'switch:1'")},
    {"ReadFile of a constant",
     CONST("path", "DT_STRING", "", "string_val: 'PATH'") NODE("op", "ReadFile", "input: 'path'")},
    {"WriteFile", NODE("op", "WriteFile", "input: 'name' input: 'text'")},
    {"MatchingFiles", NODE("op", "MatchingFiles", "input: 'name'")},
    {"SaveV2",
     NODE("op", "SaveV2", "input: 'name' input: 'names' input: 'slices' input: 'text' " TYPES("dtypes", "DT_STRING"))},
    {"RestoreV2",
     NODE("op", "RestoreV2", "input: 'name' input: 'names' input: 'slices' " TYPES("dtypes", "DT_STRING"))},
    {"MergeV2Checkpoints", NODE("prefixes", "Pack", "input: 'name' " TYPE("T", "DT_STRING") NUMBER("N", "1"))
                               NODE("op", "MergeV2Checkpoints", "input: 'prefixes' input: 'name'")},
    {"Save", NODE("op", "Save", "input: 'name' input: 'names' input: 'text' " TYPES("T", "DT_STRING"))},
    {"Restore", NODE("op", "Restore", "input: 'name' input: 'text' " TYPE("dt", "DT_STRING"))},
    {"PrintV2", NODE("op", "PrintV2", "input: 'text' " TEXT("output_stream", "file://PATH"))},
    {"TextLineReader", NODE("queue", "FIFOQueueV2", TYPES("component_types", "DT_STRING")) NODE(
                           "put", "QueueEnqueueV2", "input: 'queue' input: 'name' " TYPES("Tcomponents", "DT_STRING"))
                           NODE("reader", "TextLineReaderV2", "")
                               NODE("op", "ReaderReadV2", "input: 'reader' input: 'queue' input: '^put'")},
    {"WholeFileReader", NODE("queue", "FIFOQueueV2", TYPES("component_types", "DT_STRING")) NODE(
                            "put", "QueueEnqueueV2", "input: 'queue' input: 'name' " TYPES("Tcomponents", "DT_STRING"))
                            NODE("reader", "WholeFileReaderV2", "")
                                NODE("op", "ReaderReadV2", "input: 'reader' input: 'queue' input: '^put'")},
    {"TextLineDataset", NODE("dataset", "TextLineDataset", "input: 'name' input: 'none' input: 'zero'") GET_NEXT},
    {"TFRecordDataset", NODE("dataset", "TFRecordDataset", "input: 'name' input: 'none' input: 'zero'") GET_NEXT},
    {"PrefetchDataset",
     NODE("lines", "TextLineDataset", "input: 'name' input: 'none' input: 'zero'")
         NODE("dataset", "PrefetchDataset",
              "input: 'lines' input: 'one' " TYPES(
                  "output_types", "DT_STRING") "attr { key: 'output_shapes' value { list { shape {} } } }") GET_NEXT},
    {"ReadFile in MapDataset",
     NODE("names_of", "TensorDataset",
          "input: 'name' " TYPES("Toutput_types",
                                 "DT_STRING") "attr { key: 'output_shapes' value { list { shape {} } } }")
         NODE("dataset", "MapDataset",
              "input: 'names_of' attr { key: 'f' value { func { name: 'read' } } } "
              "attr { key: 'Targuments' value { list {} } } " TYPES(
                  "output_types", "DT_STRING") "attr { key: 'output_shapes' value { list { shape {} } } }") GET_NEXT
     "library { function { signature { name: 'read' input_arg { name: 'x' type: DT_STRING } "
     "output_arg { name: 'y' type: DT_STRING } } node_def { name: 'r' op: 'ReadFile' input: 'x' } "
     "ret { key: 'y' value: 'r:contents:0' } } }\n"},
    {"InitializeTableFromTextFile",
     NODE("table", "HashTableV2", TYPE("key_dtype", "DT_STRING") TYPE("value_dtype", "DT_INT64"))
         NODE("op", "InitializeTableFromTextFileV2",
              "input: 'table' input: 'name' " NUMBER("key_index", "-2") NUMBER("value_index", "-1"))},
    {"CreateSummaryFileWriter",
     NODE("writer", "SummaryWriter", "") NODE(
         "op", "CreateSummaryFileWriter", "input: 'writer' input: 'name' input: 'one32' input: 'one32' input: 'none'")},
    {"FixedUnigramCandidateSampler",
     CONST("classes", "DT_INT64", "dim { size: 1 } dim { size: 1 }", "int64_val: 0")
         NODE("op", "FixedUnigramCandidateSampler",
              "input: 'classes' " NUMBER("num_true", "1")
                  NUMBER("num_sampled", "1") "attr { key: 'unique' value { b: true } } " NUMBER("range_max", "1")
                      TEXT("vocab_file", "PATH"))},
};
constexpr char kCommonNodes[] =
    NODE("name", "Placeholder", TYPE("dtype", "DT_STRING") "attr { key: 'shape' value { shape {} } }")
        CONST("text", "DT_STRING", "", "string_val: 'text'") CONST("none", "DT_STRING", "", "string_val: ''")
            CONST("zero", "DT_INT64", "", "int64_val: 0") CONST("one", "DT_INT64", "", "int64_val: 1")
                CONST("one32", "DT_INT32", "", "int_val: 1")
                    CONST("names", "DT_STRING", "dim { size: 1 }", "string_val: 'tensor'")
                        CONST("slices", "DT_STRING", "dim { size: 1 }", "string_val: ''");
#undef NODE
#undef TYPE
#undef TYPES
#undef TEXT
#undef NUMBER
#undef CONST
#undef GET_NEXT

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

TEST_F(PathTest, SessionsFromOtherMachinesUseAllowedPathsOnly) {
  for (const FileOp& op : kFileOps) {
    for (const char* device : {"/job:worker", "/job:ps"}) {
      SCOPED_TRACE(StrCat(op.name, " on ", device));
      const auto run = [&](const std::string& host, const std::string& path) {
        std::string text = Replaced(StrCat(kCommonNodes, op.nodes), "PATH", path);
        text = Replaced(text, "node { ", StrCat("node { device: '", device, "/device:CPU:0' "));
        Graph graph;
        TF_RETURN_IF_ERROR(graph.ImportGraphDefText(text));
        TF_ASSIGN_OR_RETURN(auto session, Session::Create(graph, {.target = StrCat("grpc://", host, ":", port_),
                                                                  .tls = tls_,
                                                                  .isolate_session_state = true}));
        return session->Run({"op"}, {{"name:0", Tensor::Scalar(path)}}).status();
      };
      // The error names the path, or the directory that the op would make for it.
      ExpectRefused(run(outside_, secret_), directory_.path());
      ExpectRefused(run(outside_, data_ + "/../secret"), data_ + "/..");
      EXPECT_EQ(ReadFile(secret_).value(), "outside");
      for (const Status& allowed : {run("127.0.0.1", data_ + "/../copy"), run(outside_, data_ + "/file")}) {
        // The op may fail because the file's content is of another kind, but not because the path is refused.
        EXPECT_FALSE(absl::IsPermissionDenied(allowed)) << allowed;
        EXPECT_THAT(std::string(allowed.message()), ::testing::Not(HasSubstr("--allow_path")));
      }
      std::filesystem::remove_all(directory_.path() + "/copy");
      std::filesystem::remove_all(data_ + "/file");
      TB_CHECK_OK(WriteFile(data_ + "/file", "inside"));
    }
  }
}

TEST_F(PathTest, OneServerReadsFilesForLocalAndForDistantSessionsAtTheSameTime) {
  // Each of the two sessions waits for an element that the other one puts into a queue, so each continues on the
  // other's thread.
  constexpr char kText[] = R"(
    node { name: 'name' op: 'Placeholder' attr { key: 'dtype' value { type: DT_STRING } }
           attr { key: 'shape' value { shape {} } } }
    node { name: 'mine' op: 'FIFOQueueV2' attr { key: 'component_types' value { list { type: DT_STRING } } }
           attr { key: 'shared_name' value { s: 'MINE' } } }
    node { name: 'other' op: 'FIFOQueueV2' attr { key: 'component_types' value { list { type: DT_STRING } } }
           attr { key: 'shared_name' value { s: 'OTHER' } } }
    node { name: 'take' op: 'QueueDequeueV2' input: 'mine'
           attr { key: 'component_types' value { list { type: DT_STRING } } } }
    node { name: 'read' op: 'ReadFile' input: 'name' input: '^take' }
    node { name: 'put' op: 'QueueEnqueueV2' input: 'other' input: 'name'
           attr { key: 'Tcomponents' value { list { type: DT_STRING } } } })";
  const auto open = [&](Graph& graph, const std::string& host, const std::string& mine, const std::string& other) {
    TB_CHECK_OK(graph.ImportGraphDefText(Replaced(Replaced(kText, "MINE", mine), "OTHER", other)));
    return Session::Create(graph, {.target = StrCat("grpc://", host, ":", port_), .tls = tls_}).value();
  };
  Graph near_graph, far_graph;
  const auto near_session = open(near_graph, "127.0.0.1", "a", "b");
  const auto far_session = open(far_graph, outside_, "b", "a");
  const Feed path{"name:0", Tensor::Scalar(secret_)};
  for (int i = 0; i < 20; ++i) {
    auto far_read = std::async(std::launch::async, [&] { return far_session->Run({"read:0"}, {path}).status(); });
    ASSERT_EQ(near_session->Run({"put"}, {path}).status(), OkStatus());
    ExpectRefused(far_read.get(), secret_);
    auto near_read = std::async(std::launch::async, [&] { return near_session->Run({"read:0"}, {path}).status(); });
    ASSERT_EQ(far_session->Run({"put"}, {path}).status(), OkStatus());
    EXPECT_EQ(near_read.get(), OkStatus());
  }
}

}  // namespace
}  // namespace tensorbraid
