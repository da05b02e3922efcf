// Softmax regression on batches of 100 images of 784 pixels.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "cli/bench.h"
#include "cli/bench_task.h"
#include "core/strings.h"
#include "tensorbraid/array_ops.h"
#include "tensorbraid/math_ops.h"
#include "tensorbraid/nn.h"
#include "tensorbraid/optimizer.h"
#include "tensorbraid/train.h"

namespace tensorbraid {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kBatch = 100;
constexpr int kPixels = 784;
constexpr int kClasses = 10;
constexpr int kBatches = 32;  // used in rotation, so that consecutive steps get different batches
constexpr int kWarmUpSteps = 50;
// For the summed loss. Small enough that the training converges although the updates of all workers are applied late.
constexpr double kLearningRate = 0.001;

struct Batch {
  Tensor images;  // float32 [100, 784]
  Tensor labels;  // float32 [100, 10], one-hot
};

// Random images that resemble MNIST: a fifth of the pixels are not zero, and a linear model can classify most of them.
std::vector<Batch> MakeBatches(int seed) {
  std::mt19937 teacher_random(7);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> uniform;
  std::vector<float> teacher(kPixels * kClasses);
  for (float& w : teacher) w = normal(teacher_random);
  std::vector<Batch> batches(kBatches);
  for (Batch& batch : batches) {
    batch.images = Tensor(kFloat32, {kBatch, kPixels});
    batch.labels = Tensor(kFloat32, {kBatch, kClasses});
    auto images = batch.images.mutable_data<float>();
    auto labels = batch.labels.mutable_data<float>();
    for (int i = 0; i < kBatch; ++i) {
      float scores[kClasses] = {};
      for (int p = 0; p < kPixels; ++p) {
        const float ink = uniform(random) < 0.2f ? uniform(random) : 0;
        images[i * kPixels + p] = ink;
        for (int c = 0; ink != 0 && c < kClasses; ++c) scores[c] += ink * teacher[p * kClasses + c];
      }
      // Some labels are wrong, so that no weights explain all of them and the loss stays finite.
      const int right = static_cast<int>(std::max_element(scores, scores + kClasses) - scores);
      const int label = uniform(random) < 0.1f ? static_cast<int>(random() % kClasses) : right;
      for (int c = 0; c < kClasses; ++c) labels[i * kClasses + c] = c == label;
    }
  }
  return batches;
}

// One worker's replica of the training.
class SoftmaxTraining {
 public:
  // `device` is empty for a training within this process.
  SoftmaxTraining(const std::string& target, const ClusterSpec& cluster, const std::string& device, int worker,
                  bool is_sync, int workers)
      : target_(target), is_chief_(worker == 0), batches_(MakeBatches(100 + worker)) {
    auto scope = graph_.Device(device.empty() ? DeviceFunction([](const Operation&) { return std::string(); })
                                              : ReplicaDeviceSetter({.cluster = cluster, .worker_device = device}));
    x_ = Placeholder(graph_, kFloat32, {kBatch, kPixels}, "x");
    y_ = Placeholder(graph_, kFloat32, {kBatch, kClasses}, "y");
    Variable w(graph_, {kPixels, kClasses}, Zeros(), {.name = "w"});
    Variable b(graph_, {kClasses}, Zeros(), {.name = "b"});
    global_step_ = GetOrCreateGlobalStep(graph_);
    const Output predicted = nn::Softmax(MatMul(x_, w) + b);
    loss_ = -ReduceSum(y_ * Log(predicted));
    std::shared_ptr<Optimizer> optimizer = std::make_shared<GradientDescentOptimizer>(kLearningRate);
    if (is_sync) {
      auto sync = std::make_shared<SyncReplicasOptimizer>(
          optimizer, SyncReplicasOptions{.replicas_to_aggregate = workers, .total_num_replicas = workers});
      hooks_.push_back(sync->MakeSessionRunHook(is_chief_));
      optimizer = sync;
    }
    train_ = optimizer->Minimize(loss_, {.global_step = global_step_});
  }

  Status Start() {
    TF_ASSIGN_OR_RETURN(session_,
                        MonitoredTrainingSession(graph_, {.master = target_, .is_chief = is_chief_, .hooks = hooks_}));
    TF_ASSIGN_OR_RETURN(first_loss_, Loss());
    return OkStatus();
  }

  bool ShouldStop() const { return session_->ShouldStop(); }

  // Runs one step with the next batch and returns its duration.
  StatusOr<double> StepMs() {
    const Batch& batch = batches_[runs_++ % batches_.size()];
    const auto start = Clock::now();
    TF_RETURN_IF_ERROR(session_->Run({train_, global_step_}, {{x_, batch.images}, {y_, batch.labels}}).status());
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

  // Ends the training and returns the values to verify.
  StatusOr<json> Finish() {
    json facts{{"runs", runs_}, {"first_loss", first_loss_}};
    if (is_chief_) {
      TF_ASSIGN_OR_RETURN(const auto step, session_->session().Run({global_step_}));
      facts["global_step"] = step[0].scalar<int64_t>();
      TF_ASSIGN_OR_RETURN(facts["last_loss"], Loss());
    }
    TF_RETURN_IF_ERROR(session_->Close());
    return facts;
  }

 private:
  StatusOr<double> Loss() {
    TF_ASSIGN_OR_RETURN(const auto loss,
                        session_->session().Run({loss_}, {{x_, batches_[0].images}, {y_, batches_[0].labels}}));
    return static_cast<double>(loss[0].scalar<float>());
  }

  const std::string target_;
  const bool is_chief_;
  const std::vector<Batch> batches_;
  Graph graph_;
  Output x_, y_, loss_;
  Operation train_;
  Variable global_step_;
  std::vector<std::shared_ptr<SessionRunHook>> hooks_;
  std::unique_ptr<MonitoredSession> session_;
  int64_t runs_ = 0;
  double first_loss_ = 0;
};

Status Verify(const json& chief, const std::vector<json>& all, bool is_sync) {
  const double first = chief["first_loss"].get<double>();
  const double last = chief["last_loss"].get<double>();
  if (!std::isfinite(last) || last >= first) {
    return Internal("the loss did not fall: ", first, " at the start, ", last, " at the end");
  }
  const auto step = chief["global_step"].get<int64_t>();
  int64_t runs = 0;
  for (const json& facts : all) runs += facts["runs"].get<int64_t>();
  // In an asynchronous training every run is a step. In a synchronous one, the first and the last gradients of each
  // worker may remain unused.
  const int64_t slack = is_sync ? 4 : 0;
  const int64_t expected = is_sync ? runs / static_cast<int64_t>(all.size()) : runs;
  if (std::abs(step - expected) > slack) {
    return Internal("the global step is ", step, ", expected ", expected, " after ", runs, " runs of ", all.size(),
                    " workers");
  }
  return OkStatus();
}

ordered_json Result(const BenchOptions& options, int worker, const std::vector<double>& times, double seconds) {
  ordered_json result{{"bench", "softmax"}, {"mode", options.mode}};
  if (options.mode != "local") result["workers"] = options.workers;
  result["worker"] = worker;
  result["median_ms"] = MedianOf(times);
  result["steps_per_s"] = static_cast<double>(times.size()) / seconds;
  result["min_ms"] = Minimum(times);
  result["p99_ms"] = Percentile(times, 99);
  return result;
}

StatusOr<BenchResults> BenchLocal(const BenchOptions& options, int steps) {
  SoftmaxTraining training("", {}, "", 0, false, 1);
  TF_RETURN_IF_ERROR(training.Start());
  for (int i = 0; i < kWarmUpSteps; ++i) TF_RETURN_IF_ERROR(training.StepMs().status());
  std::vector<double> times;
  const auto start = Clock::now();
  for (int i = 0; i < steps; ++i) {
    TF_ASSIGN_OR_RETURN(const double ms, training.StepMs());
    times.push_back(ms);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  TF_ASSIGN_OR_RETURN(const json facts, training.Finish());
  TF_RETURN_IF_ERROR(Verify(facts, {facts}, false));
  return BenchResults{Result(options, 0, times, seconds)};
}

}  // namespace

Status RunSoftmaxWorker(JsonChannel& parent, const json& config, const Server& server) {
  const ClusterSpec cluster(std::map<std::string, std::vector<std::string>>{
      {"ps", config["ps_hosts"].get<std::vector<std::string>>()},
      {"worker", config["worker_hosts"].get<std::vector<std::string>>()}});
  const int worker = config["index"].get<int>();
  SoftmaxTraining training(server.target(), cluster, StrCat("/job:worker/task:", worker), worker,
                           config["mode"] == "sync", cluster.num_tasks("worker"));
  TF_RETURN_IF_ERROR(training.Start());

  // A separate thread receives messages, because the training must not pause: in a synchronous training all other
  // workers wait for this one.
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
  const auto train = [&]() -> Status {
    std::vector<double> times;
    Clock::time_point start;
    for (int64_t step = 1; !stop && !training.ShouldStop(); ++step) {
      const int wanted = steps_to_measure;
      if (wanted > 0 && times.empty()) start = Clock::now();
      TF_ASSIGN_OR_RETURN(const double ms, training.StepMs());
      if (step == kWarmUpSteps) TF_RETURN_IF_ERROR(parent.Send(json::object()));
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

StatusOr<BenchResults> BenchSoftmax(const BenchOptions& options) {
  const int steps = options.steps > 0 ? options.steps : options.smoke ? 100 : 3000;
  if (options.mode == "local") return BenchLocal(options, steps);
  const bool is_sync = options.mode == "sync";
  TF_ASSIGN_OR_RETURN(
      const auto cluster,
      BenchCluster::Start(options.ps, options.workers,
                          {{"bench", "softmax"}, {"mode", options.mode}, {"protocol", options.protocol}}));
  const auto& workers = cluster->workers();
  // All workers are measured while all of them run.
  for (const auto& worker : workers) TF_RETURN_IF_ERROR(worker->Send({{"do", "measure"}, {"steps", steps}}));
  BenchResults results;
  for (const auto& worker : workers) {
    TF_ASSIGN_OR_RETURN(const json measured, worker->Receive());
    results.push_back(Result(options, static_cast<int>(results.size()), measured["times_ms"].get<std::vector<double>>(),
                             measured["seconds"].get<double>()));
  }
  // In a synchronous training the chief stops first and ends it for all workers. Otherwise the chief stops last, so
  // that its global step counts the runs of all workers.
  std::vector<json> facts(workers.size());
  std::vector<size_t> order;
  for (size_t i = 0; i < workers.size(); ++i) order.push_back(is_sync ? i : workers.size() - 1 - i);
  for (const size_t i : order) {
    if (!is_sync || i == 0) TF_RETURN_IF_ERROR(workers[i]->Send({{"do", "stop"}}));
    TF_ASSIGN_OR_RETURN(facts[i], workers[i]->Receive());
  }
  TF_RETURN_IF_ERROR(Verify(facts[0], facts, is_sync));
  return results;
}

}  // namespace tensorbraid
