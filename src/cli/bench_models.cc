// Training steps of models in this process, beside what oneDNN alone takes for their arithmetic.
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "cli/bench.h"
#include "cli/bench_onednn.h"
#include "core/strings.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

struct Model {
  Graph graph;
  std::vector<Output> inputs;
  std::vector<Tensor> batch;  // their values
  int64_t examples = 0;       // in the batch
  Output loss;
  Operation train;
  std::vector<Arithmetic> arithmetic;
};

constexpr int64_t kDigits = 10;

Output Classify(Model& m, const Output& logits) {
  m.inputs.push_back(Placeholder(m.graph, kInt64, {m.examples}, "labels"));
  Tensor labels(kInt64, {m.examples});
  for (int64_t i = 0; i < m.examples; ++i) labels.mutable_data<int64_t>()[i] = i % kDigits;
  m.batch.push_back(labels);
  return ReduceMean(nn::SparseSoftmaxCrossEntropy(m.inputs.back(), logits));
}

// Noise in [0, 0.3).
Tensor Noise(const Shape& shape) {
  Tensor noise(kFloat32, shape);
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(0, 0.3f);
  for (float& x : noise.mutable_data<float>()) x = uniform(random);
  return noise;
}

// Two convolutions and two dense layers on images of 28 x 28 pixels, of which a bright column tells the class.
void MakeLeNet(Model& m) {
  constexpr int64_t kWidth = 28;
  m.examples = 128;
  const Output images = Placeholder(m.graph, kFloat32, {m.examples, kWidth, kWidth, 1}, "images");
  m.inputs = {images};
  m.batch = {Noise({m.examples, kWidth, kWidth, 1})};
  for (int64_t i = 0; i < m.examples; ++i) {
    for (int64_t row = 0; row < kWidth; ++row) {
      m.batch[0].mutable_data<float>()[(i * kWidth + row) * kWidth + 2 + 2 * (i % kDigits)] = 1;
    }
  }
  constexpr auto kRelu = nn::Activation::kRelu;
  Output x = nn::Conv2D(images, {.filters = 32, .kernel = {5, 5}, .activation = kRelu});
  x = nn::MaxPool(x, {.size = {2, 2}});
  x = nn::Conv2D(x, {.filters = 64, .kernel = {5, 5}, .activation = kRelu});
  x = nn::MaxPool(x, {.size = {2, 2}});
  x = nn::Dense(nn::Flatten(x), {.units = 1024, .activation = kRelu});
  m.loss = Classify(m, nn::Dense(x, {.units = kDigits}));
  m.train = AdamOptimizer(1e-3).Minimize(m.loss);
  m.arithmetic = {{.batch = m.examples, .size = 28, .kernel = 5, .in = 1, .out = 32, .input_gradient = false},
                  {.batch = m.examples, .size = 14, .kernel = 5, .in = 32, .out = 64},
                  {.batch = m.examples, .in = 7 * 7 * 64, .out = 1024},
                  {.batch = m.examples, .in = 1024, .out = kDigits}};
}

// An LSTM of 200 units over 20 steps of 200 features, of which one is larger and tells the class.
void MakeLstm(Model& m) {
  constexpr int64_t kUnits = 200;
  constexpr int64_t kSteps = 20;
  m.examples = 32;
  const Output sequences = Placeholder(m.graph, kFloat32, {m.examples, kSteps, kUnits}, "sequences");
  m.inputs = {sequences};
  m.batch = {Noise({m.examples, kSteps, kUnits})};
  for (int64_t i = 0; i < m.examples; ++i) {
    for (int64_t t = 0; t < kSteps; ++t) {
      m.batch[0].mutable_data<float>()[(i * kSteps + t) * kUnits + i % kDigits] = 1;
    }
  }
  const nn::RnnResult rnn = nn::DynamicRnn(nn::LSTMCell(kUnits), sequences);
  m.loss = Classify(m, nn::Dense(rnn.state[1], {.units = kDigits}));
  m.train = GradientDescentOptimizer(0.5).Minimize(m.loss);
  // The inputs are data, so they have no gradient; of each step, the state before has.
  m.arithmetic = {{.batch = m.examples * kSteps, .in = kUnits, .out = 4 * kUnits, .input_gradient = false},
                  {.batch = m.examples, .in = kUnits, .out = 4 * kUnits, .repeats = kSteps},
                  {.batch = m.examples, .in = kUnits, .out = kDigits}};
}

}  // namespace

StatusOr<BenchResults> BenchModel(const BenchOptions& options) {
  constexpr int kWarmUpSteps = 3;
  const int threads = options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
  const int steps = options.steps > 0 ? options.steps : options.smoke ? 5 : 100;
  Model m;
  m.graph.SetRandomSeed(1);
  options.name == "lenet" ? MakeLeNet(m) : MakeLstm(m);
  const Operation init = GlobalVariablesInitializer(m.graph);
  TF_ASSIGN_OR_RETURN(const auto session, Session::Create(m.graph, {.inter_op_parallelism_threads = threads}));
  TF_RETURN_IF_ERROR(session->Run({init}).status());
  TF_ASSIGN_OR_RETURN(const auto step, session->Prepare({m.train, m.loss}, m.inputs));
  std::vector<double> losses, times;
  for (int i = 0; i < kWarmUpSteps + steps; ++i) {
    const auto start = std::chrono::steady_clock::now();
    TF_ASSIGN_OR_RETURN(const auto values, step.Run(m.batch));
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (i >= kWarmUpSteps) times.push_back(time.count());
    losses.push_back(values[1].scalar<float>());
  }
  if (!std::isfinite(losses.back()) || losses.back() >= losses.front()) {
    return Internal("the loss did not fall: ", losses.front(), " at the start, ", losses.back(), " at the end");
  }
  BenchResults results{{{"bench", options.name},
                        {"threads", threads},
                        {"median_ms", MedianOf(times)},
                        {"min_ms", Minimum(times)},
                        {"examples_per_s", static_cast<double>(m.examples) / MedianOf(times) * 1e3}}};
  if (options.baseline) {
    const double onednn_ms = OneDnnMs(m.arithmetic, threads, options.smoke);
    results[0]["onednn_ms"] = onednn_ms;
    results[0]["fraction_of_onednn"] = onednn_ms / Minimum(times);
  }
  return results;
}

}  // namespace tensorbraid
