// The processes of a benchmark: this program once more for each task, told what to do over a socket.
#ifndef TENSORBRAID_CLI_BENCH_CLUSTER_H_
#define TENSORBRAID_CLI_BENCH_CLUSTER_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/fd.h"
#include "cli/held_port.h"
#include "nlohmann/json.hpp"
#include "tensorbraid/status.h"

namespace tensorbraid {

// Messages in both directions, one line of JSON each. One thread may send while another receives.
class JsonChannel {
 public:
  explicit JsonChannel(Fd socket) : socket_(std::move(socket)) {}
  Status Send(const nlohmann::json& message);
  // Blocks. Unavailable when the other end is gone. A message {"error": text} comes back as that error.
  StatusOr<nlohmann::json> Receive();
  // Until the other end is gone or says something, for so long at most.
  void WaitForEnd(int timeout_ms);

 private:
  Fd socket_;
  std::string buffer_;
};

// One task, killed at the latest when this object goes.
class BenchProcess {
 public:
  // `name` ("worker/0") is for messages.
  static StatusOr<std::unique_ptr<BenchProcess>> Start(const std::string& name);
  ~BenchProcess();
  BenchProcess(const BenchProcess&) = delete;
  BenchProcess& operator=(const BenchProcess&) = delete;

  const std::string& name() const { return name_; }
  Status Send(const nlohmann::json& message);
  StatusOr<nlohmann::json> Receive();
  // Tells the task to end and waits a moment until it has.
  void Stop();
  // Send and Receive.
  StatusOr<nlohmann::json> Call(const nlohmann::json& message);

 private:
  BenchProcess(std::string name, pid_t pid, Fd socket)
      : name_(std::move(name)), pid_(pid), channel_(std::move(socket)) {}

  const std::string name_;
  const pid_t pid_;
  JsonChannel channel_;
};

// A cluster of local processes on ports that are held for it.
class BenchCluster {
 public:
  // Starts the tasks and tells each its place, with `config` for all; they prepare until they answer.
  static StatusOr<std::unique_ptr<BenchCluster>> Start(int ps, int workers, nlohmann::json config);
  ~BenchCluster();  // Workers leave first, as they do after a training.

  const std::vector<std::unique_ptr<BenchProcess>>& ps() const { return ps_; }
  const std::vector<std::unique_ptr<BenchProcess>>& workers() const { return workers_; }
  // Resident memory of every task now and at its highest, in 1e6 bytes: {"worker/0": {"rss_mb":…, "peak_mb":…}}.
  StatusOr<nlohmann::json> Memory();

 private:
  BenchCluster() = default;

  std::vector<HeldPort> ports_;
  std::vector<std::unique_ptr<BenchProcess>> ps_;
  std::vector<std::unique_ptr<BenchProcess>> workers_;
};

// The argument that makes this program a task of a benchmark; the number of its socket follows.
inline constexpr char kBenchTaskArgument[] = "--bench-task";

// What a task of a benchmark does, after the socket it was started with: returns the exit code.
int RunBenchTask(int socket);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_BENCH_CLUSTER_H_
