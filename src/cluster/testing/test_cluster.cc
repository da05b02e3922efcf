#include "cluster/testing/test_cluster.h"

#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
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

struct TestCluster::State {
  State(int num_ps, int num_workers, const TaskOptions& options, std::unique_ptr<SimNetwork> simulated);

  std::unique_ptr<Transport> NewTransport();
  // An address with this port, or with a free one if the network has sockets.
  std::string NewAddress(int port);

  const TaskOptions options;
  ClusterSpec spec;
  const std::shared_ptr<InprocNetwork> inproc = std::make_shared<InprocNetwork>();
  bool uses_sockets = false;
  std::optional<LocalLaneOptions> shared_memory;
  SideLaneOptions side_lanes;
  bool uses_ucx = false;
  std::vector<HeldPort> ports;                         // keep their numbers for the tasks that listen on them
  std::unique_ptr<SimNetwork> simulated;               // outlives the tasks
  std::map<std::string, std::shared_ptr<Task>> tasks;  // by target
  mutable Mutex mu;
  std::map<std::pair<std::string, int>, int> kills TB_GUARDED_BY(mu);
};

TestCluster::State::State(int num_ps, int num_workers, const TaskOptions& options,
                          std::unique_ptr<SimNetwork> simulated_network)
    : options(options), simulated(std::move(simulated_network)) {
  const char* chosen = std::getenv("TENSORBRAID_TEST_NETWORK");
  const std::string network = simulated != nullptr ? "sim" : chosen == nullptr ? "inproc" : chosen;
  TB_CHECK(network == "inproc" || network == "sim" || network == "local" || network == "ucx" || network == "grpc");
  uses_sockets = network == "grpc";
  if (network == "local") shared_memory.emplace();
  uses_ucx = network == "ucx";
  if (network == "sim" && simulated == nullptr) {
    simulated = std::make_unique<SimNetwork>(TestSeed());
    std::cerr << "to repeat: TENSORBRAID_TEST_SEED=" << simulated->seed() << std::endl;
  }
  std::map<std::string, std::vector<std::string>> jobs;
  for (int i = 0; i < num_ps; ++i) jobs["ps"].push_back(NewAddress(1000 + i));
  for (int i = 0; i < num_workers; ++i) jobs["worker"].push_back(NewAddress(2000 + i));
  spec = ClusterSpec(jobs);
}

std::unique_ptr<Transport> TestCluster::State::NewTransport() {
  if (uses_sockets) return NewGrpcTransport();
  auto transport = simulated != nullptr ? simulated->NewTransport() : NewInprocTransport(inproc);
  if (shared_memory) return NewSideLaneTransport(std::move(transport), {NewLocalKind(*shared_memory)}, side_lanes);
  if (!uses_ucx) return transport;
  static const auto& context = *new auto(UcxContext::Create(/*loopback_only=*/true).value());
  return NewSideLaneTransport(std::move(transport), {NewUcxKind(context)});
}

std::string TestCluster::State::NewAddress(int port) {
  if (uses_sockets) port = ports.emplace_back(HeldPort::Take().value()).port();
  return StrCat("localhost:", port);
}

TestCluster::TestCluster(int num_ps, int num_workers) : TestCluster(num_ps, num_workers, TaskOptions()) {}

TestCluster::TestCluster(int num_ps, int num_workers, const TaskOptions& options)
    : TestCluster(num_ps, num_workers, options, nullptr) {}

TestCluster::TestCluster(int num_ps, int num_workers, const TaskOptions& options, std::unique_ptr<SimNetwork> simulated)
    : TestCluster(NotStarted{}, num_ps, num_workers, options, std::move(simulated)) {
  for (int i = 0; i < num_ps; ++i) Start("ps", i);
  for (int i = 0; i < num_workers; ++i) Start("worker", i);
}

TestCluster::TestCluster(NotStarted, int num_ps, int num_workers, const TaskOptions& options,
                         std::unique_ptr<SimNetwork> simulated)
    : state_(std::make_unique<State>(num_ps, num_workers, options, std::move(simulated))) {}

TestCluster::~TestCluster() {
  for (auto& [target, task] : state_->tasks) WithdrawTask(target);
}

void TestCluster::ShareMemory(const LocalLaneOptions& options, const SideLaneOptions& side_lanes) {
  state_->shared_memory = options;
  state_->side_lanes = side_lanes;
}

std::shared_ptr<Task> TestCluster::Start(const std::string& job, int index) {
  TaskOptions options = state_->options;
  options.job = job;
  options.index = index;
  state_->tasks.erase(target(job, index));
  auto task = Task::Create(spec(), options, state_->NewTransport()).value();
  TB_CHECK_OK(task->Start(*spec().task_address(job, index)).status());
  PublishTask(target(job, index), task);
  state_->tasks[target(job, index)] = task;
  return task;
}

void TestCluster::Stop(const std::string& job, int index, const Status& why) {
  task(job, index).Stop(why);
  state_->tasks.erase(target(job, index));
}

void TestCluster::Kill(const std::string& job, int index) {
  network().KillTask(*spec().task_address(job, index));
  WithdrawTask(target(job, index));
  Stop(job, index);
  MutexLock lock(state_->mu);
  ++state_->kills[{job, index}];
}

SimNetwork& TestCluster::network() { return *state_->simulated; }

std::string TestCluster::target(const std::string& job, int index) const {
  MutexLock lock(state_->mu);
  const auto kills = state_->kills.find({job, index});
  return StrCat("inproc://", reinterpret_cast<uintptr_t>(this), "/", job, "/", index, "/",
                kills == state_->kills.end() ? 0 : kills->second);
}

Task& TestCluster::task(const std::string& job, int index) { return *state_->tasks.at(target(job, index)); }

const ClusterSpec& TestCluster::spec() const { return state_->spec; }

}  // namespace tensorbraid
