#include "cli/bench/cluster.h"

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "core/text/json.h"
#include "core/text/strings.h"

namespace tensorbraid {

using nlohmann::json;

Status JsonChannel::Send(const json& message) {
  const std::string line = JsonText(message) + "\n";
  for (size_t at = 0; at < line.size();) {
    const ssize_t n = ::send(socket_.get(), line.data() + at, line.size() - at, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Unavailable("the other process of the benchmark has ended");
    at += n;
  }
  return OkStatus();
}

StatusOr<json> JsonChannel::Receive() {
  size_t end;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    char bytes[4096];
    const ssize_t n = ::recv(socket_.get(), bytes, sizeof bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Unavailable("the other process of the benchmark has ended");
    buffer_.append(bytes, n);
  }
  json message = ParseJsonOrDiscard(std::string_view(buffer_).substr(0, end));
  buffer_.erase(0, end + 1);
  if (message.is_discarded()) return Internal("a message of the benchmark is not valid JSON");
  if (message.is_object() && message.contains("error")) {
    return absl::UnknownError(message["error"].get<std::string>());
  }
  return message;
}

void JsonChannel::WaitForEnd(int timeout_ms) {
  pollfd end{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  ::poll(&end, 1, timeout_ms);
}

StatusOr<std::unique_ptr<BenchProcess>> BenchProcess::Start(const std::string& name) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return absl::ErrnoToStatus(errno, "cannot create a socket");
  }
  Fd ours(sockets[0]);
  Fd theirs(sockets[1]);
  constexpr char kSocketNumber[] = "3";
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "cannot start a process");
  if (pid == 0) {
    // Make only calls that are safe between fork and exec. The task must not outlive the benchmark.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    // exec does not close a duplicate of the socket. If the socket already had the number 3, dup2 to 3 would not
    // duplicate it. So the socket is duplicated twice.
    const int moved = ::dup(theirs.get());
    ::dup2(moved, 3);
    if (moved != 3) ::close(moved);
    ::execl("/proc/self/exe", "tensorbraid", kBenchTaskArgument, kSocketNumber, static_cast<char*>(nullptr));
    ::_exit(127);
  }
  return std::unique_ptr<BenchProcess>(new BenchProcess(name, pid, std::move(ours)));
}

BenchProcess::~BenchProcess() {
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void BenchProcess::Stop() {
  if (channel_.Send({{"do", "stop"}}).ok()) channel_.WaitForEnd(1000);
}

Status BenchProcess::Send(const json& message) { return Annotate(channel_.Send(message), name_); }

StatusOr<json> BenchProcess::Receive() {
  auto message = channel_.Receive();
  if (!message.ok()) return Annotate(message.status(), name_);
  return message;
}

StatusOr<json> BenchProcess::Call(const json& message) {
  TF_RETURN_IF_ERROR(Send(message));
  return Receive();
}

StatusOr<std::unique_ptr<BenchCluster>> BenchCluster::Start(int ps, int workers, json config) {
  std::unique_ptr<BenchCluster> cluster(new BenchCluster());
  const auto take_ports = [&](int count) -> StatusOr<std::vector<std::string>> {
    std::vector<std::string> addresses;
    for (int i = 0; i < count; ++i) {
      TF_ASSIGN_OR_RETURN(HeldPort port, HeldPort::Take());
      addresses.push_back(StrCat("localhost:", port.port()));
      cluster->ports_.push_back(std::move(port));
    }
    return addresses;
  };
  TF_ASSIGN_OR_RETURN(cluster->ps_hosts_, take_ports(ps));
  config["ps_hosts"] = cluster->ps_hosts_;
  TF_ASSIGN_OR_RETURN(config["worker_hosts"], take_ports(workers));
  const auto start = [&](const std::string& job, int count, auto* processes) -> Status {
    for (int i = 0; i < count; ++i) {
      TF_ASSIGN_OR_RETURN(auto process, BenchProcess::Start(StrCat(job, "/", i)));
      config["job"] = job;
      config["index"] = i;
      if (config.value("one_core_each", false)) config["cores"] = CoresOfTask(job, i, workers);
      TF_RETURN_IF_ERROR(process->Send(config));
      processes->push_back(std::move(process));
    }
    return OkStatus();
  };
  TF_RETURN_IF_ERROR(start("ps", ps, &cluster->ps_));
  TF_RETURN_IF_ERROR(start("worker", workers, &cluster->workers_));
  for (const auto* processes : {&cluster->ps_, &cluster->workers_}) {
    for (const auto& process : *processes) TF_RETURN_IF_ERROR(process->Receive());
  }
  return cluster;
}

BenchCluster::~BenchCluster() {
  for (const auto* processes : {&workers_, &ps_}) {
    for (const auto& process : *processes) process->Stop();
  }
}

std::vector<int> CoresOfTask(std::string_view job, int index, int workers) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {};
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  const size_t taken = workers;
  if (job == "worker") return {cores[index % cores.size()]};
  return cores.size() > taken ? std::vector<int>(cores.begin() + workers, cores.end()) : cores;
}

StatusOr<json> BenchCluster::Use() {
  json use = json::object();
  for (const auto* processes : {&ps_, &workers_}) {
    for (const auto& process : *processes) {
      TF_ASSIGN_OR_RETURN(use[process->name()], process->Call({{"do", "use"}}));
    }
  }
  return use;
}

}  // namespace tensorbraid
