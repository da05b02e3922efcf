#include "cli/bench/training.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "cli/bench/task.h"
#include "core/text/strings.h"
#include "tensorbraid/cluster/replica_device_setter.h"
#include "tensorbraid/optimizers/sync_replicas.h"

namespace tensorbraid {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr int kReplicaWarmUp = 50;
constexpr int kReplicaWarmUpOnOneCore = 3;  // of models whose steps are long

}  // namespace

BenchTraining::BenchTraining(const Options& options) : target_(options.target), is_chief_(options.worker == 0) {
  Graph& g = model_.graph;
  const bool in_cluster = !options.target.empty();
  auto scope = g.Device(in_cluster ? ReplicaDeviceSetter({.cluster = options.cluster,
                                                          .worker_device = StrCat("/job:worker/task:", options.worker)})
                                   : DeviceFunction([](const Operation&) { return std::string(); }));
  MakeModel(options.model, options.worker, model_);
  global_step_ = GetOrCreateGlobalStep(g);
  if (options.is_sync) {
    const int workers = options.cluster.num_tasks("worker");
    auto sync = std::make_shared<SyncReplicasOptimizer>(
        model_.optimizer, SyncReplicasOptions{.replicas_to_aggregate = workers, .total_num_replicas = workers});
    hooks_.push_back(sync->MakeSessionRunHook(is_chief_));
    model_.optimizer = sync;
  }
  auto train = AddTraining(model_, global_step_);
  g.AddError(train.status());
  if (train.ok()) train_ = *train;
}

Status BenchTraining::Start() {
  TF_ASSIGN_OR_RETURN(
      session_, MonitoredTrainingSession(model_.graph, {.master = target_, .is_chief = is_chief_, .hooks = hooks_}));
  TF_ASSIGN_OR_RETURN(first_loss_, Loss());
  return OkStatus();
}

StatusOr<double> BenchTraining::StepMs() {
  const std::vector<Tensor>& batch = model_.batches[runs_++ % model_.batches.size()];
  const auto start = Clock::now();
  TF_RETURN_IF_ERROR(session_->Run({train_, global_step_}, FeedsOf(batch)).status());
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

StatusOr<json> BenchTraining::Finish() {
  json facts{{"runs", runs_}, {"first_loss", first_loss_}};
  if (is_chief_) {
    TF_ASSIGN_OR_RETURN(const auto step, session_->session().Run({global_step_}));
    facts["global_step"] = step[0].scalar<int64_t>();
    TF_ASSIGN_OR_RETURN(facts["last_loss"], Loss());
  }
  TF_RETURN_IF_ERROR(session_->Close());
  return facts;
}

std::vector<Feed> BenchTraining::FeedsOf(const std::vector<Tensor>& batch) const {
  std::vector<Feed> feeds;
  for (size_t i = 0; i < batch.size(); ++i) feeds.emplace_back(model_.inputs[i], batch[i]);
  return feeds;
}

StatusOr<double> BenchTraining::Loss() {
  TF_ASSIGN_OR_RETURN(const auto loss, session_->session().Run({model_.loss}, FeedsOf(model_.batches[0])));
  return static_cast<double>(loss[0].scalar<float>());
}

Status VerifyTraining(const std::vector<json>& all, bool is_sync) {
  const double first = all[0]["first_loss"].get<double>();
  const double last = all[0]["last_loss"].get<double>();
  if (!std::isfinite(last) || last >= first) {
    return Internal("the loss did not fall: ", first, " at the start, ", last, " at the end");
  }
  const auto step = all[0]["global_step"].get<int64_t>();
  int64_t runs = 0;
  for (const json& facts : all) runs += facts["runs"].get<int64_t>();
  // In asynchronous training every run is a step. In synchronous training, the first and the last gradients of each
  // worker may remain unused.
  const int64_t slack = is_sync ? 4 : 0;
  const int64_t expected = is_sync ? runs / static_cast<int64_t>(all.size()) : runs;
  if (std::abs(step - expected) > slack) {
    return Internal("the global step is ", step, ", expected ", expected, " after ", runs, " runs of ", all.size(),
                    " workers");
  }
  return OkStatus();
}

Status RunTrainingWorker(JsonChannel& parent, const json& config, const Server& server) {
  const ClusterSpec cluster(std::map<std::string, std::vector<std::string>>{
      {"ps", config["ps_hosts"].get<std::vector<std::string>>()},
      {"worker", config["worker_hosts"].get<std::vector<std::string>>()}});
  BenchTraining training({.model = config["bench"],
                          .target = server.target(),
                          .cluster = cluster,
                          .worker = config["index"],
                          .is_sync = config["is_sync"]});
  TF_RETURN_IF_ERROR(training.Start());

  // A separate thread receives messages, because this thread must not pause: in synchronous training all other
  // workers wait for this worker.
  std::atomic<int> steps_to_measure{0};
  std::atomic<bool> stop{false};
  std::thread listener([&] {
    while (true) {
      const auto message = parent.Receive();
      if (!message.ok() || (*message)["do"] == "stop") break;
      steps_to_measure = (*message)["steps"].get<int>();
    }
    stop = true;
  });
  const int warm_up_steps = config["one_core_each"] ? kReplicaWarmUpOnOneCore : kReplicaWarmUp;
  const auto train = [&]() -> Status {
    std::vector<double> times;
    Clock::time_point start;
    for (int64_t step = 1; !stop && !training.ShouldStop(); ++step) {
      const int wanted = steps_to_measure;
      if (wanted > 0 && times.empty()) start = Clock::now();
      TF_ASSIGN_OR_RETURN(const double ms, training.StepMs());
      if (step == warm_up_steps) TF_RETURN_IF_ERROR(parent.Send(json::object()));
      if (wanted == 0) continue;
      times.push_back(ms);
      if (static_cast<int>(times.size()) < wanted) continue;
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      steps_to_measure = 0;
      TF_RETURN_IF_ERROR(parent.Send({{"times_ms", times}, {"seconds", seconds}}));
      times.clear();
    }
    TF_ASSIGN_OR_RETURN(const json facts, training.Finish());
    return parent.Send(facts);
  };
  const Status status = train();
  if (!status.ok()) parent.Send({{"error", ToString(status)}}).IgnoreError();
  listener.join();
  return OkStatus();
}

StatusOr<std::vector<WorkerTimes>> MeasureTraining(const BenchOptions& options, bool is_sync, int steps,
                                                   bool one_core_each) {
  TF_ASSIGN_OR_RETURN(const auto cluster, BenchCluster::Start(options.ps, options.workers,
                                                              {{"bench", options.name},
                                                               {"is_sync", is_sync},
                                                               {"one_core_each", one_core_each},
                                                               {"polling_gate", options.polling_gate},
                                                               {"protocol", options.protocol},
                                                               {"wire", options.wire}}));
  const auto& workers = cluster->workers();
  // All workers are measured while all of them run.
  for (const auto& worker : workers) TF_RETURN_IF_ERROR(worker->Send({{"do", "measure"}, {"steps", steps}}));
  std::vector<WorkerTimes> times;
  for (const auto& worker : workers) {
    TF_ASSIGN_OR_RETURN(const json measured, worker->Receive());
    times.push_back({measured["times_ms"].get<std::vector<double>>(), measured["seconds"].get<double>()});
  }
  // In synchronous training the chief stops first, which ends training for all workers. Otherwise the chief stops last,
  // so that its global step counts the runs of all workers.
  std::vector<json> facts(workers.size());
  std::vector<size_t> order;
  for (size_t i = 0; i < workers.size(); ++i) order.push_back(is_sync ? i : workers.size() - 1 - i);
  for (const size_t i : order) {
    if (!is_sync || i == 0) TF_RETURN_IF_ERROR(workers[i]->Send({{"do", "stop"}}));
    TF_ASSIGN_OR_RETURN(facts[i], workers[i]->Receive());
  }
  TF_RETURN_IF_ERROR(VerifyTraining(facts, is_sync));
  return times;
}

}  // namespace tensorbraid
