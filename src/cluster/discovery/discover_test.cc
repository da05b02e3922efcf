// Which source wins, and whole jobs whose processes are threads.
#include "cluster/discovery/discover.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "cluster/discovery/discovery_testutil.h"
#include "cluster/discovery/mpi_exchanges.h"
#include "cluster/discovery/registry_exchange.h"
#include "core/text/logging.h"
#include "core/threads/stop.h"
#include "io/file.h"
#include "tensorbraid/cluster/server.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Variables = std::map<std::string, std::string>;

constexpr char kTfConfig[] =
    R"({"cluster": {"ps": ["p:1"], "worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}})";

Variables AllSources() {
  return {{"TF_CONFIG", kTfConfig},
          {"TENSORBRAID_SERVICE", "train"},
          {"TENSORBRAID_PS", "1"},
          {"TENSORBRAID_WORKERS", "2"},
          {"SLURM_JOB_ID", "1"}};
}

TEST(DiscoverTest, TheFirstResponsibleSourceWins) {
  Variables variables = AllSources();
  TaskArguments arguments{.given = true, .worker_hosts = {"f:1"}, .job_name = "worker"};
  const auto source = [&] {
    const Discovery found = Discover(arguments, MakeSurroundings(variables, "train-worker-0"));
    EXPECT_TRUE(found.task.ok()) << found.task.status();
    return found.task->has_value() ? (*found.task)->source : "none";
  };
  EXPECT_EQ(source(), "flags");
  arguments.given = false;
  EXPECT_EQ(source(), "tf_config");
  variables.erase("TF_CONFIG");
  EXPECT_EQ(source(), "kubernetes");
  variables.erase("TENSORBRAID_SERVICE");
  EXPECT_EQ(source(), "none");
}

TEST(DiscoverTest, AnErrorOfTheResponsibleSourceIsNotHiddenByALaterOne) {
  Variables variables = AllSources();
  variables["TF_CONFIG"] = "{";
  const Discovery found = Discover({}, MakeSurroundings(variables, "train-worker-0"));
  EXPECT_EQ(found.task.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(found.task.status().message()), HasSubstr("TF_CONFIG"));
  EXPECT_TRUE(found.sources[1].responsible);
  EXPECT_FALSE(found.sources[3].asked);
}

TEST(DiscoverTest, TheReportSaysWhatEachSourceReadAndWhy) {
  const Discovery found = Discover({}, MakeSurroundings(AllSources(), "train-worker-0"));
  ASSERT_EQ(found.sources.size(), Sources().size());
  EXPECT_EQ(found.sources[0].name, "flags");
  EXPECT_THAT(found.sources[0].why, HasSubstr("--ps_hosts"));
  EXPECT_THAT(found.sources[1].read,
              ElementsAre(::testing::Pair("TF_CONFIG", ::testing::Optional(std::string(kTfConfig)))));
  EXPECT_TRUE(found.sources[1].responsible);
  EXPECT_EQ(found.sources[2].why, "an earlier source is responsible");
}

TEST(DiscoverTest, AVariableChoosesTheSourceOrNone) {
  Variables variables = AllSources();
  variables.erase("TF_CONFIG");
  const auto discover = [&](const std::string& choice) {
    variables["TENSORBRAID_DISCOVERY"] = choice;
    return Discover({}, MakeSurroundings(variables, "train-worker-0"));
  };
  EXPECT_TRUE(discover("kubernetes").task->has_value());
  for (const char* other : {"none", "slurm"}) {
    const Discovery found = discover(other);
    ASSERT_TRUE(found.task.ok());
    EXPECT_FALSE(found.task->has_value());
    EXPECT_THAT(found.sources[3].why, HasSubstr("TENSORBRAID_DISCOVERY"));
  }
  EXPECT_THAT(std::string(discover("pigeon").task.status().message()),
              AllOf(HasSubstr("'pigeon'"), HasSubstr("slurm")));
}

// The launcher's side of PMI, for processes that are threads.
class FakePmi {
 public:
  explicit FakePmi(int size) : size_(size) {}
  ~FakePmi() {
    for (std::thread& thread : threads_) thread.join();
  }

  // The socket of the next process.
  Fd Connect() {
    int ends[2];
    TB_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    threads_.emplace_back([this, end = Fd(ends[0])] { Serve(end.get()); });
    return Fd(ends[1]);
  }
  int finalized() {
    std::lock_guard lock(mu_);
    return finalized_;
  }

 private:
  void Serve(int fd) {
    std::string received;
    char bytes[512];
    while (true) {
      const ssize_t count = ::read(fd, bytes, sizeof bytes);
      if (count <= 0) return;
      received.append(bytes, static_cast<size_t>(count));
      for (size_t end = received.find('\n'); end != std::string::npos; end = received.find('\n')) {
        const std::string answer = Answer(received.substr(0, end)) + "\n";
        received.erase(0, end + 1);
        // In two parts, as a stream may deliver it.
        TB_CHECK(::write(fd, answer.data(), 5) == 5);
        TB_CHECK(::write(fd, answer.data() + 5, answer.size() - 5) == static_cast<ssize_t>(answer.size() - 5));
      }
    }
  }
  static std::string Word(const std::string& line, const std::string& name) {
    const size_t at = (" " + line).find(" " + name + "=");
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 1;
    return line.substr(begin, line.find(' ', begin) - begin);
  }
  std::string Answer(const std::string& line) {
    std::unique_lock lock(mu_);
    const std::string command = Word(line, "cmd");
    if (command == "init") return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0";
    if (command == "get_maxes") return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024";
    if (command == "get_my_kvsname") return "cmd=my_kvsname kvsname=kvs_7";
    if (command == "put" && Word(line, "kvsname") == "kvs_7") {
      values_[Word(line, "key")] = Word(line, "value");
      return "cmd=put_result rc=0 msg=success";
    }
    if (command == "barrier_in") {
      ++at_barrier_;
      all_here_.notify_all();
      all_here_.wait(lock, [&] { return at_barrier_ >= size_; });
      return "cmd=barrier_out";
    }
    if (command == "get" && values_.contains(Word(line, "key"))) {
      return StrCat("cmd=get_result rc=0 msg=success value=", values_[Word(line, "key")]);
    }
    if (command == "finalize") {
      ++finalized_;
      return "cmd=finalize_ack";
    }
    return StrCat("cmd=", command, "_result rc=-1 msg=unknown");
  }

  const int size_;
  std::mutex mu_;
  std::condition_variable all_here_;
  int at_barrier_ = 0;
  int finalized_ = 0;
  std::map<std::string, std::string> values_;
  std::vector<std::thread> threads_;
};

// A job of an exchange whose processes are threads. tests/engines/mpi does the same with processes, and with PMIx.
class Job {
 public:
  virtual ~Job() = default;
  virtual std::unique_ptr<RecordExchange> Join(int rank) = 0;
};

class PmiJob final : public Job {
 public:
  explicit PmiJob(int size) : size_(size), pmi_(size) {}
  std::unique_ptr<RecordExchange> Join(int) override {
    return *NewPmiExchange(pmi_.Connect().Release(), size_, std::chrono::minutes(4));
  }

 private:
  const int size_;
  FakePmi pmi_;
};

std::string TokenFile() {
  static const std::string path = [] {
    std::string name = StrCat(::testing::TempDir(), "/discover_test_", ::getpid(), ".token");
    TB_CHECK_OK(WriteFile(name, "0123456789abcdef\n"));
    ::chmod(name.c_str(), 0600);  // the file of a token is refused if others can read it
    return name;
  }();
  return path;
}

class RegistryJob final : public Job {
 public:
  explicit RegistryJob(int size) {
    for (int i = 0; i < size; ++i) names_.push_back(StrCat("rank ", i));
    auto port = HeldPort::Take();
    TB_CHECK_OK(port.status());
    port_ = std::make_unique<HeldPort>(*std::move(port));
  }
  std::unique_ptr<RecordExchange> Join(int rank) override {
    const RegistryClientOptions options{
        .job = "job", .addresses = {StrCat("127.0.0.1:", port_->port())}, .timeout = std::chrono::minutes(4)};
    auto seal = NewTokenSeal(TokenFile());
    TB_CHECK_OK(seal.status());
    return std::make_unique<RegistryExchange>(options, *std::move(seal),
                                              rank == 0 ? names_ : std::vector<std::string>());
  }

 private:
  std::vector<std::string> names_;
  std::unique_ptr<HeldPort> port_;
};

using MakeJob = std::unique_ptr<Job> (*)(int size);

class ExchangeTest : public ::testing::TestWithParam<MakeJob> {};

TEST_P(ExchangeTest, AllRanksGetTheRecordsOfAll) {
  constexpr int kRanks = 8;
  const std::unique_ptr<Job> job = GetParam()(kRanks);
  std::vector<std::unique_ptr<RecordExchange>> exchanges;
  for (int rank = 0; rank < kRanks; ++rank) exchanges.push_back(job->Join(rank));
  std::vector<StatusOr<std::vector<NamedRecord>>> results(kRanks, Internal("not run"));
  std::vector<std::thread> ranks;
  const auto record_of = [](int rank) {
    return ProcessRecord{.host = StrCat("host", rank),
                         .node = "a node",
                         .port = 1 + rank,
                         .version = "1",
                         .program = std::string(64, 'a')};
  };
  for (int rank = kRanks - 1; rank >= 0; --rank) {
    ranks.emplace_back([&, rank] {
      results[rank] = exchanges[rank]->Gather({StrCat("rank ", rank), record_of(rank)});
    });
  }
  for (std::thread& rank : ranks) rank.join();
  for (const auto& result : results) {
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->size(), kRanks);
    for (int rank = 0; rank < kRanks; ++rank) {
      EXPECT_EQ((*result)[rank].name, StrCat("rank ", rank));
      EXPECT_EQ((*result)[rank].record, record_of(rank));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ExchangeTest,
    ::testing::Values([](int size) -> std::unique_ptr<Job> { return std::make_unique<PmiJob>(size); },
                      [](int size) -> std::unique_ptr<Job> { return std::make_unique<RegistryJob>(size); }));

TEST(RegistryExchangeTest, TheServerMayEndAsSoonAsItsOwnExchangeIsOver) {
  constexpr int kRanks = 8;
  for (int round = 0; round < 20; ++round) {
    RegistryJob job(kRanks);
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < kRanks; ++rank) {
      ranks.emplace_back([&job, rank] {
        const auto exchange = job.Join(rank);  // ends with this thread
        const auto all = exchange->Gather({StrCat("rank ", rank), {.host = "a", .node = "a", .port = 1}});
        EXPECT_TRUE(all.ok()) << all.status();
      });
    }
    for (std::thread& rank : ranks) rank.join();
  }
}

// The rank that serves runs another program in half of the rounds, and ends when it has its own answer.
TEST(RegistryExchangeTest, AllAreToldOfARefusalBeforeTheServerEnds) {
  constexpr int kRanks = 4;
  for (int round = 0; round < 20; ++round) {
    RegistryJob job(kRanks);
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < kRanks; ++rank) {
      ranks.emplace_back([&job, rank, round] {
        const auto exchange = job.Join(rank);  // ends with this thread
        const std::string program = rank == round % 2 ? "another" : "one";
        const auto all =
            exchange->Gather({StrCat("rank ", rank), {.host = "a", .node = "a", .port = 1, .program = program}});
        EXPECT_EQ(all.status().code(), absl::StatusCode::kFailedPrecondition) << all.status();
        EXPECT_THAT(std::string(all.status().message()), HasSubstr("programs"));
      });
    }
    for (std::thread& rank : ranks) rank.join();
  }
}

TEST(PmiExchangeTest, AnExchangeIsFinalized) {
  FakePmi pmi(1);
  const auto exchange = *NewPmiExchange(pmi.Connect().Release(), 1, std::chrono::seconds(60));
  ASSERT_TRUE(exchange->Gather({"rank 0", {.host = "a", .node = "a", .port = 1}}).ok());
  EXPECT_EQ(pmi.finalized(), 1);
}

TEST(PmiExchangeTest, ADescriptorOfSomethingElseIsAnErrorAndStaysOpen) {
  constexpr int kNone = 1 << 20;
  const Fd file(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const Fd alone(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Fd datagrams(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  for (const int fd : {file.get(), alone.get(), datagrams.get(), kNone}) {
    const Status status = NewPmiExchange(fd, 2, std::chrono::seconds(60)).status();
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(StrCat("PMI_FD=", fd, " is no connection")), HasSubstr("TENSORBRAID_DISCOVERY=none")));
    EXPECT_EQ(::fcntl(fd, F_GETFD) == -1, fd == kNone);
  }
}

TEST(PmiExchangeTest, ALauncherThatLeavesIsAnError) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const Fd own(ends[0]);
  const auto exchange = *NewPmiExchange(ends[1], 2, std::chrono::seconds(60));
  ::shutdown(own.get(), SHUT_RDWR);
  EXPECT_EQ(exchange->Gather({"rank 0", {.host = "a", .node = "a", .port = 1}}).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(PmiExchangeTest, ARankThatNeverComesIsAnErrorAfterTheTimeout) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const Fd silent(ends[0]);
  const auto exchange = *NewPmiExchange(ends[1], 2, std::chrono::milliseconds(50));
  const auto result = exchange->Gather({"rank 0", {.host = "a", .node = "a", .port = 1}});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("2 ranks"));
}

TEST(PmiExchangeTest, ARequestToStopEndsTheWait) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const Fd silent(ends[0]);
  const auto exchange = *NewPmiExchange(ends[1], 2, std::chrono::seconds(60));
  std::thread stopper([&] {
    char byte;
    EXPECT_EQ(::read(silent.get(), &byte, 1), 1);  // the exchange has begun
    RequestStop("a test");
  });
  const auto result = exchange->Gather({"rank 0", {.host = "a", .node = "a", .port = 1}});
  stopper.join();
  WithdrawStopRequest();
  EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled) << result.status();
}

// A step of Slurm, whose ranks are threads. `node_of` has the node of each rank.
std::vector<Discovery> RunStep(const std::vector<std::string>& node_of, const Variables& more = {}) {
  std::vector<Discovery> found(node_of.size());
  std::vector<std::thread> ranks;
  // Another step for each call, so that its registry has other ports.
  static int step = 0;
  const std::string step_id = std::to_string(++step);
  for (size_t rank = 0; rank < node_of.size(); ++rank) {
    Variables variables = {
        {"SLURM_JOB_ID", std::to_string(::getpid())}, {"SLURM_STEP_ID", step_id},
        {"SLURM_PROCID", std::to_string(rank)},       {"SLURM_NTASKS", std::to_string(node_of.size())},
        {"SLURM_JOB_NODELIST", "localhost"},          {"TENSORBRAID_DISCOVERY_TIMEOUT", "60"}};
    variables.insert(more.begin(), more.end());
    ranks.emplace_back([&found, rank, around = MakeSurroundings(variables, node_of[rank])] {
      found[rank] = Discover({.token_file = TokenFile()}, around);
    });
  }
  for (std::thread& rank : ranks) rank.join();
  return found;
}

TEST(DiscoverTest, TheRanksOfASlurmStepFormOneCluster) {
  const std::vector<Discovery> found = RunStep({"a", "a", "b", "b"}, {{"TENSORBRAID_PS", "2"}});
  std::vector<std::string> tasks;
  for (const Discovery& one : found) {
    ASSERT_TRUE(one.task.ok()) << one.task.status();
    ASSERT_TRUE(one.task->has_value());
    const FoundTask& task = **one.task;
    tasks.push_back(StrCat(task.job, "/", task.index));
    EXPECT_EQ(task.cluster, (*found[0].task)->cluster);
    EXPECT_EQ(task.source, "slurm");
    // Two nodes: the addresses are those that other machines can reach.
    EXPECT_THAT(*task.cluster.task_address("ps", 0), HasSubstr("a:"));
    EXPECT_THAT(*task.cluster.task_address("worker", 1), HasSubstr("b:"));
    EXPECT_THAT(*task.cluster.task_address(task.job, task.index), HasSubstr(StrCat(":", task.port->port())));
  }
  EXPECT_THAT(tasks, ElementsAre("ps/0", "worker/0", "ps/1", "worker/1"));
}

TEST(DiscoverTest, ServersListenOnThePortsThatWereFound) {
  std::vector<Discovery> found = RunStep({"a", "a", "a"});
  std::vector<std::unique_ptr<Server>> servers;
  for (const Discovery& one : found) {
    ASSERT_TRUE(one.task.ok()) << one.task.status();
    const FoundTask& task = **one.task;
    auto server = Server::Create(task.cluster, {.job_name = task.job, .task_index = task.index});
    ASSERT_TRUE(server.ok()) << server.status();
    EXPECT_EQ((*server)->address(), StrCat("127.0.0.1:", task.port->port()));
    servers.push_back(*std::move(server));
  }
}

// A machine without DNS, and with IPv6 only.
TEST(DiscoverTest, MachinesWithoutNamesMeetAtTheirAddresses) {
  std::vector<Discovery> found(2);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    Surroundings around = MakeSurroundings({{"SLURM_JOB_ID", StrCat(::getpid(), "8")},
                                            {"SLURM_STEP_ID", "1"},
                                            {"SLURM_PROCID", std::to_string(rank)},
                                            {"SLURM_NTASKS", "2"},
                                            {"SLURM_JOB_NODELIST", "localhost"},
                                            {"TENSORBRAID_DISCOVERY_TIMEOUT", "240"}},
                                           rank == 0 ? "alpha" : "beta");
    around.addresses = {StrCat("2001:db8::", rank + 7)};
    around.resolve = [](const std::string& host) -> StatusOr<std::vector<std::string>> {
      return Unavailable(host, ": Temporary failure in name resolution");
    };
    ranks.emplace_back([&found, rank, around] { found[rank] = Discover({.token_file = TokenFile()}, around); });
  }
  for (std::thread& rank : ranks) rank.join();
  for (const Discovery& one : found) {
    ASSERT_TRUE(one.task.ok()) << one.task.status();
    EXPECT_THAT(*(*one.task)->cluster.task_address("ps", 0), HasSubstr("[2001:db8::7]:"));
    EXPECT_THAT(*(*one.task)->cluster.task_address("worker", 0), HasSubstr("[2001:db8::8]:"));
  }
}

// The name of a task in a registry, and its server. An Estimator calls worker 0 the chief, so the server's cluster may
// have another job for it.
struct RegisteredTask {
  Discovery discovery;
  std::unique_ptr<Server> server;

  RegisteredTask(const std::string& name, int registry_port, const std::string& job_of_worker = "worker")
      : discovery(Discover({.token_file = TokenFile()},
                           MakeSurroundings({{"TENSORBRAID_REGISTRY", StrCat("127.0.0.1:", registry_port)},
                                             {"TENSORBRAID_TASK", name},
                                             {"TENSORBRAID_JOB_ID", "job"},
                                             {"TENSORBRAID_DISCOVERY_TIMEOUT", "240"}}))) {
    TB_CHECK_OK(discovery.task.status());
    const FoundTask& found = **discovery.task;
    const ClusterSpec cluster = {{"ps", {*found.cluster.task_address("ps", 0)}},
                                 {job_of_worker, {*found.cluster.task_address("worker", 0)}}};
    const std::string job = found.job == "worker" ? job_of_worker : found.job;
    auto created = Server::Create(cluster, {.job_name = job, .task_index = found.index, .watch = found.watch});
    TB_CHECK_OK(created.status());
    server = *std::move(created);
  }
  std::string Address() const {
    const FoundTask& found = **discovery.task;
    return *found.cluster.task_address(found.job, found.index);
  }
};

class ComingBackTest : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(JobsOfTheWorker, ComingBackTest, ::testing::Values("worker", "chief"));

TEST_P(ComingBackTest, OtherTasksFindOneThatComesBackAtAnotherAddress) {
  const auto registry = RegistryServer::Start({.job = "job", .names = {"ps/0", "worker/0"}, .address = "127.0.0.1:0"},
                                              *NewTokenSeal(TokenFile()));
  ASSERT_TRUE(registry.ok()) << registry.status();
  std::unique_ptr<RegisteredTask> ps, worker;
  std::thread starts_ps([&] { ps = std::make_unique<RegisteredTask>("ps/0", (*registry)->port(), GetParam()); });
  worker = std::make_unique<RegisteredTask>("worker/0", (*registry)->port(), GetParam());
  starts_ps.join();
  Graph g;
  {
    const auto device = g.Device("/job:ps/task:0");
    Variable(g, {}, Zeros(), {.name = "v"});
  }
  // Waits for the parameter server.
  const auto initialise = [&] {
    const auto session =
        Session::Create(g, {.target = worker->server->target(), .operation_timeout = std::chrono::minutes(5)});
    return session.ok() ? (*session)->Run({GlobalVariablesInitializer(g)}).status() : session.status();
  };
  EXPECT_TRUE(initialise().ok());

  // Its process still holds the port, so the next one cannot get the same.
  ps->server.reset();
  const RegisteredTask again("ps/0", (*registry)->port(), GetParam());
  ASSERT_NE(again.Address(), ps->Address());
  const Status later = initialise();
  EXPECT_TRUE(later.ok()) << later;
}

TEST(DiscoverTest, WithoutCertificatesATaskThatComesBackOnAnotherMachineIsRefusedInWords) {
  const auto registry = RegistryServer::Start({.job = "job", .names = {"ps/0", "worker/0"}, .address = "127.0.0.1:0"},
                                              *NewTokenSeal(TokenFile()));
  ASSERT_TRUE(registry.ok()) << registry.status();
  std::thread starts_ps([&] { const RegisteredTask ps("ps/0", (*registry)->port()); });
  const RegisteredTask worker("worker/0", (*registry)->port());
  starts_ps.join();
  EXPECT_THAT(worker.Address(), HasSubstr("127.0.0.1:"));

  const Discovery again =
      Discover({.token_file = TokenFile()},
               MakeSurroundings({{"TENSORBRAID_REGISTRY", StrCat("127.0.0.1:", (*registry)->port())},
                                 {"TENSORBRAID_TASK", "ps/0"},
                                 {"TENSORBRAID_JOB_ID", "job"},
                                 {"TENSORBRAID_DISCOVERY_TIMEOUT", "240"}},
                                "beta"));
  ASSERT_TRUE(again.task.ok()) << again.task.status();
  const FoundTask& found = **again.task;
  const Status status = Server::Create(found.cluster, {.job_name = found.job, .task_index = found.index}).status();
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("refuses to listen on beta:"), HasSubstr("--tls_cert")));
}

TEST(DiscoverTest, ADifferentProgramOnOneHostIsRefused) {
  std::vector<Discovery> found(2);
  const std::string other = StrCat(::testing::TempDir(), "/discover_test_", ::getpid(), ".program");
  ASSERT_TRUE(WriteFile(other, "another program").ok());
  ::chmod(other.c_str(), 0600);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    Surroundings around = MakeSurroundings({{"SLURM_JOB_ID", StrCat(::getpid(), "9")},
                                            {"SLURM_STEP_ID", "1"},
                                            {"SLURM_PROCID", std::to_string(rank)},
                                            {"SLURM_NTASKS", "2"},
                                            {"SLURM_JOB_NODELIST", "localhost"},
                                            {"TENSORBRAID_DISCOVERY_TIMEOUT", "60"}},
                                           rank == 0 ? "alpha" : "beta");
    if (rank == 1) around.program = other;
    ranks.emplace_back([&found, rank, around] { found[rank] = Discover({.token_file = TokenFile()}, around); });
  }
  for (std::thread& rank : ranks) rank.join();
  for (const Discovery& one : found) {
    EXPECT_EQ(one.task.status().code(), absl::StatusCode::kFailedPrecondition) << one.task.status();
    EXPECT_THAT(std::string(one.task.status().message()),
                AllOf(HasSubstr("programs"), HasSubstr("alpha"), HasSubstr("beta")));
  }
}

TEST(DiscoverTest, AStepWithoutASecretIsRefusedInWords) {
  const Surroundings around = MakeSurroundings({{"SLURM_JOB_ID", "1"},
                                                {"SLURM_STEP_ID", "1"},
                                                {"SLURM_PROCID", "1"},
                                                {"SLURM_NTASKS", "2"},
                                                {"SLURM_JOB_NODELIST", "localhost"},
                                                {"TENSORBRAID_DISCOVERY_TIMEOUT", "1"}});
  const Discovery found = Discover({.token_file = "/no/such/file"}, around);
  EXPECT_THAT(std::string(found.task.status().message()), AllOf(HasSubstr("--token_file"), HasSubstr("/no/such/file")));
}

TEST(DiscoverTest, CertificatesAndTokenComeFromVariablesToo) {
  const Surroundings around = MakeSurroundings({{"TENSORBRAID_TLS_CERT", "c"},
                                                {"TENSORBRAID_TLS_KEY", "k"},
                                                {"TENSORBRAID_TLS_CA", "a"},
                                                {"TENSORBRAID_TOKEN_FILE", "t"}});
  TlsOptions tls{.cert = "given"};
  std::string token_file;
  ReadAccess(around, &tls, &token_file);
  EXPECT_EQ(tls.cert, "given");
  EXPECT_EQ(tls.key, "k");
  EXPECT_EQ(tls.ca, "a");
  EXPECT_EQ(token_file, "t");
}

}  // namespace
}  // namespace tensorbraid
