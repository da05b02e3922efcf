#include "cluster/registry/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <thread>

#include "cluster/protobuf/proto_io.h"
#include "cluster/protobuf/registry.pb.h"
#include "cluster/registry/digest.h"
#include "cluster/registry/registry_messages.h"
#include "core/system/clock.h"
#include "core/system/held_port.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "core/threads/stop.h"
#include "io/file.h"
#include "transport/grpc/call_client.h"
#include "transport/grpc/grpc_transport.h"

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::shared_ptr<Seal> SealWith(const std::string& token) {
  const std::string path = StrCat(::testing::TempDir(), "/registry_test_", ::getpid(), "_", token);
  TB_CHECK_OK(WriteFile(path, token + "\n"));
  TB_CHECK(::chmod(path.c_str(), 0600) == 0);
  return *NewTokenSeal(path);
}

ProcessRecord RecordOn(const std::string& host, int port = 1000) {
  return {.host = host, .node = host, .port = port, .version = "1.0", .program = "p"};
}

StatusOr<std::vector<NamedRecord>> RegisterAt(RegistryClientOptions options, const NamedRecord& own,
                                              std::shared_ptr<Seal> seal) {
  return RegistryClient(std::move(options), own, std::move(seal)).Register();
}

class RegistryTest : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> names, const std::string& address = "127.0.0.1:0") {
    auto server = RegistryServer::Start({.job = "job 1", .names = std::move(names), .address = address}, seal_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  RegistryClientOptions Options(milliseconds timeout = std::chrono::seconds(60)) const {
    return {.job = "job 1",
            .addresses = {StrCat("127.0.0.1:", server_->port())},
            .timeout = timeout,
            .log_every = milliseconds(50)};
  }
  StatusOr<std::vector<NamedRecord>> Register(const std::string& name, const ProcessRecord& record,
                                              milliseconds timeout = std::chrono::seconds(60)) {
    return RegisterAt(Options(timeout), {name, record}, seal_);
  }
  // Blocks until the server has these processes.
  void AwaitMissing(const std::vector<std::string>& missing) {
    while (server_->Missing() != missing) std::this_thread::yield();
  }

  const std::shared_ptr<Seal> seal_ = SealWith("0123456789abcdef");
  std::unique_ptr<RegistryServer> server_;
};

TEST_F(RegistryTest, AllProcessesGetTheRecordsOfAllInOneOrder) {
  constexpr int kProcesses = 40;
  std::vector<std::string> names;
  for (int i = 0; i < kProcesses; ++i) names.push_back(StrCat("rank ", i));
  Start(names);
  std::vector<StatusOr<std::vector<NamedRecord>>> results(kProcesses, Internal("not run"));
  std::vector<std::thread> processes;
  for (int i = kProcesses - 1; i >= 0; --i) {
    processes.emplace_back([&, i] { results[i] = Register(names[i], RecordOn(StrCat("host", i), 1000 + i)); });
  }
  for (std::thread& process : processes) process.join();
  for (const auto& result : results) {
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->size(), kProcesses);
    for (int i = 0; i < kProcesses; ++i) {
      EXPECT_EQ((*result)[i].name, names[i]);
      EXPECT_EQ((*result)[i].record, RecordOn(StrCat("host", i), 1000 + i));
    }
  }
  EXPECT_THAT(server_->Missing(), IsEmpty());
}

// The error of a call that ends at its deadline, `call(timeout)`, once it says `part`. On a busy machine the first
// deadlines may be too short for the client to learn anything.
template <typename Call>
std::string ErrorAtTheDeadline(const std::string& part, const Call& call) {
  std::string message;
  for (milliseconds timeout(300); timeout < std::chrono::minutes(3); timeout *= 2) {
    const auto result = call(timeout);
    EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded) << result.status();
    message = std::string(result.status().message());
    if (message.find(part) != std::string::npos) break;
  }
  return message;
}

TEST_F(RegistryTest, TheErrorAfterTheDeadlineNamesTheMissingTasks) {
  Start({"ps/0", "worker/0", "worker/1"});
  const std::string error = ErrorAtTheDeadline(
      "ps/0", [&](milliseconds timeout) { return Register("worker/0", RecordOn("alpha"), timeout); });
  EXPECT_THAT(error,
              AllOf(HasSubstr("ps/0, worker/1"), HasSubstr(StrCat(":", server_->port())), Not(HasSubstr("worker/0"))));
}

TEST_F(RegistryTest, WithoutARegistryTheErrorNamesItsAddress) {
  const auto result = RegisterAt({.job = "job 1", .addresses = {"127.0.0.1:1"}, .timeout = milliseconds(200)},
                                 {"ps/0", RecordOn("alpha")}, seal_);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(result.status().message()), AllOf(HasSubstr("job 1"), HasSubstr("127.0.0.1:1")));
}

// Takes calls, and never answers them.
class SilentServer final : public CallHandler {
 public:
  SilentServer() {
    transport_->ServeCalls(this);
    port_ = *transport_->Listen("127.0.0.1:0", &acceptor_);
  }
  ~SilentServer() override {
    {
      MutexLock lock(mu_);
      for (const auto& call : calls_) call->Fail(Unavailable("the end"));
      calls_.clear();
    }
    transport_->Shutdown();
  }
  int port() const { return port_; }
  void OnCall(std::shared_ptr<Call> call) override {
    MutexLock lock(mu_);
    calls_.push_back(std::move(call));
  }

 private:
  class NoLinks final : public LinkAcceptor {
    Status OnHello(const Hello&, Hello*) override { return FailedPrecondition("not a task"); }
    std::shared_ptr<LinkHandler> OnLinkUp(const std::shared_ptr<Link>&) override { return nullptr; }
  };
  NoLinks acceptor_;
  const std::unique_ptr<Transport> transport_ = NewGrpcTransport({.insecure = true});
  int port_ = 0;
  Mutex mu_;
  std::vector<std::shared_ptr<Call>> calls_ TB_GUARDED_BY(mu_);
};

TEST_F(RegistryTest, ARegistryThatDoesNotAnswerIsNamedWithItsJob) {
  const SilentServer silent;
  const std::string address = StrCat("127.0.0.1:", silent.port());
  const auto result = RegisterAt({.job = "job 1", .addresses = {address}, .timeout = milliseconds(500)},
                                 {"ps/0", RecordOn("alpha")}, seal_);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(result.status().message()), AllOf(HasSubstr("no registry of job 1"), HasSubstr(address)));
}

TEST_F(RegistryTest, AnotherSecretIsRefused) {
  Start({"ps/0"});
  const auto other = SealWith("fedcba9876543210");
  const auto result = RegisterAt(Options(), {"ps/0", RecordOn("alpha")}, other);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("token"));
  EXPECT_THAT(server_->Missing(), ElementsAre("ps/0"));
}

// Accepts every request, and proves its answers with another secret.
class FalseSeal final : public Seal {
 public:
  explicit FalseSeal(std::shared_ptr<Seal> seal) : seal_(std::move(seal)) {}
  std::string source() const override { return "nothing"; }
  StatusOr<std::string> Prove(std::string_view text) override { return seal_->Prove(text); }
  Status Check(std::string_view, std::string_view) override { return OkStatus(); }

 private:
  const std::shared_ptr<Seal> seal_;
};

TEST_F(RegistryTest, AServerWithoutTheSecretIsNotBelieved) {
  auto server = RegistryServer::Start({.job = "job 1", .names = {"ps/0"}, .address = "127.0.0.1:0"},
                                      std::make_shared<FalseSeal>(SealWith("fedcba9876543210")));
  ASSERT_TRUE(server.ok());
  server_ = *std::move(server);
  EXPECT_EQ(Register("ps/0", RecordOn("alpha")).status().code(), absl::StatusCode::kUnauthenticated);
}

TEST_F(RegistryTest, AnotherProgramIsRefusedAndThoseWhoWaitLearnWhy) {
  Start({"ps/0", "worker/0"});
  StatusOr<std::vector<NamedRecord>> waiting = Internal("not run");
  std::thread ps([&] { waiting = Register("ps/0", RecordOn("alpha")); });
  AwaitMissing({"worker/0"});
  ProcessRecord other = RecordOn("beta");
  other.program = "q";
  const auto refused = Register("worker/0", other);
  ps.join();
  for (const Status& status : {refused.status(), waiting.status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("alpha"), HasSubstr("beta"), HasSubstr("programs")));
  }
  EXPECT_THAT(server_->Missing(), ElementsAre(AllOf(HasSubstr("worker/0 (refused"), HasSubstr("beta"))));
}

TEST_F(RegistryTest, ATaskThatComesBackReplacesItsEntry) {
  Start({"ps/0", "worker/0"});
  std::thread worker([&] { EXPECT_TRUE(Register("worker/0", RecordOn("alpha", 1)).ok()); });
  EXPECT_TRUE(Register("ps/0", RecordOn("beta", 2)).ok());
  worker.join();
  const auto again = Register("worker/0", RecordOn("gamma", 3));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)[0].record, RecordOn("beta", 2));
  EXPECT_EQ((*again)[1].record, RecordOn("gamma", 3));
}

TEST_F(RegistryTest, TwoProcessesOfOneNameAreAnError) {
  Start({"ps/0", "worker/0"});
  StatusOr<std::vector<NamedRecord>> first = Internal("not run");
  std::thread one([&] { first = Register("ps/0", RecordOn("alpha")); });
  AwaitMissing({"worker/0"});
  std::thread two([&] { EXPECT_TRUE(Register("ps/0", RecordOn("beta")).ok()); });
  one.join();
  EXPECT_EQ(first.status().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(first.status().message()), AllOf(HasSubstr("ps/0"), HasSubstr("alpha"), HasSubstr("beta")));
  EXPECT_TRUE(Register("worker/0", RecordOn("gamma")).ok());
  two.join();
}

// What a watch has told.
class Watched {
 public:
  RegistryClient::Changed Callback() {
    return [this](const std::vector<NamedRecord>& all) {
      MutexLock lock(mu_);
      last_ = all;
      changed_.NotifyAll();
    };
  }
  // Blocks until the watch has told that the task has this record. False if that takes minutes.
  bool AwaitRecord(const std::string& name, const ProcessRecord& record) {
    MutexLock lock(mu_);
    return changed_.WaitFor(mu_, kPatience, [&]() TB_REQUIRES(mu_) {
      return std::any_of(last_.begin(), last_.end(),
                         [&](const NamedRecord& one) { return one.name == name && one.record == record; });
    });
  }

 private:
  static constexpr std::chrono::minutes kPatience{5};
  Mutex mu_;
  CondVar changed_;
  std::vector<NamedRecord> last_ TB_GUARDED_BY(mu_);
};

TEST_F(RegistryTest, AWatchTellsWhereATaskIsThatComesBack) {
  Start({"ps/0", "worker/0"});
  RegistryClient worker(Options(), {"worker/0", RecordOn("alpha", 1)}, seal_);
  std::thread ps([&] { EXPECT_TRUE(Register("ps/0", RecordOn("beta", 2)).ok()); });
  ASSERT_TRUE(worker.Register().ok());
  ps.join();
  // It moves before the watch begins, and again meanwhile.
  ASSERT_TRUE(Register("ps/0", RecordOn("gamma", 3)).ok());
  Watched watched;
  const auto watch = worker.StartWatch(watched.Callback());
  EXPECT_TRUE(watched.AwaitRecord("ps/0", RecordOn("gamma", 3)));
  ASSERT_TRUE(Register("ps/0", RecordOn("delta", 4)).ok());
  EXPECT_TRUE(watched.AwaitRecord("ps/0", RecordOn("delta", 4)));
  EXPECT_TRUE(watched.AwaitRecord("worker/0", RecordOn("alpha", 1)));
}

TEST_F(RegistryTest, AWatchOutlivesItsRegistryAndTeachesTheNextOne) {
  const auto port = HeldPort::Take();
  ASSERT_TRUE(port.ok()) << port.status();
  const std::string address = StrCat("127.0.0.1:", port->port());
  Start({"ps/0", "worker/0"}, address);
  RegistryClient worker(Options(), {"worker/0", RecordOn("alpha", 1)}, seal_);
  std::thread ps([&] { EXPECT_TRUE(Register("ps/0", RecordOn("beta", 2)).ok()); });
  ASSERT_TRUE(worker.Register().ok());
  ps.join();
  Watched watched;
  const auto watch = worker.StartWatch(watched.Callback());
  server_.reset();
  Start({"ps/0", "worker/0"}, address);
  AwaitMissing({"ps/0"});  // the watch has registered its process
  ASSERT_TRUE(Register("ps/0", RecordOn("gamma", 3)).ok());
  EXPECT_TRUE(watched.AwaitRecord("ps/0", RecordOn("gamma", 3)));
}

// Sends a request as it is.
Status SendRequest(int port, const proto::SealedMessage& request) {
  const auto client = NewGrpcCallClient(StrCat("127.0.0.1:", port), std::chrono::seconds(60));
  TB_CHECK_OK(client.status());
  return (*client)->Ask(kRegister, SerializeMessage(request), MonotonicClock::now() + std::chrono::minutes(5)).status;
}

proto::SealedMessage RequestOf(const std::string& name, Seal* seal, uint64_t registry = 0) {
  proto::RegisterRequest request;
  request.set_job("job 1");
  request.set_name(name);
  *request.mutable_record() = ToProto(RecordOn("old"));
  request.set_incarnation(7);
  request.set_registry(registry);
  proto::SealedMessage sealed;
  sealed.set_message(request.SerializeAsString());
  sealed.set_proof(*seal->Prove(RequestToProve(sealed.message())));
  return sealed;
}

// Somebody on the network may send again what a process has sent to an earlier registry of this job.
TEST_F(RegistryTest, ARequestToAnEarlierRegistryRegistersNothing) {
  Start({"ps/0"});
  EXPECT_TRUE(SendRequest(server_->port(), RequestOf("ps/0", seal_.get(), 1234567)).ok());
  EXPECT_TRUE(SendRequest(server_->port(), RequestOf("ps/0", seal_.get())).ok());
  EXPECT_THAT(server_->Missing(), ElementsAre("ps/0"));
}

TEST_F(RegistryTest, ARecordWithoutAnAddressIsRefused) {
  Start({"ps/0"});
  const auto result = Register("ps/0", RecordOn("alpha", 0));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("port 0"));
  EXPECT_EQ(Register("ps/0", RecordOn("")).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(server_->Missing(), ElementsAre("ps/0"));
}

TEST_F(RegistryTest, LargeRequestsAreRefusedUnread) {
  Start({"ps/0"});
  proto::SealedMessage large = RequestOf("ps/0", seal_.get());
  large.set_proof(std::string(1 << 20, 'x'));
  EXPECT_EQ(SendRequest(server_->port(), large).code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(RegistryTest, NamesAndJobsThatDoNotExistAreErrors) {
  Start({"ps/0", "worker/0"});
  const auto name = Register("worker/7", RecordOn("alpha"));
  EXPECT_EQ(name.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(name.status().message()), AllOf(HasSubstr("'worker/7'"), HasSubstr("ps/0, worker/0")));
  RegistryClientOptions options = Options();
  options.job = "job 2";
  const auto job = RegisterAt(options, {"ps/0", RecordOn("alpha")}, seal_);
  EXPECT_EQ(job.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(job.status().message()), AllOf(HasSubstr("job 1"), HasSubstr("job 2")));
}

TEST_F(RegistryTest, TheNextAddressIsTriedIfAnotherJobHasThePort) {
  Start({"ps/0"});
  auto other = RegistryServer::Start({.job = "job 2", .names = {"ps/0"}, .address = "127.0.0.1:0"}, seal_);
  ASSERT_TRUE(other.ok());
  RegistryClientOptions options = Options();
  options.addresses.insert(options.addresses.begin(), StrCat("127.0.0.1:", (*other)->port()));
  EXPECT_TRUE(RegisterAt(options, {"ps/0", RecordOn("alpha")}, seal_).ok());
  EXPECT_THAT((*other)->Missing(), ElementsAre("ps/0"));
}

TEST_F(RegistryTest, AmongSeveralAddressesTheErrorIsThatOfTheServerThatAnswers) {
  Start({"ps/0"});
  const auto other = SealWith("fedcba9876543210");
  const std::string error = ErrorAtTheDeadline("another secret", [&](milliseconds timeout) {
    RegistryClientOptions options = Options(timeout);
    options.addresses.emplace_back("127.0.0.1:1");
    return RegisterAt(options, {"ps/0", RecordOn("alpha")}, other);
  });
  EXPECT_THAT(error, HasSubstr("another secret"));
}

TEST_F(RegistryTest, ARequestToStopEndsTheWait) {
  Start({"ps/0", "worker/0"});
  StatusOr<std::vector<NamedRecord>> result = Internal("not run");
  std::thread ps([&] { result = Register("ps/0", RecordOn("alpha")); });
  AwaitMissing({"worker/0"});
  RequestStop("a test");
  ps.join();
  WithdrawStopRequest();
  EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled);
}

TEST_F(RegistryTest, OtherCallsAndMalformedOnesAreRefused) {
  Start({"ps/0"});
  const auto client = NewGrpcCallClient(StrCat("127.0.0.1:", server_->port()), std::chrono::minutes(1));
  ASSERT_TRUE(client.ok());
  const auto ask = [&](const std::string& method, const std::string& request) {
    return (*client)->Ask(method, {OwnedPayload(request)}, std::chrono::steady_clock::time_point::max()).status.code();
  };
  EXPECT_EQ(ask("/tensorflow.MasterService/RunStep", ""), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ask("/tensorbraid.Registry/Register", "\xff"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ask("/tensorbraid.Registry/Register", ""), absl::StatusCode::kUnauthenticated);
}

TEST(ProcessRecordTest, TextsOfRecordsAreSafeForPmi) {
  const ProcessRecord record{
      .host = "fe80::1%eth0", .node = "alpha \n= x", .port = 65535, .version = "1", .program = "p"};
  const std::string text = EncodeRecord(record);
  EXPECT_EQ(text.find_first_of(" =\n"), std::string::npos);
  EXPECT_EQ(*DecodeRecord(text), record);
  for (const char* wrong : {"", "x", "????", "AAAA"}) EXPECT_FALSE(DecodeRecord(wrong).ok()) << wrong;
}

TEST(ProcessRecordTest, DifferentVersionsAndProgramsAreErrorsThatNameBothHosts) {
  NamedRecord other{"worker/0", RecordOn("beta")};
  EXPECT_TRUE(CheckSameProgram({"ps/0", RecordOn("alpha")}, other).ok());
  other.record.program = "q";
  EXPECT_THAT(std::string(CheckSameProgram({"ps/0", RecordOn("alpha")}, other).message()),
              AllOf(HasSubstr("ps/0 on alpha"), HasSubstr("worker/0 on beta"), HasSubstr("programs")));
  other.record.version = "2.0";
  EXPECT_THAT(std::string(CheckSameProgram({"ps/0", RecordOn("alpha")}, other).message()), HasSubstr("1.0 and 2.0"));
}

TEST(ProcessRecordTest, ProcessesOfOneNodeMeetOnLoopback) {
  EXPECT_THAT(AddressesOf({RecordOn("a", 1), RecordOn("a", 2)}), ElementsAre("127.0.0.1:1", "127.0.0.1:2"));
  EXPECT_THAT(AddressesOf({RecordOn("a", 1), RecordOn("2001:db8::7", 2)}), ElementsAre("a:1", "[2001:db8::7]:2"));
}

TEST(ProcessRecordTest, ProcessesThatMayMoveMeetWhereOtherMachinesReachThem) {
  std::vector<ProcessRecord> records = {RecordOn("a", 1), RecordOn("a", 2)};
  records[0].may_move = true;
  EXPECT_THAT(AddressesOf(records), ElementsAre("127.0.0.1:1", "127.0.0.1:2"));
  records[1].may_move = true;
  EXPECT_THAT(AddressesOf(records), ElementsAre("a:1", "a:2"));
  EXPECT_EQ(*DecodeRecord(EncodeRecord(records[0])), records[0]);
}

TEST(DigestTest, ValuesAreThoseOfTheStandards) {
  // FIPS 180-2, B.1; RFC 4231, test case 2.
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HmacSha256("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  const std::string path = StrCat(::testing::TempDir(), "/digest_test_", ::getpid());
  ASSERT_TRUE(WriteFile(path, "abc").ok());
  EXPECT_EQ(*Sha256OfFile(path), Sha256("abc"));
  EXPECT_EQ(Sha256OfFile(path + ".none").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace tensorbraid
