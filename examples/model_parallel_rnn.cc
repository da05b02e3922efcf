// Model parallelism: a stack of LSTM layers that reads the rows of MNIST digits, spread over several devices. A layer
// can work on row t as soon as the layer below has read row t, so all layers work at the same time: a wave runs through
// the layers, and back again for the gradients. Alone, with the layers on four devices of this process:
//
//   build/release/examples/model_parallel_rnn --trace=trace.json
//
// As a cluster on one machine, with the layers on two tasks:
//
//   tensorbraid launch --ps=0 --workers=2 -- build/release/examples/model_parallel_rnn
//
// Worker 0 trains; the other tasks only do their part of each step. Parameter servers get layers like workers, so that
// --ps=3 --workers=1 spreads the layers over four tasks. With --trace=FILE, one more step is traced at the end; open
// the file in chrome://tracing or ui.perfetto.dev.
#include <tensorbraid/tensorbraid.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training.h"

namespace tf = tensorbraid;
namespace nn = tensorbraid::nn;

struct TrainOptions {
  int num_devices;
  int threads;
  int layers;
  int units;
  int num_rows;
  int steps;
  int batch_size;
  double learning_rate;
  int64_t seed;
  bool json;
  std::string trace;
  std::string checkpoint_dir;
  std::chrono::milliseconds save_checkpoint_every;
  std::string log_dir;
};

constexpr int kRow = 28;  // pixels

// The devices that the layers are spread over: those of this process or, in a cluster, one of each task.
std::vector<std::string> Devices(const tf::TaskFlags& task, int num_devices) {
  std::vector<std::string> devices;
  for (const char* job : {"chief", "master", "worker", "ps"}) {
    for (const int i : task.cluster().task_indices(job)) {
      devices.push_back("/job:" + std::string(job) + "/task:" + std::to_string(i) + "/device:CPU:0");
    }
  }
  for (int i = 0; !task.has_cluster() && i < num_devices; ++i) devices.push_back("/device:CPU:" + std::to_string(i));
  return devices;
}

// The device of part `i` of `n`. Neighbours share a device if there are more parts than devices.
const std::string& DeviceOf(int i, int n, const std::vector<std::string>& devices) {
  return devices[static_cast<size_t>(i) * devices.size() / static_cast<size_t>(n)];
}

// A dense layer split vertically: each of two devices has half of the units.
tf::Output SplitDense(tf::Output x, int units, const std::vector<std::string>& devices) {
  std::vector<tf::Operand> halves;
  for (int i = 0; i < 2; ++i) {
    auto device = x.graph()->Device(DeviceOf(i, 2, devices));
    halves.push_back(nn::Dense(x, {.units = units / 2, .activation = nn::Activation::kRelu}));
  }
  return tf::Concat(halves, 1);
}

// Returns the scores of the ten digits.
tf::Output StackedRnn(tf::Output pixels, const std::vector<std::string>& devices, const TrainOptions& options) {
  tf::Graph& g = *pixels.graph();
  // One tensor [batch, pixels] for each row. Empty rows above and below make longer sequences.
  const int above = (options.num_rows - kRow) / 2, below = options.num_rows - kRow - above;
  auto image =
      tf::Pad(tf::Reshape(pixels, {-1, kRow, kRow}), tf::Tensor::Of<int32_t>({3, 2}, {0, 0, above, below, 0, 0}));
  std::vector<tf::Output> rows = tf::Unstack(image, 1, options.num_rows);
  for (int i = 0; i < options.layers; ++i) {
    auto device = g.Device(DeviceOf(i, options.layers, devices));
    rows = nn::StaticRnn(nn::LSTMCell(options.units), rows, {.name = "layer" + std::to_string(i)}).outputs;
  }
  auto x = SplitDense(rows.back(), options.units, devices);
  auto device = g.Device(devices.back());
  return nn::Dense(x, {.units = tf::data::Mnist::kClasses, .name = "logits"});
}

// Runs one more step and writes when and where each of its nodes ran.
tf::Status WriteTrace(tf::Session& session, tf::Operation train, const std::vector<tf::Feed>& feeds,
                      const std::string& path) {
  tf::RunMetadata metadata;
  TF_RETURN_IF_ERROR(session.Run({train}, feeds, {.trace_level = tf::TraceLevel::kFull}, &metadata).status());
  TF_ASSIGN_OR_RETURN(const std::string json, metadata.ToChromeTrace());
  std::ofstream file(path);
  file << json << std::flush;
  if (!file) return absl::UnavailableError("cannot write the trace to '" + path + "'");
  return absl::OkStatus();
}

tf::Status Train(const tf::TaskFlags& task, const std::string& master, tf::data::Mnist mnist,
                 const TrainOptions& options) {
  tf::Graph g;
  g.SetRandomSeed(options.seed);
  const std::vector<std::string> devices = Devices(task, options.num_devices);
  auto device = g.Device(devices.front());
  auto images = tf::Placeholder(g, tf::kFloat32, {-1, tf::data::Mnist::kPixels}, "images");
  auto logits = StackedRnn(images, devices, options);
  auto last_device = g.Device(devices.back());
  auto labels = tf::Placeholder(g, tf::kInt64, {-1}, "labels");
  auto loss = tf::ReduceMean(nn::SparseSoftmaxCrossEntropy(labels, logits));
  auto right = tf::Cast(tf::Equal(tf::ArgMax(logits, 1), labels), tf::kFloat32);
  const examples::DigitModel model = {images, labels, tf::ReduceSum(right)};

  // Gradients are computed where the forward pass was, and variables are updated where they are.
  tf::Variable global_step = tf::GetOrCreateGlobalStep(g);
  tf::AdamOptimizer optimizer(tf::CosineDecay(options.learning_rate, global_step, options.steps, /*alpha=*/0.05));
  auto train = optimizer.Minimize(loss, {.global_step = global_step});

  std::vector<std::shared_ptr<tf::SessionRunHook>> hooks = {tf::StopAtStep(options.steps), tf::NanCheck(loss)};
  if (!options.json) hooks.push_back(tf::ShowProgress(loss));
  TF_ASSIGN_OR_RETURN(auto curve,
                      examples::LearningCurve::Open(
                          task, {"model_parallel_rnn: LSTM layers on several devices", options.log_dir, options.steps},
                          loss, tf::ReduceMean(right)));
  curve.AddHook(hooks);
  tf::MonitoredTrainingSessionOptions session_options = {
      .master = master,
      .hooks = hooks,
      .session = {.device_count = {{"CPU", options.num_devices}}, .inter_op_parallelism_threads = options.threads}};
  if (!options.checkpoint_dir.empty()) {
    session_options.checkpoint_dir = options.checkpoint_dir;
    session_options.save_checkpoint_every = options.save_checkpoint_every;
  }
  TF_ASSIGN_OR_RETURN(auto session, tf::MonitoredTrainingSession(g, session_options));
  int64_t steps = 0;
  float first_loss = 0, last_loss = 0;
  const auto start = std::chrono::steady_clock::now();
  while (!session->ShouldStop()) {
    auto batch = mnist.NextBatch(options.batch_size);
    TF_ASSIGN_OR_RETURN(auto values,
                        session->Run({loss, global_step, train}, {{images, batch.images}, {labels, batch.labels}}));
    if (values[0].is_valid()) last_loss = values[0].scalar<float>();
    if (steps++ == 0) first_loss = last_loss;
    // The step is not known if the chief has just ended the training.
    const int64_t step = values[1].is_valid() ? values[1].scalar<int64_t>() : options.steps;
    if (curve.TestIsDue(step)) {
      TF_ASSIGN_OR_RETURN(const double accuracy, examples::TestAccuracy(*session, model, mnist, examples::kQuickTest));
      TF_RETURN_IF_ERROR(curve.AddTest(step, accuracy));
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double ms_per_step = steps == 0 ? 0 : 1e3 * seconds.count() / static_cast<double>(steps);

  TF_ASSIGN_OR_RETURN(auto last, session->Run({global_step}));
  TF_ASSIGN_OR_RETURN(const double accuracy, examples::TestAccuracy(*session, model, mnist, mnist.num_test()));
  TF_RETURN_IF_ERROR(curve.AddTest(last[0].scalar<int64_t>(), accuracy));
  if (options.json) {
    std::printf("{\"worker\":%d,\"mode\":\"%s\",\"devices\":%d,\"steps_per_s\":%.1f,\"ms\":%.4f,\"global_step\":%lld,",
                task.task_index, task.has_cluster() ? "cluster" : "local", static_cast<int>(devices.size()),
                static_cast<double>(steps) / seconds.count(), ms_per_step,
                static_cast<long long>(last[0].scalar<int64_t>()));
    std::printf("\"first_loss\":%.4f,\"loss\":%.4f,\"accuracy\":%.4f}\n", first_loss, last_loss, accuracy);
  } else {
    std::printf("loss from %.3f to %.3f, test accuracy %.4f\n", first_loss, last_loss, accuracy);
  }
  if (!options.trace.empty()) {
    auto batch = mnist.NextBatch(options.batch_size);
    TF_RETURN_IF_ERROR(
        WriteTrace(session->session(), train, {{images, batch.images}, {labels, batch.labels}}, options.trace));
  }
  TF_RETURN_IF_ERROR(session->Close());
  return curve.Finish(/*quiet=*/options.json);
}

tf::Status Main(int argc, char** argv) {
  tf::Flags flags("LSTM layers, spread over the devices of this process or over the tasks of a cluster, read digits.");
  auto& task = flags.DefineTask(/*required=*/false);
  auto& num_devices = flags.Define("num_devices", 4, "devices of this process, if there is no cluster");
  auto& threads = flags.Define("threads", 0, "threads of each process for its part of a step; 0: one per core");
  auto& layers = flags.Define("layers", 4, "number of LSTM layers");
  auto& units = flags.Define("units", 64, "units of each layer; even");
  auto& num_rows = flags.Define("num_rows", kRow, "steps of the sequences; above 28, the digits get empty rows");
  auto& data_dir = flags.Define<std::string>("data_dir", "examples/data/mnist", "MNIST in idx format");
  auto& steps = flags.Define("train_steps", 1000, "stop at this global step");
  auto& batch_size = flags.Define("batch_size", 64, "examples per step");
  auto& learning_rate = flags.Define("learning_rate", 0.003, "learning rate of Adam at the start");
  auto& seed = flags.Define("seed", 1, "seed of the weights and of the order of the examples");
  auto& trace = flags.Define<std::string>("trace", "", "write a trace of one step to this file; empty: no trace");
  auto& checkpoint_dir = flags.Define<std::string>(
      "checkpoint_dir", "", "save checkpoints here and start from the latest one; empty: no checkpoints");
  auto& log_dir = flags.Define<std::string>(
      "log_dir", "", "the learning curve; empty: in checkpoint_dir or, without it, in build/logs/model_parallel_rnn");
  auto& save_secs = flags.Define("save_checkpoint_secs", 600.0, "seconds between checkpoints");
  auto& json = flags.Define("json", false, "print one line of JSON at the end instead of progress");
  flags.ParseOrExit(argc, argv);
  if (num_devices < 1 || layers < 1 || units < 2 || units % 2 != 0 || num_rows < kRow) {
    return absl::InvalidArgumentError(
        "--num_devices and --layers must be at least 1, --units even, --num_rows at least 28; got " +
        std::to_string(num_devices) + ", " + std::to_string(layers) + ", " + std::to_string(units) + " and " +
        std::to_string(num_rows));
  }
  if (task.issync) return absl::InvalidArgumentError("--issync has no meaning here: all tasks compute one model");

  std::unique_ptr<tf::Server> server;
  if (task.has_cluster()) {
    TF_ASSIGN_OR_RETURN(server, tf::Server::Create(task.cluster(), {.job_name = task.job_name,
                                                                    .task_index = task.task_index,
                                                                    .inter_op_parallelism_threads = threads}));
    if (!task.is_chief()) return server->Join();
  }
  TF_ASSIGN_OR_RETURN(auto mnist, tf::data::Mnist::Load(data_dir, {.seed = static_cast<uint64_t>(seed)}));
  const auto save_every = std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(save_secs));
  return Train(
      task, server ? server->target() : "", mnist,
      {num_devices, threads, layers, units, num_rows, steps, batch_size, learning_rate, seed, json, trace,
       checkpoint_dir, save_every, examples::LearningCurve::Directory(log_dir, checkpoint_dir, "model_parallel_rnn")});
}

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
