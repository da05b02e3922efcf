// Tests `tensorbraid status`, the metrics and the status page with a cluster of real processes that trains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

// The options that Debian's library was compiled with.
#define CPPHTTPLIB_OPENSSL_SUPPORT
#define CPPHTTPLIB_ZLIB_SUPPORT
#define CPPHTTPLIB_BROTLI_SUPPORT
#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "core/system/fd.h"
#include "core/system/held_port.h"
#include "io/file.h"
#include "io/file_testutil.h"
#include "launch/credentials/certificates.h"
#include "launch/processes/child_process.h"
#include "launch/processes/process_testutil.h"
#include "nlohmann/json.hpp"
#include "status/prometheus_parser.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using json = nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr std::chrono::seconds kPatience{60};
constexpr const char* kTasks[] = {"ps/0", "worker/0", "worker/1"};

// Reads a pipe to its end.
std::string ReadAll(const Fd& fd) {
  std::string text;
  char buffer[4096];
  pollfd event = {fd.get(), POLLIN, 0};
  while (::poll(&event, 1, 60000) == 1) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n <= 0) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

struct ProgramResult {
  std::string out, err;
  int exit_code = -1;
};
ProgramResult RunCommand(const std::vector<std::string>& command) {
  auto child = ChildProcess::Start(command, {});
  if (!child.ok()) return {.out = "", .err = std::string(child.status().message())};
  ProgramResult output;
  output.out = ReadAll(child->out());
  output.err = ReadAll(child->err());
  output.exit_code = child->Reap().exit_code;
  return output;
}

class StatusProcessTest : public ::testing::Test {
 protected:
  // Starts a cluster that trains: a parameter server, which serves the metrics, and two workers.
  void Train(bool issync) {
    for (int i = 0; i < 4; ++i) ports_.push_back(HeldPort::Take().value());
    for (const auto& [name, index] : {std::pair("ps", 0), std::pair("worker", 0), std::pair("worker", 1)}) {
      std::vector<std::string> command = {STATUS_TASK,
                                          "--ps_hosts=" + Address(0),
                                          StrCat("--worker_hosts=", Address(1), ",", Address(2)),
                                          StrCat("--job_name=", name),
                                          StrCat("--task_index=", index),
                                          issync ? "--issync" : "--noissync"};
      if (name == std::string("ps")) command.push_back(StrCat("--metrics_port=", ports_[3].port()));
      tasks_.emplace(StrCat(name, "/", index), ChildProcess::Start(command, {}).value());
    }
  }
  std::string Address(int i) const { return StrCat("localhost:", ports_[i].port()); }
  std::string MetricsUrl() const { return "http://" + Address(3); }

  // Asks the task at `address` for reports until `holds` returns true for one, at most for kPatience.
  template <typename Holds>
  json AwaitStatus(const std::string& address, const Holds& holds) {
    const auto give_up = std::chrono::steady_clock::now() + kPatience;
    ProgramResult output;
    while (std::chrono::steady_clock::now() < give_up) {
      output = RunCommand({TENSORBRAID_PROGRAM, "status", address, "--json", "--timeout=0.5"});
      const json report = json::parse(output.out, nullptr, false);
      if (!report.is_discarded() && holds(report)) return report;
    }
    ADD_FAILURE() << "not in time: " << output.out << output.err;
    return {};
  }
  // Runs a command until its output says `part`, at most for kPatience. On a busy machine a task may answer too late.
  static ProgramResult AwaitText(const std::vector<std::string>& command, const std::string& part) {
    const auto give_up = std::chrono::steady_clock::now() + kPatience;
    ProgramResult output = RunCommand(command);
    while (output.out.find(part) == std::string::npos && std::chrono::steady_clock::now() < give_up) {
      output = RunCommand(command);
    }
    return output;
  }
  static json TaskIn(const json& report, const std::string& name) {
    for (const json& task : report["tasks"]) {
      if (task["task"] == name) return task;
    }
    return {};
  }
  static bool Trains(const json& report) {
    return report.value("global_step", 0.0) > 20 && TaskIn(report, "worker/1").value("steps", 0.0) > 5;
  }
  StatusOr<std::string> Get(const std::string& path) {
    httplib::Client client(MetricsUrl());
    client.set_read_timeout(kPatience);
    const auto got = client.Get(path);
    if (!got) return Unavailable(path, ": ", httplib::to_string(got.error()));
    if (got->status != 200) return Internal(path, ": status ", got->status, ": ", got->body);
    return got->body;
  }

  std::vector<HeldPort> ports_;
  std::map<std::string, ChildProcess> tasks_;
};

TEST_F(StatusProcessTest, AStoppedWorkerIsNamedWithTheSynchronousStepThatWaitsForIt) {
  Train(/*issync=*/true);
  const json running = AwaitStatus(Address(1), Trains);
  EXPECT_EQ(running["asked"], "worker/0");
  EXPECT_EQ(running["tasks"].size(), 3u);
  for (const json& task : running["tasks"]) EXPECT_EQ(task["state"], "up") << task;
  EXPECT_GT(TaskIn(running, "ps/0")["variable_bytes"], 4000);

  tasks_.at("worker/1").Signal(SIGSTOP);
  const json stopped = AwaitStatus(Address(0), [](const json& report) {
    if (TaskIn(report, "worker/1")["state"] != "no answer") return false;
    for (const json& step : report["blocked"]) {
      if (step["cause"].get<std::string>().find("worker/1") != std::string::npos) return true;
    }
    return false;
  });
  ASSERT_FALSE(stopped.is_null());
  EXPECT_EQ(TaskIn(stopped, "worker/0")["state"], "up");
  EXPECT_THAT(TaskIn(stopped, "worker/1")["problem"].get<std::string>(), HasSubstr("0.5 s"));
  std::string ops;
  for (const json& step : stopped["blocked"]) {
    EXPECT_EQ(step["master"], "worker/0");
    for (const json& wait : step["waits"]) {
      if (wait["task"] == "ps/0") ops += wait["op"].get<std::string>() + " ";
    }
  }
  EXPECT_THAT(ops, AnyOf(HasSubstr("AccumulatorTakeGradient"), HasSubstr("QueueDequeue")));

  const ProgramResult text =
      AwaitText({TENSORBRAID_PROGRAM, "status", Address(0), "--timeout=0.5", "--interval=0.2"}, "2 of 3 tasks answer");
  EXPECT_EQ(text.exit_code, 1) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("2 of 3 tasks answer, asked by ps/0"), HasSubstr("no answer"),
                              HasSubstr("worker/0 step "), HasSubstr("perhaps worker/1, which does not answer")));

  tasks_.at("worker/1").Signal(SIGCONT);
  const double step = stopped.value("global_step", 0.0);
  AwaitStatus(Address(0), [step](const json& report) {
    return report.value("global_step", 0.0) > step + 5 && TaskIn(report, "worker/1")["state"] == "up";
  });
  const ProgramResult healthy =
      AwaitText({TENSORBRAID_PROGRAM, "status", Address(2), "--interval=0.5"}, "3 of 3 tasks answer");
  EXPECT_EQ(healthy.exit_code, 0) << healthy.out << healthy.err;
  // The status may call worker/1 a straggler, because it shows the worker's rate over the last ten seconds.
  EXPECT_THAT(healthy.out, AllOf(HasSubstr("3 of 3 tasks answer, asked by worker/1"), HasSubstr("B/s")));
}

TEST_F(StatusProcessTest, MetricsGrowDuringTraining) {
  Train(/*issync=*/false);
  AwaitStatus(Address(2), Trains);
  const auto scrape = [this] {
    const auto text = Get("/metrics");
    EXPECT_TRUE(text.ok()) << text.status();
    auto metrics = PrometheusParser::Parse(text.value_or(""));
    EXPECT_TRUE(metrics.ok()) << metrics.status();
    return metrics.ok() ? *metrics : PrometheusMetrics{};
  };
  using Labels = std::map<std::string, std::string>;
  const std::vector<std::pair<const char*, Labels>> growing = {
      {"tensorbraid_steps_total", {{"task", "worker/1"}}},
      {"tensorbraid_global_step", {}},
      {"tensorbraid_busy_seconds_total", {{"task", "ps/0"}}},
      {"tensorbraid_received_bytes_total", {{"task", "ps/0"}, {"from", "worker/1"}}},
      {"tensorbraid_received_bytes_total", {{"task", "worker/1"}, {"from", "ps/0"}}}};
  PrometheusMetrics first = scrape(), later = scrape();
  const auto all_have_grown = [&] {
    return std::all_of(growing.begin(), growing.end(), [&](const auto& one) {
      return later[one.first].samples[one.second] > first[one.first].samples[one.second];
    });
  };
  const auto all_answer = [&] {
    return std::all_of(std::begin(kTasks), std::end(kTasks), [&](const char* task) {
      return later["tensorbraid_task_up"].samples[{{"task", task}}] == 1;
    });
  };
  // Tasks answer one after the other, and on a busy machine not always in time.
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (!(all_have_grown() && all_answer()) && std::chrono::steady_clock::now() < give_up) later = scrape();
  for (const char* task : kTasks) {
    EXPECT_EQ((later["tensorbraid_task_up"].samples[{{"task", task}}]), 1);
    EXPECT_GT((later["tensorbraid_memory_bytes"].samples[{{"task", task}}]), 1e6);
  }
  for (const auto& [name, labels] : growing) {
    EXPECT_GT(later[name].samples[labels], first[name].samples[labels]) << name;
  }

  auto watch =
      ChildProcess::Start({TENSORBRAID_PROGRAM, "status", Address(0), "--watch", "--json", "--interval=0.1"}, {});
  ASSERT_TRUE(watch.ok()) << watch.status();
  // On a busy machine there may be no step between two lines, and a line without an answer of the parameter server.
  const auto watch_until = std::chrono::steady_clock::now() + kPatience;
  double step = -1;
  for (int grown = 0; grown < 3;) {
    ASSERT_LT(std::chrono::steady_clock::now(), watch_until) << "global step " << step;
    const json line = json::parse("{" + AwaitLine(watch->out(), "{"), nullptr, false);
    ASSERT_FALSE(line.is_discarded());
    const double now = line.value("global_step", step);
    EXPECT_GE(now, step);
    if (now > step) ++grown;
    step = now;
  }

  const auto report = Get("/report.json");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(json::parse(*report)["tasks"].size(), 3u);
  httplib::Client client(MetricsUrl());
  EXPECT_EQ(client.Get("/other")->status, 404);
  EXPECT_EQ(client.Post("/metrics")->status, 404);
  // The request of another site's page, whose host name was given the address 127.0.0.1.
  EXPECT_EQ(client.Get("/metrics", {{"Host", "evil.example:80"}})->status, 403);
}

// The name of a browser, or "" if there is none.
std::string FindBrowser() {
  for (const char* name : {"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}) {
    if (RunCommand({name, "--version"}).exit_code == 0) return name;
  }
  return "";
}
constexpr char kNeedsBrowser[] = "needs Chromium to open the page: scripts/install_packages chromium-headless-shell";

// Opens a page without a window for this virtual time. `what` is Chromium's flag for the result.
ProgramResult OpenPage(const std::string& browser, const std::string& url, const std::string& what, int virtual_ms) {
  const TempDir profile;
  return RunCommand({browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--user-data-dir=" + profile.path(), "--window-size=1240,1000",
                     StrCat("--virtual-time-budget=", virtual_ms), what, url});
}

TEST_F(StatusProcessTest, ThePageShowsTheClusterInABrowser) {
  const std::string browser = FindBrowser();
  if (browser.empty()) GTEST_SKIP() << kNeedsBrowser;
  Train(/*issync=*/true);
  AwaitStatus(Address(1), Trains);
  const auto open = [&](const std::string& what, int virtual_ms) {
    return OpenPage(browser, MetricsUrl() + "/", what, virtual_ms);
  };
  // The page once it says `part`. On a busy machine a task may answer its last report too late.
  const auto open_until = [&](const std::string& part, int virtual_ms) {
    const auto give_up = std::chrono::steady_clock::now() + kPatience;
    std::string page = open("--dump-dom", virtual_ms).out;
    while (page.find(part) == std::string::npos && std::chrono::steady_clock::now() < give_up) {
      page = open("--dump-dom", virtual_ms).out;
    }
    return page;
  };
  // In this virtual time the page asks for a hundred reports, which takes a second or two of real time.
  const std::string page = open_until("3 of 3 tasks answer", 100'000);
  // The summary, the boxes of the tasks, the edges of their traffic, and the curves.
  EXPECT_THAT(page, HasSubstr("3 of 3 tasks answer, asked by ps/0"));
  EXPECT_THAT(page, HasSubstr("global step "));
  for (const char* task : {"ps/0", "worker/0", "worker/1"}) {
    EXPECT_THAT(page, AllOf(HasSubstr(StrCat("<g data-task=\"", task, "\">")),
                            HasSubstr(StrCat("<tr data-task=\"", task, "\">"))));
  }
  for (const char* worker : {"worker/0", "worker/1"}) {
    EXPECT_THAT(page, HasSubstr(StrCat("data-from=\"ps/0\" data-to=\"", worker, "\"")));
    EXPECT_THAT(page, HasSubstr(StrCat("data-from=\"", worker, "\" data-to=\"ps/0\"")));
  }
  EXPECT_THAT(page, ::testing::ContainsRegex("text-anchor=\"middle\">[0-9.]+ [kM]?B/s</text>"));
  EXPECT_THAT(page, HasSubstr("<polyline points="));
  EXPECT_THAT(page, HasSubstr("No step has run for more than a second"));
  EXPECT_THAT(page, HasSubstr("id=\"problem\" style=\"display: none;\""));

  tasks_.at("worker/1").Signal(SIGSTOP);
  AwaitStatus(Address(1), [](const json& report) { return !report["blocked"].empty(); });
  // Each report takes the two seconds that the stopped worker has to answer.
  const std::string waiting = open_until("2 of 3 tasks answer", 1500);
  EXPECT_THAT(waiting,
              AllOf(HasSubstr("2 of 3 tasks answer"),
                    ::testing::ContainsRegex("class=\"wait\" d=\"[^\"]*\" data-from=\"ps/0\" data-to=\"worker/1\""),
                    HasSubstr("data-master=\"worker/0\""), HasSubstr("perhaps worker/1, which does not answer"),
                    HasSubstr("ps/0 has waited ")));
  if (const char* directory = std::getenv("TENSORBRAID_SCREENSHOTS"); directory != nullptr) {
    open(StrCat("--screenshot=", directory, "/waiting.png"), 1500);
    tasks_.at("worker/1").Signal(SIGCONT);
    AwaitStatus(Address(1), [](const json& report) { return report["blocked"].empty(); });
    open(StrCat("--screenshot=", directory, "/running.png"), 100'000);
  }
}

TEST_F(StatusProcessTest, AClusterThatASessionBroughtIsShownSeparately) {
  for (int i = 0; i < 4; ++i) ports_.push_back(HeldPort::Take().value());
  const auto start = [this](int i, int metrics_port) {
    return Server::Create(ClusterSpec({{"local", {Address(i)}}}), {.job_name = "local", .metrics_port = metrics_port});
  };
  const auto master = start(0, ports_[3].port()), other = start(1, -1);
  ASSERT_TRUE(master.ok()) << master.status();
  ASSERT_TRUE(other.ok()) << other.status();
  Graph g;
  Variable table;
  {
    auto device = g.Device("/job:ps/task:0");
    table = Variable(g, {250}, Zeros(), {.name = "table"});
  }
  const ClusterSpec spec({{"ps", {Address(1)}}, {"worker", {Address(0)}}});
  auto session = Session::Create(g, {.target = (*master)->target(), .cluster = spec});
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run({GlobalVariablesInitializer(g)}).ok());

  const std::string headline = StrCat(" of a session, whose master is worker/0 (", Address(0), ")");
  for (const int asked : {0, 1}) {
    const ProgramResult text = AwaitText({TENSORBRAID_PROGRAM, "status", Address(asked), "--interval=0.1"},
                                         headline + ": 2 of 2 tasks answer");
    EXPECT_EQ(text.exit_code, 0) << text.err;
    EXPECT_THAT(text.out, AllOf(HasSubstr("1 of 1 tasks answer, asked by local/0"),
                                HasSubstr(headline + ": 2 of 2 tasks answer"), HasSubstr("1 (1.0 kB)")));
  }
  const ProgramResult output = RunCommand({TENSORBRAID_PROGRAM, "status", Address(0), "--json", "--timeout=60"});
  const json report = json::parse(output.out, nullptr, false);
  ASSERT_FALSE(report.is_discarded()) << output.out << output.err;
  ASSERT_EQ(report["session_clusters"].size(), 1u) << report;
  const std::string number = report["session_clusters"][0]["cluster"];
  EXPECT_EQ(TaskIn(report["session_clusters"][0], "ps/0")["variable_bytes"], 1000);
  const auto scraped = Get("/metrics");
  ASSERT_TRUE(scraped.ok()) << scraped.status();
  const auto metrics = PrometheusParser::Parse(*scraped);
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  const std::map<std::string, std::string> labels = {{"cluster", number}, {"task", "ps/0"}};
  EXPECT_EQ(metrics->at("tensorbraid_session_variable_bytes").samples.at(labels), 1000);

  const std::string browser = FindBrowser();
  if (browser.empty()) GTEST_SKIP() << kNeedsBrowser;
  const std::string page = OpenPage(browser, MetricsUrl() + "/", "--dump-dom", 5000).out;
  EXPECT_THAT(page, AllOf(HasSubstr("1 of 1 tasks answer, asked by local/0"),
                          HasSubstr(StrCat("<section data-cluster=\"", number, "\"><h2>Cluster ", number, headline)),
                          HasSubstr("2 of 2 tasks answer</div>"), HasSubstr("<tr data-task=\"ps/0\">")));
  EXPECT_THAT(page, HasSubstr("id=\"problem\" style=\"display: none;\""));
}

TEST_F(StatusProcessTest, AWorkerIsReadyWhileItReachesItsParameterServers) {
  for (int i = 0; i < 4; ++i) ports_.push_back(HeldPort::Take().value());
  const ClusterSpec cluster({{"ps", {Address(0), Address(1)}}, {"worker", {Address(2)}}});
  const auto get = [](const std::string& url, const char* path) {
    httplib::Client client(url);
    client.set_read_timeout(kPatience);
    const auto got = client.Get(path);
    return got ? std::pair(got->status, got->body) : std::pair(-1, httplib::to_string(got.error()));
  };
  const auto ready = [&] { return get(MetricsUrl(), "/readyz"); };
  const auto await = [&](const std::string& body) {
    const auto give_up = std::chrono::steady_clock::now() + kPatience;
    std::string last;
    while (last != body && std::chrono::steady_clock::now() < give_up) last = ready().second;
    EXPECT_EQ(last, body);
  };
  const auto worker = Server::Create(cluster, {.job_name = "worker", .metrics_port = ports_[3].port()});
  ASSERT_TRUE(worker.ok()) << worker.status();
  EXPECT_EQ(ready(),
            std::pair(503, std::string("not ready: waits for ps/0 (not reached yet), ps/1 (not reached yet)\n")));
  EXPECT_EQ(get(MetricsUrl(), "/healthz").first, 200);

  // A parameter server waits for no other task.
  auto first = Server::Create(cluster, {.job_name = "ps", .task_index = 0, .metrics_port = 0});
  ASSERT_TRUE(first.ok()) << first.status();
  const std::string url_of_first = (*first)->status_url();
  EXPECT_EQ(get(url_of_first.substr(0, url_of_first.size() - 1), "/readyz").first, 200);
  await("not ready: waits for ps/1 (not reached yet)\n");
  auto second = Server::Create(cluster, {.job_name = "ps", .task_index = 1});
  ASSERT_TRUE(second.ok()) << second.status();
  await("ready\n");
  (*first)->Stop();
  await("not ready: waits for ps/0 (has left)\n");
  EXPECT_EQ(get(MetricsUrl(), "/healthz").first, 200);
}

// A connection on which nothing is sent.
Fd ConnectTo(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  address.sin_port = ::htons(static_cast<uint16_t>(port));
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return socket;
}

TEST_F(StatusProcessTest, WithTlsOnlyClientsWithACertificateSeeTheStatus) {
  const TempDir dir;
  ASSERT_TRUE(RunCommand({TENSORBRAID_PROGRAM, "certs", dir.path() + "/certs", "--hosts=localhost"}).exit_code == 0);
  const std::string files = dir.path() + "/certs/";
  const TlsOptions tls = {.cert = files + "localhost.pem", .key = files + "localhost-key.pem", .ca = files + "ca.pem"};
  ports_.push_back(HeldPort::Take().value());
  auto server =
      Server::Create(ClusterSpec({{"worker", {Address(0)}}}), {.job_name = "worker", .tls = tls, .metrics_port = 0});
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string url = (*server)->status_url();
  ASSERT_THAT(url, HasSubstr("https://localhost:"));

  const std::vector<std::string> ask = {TENSORBRAID_PROGRAM, "status", Address(0), "--interval=0.1"};
  auto with = ask;
  for (const auto& [flag, file] :
       {std::pair("--tls_cert=", tls.cert), {"--tls_key=", tls.key}, {"--tls_ca=", tls.ca}}) {
    with.push_back(flag + file);
  }
  const ProgramResult allowed = RunCommand(with);
  EXPECT_EQ(allowed.exit_code, 0) << allowed.err;
  EXPECT_THAT(allowed.out, HasSubstr("1 of 1 tasks answer"));
  const ProgramResult refused = RunCommand(ask);
  EXPECT_EQ(refused.exit_code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("--tls_ca"));

  const int port = std::stoi(url.substr(std::string("https://localhost:").size()));
  const auto scrape = [&](httplib::SSLClient client, const std::string& path = "/metrics") {
    client.set_ca_cert_path(tls.ca.c_str());
    const auto got = client.Get(path);
    return got ? got->status : -1;
  };
  EXPECT_EQ(scrape(httplib::SSLClient("localhost", port, tls.cert, tls.key)), 200);
  // Clients that never begin with TLS keep nobody waiting.
  std::vector<Fd> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(ConnectTo(port));
  EXPECT_EQ(scrape(httplib::SSLClient("localhost", port, tls.cert, tls.key)), 200);
  EXPECT_EQ(scrape(httplib::SSLClient("localhost", port)), -1) << "a client without a certificate must be refused";
  EXPECT_EQ(scrape(httplib::SSLClient("localhost", port, tls.cert, tls.key), "/readyz"), 200);
  EXPECT_EQ(scrape(httplib::SSLClient("localhost", port), "/readyz"), -1) << "a probe must have one, too";
  httplib::Client plain("localhost", port);
  EXPECT_FALSE(plain.Get("/metrics")) << "a client without TLS must be refused";

  // A renewed certificate is used without a restart.
  const Certificate other =
      MakeAuthority({WallClock::now() - std::chrono::hours(1), WallClock::now() + std::chrono::hours(1)}).value();
  ASSERT_TRUE(WriteFile(tls.ca, other.certificate).ok());
  EXPECT_EQ(scrape(httplib::SSLClient("localhost", port, tls.cert, tls.key)), -1);
}

TEST_F(StatusProcessTest, WithATokenOnlyThoseWhoKnowItSeeTheStatus) {
  const TempDir dir;
  const std::string tasks = "a-token-of-the-tasks", clients = "a-token-of-clients";
  dir.Write("tasks", tasks + "\n");
  dir.Write("clients", clients + "\n");
  ports_.push_back(HeldPort::Take().value());
  auto server = Server::Create(ClusterSpec({{"worker", {Address(0)}}}), {.job_name = "worker",
                                                                         .token_file = dir.path() + "/tasks",
                                                                         .client_token_file = dir.path() + "/clients",
                                                                         .metrics_port = 0});
  ASSERT_TRUE(server.ok()) << server.status();

  const auto ask = [&](const std::string& token_file) {
    std::vector<std::string> command = {TENSORBRAID_PROGRAM, "status", Address(0), "--interval=0.1"};
    if (!token_file.empty()) command.push_back("--token_file=" + dir.path() + token_file);
    return RunCommand(command);
  };
  EXPECT_EQ(ask("/tasks").exit_code, 0);
  const ProgramResult allowed = ask("/clients");
  EXPECT_EQ(allowed.exit_code, 0) << allowed.err;
  EXPECT_THAT(allowed.out, HasSubstr("1 of 1 tasks answer"));
  const ProgramResult refused = ask("");
  EXPECT_EQ(refused.exit_code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("--token_file"));

  const std::string url = (*server)->status_url();
  const int port = std::stoi(url.substr(std::string("http://localhost:").size()));
  const auto scrape = [&](auto authorize) {
    httplib::Client client("localhost", port);
    authorize(client);
    const auto got = client.Get("/metrics");
    return got ? got->status : -1;
  };
  EXPECT_EQ(scrape([&](httplib::Client& c) { c.set_bearer_token_auth(tasks.c_str()); }), 200);
  EXPECT_EQ(scrape([&](httplib::Client& c) { c.set_bearer_token_auth(clients.c_str()); }), 200);
  EXPECT_EQ(scrape([&](httplib::Client& c) { c.set_basic_auth("anyone", clients.c_str()); }), 200);
  EXPECT_EQ(scrape([](httplib::Client&) {}), 401);
  EXPECT_EQ(scrape([](httplib::Client& c) { c.set_bearer_token_auth("not-a-token-of-this"); }), 401);
  EXPECT_EQ(scrape([](httplib::Client& c) { c.set_basic_auth("anyone", ""); }), 401);
}

TEST_F(StatusProcessTest, MetricsAreNotServedToOtherMachinesWithoutTls) {
  const ClusterSpec cluster({{"worker", {"alpha:0"}}});
  const auto refused = Server::Create(cluster, {.job_name = "worker", .metrics_port = 0});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument) << refused.status();
  auto allowed = Server::Create(cluster, {.job_name = "worker", .insecure = true, .metrics_port = 0});
  ASSERT_TRUE(allowed.ok()) << allowed.status();
  EXPECT_THAT((*allowed)->status_url(), HasSubstr("http://alpha:"));
}

TEST_F(StatusProcessTest, ErrorsSayWhatToDo) {
  ports_.push_back(HeldPort::Take().value());
  const ProgramResult nobody = RunCommand({TENSORBRAID_PROGRAM, "status", Address(0)});
  EXPECT_EQ(nobody.exit_code, 2);
  EXPECT_THAT(nobody.err, HasSubstr(Address(0)));
  const ClusterSpec cluster({{"worker", {"localhost:0"}}});
  auto first = Server::Create(cluster, {.job_name = "worker", .metrics_port = ports_[0].port()});
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = Server::Create(cluster, {.job_name = "worker", .metrics_port = ports_[0].port()});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kAlreadyExists) << second.status();
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("--metrics_port"));
  const ProgramResult help = RunCommand({TENSORBRAID_PROGRAM, "status", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out,
              AllOf(HasSubstr("--watch"), HasSubstr("--json"), HasSubstr("straggler"), HasSubstr("Examples")));
}

}  // namespace
}  // namespace tensorbraid
