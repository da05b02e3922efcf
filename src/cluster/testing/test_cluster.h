// A cluster in one process, for tests.
#ifndef TENSORBRAID_CLUSTER_TESTING_TEST_CLUSTER_H_
#define TENSORBRAID_CLUSTER_TESTING_TEST_CLUSTER_H_

#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/server/task.h"
#include "core/system/held_port.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "transport/grpc/grpc_transport.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/local/local_kind.h"
#include "transport/side_lane/side_lane_transport.h"
#include "transport/sim/sim_network.h"
#include "transport/transport_test_util.h"
#include "transport/ucx/ucx_kind.h"

namespace tensorbraid {

// `num_ps` parameter servers and `num_workers` workers in this process. Sessions reach them by target(). A task can be
// stopped and started again.
//
// The environment variable TENSORBRAID_TEST_NETWORK chooses the network: "inproc" (the default) passes messages between
// threads, "sim" delays and reorders them by a random seed, "local" uses shared memory, "ucx" uses
// UCX, "grpc" uses sockets.
class TestCluster {
 public:
  TestCluster(int num_ps, int num_workers, TaskOptions options = {})
      : TestCluster(num_ps, num_workers, std::move(options), nullptr) {}
  // If `simulated` is not null, the tasks communicate over it, whatever the environment variable says.
  TestCluster(int num_ps, int num_workers, TaskOptions options, std::unique_ptr<SimNetwork> simulated)
      : TestCluster(NotStarted{}, num_ps, num_workers, std::move(options), std::move(simulated)) {
    for (int i = 0; i < num_ps; ++i) Start("ps", i);
    for (int i = 0; i < num_workers; ++i) Start("worker", i);
  }
  // As above, but no task is started.
  struct NotStarted {};
  TestCluster(NotStarted, int num_ps, int num_workers, TaskOptions options, std::unique_ptr<SimNetwork> simulated)
      : options_(std::move(options)), simulated_(std::move(simulated)) {
    const char* chosen = std::getenv("TENSORBRAID_TEST_NETWORK");
    const std::string network = simulated_ != nullptr ? "sim" : chosen == nullptr ? "inproc" : chosen;
    TB_CHECK(network == "inproc" || network == "sim" || network == "local" || network == "ucx" || network == "grpc");
    uses_sockets_ = network == "grpc";
    if (network == "local") shared_memory_.emplace();
    uses_ucx_ = network == "ucx";
    if (network == "sim" && simulated_ == nullptr) {
      simulated_ = std::make_unique<SimNetwork>(TestSeed());
      std::cerr << "to repeat: TENSORBRAID_TEST_SEED=" << simulated_->seed() << std::endl;
    }
    std::map<std::string, std::vector<std::string>> jobs;
    for (int i = 0; i < num_ps; ++i) jobs["ps"].push_back(NewAddress(1000 + i));
    for (int i = 0; i < num_workers; ++i) jobs["worker"].push_back(NewAddress(2000 + i));
    spec_ = ClusterSpec(jobs);
  }
  // Tasks that are started from now on are neighbours, which share memory beside the network.
  void ShareMemory(const LocalLaneOptions& options, const SideLaneOptions& side_lanes = {}) {
    shared_memory_ = options;
    side_lanes_ = side_lanes;
  }
  ~TestCluster() {
    for (auto& [target, task] : tasks_) WithdrawTask(target);
  }

  // Starts a task. If it has run before, it gets a new incarnation.
  std::shared_ptr<Task> Start(const std::string& job, int index) {
    TaskOptions options = options_;
    options.job = job;
    options.index = index;
    tasks_.erase(target(job, index));
    auto task = Task::Create(spec_, options, NewTransport()).value();
    TB_CHECK_OK(task->Start(*spec_.task_address(job, index)).status());
    PublishTask(target(job, index), task);
    tasks_[target(job, index)] = task;
    return task;
  }
  void Stop(const std::string& job, int index, const Status& why = OkStatus()) {
    tasks_.at(target(job, index))->Stop(why);
    tasks_.erase(target(job, index));
  }
  // Ends a task as SIGKILL would: its links break, and no other task hears why. Sessions of its process fail for good,
  // since the task has another target when it is started again. REQUIRES: the network is simulated.
  void Kill(const std::string& job, int index) {
    simulated_->KillTask(*spec_.task_address(job, index));
    WithdrawTask(target(job, index));
    Stop(job, index);
    MutexLock lock(mu_);
    ++kills_[{job, index}];
  }
  // REQUIRES: the network is simulated.
  SimNetwork& network() { return *simulated_; }
  std::string target(const std::string& job, int index) const {
    MutexLock lock(mu_);
    const auto kills = kills_.find({job, index});
    return StrCat("inproc://", reinterpret_cast<uintptr_t>(this), "/", job, "/", index, "/",
                  kills == kills_.end() ? 0 : kills->second);
  }
  std::string worker_target(int index = 0) const { return target("worker", index); }
  Task& task(const std::string& job, int index) { return *tasks_.at(target(job, index)); }
  const ClusterSpec& spec() const { return spec_; }

 private:
  std::unique_ptr<Transport> NewTransport() {
    if (uses_sockets_) return NewGrpcTransport();
    auto transport = simulated_ != nullptr ? simulated_->NewTransport() : NewInprocTransport(inproc_);
    if (shared_memory_) return NewSideLaneTransport(std::move(transport), {NewLocalKind(*shared_memory_)}, side_lanes_);
    if (!uses_ucx_) return transport;
    static const auto& context = *new auto(UcxContext::Create(/*loopback_only=*/true).value());
    return NewSideLaneTransport(std::move(transport), {NewUcxKind(context)});
  }
  // An address with this port, or with a free one if the network has sockets.
  std::string NewAddress(int port) {
    if (uses_sockets_) port = ports_.emplace_back(HeldPort::Take().value()).port();
    return StrCat("localhost:", port);
  }

  TaskOptions options_;
  ClusterSpec spec_;
  const std::shared_ptr<InprocNetwork> inproc_ = std::make_shared<InprocNetwork>();
  bool uses_sockets_ = false;
  std::optional<LocalLaneOptions> shared_memory_;
  SideLaneOptions side_lanes_;
  bool uses_ucx_ = false;
  std::vector<HeldPort> ports_;                         // keep their numbers for the tasks that listen on them
  std::unique_ptr<SimNetwork> simulated_;               // outlives the tasks
  std::map<std::string, std::shared_ptr<Task>> tasks_;  // by target
  mutable Mutex mu_;
  std::map<std::pair<std::string, int>, int> kills_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_TESTING_TEST_CLUSTER_H_
