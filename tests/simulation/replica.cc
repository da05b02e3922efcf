#include "simulation/replica.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// Counts the attempts of runs, and the sessions.
class CountingHook final : public SessionRunHook {
 public:
  CountingHook(Runs& runs, std::atomic<int64_t>& sessions) : runs_(runs), sessions_(sessions) {}
  Status AfterCreateSession(SessionRunContext&) override {
    ++sessions_;
    return OkStatus();
  }
  SessionRunArgs BeforeRun(SessionRunContext&) override {
    ++runs_.begun;
    for (const size_t key : TrainedKeys(runs_.next)) ++runs_.begun_of_key[key];
    return {};
  }

 private:
  Runs& runs_;
  std::atomic<int64_t>& sessions_;
};

// The latest values of a variable that a worker has read.
class ReadValues {
 public:
  // Internal if an earlier value has changed since it was read.
  Status Add(const Tensor& value) {
    constexpr size_t kHeld = 3;
    for (const auto& [held, bits] : values_) {
      if (!std::ranges::equal(held.data<float>(), bits)) return Internal("a value that was read before has changed");
    }
    values_.emplace_back(value, std::vector<float>(value.data<float>().begin(), value.data<float>().end()));
    if (values_.size() > kHeld) values_.pop_front();
    return OkStatus();
  }

 private:
  std::deque<std::pair<Tensor, std::vector<float>>> values_;
};

}  // namespace

Replica::Replica(const TestCluster& cluster, int worker, const TrainingOptions& options)
    : target(cluster.worker_target(worker)),
      is_chief(worker == 0),
      checkpoints(options.checkpoints),
      increments(options.increments) {
  auto device =
      g.Device(ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = StrCat("/job:worker/task:", worker)}));
  x = Placeholder(g, kFloat32, {-1, 4}, "x");
  labels = Placeholder(g, kInt64, {-1}, "labels");
  weights = Variable(g, {4, 3}, Zeros(), {.name = "weights"});
  // One element for each worker.
  count = Variable(g, {options.num_workers}, Zeros(), {.name = "count"});
  const Variable global_step = GetOrCreateGlobalStep(g);
  step = global_step.value();
  // The loss has a term whose gradient for this worker's element of `count` is -1.
  std::vector<float> mine(static_cast<size_t>(options.num_workers));
  mine[static_cast<size_t>(worker)] = 1;
  Output logits = MatMul(x, weights);
  for (int i = 0; i < options.biases; ++i) {
    logits = logits + Variable(g, {3}, Zeros(), {.name = StrCat("bias_", i)});
  }
  const Output of_worker = Const(g, Tensor::Vector<float>(mine));
  Output loss = ReduceMean(nn::SparseSoftmaxCrossEntropy(labels, logits)) - ReduceSum(count * of_worker);
  if (options.tables > 0) keys = Placeholder(g, kInt64, {-1}, "keys");
  for (int i = 0; i < options.tables; ++i) {
    EmbeddingVariableOptions of_table = {.name = StrCat("rows_", i), .initializer = Zeros(), .filter_freq = i % 2};
    if (options.num_ps > 1) of_table.partitioner = FixedSizePartitioner(options.num_ps);
    const EmbeddingVariable table(g, options.num_workers, of_table);
    loss = loss - ReduceSum(nn::EmbeddingLookup(table, keys) * of_worker);
    // What reads the table at the end, when the workers have left.
    const auto device = g.Device("/job:ps/task:0");
    const std::vector<int64_t> all(kTableKeys.begin(), kTableKeys.end());
    rows.push_back(nn::EmbeddingLookup(table, Const(g, Tensor::Vector(all))));
    for (const Variable& part : table.parts()) {
      shapes.push_back(NodeBuilder(g, "KvVariableShape").Input(part.handle()).Attr("out_type", kInt64).Output());
    }
  }
  std::shared_ptr<Optimizer> optimizer = std::make_shared<GradientDescentOptimizer>(1.0);
  hooks.push_back(StopAtStep(options.last_step));
  if (options.sync) {
    auto sync = std::make_shared<SyncReplicasOptimizer>(
        optimizer, SyncReplicasOptions{.replicas_to_aggregate = options.num_workers - options.spares,
                                       .total_num_replicas = options.num_workers});
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

Status Replica::Train(Runs& runs, const std::function<void()>& ready, const std::function<void()>& warm,
                      const std::function<void(int64_t)>& reached) {
  std::atomic<int64_t> sessions = 0;
  hooks.push_back(std::make_shared<CountingHook>(runs, sessions));
  MonitoredTrainingSessionOptions options{.master = target, .is_chief = is_chief, .hooks = hooks};
  if (checkpoints) {
    options.checkpoint_dir = kCheckpoints;
    if (is_chief) options.save_checkpoint_every_steps = increments ? 15 : 5;
    if (is_chief && increments) options.save_increment_every = std::chrono::milliseconds(1);
  }
  TF_ASSIGN_OR_RETURN(const auto session, MonitoredTrainingSession(g, options));
  ready();
  const Tensor batch = Tensor::Of<float>({2, 4}, {1, 2, 3, 4, -1, 0.5, is_chief ? 1.0f : 2.0f, 0});
  const Tensor classes = Tensor::Of<int64_t>({2}, {is_chief ? 0 : 1, 2});
  int64_t seen = -1, seen_in = 0;
  ReadValues counts;
  while (!session->ShouldStop()) {
    std::vector<Fetch> fetches = {train, step, count.value()};
    if (async != nullptr) fetches.emplace_back(async->outcomes());
    std::vector<Feed> feeds = {{x, batch}, {labels, classes}};
    const auto trained = TrainedKeys(runs.next);
    if (keys.valid()) {
      feeds.emplace_back(keys, Tensor::Vector<int64_t>({kTableKeys[trained[0]], kTableKeys[trained[1]]}));
    }
    TF_ASSIGN_OR_RETURN(const auto values, session->Run(fetches, feeds));
    ++runs.next;
    if (!values[1].is_valid()) continue;  // training was over before this run
    for (const size_t key : trained) ++runs.acknowledged_of_key[key];
    if (++runs.acknowledged == 1) warm();
    const int64_t now = values[1].scalar<int64_t>();
    if (sessions == seen_in && now < seen) return Internal("the global step has fallen from ", seen, " to ", now);
    seen = now;
    seen_in = sessions;
    reached(now);
    TF_RETURN_IF_ERROR(counts.Add(values[2]));
    // The second outcome is that of `count`.
    if (async != nullptr && values[3].is_valid() && values[3].data<int64_t>()[1] < 0) ++runs.dropped;
  }
  return session->Close();
}

}  // namespace tensorbraid
