// Softmax regression on batches of 100 images of 784 pixels.
#include <algorithm>
#include <chrono>
#include <random>

#include "cli/bench/bench.h"
#include "cli/bench/busy_programs.h"
#include "cli/bench/models.h"
#include "cli/bench/training.h"
#include "core/text/strings.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"
#include "tensorbraid/optimizers/optimizer.h"
#include "tensorbraid/optimizers/rules.h"
#include "tensorbraid/variables/initializers.h"

namespace tensorbraid {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::ordered_json;

constexpr int kBatch = 100;
constexpr int kPixels = 784;
constexpr int kClasses = 10;
constexpr int kBatches = 32;  // used in rotation, so that consecutive steps get different batches
// For a loss that is summed over a batch. Small enough for training to converge although the updates of all workers are
// applied late.
constexpr double kLearningRate = 0.001;

// Batches of images, float32 [100, 784], and their labels, float32 [100, 10], one-hot. The images are random and
// resemble MNIST: a fifth of the pixels are not zero, and a linear model can classify most of them.
std::vector<std::vector<Tensor>> MakeBatches(int seed) {
  std::mt19937 teacher_random(7);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> uniform;
  std::vector<float> teacher(kPixels * kClasses);
  for (float& w : teacher) w = normal(teacher_random);
  std::vector<std::vector<Tensor>> batches(kBatches);
  for (std::vector<Tensor>& batch : batches) {
    batch = {Tensor(kFloat32, {kBatch, kPixels}), Tensor(kFloat32, {kBatch, kClasses})};
    auto images = batch[0].mutable_data<float>();
    auto labels = batch[1].mutable_data<float>();
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

ordered_json Result(const BenchOptions& options, int worker, const WorkerTimes& times) {
  ordered_json result{{"bench", "softmax"}, {"mode", options.mode}};
  if (options.mode != "local") result["workers"] = options.workers;
  result["worker"] = worker;
  result["median_ms"] = MedianOf(times.ms);
  result["steps_per_s"] = static_cast<double>(times.ms.size()) / times.seconds;
  result["min_ms"] = Minimum(times.ms);
  result["p99_ms"] = Percentile(times.ms, 99);
  return result;
}

StatusOr<BenchResults> BenchLocal(const BenchOptions& options, int steps) {
  constexpr int kWarmUpSteps = 50;
  BenchTraining training({.model = "softmax"});
  TF_RETURN_IF_ERROR(training.Start());
  for (int i = 0; i < kWarmUpSteps; ++i) TF_RETURN_IF_ERROR(training.StepMs().status());
  WorkerTimes times;
  const auto start = Clock::now();
  for (int i = 0; i < steps; ++i) {
    TF_ASSIGN_OR_RETURN(const double ms, training.StepMs());
    times.ms.push_back(ms);
  }
  times.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  TF_ASSIGN_OR_RETURN(const auto facts, training.Finish());
  TF_RETURN_IF_ERROR(VerifyTraining({facts}, /*is_sync=*/false));
  return BenchResults{Result(options, /*worker=*/0, times)};
}

// Steps per second of all workers together.
StatusOr<double> StepsPerSecond(const BenchOptions& options, int steps) {
  TF_ASSIGN_OR_RETURN(const auto times,
                      MeasureTraining(options, options.mode == "sync", steps, /*one_core_each=*/false));
  double sum = 0;
  for (const WorkerTimes& of_worker : times) sum += static_cast<double>(of_worker.ms.size()) / of_worker.seconds;
  return sum;
}

// Trains beside busy programs, in each round once with the polling gate and once without it.
StatusOr<BenchResults> BenchBeside(const BenchOptions& options) {
  const int steps = options.steps > 0 ? options.steps : options.smoke ? 20 : 1000;
  const int rounds = options.rounds > 0 ? options.rounds : options.smoke ? 1 : 3;
  TF_ASSIGN_OR_RETURN(const auto others, BusyPrograms::Start(*options.beside));
  BenchOptions no_gate = options;
  no_gate.polling_gate = false;
  std::vector<double> with, without, ratios;
  for (int round = 0; round < rounds; ++round) {
    TF_ASSIGN_OR_RETURN(with.emplace_back(), StepsPerSecond(options, steps));
    TF_ASSIGN_OR_RETURN(without.emplace_back(), StepsPerSecond(no_gate, steps));
    ratios.push_back(with.back() / without.back());
  }
  ordered_json result{{"bench", "softmax"}, {"mode", options.mode}, {"workers", options.workers}};
  result["beside"] = *options.beside;
  result["steps_per_s"] = MedianOf(with);
  result["no_gate_steps_per_s"] = MedianOf(without);
  result["ratio"] = MedianOf(ratios);
  result["min_ratio"] = Minimum(ratios);
  result["max_ratio"] = Percentile(ratios, 100);
  return BenchResults{std::move(result)};
}

}  // namespace

void MakeSoftmax(int worker, BenchModel& m) {
  m.examples = kBatch;
  m.batches = MakeBatches(100 + worker);
  const Output x = Placeholder(m.graph, kFloat32, {kBatch, kPixels}, "x");
  const Output y = Placeholder(m.graph, kFloat32, {kBatch, kClasses}, "y");
  m.inputs = {x, y};
  Variable w(m.graph, {kPixels, kClasses}, Zeros(), {.name = "w"});
  Variable b(m.graph, {kClasses}, Zeros(), {.name = "b"});
  m.loss = -ReduceSum(y * Log(nn::Softmax(MatMul(x, w) + b)));
  m.optimizer = std::make_shared<GradientDescentOptimizer>(kLearningRate);
}

StatusOr<BenchResults> BenchSoftmax(const BenchOptions& options) {
  if (options.beside.has_value()) return BenchBeside(options);
  const int steps = options.steps > 0 ? options.steps : options.smoke ? 100 : 3000;
  if (options.mode == "local") return BenchLocal(options, steps);
  TF_ASSIGN_OR_RETURN(const auto times,
                      MeasureTraining(options, options.mode == "sync", steps, /*one_core_each=*/false));
  BenchResults results;
  for (const WorkerTimes& of_worker : times) {
    results.push_back(Result(options, static_cast<int>(results.size()), of_worker));
  }
  return results;
}

}  // namespace tensorbraid
