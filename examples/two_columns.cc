// A network that is connected in part, as AlexNet was to fit on two GPUs (Krizhevsky, Sutskever and Hinton, "ImageNet
// Classification with Deep Convolutional Neural Networks", 2012). Each convolution has its filters in two columns, one
// per device. In most layers a column reads only itself, so that its device needs nothing from the other one; at the
// third convolution and at the dense layer, the columns are joined. Alone, on two devices of this process:
//
//   build/release/examples/two_columns
//
// As a cluster on one machine: model and data parallelism together. Each worker has a replica of the network, split
// over two devices of its own, and trains it with batches of its own:
//
//   tensorbraid launch --ps=1 --workers=2 -- build/release/examples/two_columns --issync
#include <tensorbraid/tensorbraid.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "training.h"

namespace tf = tensorbraid;
namespace nn = tensorbraid::nn;

constexpr int kColumns = 2;

struct TrainOptions {
  int steps;
  int batch_size;
  double learning_rate;
  int64_t seed;
  bool json;
  std::string checkpoint_dir;
  std::chrono::milliseconds save_checkpoint_every;
  std::string log_dir;
};

using Devices = std::vector<tf::DeviceFunction>;  // one per column
using Columns = std::vector<tf::Output>;          // what each column has computed

// Calls `layer` for each column, with the column's device and variable scope.
template <typename Layer>
Columns ForEachColumn(tf::Graph& g, const Devices& devices, const Layer& layer) {
  Columns outputs;
  for (int i = 0; i < kColumns; ++i) {
    auto device = g.Device(devices[i]);
    auto scope = g.VariableScope("column" + std::to_string(i), {.reuse = tf::kAutoReuse});
    outputs.push_back(layer(i));
  }
  return outputs;
}

// The columns side by side.
tf::Output Join(const Columns& columns, int axis) { return tf::Concat({columns.begin(), columns.end()}, axis); }

tf::Output Convolution(tf::Output x, int filters, int size, const std::string& name) {
  return nn::Conv2D(x, {.filters = filters, .kernel = {size, size}, .activation = nn::Activation::kRelu, .name = name});
}

// Returns the scores of the ten digits. The first call makes the variables; later calls share them.
tf::Output TwoColumns(tf::Output images, const Devices& devices) {
  tf::Graph& g = *images.graph();
  auto pixels = tf::Reshape(images, {-1, 28, 28, 1});
  Columns x =
      ForEachColumn(g, devices, [&](int) { return nn::MaxPool(Convolution(pixels, 16, 5, "conv1"), {.size = {2}}); });
  x = ForEachColumn(g, devices, [&](int i) { return nn::MaxPool(Convolution(x[i], 32, 5, "conv2"), {.size = {2}}); });
  // Each column reads both: here the devices exchange what they have computed.
  x = ForEachColumn(g, devices, [&](int) { return Convolution(Join(x, 3), 32, 3, "conv3"); });
  x = ForEachColumn(g, devices, [&](int i) { return nn::Flatten(Convolution(x[i], 32, 3, "conv4")); });
  x = ForEachColumn(g, devices, [&](int) {
    return nn::Dense(Join(x, 1), {.units = 128, .activation = nn::Activation::kRelu, .name = "dense"});
  });
  auto scope = g.VariableScope("scores", {.reuse = tf::kAutoReuse});
  return nn::Dense(Join(x, 1), {.units = tf::data::Mnist::kClasses, .name = "logits"});
}

tf::Output Loss(tf::Output labels, tf::Output logits) {
  return tf::ReduceMean(nn::SparseSoftmaxCrossEntropy(labels, logits));
}

tf::Status Train(const tf::TaskFlags& task, const std::string& master, tf::data::Mnist mnist,
                 const TrainOptions& options) {
  tf::Graph g;
  g.SetRandomSeed(options.seed);
  Devices devices;
  for (int i = 0; i < kColumns; ++i) devices.push_back(examples::ReplicaDevice(task, i));
  auto device = g.Device(devices[0]);
  auto images = tf::Placeholder(g, tf::kFloat32, {-1, tf::data::Mnist::kPixels}, "images");
  auto labels = tf::Placeholder(g, tf::kInt64, {-1}, "labels");
  auto logits = TwoColumns(images, devices);
  auto loss = Loss(labels, logits);
  auto right = tf::Cast(tf::Equal(tf::ArgMax(logits, 1), labels), tf::kFloat32);
  const examples::DigitModel model = {images, labels, tf::ReduceSum(right)};

  tf::Variable global_step = tf::GetOrCreateGlobalStep(g);
  std::vector<std::shared_ptr<tf::SessionRunHook>> hooks = {tf::StopAtStep(options.steps), tf::NanCheck(loss)};
  if (!options.json) hooks.push_back(tf::ShowProgress(loss));
  TF_ASSIGN_OR_RETURN(auto curve,
                      examples::LearningCurve::Open(
                          task, {"two_columns: a network split over two devices", options.log_dir, options.steps}, loss,
                          tf::ReduceMean(right)));
  curve.AddHook(hooks);
  auto rate = tf::CosineDecay(options.learning_rate, global_step, options.steps, /*alpha=*/0.05);
  std::shared_ptr<tf::Optimizer> optimizer = std::make_shared<tf::AdamOptimizer>(rate);
  if (task.issync) {
    const int n = std::max<int>(1, static_cast<int>(task.worker_hosts.size()));
    auto sync = std::make_shared<tf::SyncReplicasOptimizer>(
        optimizer, tf::SyncReplicasOptions{.replicas_to_aggregate = n, .total_num_replicas = n});
    hooks.push_back(sync->MakeSessionRunHook(task.is_chief()));
    optimizer = sync;
  }
  // Gradients are computed where the forward pass was.
  TF_ASSIGN_OR_RETURN(auto grads, optimizer->ComputeGradients(loss));
  auto train = optimizer->ApplyGradients(grads, {.global_step = global_step});

  // The same network with both columns on one device shows that the split changes no value.
  auto loss_on_one = Loss(labels, TwoColumns(images, Devices(kColumns, devices[0])));
  TF_ASSIGN_OR_RETURN(auto grads_on_one, optimizer->ComputeGradients(loss_on_one));
  auto difference = examples::LargestDifference(loss, grads, loss_on_one, grads_on_one);

  tf::MonitoredTrainingSessionOptions session_options = {
      .master = master, .is_chief = task.is_chief(), .hooks = hooks, .session = {.device_count = {{"CPU", kColumns}}}};
  if (!options.checkpoint_dir.empty()) {
    session_options.checkpoint_dir = options.checkpoint_dir;
    session_options.save_checkpoint_every = options.save_checkpoint_every;
  }
  TF_ASSIGN_OR_RETURN(auto session, tf::MonitoredTrainingSession(g, session_options));

  // Before the first step, and without a step. In a cluster, other workers may change the variables meanwhile.
  if (!task.has_cluster() && !options.json) {
    auto batch = mnist.NextBatch(options.batch_size);
    TF_ASSIGN_OR_RETURN(auto compared, session->Run({difference}, {{images, batch.images}, {labels, batch.labels}}));
    std::printf("two devices against one: loss and gradients differ by %.1e of the largest value\n",
                compared[0].scalar<float>());
  }

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
  // A worker that starts after the last step has made no steps.
  const double ms_per_step = steps == 0 ? 0 : 1e3 * seconds.count() / static_cast<double>(steps);

  double accuracy = 0;
  if (task.is_chief()) {
    TF_ASSIGN_OR_RETURN(accuracy, examples::TestAccuracy(*session, model, mnist, mnist.num_test()));
    TF_ASSIGN_OR_RETURN(auto last, session->Run({global_step}));
    TF_RETURN_IF_ERROR(curve.AddTest(last[0].scalar<int64_t>(), accuracy));
    if (!options.json) std::printf("loss from %.3f to %.3f, test accuracy %.4f\n", first_loss, last_loss, accuracy);
  }
  if (options.json) {
    TF_ASSIGN_OR_RETURN(auto last, session->Run({global_step}));
    std::printf(
        "{\"worker\":%d,\"mode\":\"%s\",\"steps_per_s\":%.1f,\"ms\":%.4f,\"global_step\":%lld,", task.task_index,
        !task.has_cluster() ? "local"
        : task.issync       ? "sync"
                            : "async",
        static_cast<double>(steps) / seconds.count(), ms_per_step, static_cast<long long>(last[0].scalar<int64_t>()));
    std::printf("\"first_loss\":%.4f,\"loss\":%.4f", first_loss, last_loss);
    if (task.is_chief()) std::printf(",\"accuracy\":%.4f", accuracy);
    std::printf("}\n");
  }
  TF_RETURN_IF_ERROR(session->Close());
  return curve.Finish(/*quiet=*/options.json);
}

tf::Status Main(int argc, char** argv) {
  tf::Flags flags("Trains a network of two columns, each on a device of its own. A cluster can be given as well.");
  auto& task = flags.DefineTask(/*required=*/false);
  auto& data_dir = flags.Define<std::string>("data_dir", "examples/data/mnist", "MNIST in idx format");
  auto& steps = flags.Define("train_steps", 1000, "stop at this global step");
  auto& batch_size = flags.Define("batch_size", 64, "examples per step of one worker");
  auto& learning_rate = flags.Define("learning_rate", 0.001, "learning rate of Adam at the start");
  auto& seed = flags.Define("seed", 1, "seed of the weights and of the order of the examples");
  auto& checkpoint_dir = flags.Define<std::string>(
      "checkpoint_dir", "", "the chief saves checkpoints here and starts from the latest one; empty: no checkpoints");
  auto& log_dir = flags.Define<std::string>(
      "log_dir", "", "the learning curve; empty: in checkpoint_dir or, without it, in build/logs/two_columns");
  auto& save_secs = flags.Define("save_checkpoint_secs", 600.0, "seconds between checkpoints");
  auto& json = flags.Define("json", false, "print one line of JSON at the end instead of progress");
  flags.ParseOrExit(argc, argv);

  std::unique_ptr<tf::Server> server;
  if (task.has_cluster()) {
    TF_ASSIGN_OR_RETURN(server, tf::Server::Create(task.cluster(), {.job_name = task.job_name,
                                                                    .task_index = task.task_index,
                                                                    .device_count = {{"CPU", kColumns}}}));
    if (task.job_name == "ps") return server->Join();
  }
  // Each worker has its own order of the examples.
  const auto worker_seed = static_cast<uint64_t>(seed) + 1000 * task.task_index;
  TF_ASSIGN_OR_RETURN(auto mnist, tf::data::Mnist::Load(data_dir, {.seed = worker_seed}));
  const auto save_every = std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(save_secs));
  return Train(task, server ? server->target() : "", mnist,
               {steps, batch_size, learning_rate, seed, json, checkpoint_dir, save_every,
                examples::LearningCurve::Directory(log_dir, checkpoint_dir, "two_columns")});
}

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
