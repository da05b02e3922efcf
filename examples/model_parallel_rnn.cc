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
// Worker 0 runs the training loop; the other tasks only compute their layers. Parameter servers get layers as workers
// do: for example, --ps=3 --workers=1 spreads the layers over four tasks. With --trace=FILE, one more step is traced at
// the end; open the file in chrome://tracing or ui.perfetto.dev.
#include <tensorbraid/tensorbraid.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "digits.h"
#include "training.h"

namespace tf = tensorbraid;
namespace nn = tensorbraid::nn;
namespace layers = tensorbraid::layers;

struct RnnOptions {
  int num_devices;
  int threads;
  int layers;
  int units;
  int num_rows;
  std::string trace;
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

// A dense layer whose units are split: each of two devices has half of them.
tf::Output SplitDense(tf::Output x, int units, const std::vector<std::string>& devices) {
  std::vector<tf::Operand> halves;
  for (int i = 0; i < 2; ++i) {
    auto device = x.graph()->Device(DeviceOf(i, 2, devices));
    halves.push_back(layers::Dense(x, {.units = units / 2, .activation = layers::Activation::kRelu}));
  }
  return tf::Concat(halves, 1);
}

// Returns the scores of the ten digits.
tf::Output StackedRnn(tf::Output pixels, const std::vector<std::string>& devices, const RnnOptions& rnn) {
  tf::Graph& g = *pixels.graph();
  // One tensor [batch, pixels] for each row. Empty rows above and below make longer sequences.
  const int above = (rnn.num_rows - kRow) / 2, below = rnn.num_rows - kRow - above;
  auto image =
      tf::Pad(tf::Reshape(pixels, {-1, kRow, kRow}), tf::Tensor::Of<int32_t>({3, 2}, {0, 0, above, below, 0, 0}));
  std::vector<tf::Output> rows = tf::Unstack(image, 1, rnn.num_rows);
  for (int i = 0; i < rnn.layers; ++i) {
    auto device = g.Device(DeviceOf(i, rnn.layers, devices));
    rows = layers::StaticRnn(layers::LSTMCell(rnn.units), rows, {.name = "layer" + std::to_string(i)}).outputs;
  }
  auto x = SplitDense(rows.back(), rnn.units, devices);
  auto device = g.Device(devices.back());
  return layers::Dense(x, {.units = tf::data::Mnist::kClasses, .name = "logits"});
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

tf::Status Train(const tf::TaskFlags& task, const std::string& master, tf::data::Mnist mnist, const RnnOptions& rnn,
                 const examples::TrainOptions& options) {
  tf::Graph g;
  g.SetRandomSeed(options.seed);
  const std::vector<std::string> devices = Devices(task, rnn.num_devices);
  auto device = g.Device(devices.front());
  auto images = tf::Placeholder(g, tf::kFloat32, {-1, tf::data::Mnist::kPixels}, "images");
  auto logits = StackedRnn(images, devices, rnn);
  auto last_device = g.Device(devices.back());
  auto labels = tf::Placeholder(g, tf::kInt64, {-1}, "labels");
  auto loss = tf::ReduceMean(nn::SparseSoftmaxCrossEntropy(labels, logits));
  auto right = tf::Cast(tf::Equal(tf::ArgMax(logits, 1), labels), tf::kFloat32);
  const examples::DigitModel model = {images, labels, tf::ReduceSum(right)};

  // Each layer's gradients are computed on the layer's device, and its variables are updated there.
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
  auto session_options = options.Session(task, master, hooks);
  session_options.session = {.device_count = {{"CPU", rnn.num_devices}}, .inter_op_parallelism_threads = rnn.threads};
  TF_ASSIGN_OR_RETURN(auto session, tf::MonitoredTrainingSession(g, session_options));
  TF_RETURN_IF_ERROR(examples::TrainAndTest(task, options,
                                            {.model = model,
                                             .loss = loss,
                                             .global_step = global_step,
                                             .train = train,
                                             .devices_name = "devices",
                                             .devices = static_cast<int>(devices.size())},
                                            mnist, curve, *session));
  if (!rnn.trace.empty()) {
    auto batch = mnist.NextBatch(options.batch_size);
    TF_RETURN_IF_ERROR(
        WriteTrace(session->session(), train, {{images, batch.images}, {labels, batch.labels}}, rnn.trace));
  }
  TF_RETURN_IF_ERROR(session->Close());
  return curve.Finish(/*quiet=*/options.json);
}

tf::Status Main(int argc, char** argv) {
  tf::StopOnSignals();
  tf::Flags flags("LSTM layers, spread over the devices of this process or over the tasks of a cluster, read digits.");
  auto& task = flags.DefineTask(/*required=*/false);
  auto& num_devices = flags.Define("num_devices", 4, "devices of this process, if there is no cluster");
  auto& threads = flags.Define("threads", 0, "threads of each process for its part of a step; 0: one per core");
  auto& layers = flags.Define("layers", 4, "number of LSTM layers");
  auto& units = flags.Define("units", 64, "units of each layer; even");
  auto& num_rows = flags.Define("num_rows", kRow, "steps of the sequences; above 28, the digits get empty rows");
  auto& trace = flags.Define<std::string>("trace", "", "write a trace of one step to this file; empty: no trace");
  const examples::TrainFlags train_flags(flags, {.program = "model_parallel_rnn",
                                                 .steps = 1000,
                                                 .batch_size = 64,
                                                 .batch = "examples per step",
                                                 .learning_rate = 0.003});
  flags.AtLeast("num_devices", 1);
  flags.AtLeast("threads", 0);
  flags.ParseOrExit(argc, argv);
  const auto options = train_flags.options();
  TF_RETURN_IF_ERROR(examples::CheckWritable(task, "--checkpoint_dir", options.checkpoint_dir));
  TF_RETURN_IF_ERROR(examples::CheckWritable(task, "--log_dir", options.log_dir));
  if (!trace.empty() && !std::ofstream(trace)) {
    return absl::InvalidArgumentError("--trace=" + trace + " is not a file that this user can write");
  }
  if (layers < 1 || units < 2 || units % 2 != 0 || num_rows < kRow) {
    return absl::InvalidArgumentError(
        "--layers must be at least 1, --units even and at least 2, --num_rows at least 28; got " +
        std::to_string(layers) + ", " + std::to_string(units) + " and " + std::to_string(num_rows));
  }
  if (task.issync) return absl::InvalidArgumentError("--issync has no meaning here: all tasks compute one model");

  std::unique_ptr<tf::Server> server;
  if (task.has_cluster()) {
    tf::ServerOptions server_options = task.server_options();
    server_options.inter_op_parallelism_threads = threads;
    TF_ASSIGN_OR_RETURN(server, tf::Server::Create(task.cluster(), server_options));
    if (!task.is_chief()) return server->Join();
  }
  TF_ASSIGN_OR_RETURN(auto mnist, options.LoadMnist(task));
  return Train(task, server ? server->target() : "", std::move(mnist),
               {num_devices, threads, layers, units, num_rows, trace}, options);
}

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
