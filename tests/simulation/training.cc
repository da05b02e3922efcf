#include "simulation/training.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "cluster/testing/test_cluster.h"
#include "core/logging.h"
#include "core/mutex.h"
#include "core/strings.h"
#include "core/thread.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

// What one worker's process runs.
struct Replica {
  Replica(const TestCluster& cluster, int worker, const TrainingOptions& options)
      : target(cluster.worker_target(worker)), is_chief(worker == 0), checkpoint_dir(options.checkpoint_dir) {
    auto device = g.Device(
        ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = StrCat("/job:worker/task:", worker)}));
    x = Placeholder(g, kFloat32, {-1, 4}, "x");
    labels = Placeholder(g, kInt64, {-1}, "labels");
    weights = Variable(g, {4, 3}, Zeros(), {.name = "weights"});
    count = Variable(g, {}, Zeros(), {.name = "count"});
    const Variable global_step = GetOrCreateGlobalStep(g);
    step = global_step.value();
    // Its gradient by `count` is -1.
    const Output loss = ReduceMean(nn::SparseSoftmaxCrossEntropy(labels, MatMul(x, weights))) - count;
    std::shared_ptr<Optimizer> optimizer = std::make_shared<GradientDescentOptimizer>(1.0);
    hooks.push_back(StopAtStep(options.last_step));
    if (options.sync) {
      auto sync = std::make_shared<SyncReplicasOptimizer>(
          optimizer,
          SyncReplicasOptions{.replicas_to_aggregate = options.num_workers, .total_num_replicas = options.num_workers});
      hooks.push_back(sync->MakeSessionRunHook(is_chief));
      optimizer = sync;
    } else if (options.staleness) {
      async = std::make_shared<AsyncReplicasOptimizer>(
          optimizer, AsyncReplicasOptions{.staleness = *options.staleness, .replica = worker});
      hooks.push_back(async->MakeSessionRunHook());
      optimizer = async;
    }
    train = optimizer->Minimize(loss, {.global_step = global_step});
  }

  // Trains to the last step. Calls `ready` when the session exists. Counts the runs that returned OK.
  Status Train(const std::function<void()>& ready, std::atomic<int64_t>& acknowledged, std::atomic<int64_t>& dropped) {
    MonitoredTrainingSessionOptions options{.master = target, .is_chief = is_chief, .hooks = hooks};
    if (!checkpoint_dir.empty()) {
      options.checkpoint_dir = checkpoint_dir;
      options.save_checkpoint_every_steps = 5;
    }
    TF_ASSIGN_OR_RETURN(const auto session, MonitoredTrainingSession(g, options));
    ready();
    const Tensor batch = Tensor::Of<float>({2, 4}, {1, 2, 3, 4, -1, 0.5, is_chief ? 1.0f : 2.0f, 0});
    const Tensor classes = Tensor::Of<int64_t>({2}, {is_chief ? 0 : 1, 2});
    while (!session->ShouldStop()) {
      std::vector<Fetch> fetches = {train};
      if (async != nullptr) fetches.emplace_back(async->outcomes());
      TF_ASSIGN_OR_RETURN(const auto values, session->Run(fetches, {{x, batch}, {labels, classes}}));
      ++acknowledged;
      // The second outcome is that of `count`.
      if (async != nullptr && values[1].is_valid() && values[1].data<int64_t>()[1] < 0) ++dropped;
    }
    return session->Close();
  }

  const std::string target;
  const bool is_chief;
  const std::string checkpoint_dir;
  Graph g;
  Output x, labels, step;
  Variable weights, count;
  std::vector<std::shared_ptr<SessionRunHook>> hooks;
  std::shared_ptr<AsyncReplicasOptimizer> async;
  Operation train;
};

// A training that is running.
class Training {
 public:
  Training(Scheduler& scheduler, const TrainingOptions& options)
      : scheduler_(scheduler),
        options_(options),
        cluster_(1, options.num_workers,
                 {.inter_op_threads = 2,
                  .membership = {.heartbeat_interval = std::chrono::milliseconds(100),
                                 .heartbeat_timeout = std::chrono::milliseconds(1000),
                                 .lost_after = std::chrono::milliseconds(3000)}},
                 options.network == Network::kSim
                     ? std::make_unique<SimNetwork>(static_cast<uint32_t>(scheduler.Random(uint64_t{1} << 32)),
                                                    SimOptions{.follow_clock = true})
                     : nullptr) {}

  StatusOr<Trained> Run() {
    for (int i = 0; i < options_.num_workers; ++i) Start(i);
    Thread faults("faults", [this] { CauseFaults(); });
    WaitForWorkers();
    faults.Join();
    for (auto& worker : workers_) worker->thread.Join();
    for (const auto& worker : workers_) {
      if (!worker->killed) TF_RETURN_IF_ERROR(Annotate(worker->status, StrCat("worker ", worker->index)));
    }
    return Result();
  }

 private:
  // One process of a worker. Only its status is guarded.
  struct Worker {
    int index = 0;
    bool killed = false;
    bool ended = false;
    Status status;
    Thread thread;
  };

  void Start(int index) {
    auto worker = std::make_unique<Worker>();
    worker->index = index;
    Worker* const self = worker.get();
    self->thread = Thread(StrCat("worker ", index), [this, self] {
      Status status = Replica(cluster_, self->index, options_).Train([this] { OnReady(); }, acknowledged_, dropped_);
      MutexLock lock(mu_);
      TB_LOG(Info, "simulation") << "worker " << self->index << " has ended: " << ToString(status);
      self->status = std::move(status);
      self->ended = true;
      ended_.NotifyAll();
    });
    MutexLock lock(mu_);
    workers_.push_back(std::move(worker));
  }

  // Waits until all workers are ready, so that each of them takes part in the training.
  void OnReady() {
    MutexLock lock(mu_);
    ++ready_;
    ready_changed_.NotifyAll();
    ready_changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return ready_ >= options_.num_workers; });
  }

  bool AllEnded() TB_REQUIRES(mu_) {
    return std::all_of(workers_.begin(), workers_.end(), [](const auto& w) { return w->ended; });
  }
  void WaitForWorkers() {
    MutexLock lock(mu_);
    ended_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return AllEnded() && !restarting_; });
  }

  void Pause() { SleepFor(std::chrono::microseconds(scheduler_.Random(20'000))); }

  // Parameter servers are lost in the first half of the training: a worker would wait for a chief that has ended.
  void CauseFaults() {
    if (options_.ps_kills > 0) {
      MutexLock lock(mu_);
      ready_changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return ready_ >= options_.num_workers; });
    }
    for (int i = 0; i < options_.worker_kills + options_.ps_kills; ++i) {
      Pause();
      const bool ps = i < options_.ps_kills;
      const int index =
          ps ? 0 : 1 + static_cast<int>(scheduler_.Random(static_cast<uint64_t>(options_.num_workers) - 1));
      Worker* victim = nullptr;
      {
        MutexLock lock(mu_);
        for (const auto& worker : workers_) {
          if (worker->index == index && !worker->killed) victim = worker.get();
        }
        if (AllEnded() || (!ps && victim->ended)) return;
        if (ps && acknowledged_ >= options_.last_step / 2) continue;
        restarting_ = true;
        if (!ps) victim->killed = true;
        ++kills_;
      }
      cluster_.Kill(ps ? "ps" : "worker", index);
      Pause();
      cluster_.Start(ps ? "ps" : "worker", index);
      if (!ps) Start(index);
      MutexLock lock(mu_);
      restarting_ = false;
      ended_.NotifyAll();
    }
  }

  StatusOr<Trained> Result() {
    Replica reader(cluster_, 0, options_);
    TF_RETURN_IF_ERROR(reader.g.status());
    TF_ASSIGN_OR_RETURN(const auto session, Session::Create(reader.g, {.target = reader.target}));
    TF_ASSIGN_OR_RETURN(const auto values, session->Run({reader.step, reader.count, reader.weights}));
    Trained result{.global_step = values[0].scalar<int64_t>(),
                   .count = values[1].scalar<float>(),
                   .acknowledged = acknowledged_,
                   .kills = kills_,
                   .dropped = dropped_,
                   .weights = ""};
    for (const float w : values[2].data<float>()) {
      char text[32];
      std::snprintf(text, sizeof text, "%a ", w);
      result.weights += text;
    }
    return result;
  }

  Scheduler& scheduler_;
  const TrainingOptions options_;
  TestCluster cluster_;
  std::atomic<int64_t> acknowledged_ = 0;
  std::atomic<int64_t> dropped_ = 0;
  Mutex mu_;
  CondVar ready_changed_;
  int ready_ TB_GUARDED_BY(mu_) = 0;  // workers that have had a session, including those that were killed
  CondVar ended_;
  std::vector<std::unique_ptr<Worker>> workers_;  // in the order of their start; grows on the thread of the faults
  bool restarting_ TB_GUARDED_BY(mu_) = false;    // a task has been killed and not started again
  int64_t kills_ = 0;
};

}  // namespace

StatusOr<Trained> Train(Scheduler& scheduler, const TrainingOptions& options) {
  return Training(scheduler, options).Run();
}

}  // namespace tensorbraid
