// Trainings in which gradients are summed on each host, in a cluster within this process, for tests.
#ifndef TENSORBRAID_TRAIN_REPLICAS_HOST_SUMS_TESTUTIL_H_
#define TENSORBRAID_TRAIN_REPLICAS_HOST_SUMS_TESTUTIL_H_

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "core/text/device_name.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {

// Addresses that put worker i on host hosts[i]. Only the hosts are used.
inline ClusterSpec OnHosts(const std::string& hosts) {
  std::map<std::string, std::vector<std::string>> jobs;
  jobs["ps"] = {"server:1"};
  for (size_t i = 0; i < hosts.size(); ++i) jobs["worker"].push_back(StrCat(hosts.substr(i, 1), ":", i));
  return ClusterSpec(jobs);
}

struct HostTrainingOptions {
  std::string hosts = "";  // see OnHosts
  int num_ps = 1;
  bool async = false;
  int spares = 0;  // synchronous
  StalenessPolicy staleness = {};
  WireTypes wire = {};
  bool held = false;  // asynchronous: steps can be held between their reads and their gradients; see SlowStep
  std::function<std::shared_ptr<Optimizer>()> optimizer = [] {
    return std::make_shared<GradientDescentOptimizer>(0.25);
  };
};

// A worker that trains `weights`, `bias` and `table`. One row of the table is looked up, so its gradients are slices.
// With synchronous training, weights and bias move towards the aim that the worker feeds, and the row by the aim. With
// asynchronous training, all their gradients are the aim, so that the order of the updates does not matter.
struct HostWorker {
  HostWorker(const TestCluster& cluster, const HostTrainingOptions& options, int worker, int64_t last_step)
      : target(cluster.worker_target(worker)), is_chief(worker == 0) {
    const std::string own_device = StrCat("/job:worker/task:", worker);
    auto device =
        g.Device(ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = own_device, .wire = options.wire}));
    aim = Placeholder(g, kFloat32, {}, "aim");
    weights = Variable(g, {8, 32}, Zeros(), {.name = "weights"});
    bias = Variable(g, {32}, Ones(), {.name = "bias"});
    table = Variable(g, {4, 3}, Zeros(), {.name = "table"});
    global_step = GetOrCreateGlobalStep(g);
    const Output row = nn::EmbeddingLookup(table, Const(g, Tensor::Vector<int64_t>({1})));
    Output loss;
    if (options.async) {
      Output slope = aim;
      if (options.held) {
        slopes = FIFOQueue(g, {kFloat32}, {.shapes = {Shape()}, .name = "slopes"});
        reads = FIFOQueue(g, {kFloat32}, {.shapes = {Shape()}, .name = "reads"});
        feed = slopes.Enqueue({aim});
        has_read = reads.Enqueue({ReduceSum(weights) + ReduceSum(bias) + ReduceSum(row)});
        wait_for_read = reads.Dequeue()[0];
        slope = slopes.Dequeue()[0];
      }
      loss = (ReduceSum(weights) + ReduceSum(bias) + ReduceSum(row)) * slope;
      async = std::make_shared<AsyncReplicasOptimizer>(options.optimizer(),
                                                       AsyncReplicasOptions{.staleness = options.staleness,
                                                                            .replica = worker,
                                                                            .sum_per_host = true,
                                                                            .cluster = OnHosts(options.hosts),
                                                                            .worker_device = own_device});
    } else {
      loss = (ReduceSum(Square(weights - aim)) + ReduceSum(Square(bias - aim)) + ReduceSum(row * aim)) * 0.5f;
      const auto workers = static_cast<int>(options.hosts.size());
      sync = std::make_shared<SyncReplicasOptimizer>(
          options.optimizer(), SyncReplicasOptions{.replicas_to_aggregate = workers - options.spares,
                                                   .total_num_replicas = workers,
                                                   .sum_per_host = true,
                                                   .cluster = OnHosts(options.hosts),
                                                   .worker_device = own_device});
    }
    if (last_step > 0) hooks.push_back(StopAtStep(last_step));
    hooks.push_back(async != nullptr ? async->MakeSessionRunHook() : sync->MakeSessionRunHook(is_chief));
    Optimizer& optimizer = async != nullptr ? static_cast<Optimizer&>(*async) : *sync;
    train = optimizer.Minimize(loss, {.global_step = global_step});
    for (const Variable& variable : {weights, bias, table}) values.push_back(variable.Read());
  }
  Status Start() {
    TF_ASSIGN_OR_RETURN(session, MonitoredTrainingSession(g, {.master = target, .is_chief = is_chief, .hooks = hooks}));
    return OkStatus();
  }
  Status Step(float to) { return session->Run({train}, {{aim, Tensor::Scalar(to)}}).status(); }
  // A step of asynchronous training, and its outcomes. With `held`, the step calls `meanwhile` after it has read the
  // variables and before it has its gradient.
  std::vector<int64_t> SlowStep(
      float to, const std::function<void()>& meanwhile = [] {}) {
    std::vector<Fetch> fetches = {async->outcomes(), train};
    std::vector<Feed> feeds;
    if (has_read.valid()) {
      fetches.emplace_back(has_read);
    } else {
      feeds.emplace_back(aim, Tensor::Scalar(to));
    }
    StatusOr<std::vector<Tensor>> outcomes = std::vector<Tensor>();
    std::thread step([&] { outcomes = session->Run(fetches, feeds); });
    if (has_read.valid()) {
      EXPECT_TRUE(session->session().Run({wait_for_read}).ok());
      meanwhile();
      EXPECT_TRUE(session->session().Run({feed}, {{aim, Tensor::Scalar(to)}}).ok());
    }
    step.join();
    EXPECT_TRUE(outcomes.ok()) << outcomes.status();
    if (!outcomes.ok()) return {};
    const auto numbers = (*outcomes)[0].data<int64_t>();
    return {numbers.begin(), numbers.end()};
  }
  // Trains until the session should stop, or until an error.
  Status Train(float to) {
    while (!session->ShouldStop()) TF_RETURN_IF_ERROR(Step(to));
    return OkStatus();
  }
  // The values of weights, bias and table on the parameter servers.
  std::vector<std::vector<float>> Values() {
    std::vector<std::vector<float>> result;
    const auto tensors = session->session().Run({values[0], values[1], values[2]}).value();
    for (const Tensor& value : tensors) {
      result.emplace_back(value.data<float>().begin(), value.data<float>().end());
    }
    return result;
  }
  int64_t GlobalStep() { return session->session().Run({global_step}).value()[0].scalar<int64_t>(); }

  const std::string target;
  const bool is_chief;
  Graph g;
  Output aim;
  std::vector<Output> values;
  Variable weights, bias, table, global_step;
  std::vector<std::shared_ptr<SessionRunHook>> hooks;
  std::shared_ptr<SyncReplicasOptimizer> sync;
  std::shared_ptr<AsyncReplicasOptimizer> async;
  FIFOQueue slopes, reads;
  Output wait_for_read;
  Operation feed, has_read, train;
  std::unique_ptr<MonitoredSession> session;
};

// A cluster whose workers train on threads of their own, apart from those with which the test does something else.
struct HostTraining {
  explicit HostTraining(HostTrainingOptions training)
      : options(std::move(training)), cluster(options.num_ps, static_cast<int>(options.hosts.size())) {
    for (size_t i = 0; i < options.hosts.size(); ++i) workers[static_cast<int>(i)] = nullptr;
  }
  ~HostTraining() { Join(); }

  // Makes a worker whose training ends at `last_step` (0: never), and starts its session. Each worker may be started by
  // a thread of its own.
  HostWorker& Start(int i, int64_t last_step = 0) {
    auto& worker = workers.at(i);
    worker = std::make_unique<HostWorker>(cluster, options, i, last_step);
    const Status started = worker->Start();
    EXPECT_TRUE(started.ok()) << "worker " << i << ": " << started;
    return *worker;
  }
  // Starts a worker, trains it towards `to` to its end, and then calls `at_end`, all on a thread.
  void Train(int i, float to, int64_t last_step = 0, std::function<void(HostWorker&)> at_end = nullptr) {
    threads.emplace_back([this, i, to, last_step, at_end] {
      HostWorker worker(cluster, options, i, last_step);
      Status status = worker.Start();
      if (status.ok()) status = worker.Train(to);
      if (status.ok()) status = worker.session->Close();
      EXPECT_TRUE(status.ok()) << "worker " << i << ": " << status;
      if (at_end) at_end(worker);
    });
  }
  // Trains a worker that was started, to its end, on a thread.
  void TrainStarted(int i, float to) {
    threads.emplace_back([this, i, to] {
      const Status status = workers[i]->Train(to);
      EXPECT_TRUE(status.ok()) << "worker " << i << ": " << status;
      const Status closed = workers[i]->session->Close();
      EXPECT_TRUE(closed.ok()) << "worker " << i << ": " << closed;
    });
  }
  // The same for a worker that the test will stop.
  void TrainUntilLost(int i, float to) {
    threads.emplace_back([this, i, to] { EXPECT_FALSE(workers[i]->Train(to).ok()); });
  }
  void Join() {
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  }
  // Trains a worker under a Supervisor, on a thread. The chief ends the training after `steps` steps of its own; the
  // other workers end with it or, if they train asynchronously, after as many. Then calls `at_end`.
  void TrainSupervised(int i, float to, int steps, const std::function<void(Session&)>& at_end) {
    threads.emplace_back([this, i, to, steps, at_end] {
      HostWorker worker(cluster, options, i, /*last_step=*/0);
      Supervisor supervisor(worker.g, {.is_chief = worker.is_chief});
      auto session = supervisor.ManagedSession(worker.target);
      ASSERT_TRUE(session.ok()) << "worker " << i << ": " << session.status();
      if (worker.sync != nullptr && worker.is_chief) {
        ASSERT_EQ(supervisor.StartQueueRunners((*session)->session(), {worker.sync->chief_queue_runner()}), OkStatus());
        ASSERT_EQ((*session)->Run({worker.sync->init_tokens_op()}).status(), OkStatus());
      }
      const bool counts = worker.is_chief || worker.async != nullptr;
      for (int step = 0; !supervisor.ShouldStop() && (!counts || step < steps); ++step) {
        const Status status = (*session)->Run({worker.train}, {{worker.aim, Tensor::Scalar(to)}}).status();
        ASSERT_TRUE(status.ok()) << "worker " << i << ": " << status;
      }
      at_end((*session)->session());
      const Status closed = (*session)->Close();
      EXPECT_TRUE(closed.ok()) << "worker " << i << ": " << closed;
    });
  }
  // The bytes of tensors that a task has received from another one.
  uint64_t Received(const std::string& job, int task, const std::string& from_job, int from) {
    uint64_t bytes = 0;
    for (const Membership::Received& received : cluster.task(job, task).membership().AllReceived()) {
      if (received.task == FullTaskName(from_job, from)) bytes += received.tensor_bytes;
    }
    return bytes;
  }

  const HostTrainingOptions options;
  TestCluster cluster;
  std::map<int, std::unique_ptr<HostWorker>> workers;  // null: not started by Start
  std::vector<std::thread> threads;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_REPLICAS_HOST_SUMS_TESTUTIL_H_
