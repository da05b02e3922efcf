#include "cli/bench/task.h"

#include <sched.h>
#include <sys/resource.h>

#include <cerrno>
#include <fstream>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/polling_gate.h"

namespace tensorbraid {
namespace {

using nlohmann::json;

Status ServeParameters(JsonChannel& parent) {
  TF_RETURN_IF_ERROR(parent.Send(json::object()));
  while (true) {
    TF_ASSIGN_OR_RETURN(const json message, parent.Receive());
    if (message["do"] == "stop") return OkStatus();
    TF_ASSIGN_OR_RETURN(const json use, UseOfThisProcess());
    TF_RETURN_IF_ERROR(parent.Send(use));
  }
}

// Restricts this process, which must have only one thread, to these cores. Does nothing if the list is empty.
Status RunOn(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  if (!cores.empty() && ::sched_setaffinity(0, sizeof set, &set) != 0) {
    return absl::ErrnoToStatus(errno, "cannot choose the cores of a task");
  }
  return OkStatus();
}

Status RunTask(JsonChannel& parent) {
  TF_ASSIGN_OR_RETURN(const json config, parent.Receive());
  const auto job = config["job"].get<std::string>();
  const int index = config["index"].get<int>();
  SetLogTask(StrCat(job, "/", index));
  TF_RETURN_IF_ERROR(RunOn(config.value("cores", std::vector<int>())));
  if (!config.value("polling_gate", true)) PollingGate::OfProcess().StayOpen();
  if (job == "local") return RunLocalTraining(parent, config);
  const ClusterSpec cluster(std::map<std::string, std::vector<std::string>>{
      {"ps", config["ps_hosts"].get<std::vector<std::string>>()},
      {"worker", config["worker_hosts"].get<std::vector<std::string>>()}});
  ServerOptions options;
  options.job_name = job;
  options.task_index = index;
  options.protocol = config["protocol"].get<std::string>();
  TF_ASSIGN_OR_RETURN(options.wire, ParseWireRules(config.value("wire", std::vector<std::string>())));
  TF_ASSIGN_OR_RETURN(const auto server, Server::Create(cluster, options));
  if (job == "ps") return ServeParameters(parent);
  if (config["bench"] == "save") return RunSaveWorker(parent, config, *server);
  if (config["bench"] == "nullstep" || config["bench"] == "sparse") return RunStepWorker(parent, config, *server);
  const bool transfers = config["bench"] == "push" || config["bench"] == "pull";
  return transfers ? RunTransferWorker(parent, config, *server) : RunTrainingWorker(parent, config, *server);
}

}  // namespace

StatusOr<json> UseOfThisProcess() {
  std::ifstream status("/proc/self/status");
  json use;
  for (std::string line; std::getline(status, line);) {
    const auto kib = [&line](size_t from) { return std::stod(line.substr(from)) * 1024 / 1e6; };
    if (line.starts_with("VmRSS:")) use["rss_mb"] = kib(6);
    if (line.starts_with("VmHWM:")) use["peak_mb"] = kib(6);
  }
  if (use.size() != 2) return Internal("/proc/self/status lacks VmRSS or VmHWM");
  rusage cpu;
  ::getrusage(RUSAGE_SELF, &cpu);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  use["cpu_ms"] = ms(cpu.ru_utime) + ms(cpu.ru_stime);
  return use;
}

Status ForgetPeakOfMemory() {
  std::ofstream file("/proc/self/clear_refs");
  file << 5 << std::flush;  // resets VmHWM (see proc(5))
  if (!file) return Internal("cannot reset the peak of the memory of this process (/proc/self/clear_refs)");
  return OkStatus();
}

int RunBenchTask(int socket) {
  ConfigureLog("warning");
  JsonChannel parent{Fd(socket)};
  const Status status = RunTask(parent);
  if (status.ok()) return 0;
  // Sending fails if the process that started this one has ended. Nothing else can be done then.
  parent.Send({{"error", ToString(status)}}).IgnoreError();
  return 1;
}

}  // namespace tensorbraid
