// The processes of a benchmark: this program is started again for each task and gets its instructions over a socket.
#ifndef TENSORBRAID_CLI_BENCH_CLUSTER_H_
#define TENSORBRAID_CLI_BENCH_CLUSTER_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/system/fd.h"
#include "core/system/held_port.h"
#include "nlohmann/json.hpp"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Exchanges messages in both directions, one line of JSON each. One thread may send while another receives.
class JsonChannel {
 public:
  explicit JsonChannel(Fd socket) : socket_(std::move(socket)) {}
  Status Send(const nlohmann::json& message);
  // Blocks. Unavailable when the other end has closed the socket. A message {"error": text} is returned as that error.
  StatusOr<nlohmann::json> Receive();
  // Waits until the other end has closed the socket or sent something, but no longer than the timeout.
  void WaitForEnd(int timeout_ms);

 private:
  Fd socket_;
  std::string buffer_;
};

// The process of one task. It is killed, if it still runs, when this object is destroyed.
class BenchProcess {
 public:
  // `name` ("worker/0") appears in errors.
  static StatusOr<std::unique_ptr<BenchProcess>> Start(const std::string& name);
  ~BenchProcess();
  BenchProcess(const BenchProcess&) = delete;
  BenchProcess& operator=(const BenchProcess&) = delete;

  const std::string& name() const { return name_; }
  Status Send(const nlohmann::json& message);
  StatusOr<nlohmann::json> Receive();
  // Tells the task to stop and waits up to 1 s for it to end.
  void Stop();
  // Sends a message and receives the reply.
  StatusOr<nlohmann::json> Call(const nlohmann::json& message);

 private:
  BenchProcess(std::string name, pid_t pid, Fd socket)
      : name_(std::move(name)), pid_(pid), channel_(std::move(socket)) {}

  const std::string name_;
  const pid_t pid_;
  JsonChannel channel_;
};

// A cluster of local processes. Holds their ports.
class BenchCluster {
 public:
  // Starts the tasks and sends each its job, its index and the addresses of the cluster, along with `config`. With
  // "one_core_each" in it, the tasks run on the cores that CoresOfTask says. Returns when all tasks have reported that
  // they are ready.
  static StatusOr<std::unique_ptr<BenchCluster>> Start(int ps, int workers, nlohmann::json config);
  ~BenchCluster();  // Stops the workers before the parameter servers, as at the end of a training run.

  const std::vector<std::unique_ptr<BenchProcess>>& ps() const { return ps_; }
  const std::vector<std::string>& ps_hosts() const { return ps_hosts_; }
  const std::vector<std::unique_ptr<BenchProcess>>& workers() const { return workers_; }
  // UseOfThisProcess of each task: {"worker/0": {"rss_mb":…, "peak_mb":…, "cpu_ms":…}}.
  StatusOr<nlohmann::json> Use();

 private:
  BenchCluster() = default;

  std::vector<HeldPort> ports_;
  std::vector<std::string> ps_hosts_;
  std::vector<std::unique_ptr<BenchProcess>> ps_;
  std::vector<std::unique_ptr<BenchProcess>> workers_;
};

// The numbers of the cores for one task of a cluster in which each worker has one core of its own. The parameter
// servers share the cores that the workers leave, or use all cores if the workers leave none. If there are fewer cores
// than workers, several workers share a core.
std::vector<int> CoresOfTask(std::string_view job, int index, int workers);

// The argument that makes this program run as a task of a benchmark. The number of its socket follows.
inline constexpr char kBenchTaskArgument[] = "--bench-task";

// Runs a task of a benchmark, which gets its instructions over `socket`. Returns the exit code.
int RunBenchTask(int socket);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_BENCH_CLUSTER_H_
