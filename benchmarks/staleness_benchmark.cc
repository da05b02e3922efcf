// Measures the cures for stale gradients (StalenessPolicy) on a problem where plain asynchronous training suffers from
// delays.
//
// Linear regression with features of very different sizes, by gradient descent at a high rate, on one parameter server.
// All workers train in this process. Each waits a random time between its read of the variables and its gradient; the
// last worker waits several times as long. The loss is computed exactly from the weights. Every cure trains on the same
// number of examples; examples whose gradients were dropped count, too.
//
// With the measured step times of the workers it then simulates synchronous training with spare replicas.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cluster/testing/test_cluster.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "spare_replicas.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kFeatures = 16;
constexpr double kNoise = 0.1;

struct Options {
  int workers = 8;
  int batches = 2000;
  int batch_size = 32;
  double delay_ms = 4;
  double slow_factor = 5;
  double learning_rate = 0.2;
};

// The variance of feature i: from 1 down to 0.02.
double Variance(int i) { return std::pow(0.02, static_cast<double>(i) / (kFeatures - 1)); }
// The weights that training should find.
double Target(int i) { return i % 2 == 0 ? 1 : -1; }

struct Batch {
  Tensor x, y;
};
Batch NextBatch(std::mt19937& random, int size) {
  Batch batch{Tensor(kFloat32, {size, kFeatures}), Tensor(kFloat32, {size, 1})};
  std::normal_distribution<double> normal;
  auto x = batch.x.mutable_data<float>();
  auto y = batch.y.mutable_data<float>();
  for (int r = 0; r < size; ++r) {
    double sum = kNoise * normal(random);
    for (int i = 0; i < kFeatures; ++i) {
      const double v = std::sqrt(Variance(i)) * normal(random);
      x[r * kFeatures + i] = static_cast<float>(v);
      sum += v * Target(i);
    }
    y[r] = static_cast<float>(sum);
  }
  return batch;
}

// Half the expected squared error, not counting the error that the noise of the labels causes.
double LossOf(std::span<const float> weights) {
  double loss = 0;
  for (int i = 0; i < kFeatures; ++i) loss += 0.5 * Variance(i) * std::pow(weights[i] - Target(i), 2);
  return loss;
}

struct Row {
  std::string name;
  double loss = 0;
  double steps_per_s = 0;  // batches of all workers together, including those whose gradients were dropped
  double mean_age = 0;
  double dropped_share = 0;
  std::vector<double> step_ms;  // of the workers that are not slow
};

// The progress of one training run, which all its workers share.
struct Progress {
  std::atomic<int> batches{0};
  Mutex mu;
  StalenessCounts counts TB_GUARDED_BY(mu);
  int64_t dropped_by_sync TB_GUARDED_BY(mu) = 0;
  std::vector<double> step_ms TB_GUARDED_BY(mu);
};

struct Cure {
  std::string name;
  StalenessPolicy policy = {};
  int sync_replicas = 0;  // if positive: synchronous training, where each update needs this many gradients
};

class Worker {
 public:
  Worker(const TestCluster& cluster, int index, const Options& options, const Cure& cure)
      : index_(index), options_(options), target_(cluster.worker_target(index)) {
    auto device = g_.Device(
        ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = StrCat("/job:worker/task:", index)}));
    x_ = Placeholder(g_, kFloat32, {-1, kFeatures}, "x");
    y_ = Placeholder(g_, kFloat32, {-1, 1}, "y");
    weights_ = Variable(g_, {kFeatures, 1}, Zeros(), {.name = "weights"});
    const Variable global_step = GetOrCreateGlobalStep(g_);
    // Two queues delay a step. When the step has read the weights, it puts an element into `reads`. Delay() takes the
    // element, sleeps, and puts one into `gate`. The step's forward pass waits for it.
    FIFOQueue reads(g_, {kFloat32}, {.shapes = {Shape()}, .name = "reads"});
    FIFOQueue gate(g_, {kFloat32}, {.shapes = {Shape()}, .name = "gate"});
    has_read_ = reads.Enqueue({ReduceSum(weights_)});
    wait_for_read_ = reads.Dequeue()[0];
    open_ = gate.Enqueue({1.0f});
    const Output loss = 0.5 * ReduceMean(Square(MatMul(x_ * gate.Dequeue()[0], weights_) - y_));
    std::shared_ptr<Optimizer> optimizer = std::make_shared<GradientDescentOptimizer>(options.learning_rate);
    if (cure.sync_replicas > 0) {
      sync_ = std::make_shared<SyncReplicasOptimizer>(
          optimizer,
          SyncReplicasOptions{.replicas_to_aggregate = cure.sync_replicas, .total_num_replicas = options.workers});
      hooks_.push_back(sync_->MakeSessionRunHook(index == 0));
      // All workers stop at the same update. If each worker left when the batches are used up, the last one could wait
      // forever for an update that needs gradients of the others.
      hooks_.push_back(StopAtStep(std::max(1, options.batches / cure.sync_replicas)));
      optimizer = sync_;
    } else {
      async_ = std::make_shared<AsyncReplicasOptimizer>(
          optimizer, AsyncReplicasOptions{.staleness = cure.policy, .replica = index});
      hooks_.push_back(async_->MakeSessionRunHook());
      optimizer = async_;
    }
    train_ = optimizer->Minimize(loss, {.global_step = global_step});
  }

  Status Start() {
    TF_ASSIGN_OR_RETURN(session_,
                        MonitoredTrainingSession(g_, {.master = target_, .is_chief = index_ == 0, .hooks = hooks_}));
    return OkStatus();
  }

  // Trains until all workers together have used all batches. Synchronous training instead ends at the update that
  // StopAtStep names (see the constructor).
  Status Train(Progress& progress) {
    std::mt19937 random(17 + index_);
    const bool slow = index_ == options_.workers - 1;
    std::thread delays([this, slow, session = &session_->session()] { Delay(*session, slow); });
    Status status;
    while (!session_->ShouldStop() && (progress.batches++ < options_.batches || sync_ != nullptr)) {
      const Batch batch = NextBatch(random, options_.batch_size);
      const auto start = Clock::now();
      status = session_->Run({train_, has_read_}, {{x_, batch.x}, {y_, batch.y}}).status();
      if (!status.ok()) break;
      const std::chrono::duration<double, std::milli> ms = Clock::now() - start;
      if (slow) continue;
      MutexLock lock(progress.mu);
      progress.step_ms.push_back(ms.count());
    }
    const Status closed = session_->Close();
    delays.join();
    MutexLock lock(progress.mu);
    if (sync_ != nullptr) progress.dropped_by_sync += sync_->dropped_gradients();
    if (async_ != nullptr) {
      const StalenessCounts counts = async_->counts();
      progress.counts.applied += counts.applied;
      progress.counts.dropped += counts.dropped;
      progress.counts.total_age += counts.total_age;
      progress.counts.pushes += counts.pushes;
    }
    return status.ok() ? closed : status;
  }

  StatusOr<double> Loss() {
    TF_ASSIGN_OR_RETURN(const auto session, Session::Create(g_, {.target = target_}));
    TF_ASSIGN_OR_RETURN(const auto values, session->Run({weights_}));
    return LossOf(values[0].data<float>());
  }

 private:
  // Delays each step between its read of the weights and its gradient, by a random time between 0.5 and 1.5 times the
  // mean.
  void Delay(Session& session, bool slow) {
    std::mt19937 random(1000 + index_);
    std::uniform_real_distribution<double> around(0.5, 1.5);
    const double mean = options_.delay_ms * (slow ? options_.slow_factor : 1);
    while (session.Run({wait_for_read_}).ok()) {
      SleepFor(std::chrono::duration_cast<MonotonicClock::duration>(
          std::chrono::duration<double, std::milli>(mean * around(random))));
      if (!session.Run({open_}).ok()) return;
    }
  }

  const int index_;
  const Options& options_;
  const std::string target_;
  Graph g_;
  Output x_, y_, wait_for_read_;
  Variable weights_;
  Operation has_read_, open_, train_;
  std::shared_ptr<SyncReplicasOptimizer> sync_;
  std::shared_ptr<AsyncReplicasOptimizer> async_;
  std::vector<std::shared_ptr<SessionRunHook>> hooks_;
  std::unique_ptr<MonitoredSession> session_;
};

StatusOr<Row> Measure(const Options& options, const Cure& cure) {
  TestCluster cluster(1, options.workers);
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < options.workers; ++i) workers.push_back(std::make_unique<Worker>(cluster, i, options, cure));
  Progress progress;
  std::vector<Status> statuses(options.workers);
  TF_RETURN_IF_ERROR(workers[0]->Start());
  const auto start = Clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < options.workers; ++i) {
    threads.emplace_back([&, i] {
      if (i > 0) statuses[i] = workers[i]->Start();
      if (statuses[i].ok()) statuses[i] = workers[i]->Train(progress);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> seconds = Clock::now() - start;
  for (const Status& status : statuses) TF_RETURN_IF_ERROR(status);
  Row row;
  row.name = cure.name;
  TF_ASSIGN_OR_RETURN(row.loss, workers[0]->Loss());
  MutexLock lock(progress.mu);
  const StalenessCounts& counts = progress.counts;
  const int64_t gradients = counts.applied + counts.dropped;
  const int batches = cure.sync_replicas > 0 ? progress.batches.load() : options.batches;
  row.steps_per_s = batches / seconds.count();
  row.mean_age = counts.mean_age();
  row.dropped_share = cure.sync_replicas > 0 ? static_cast<double>(progress.dropped_by_sync) / batches
                      : gradients == 0       ? 0
                                             : static_cast<double>(counts.dropped) / static_cast<double>(gradients);
  row.step_ms = progress.step_ms;
  return row;
}

Status Main(int argc, char** argv) {
  Flags flags("Measures cures for stale gradients.");
  Options defaults;
  auto& workers = flags.Define("workers", defaults.workers, "workers; the last one is slow");
  auto& batches = flags.Define("batches", defaults.batches, "batches of all workers together, for each cure");
  auto& batch_size = flags.Define("batch_size", defaults.batch_size, "examples per batch");
  auto& delay = flags.Define("delay_ms", defaults.delay_ms, "mean time between the read and the gradient");
  auto& slow = flags.Define("slow_factor", defaults.slow_factor, "how many times as long the last worker takes");
  auto& rate = flags.Define("learning_rate", defaults.learning_rate, "learning rate of gradient descent");
  auto& only = flags.Define<std::string>("staleness", "", "measure only this policy: " + StalenessPolicy::FlagHelp());
  flags.AtLeast("workers", 2);
  flags.AtLeast("batches", 1);
  flags.AtLeast("batch_size", 1);
  flags.AtLeast("delay_ms", 0);
  flags.AtLeast("slow_factor", 1);
  flags.ParseOrExit(argc, argv);
  const Options options{workers, batches, batch_size, delay, slow, rate};
  std::vector<Cure> cures;
  if (!only.empty()) {
    TF_ASSIGN_OR_RETURN(const StalenessPolicy policy, StalenessPolicy::Parse(only));
    cures.push_back({.name = only, .policy = policy});
  } else {
    cures.push_back({.name = "none (plain async)"});
    for (const char* text : {"max_age=8", "gradient_decay=1", "rate_decay=1", "max_age=16,gradient_decay=1",
                             "delay_compensation=1", "max_lead=0", "max_lead=4", "batches_per_push=4",
                             "warm_up_steps=200", "warm_up_steps=200,gradient_decay=1"}) {
      TF_ASSIGN_OR_RETURN(const StalenessPolicy policy, StalenessPolicy::Parse(text));
      cures.push_back({.name = text, .policy = policy});
    }
    cures.push_back({.name = "sync", .sync_replicas = options.workers});
    cures.push_back({.name = "sync, 1 spare", .sync_replicas = options.workers - 1});
  }
  std::printf(
      "%d workers, mean delay %g ms, for the last one %g times as long, learning rate %g; loss at the start %.3f\n",
      options.workers, options.delay_ms, options.slow_factor, options.learning_rate,
      LossOf(std::vector<float>(kFeatures)));
  std::printf("%-36s %14s %10s %9s %9s\n", "cure", "loss", "batches/s", "mean age", "dropped");
  std::vector<double> step_ms;
  for (const Cure& cure : cures) {
    TF_ASSIGN_OR_RETURN(const Row row, Measure(options, cure));
    std::printf("%-36s %14.4g %10.0f %9.1f %8.1f%%\n", row.name.c_str(), row.loss, row.steps_per_s, row.mean_age,
                100 * row.dropped_share);
    std::fflush(stdout);
    if (step_ms.empty()) step_ms = row.step_ms;
  }
  if (step_ms.empty()) return OkStatus();  // with very few batches, perhaps only the slow worker has made steps
  std::printf("\nsynchronous steps simulated from %zu measured step times\n", step_ms.size());
  double plain = 0;  // the time of a step with 18 replicas and no spare, which come first
  for (const auto& [needed, total] : {std::pair{18, 18}, std::pair{18, 20}, std::pair{20, 20}}) {
    const SpareReplicas spare = SimulateSpareReplicas(step_ms, needed, total, 20'000, 1);
    if (plain == 0) plain = spare.step_ms;
    std::printf(
        "%d replicas + %d spare: %.2f ms per step, %.2f times as fast as 18 + 0, %.1f%% of the gradients dropped\n",
        needed, total - needed, spare.step_ms, plain / spare.step_ms, 100 * spare.dropped_share);
  }
  return OkStatus();
}

}  // namespace
}  // namespace tensorbraid

int main(int argc, char** argv) { return tensorbraid::ExitCode(tensorbraid::Main(argc, argv)); }
