// A partly connected network, like AlexNet, which had to fit on two GPUs (Krizhevsky, Sutskever and Hinton, "ImageNet
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

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "digits.h"
#include "training.h"

namespace tf = tensorbraid;
namespace nn = tensorbraid::nn;
namespace layers = tensorbraid::layers;

constexpr int kColumns = 2;

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
  return layers::Conv2D(
      x, {.filters = filters, .kernel = {size, size}, .activation = layers::Activation::kRelu, .name = name});
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
  x = ForEachColumn(g, devices, [&](int i) { return layers::Flatten(Convolution(x[i], 32, 3, "conv4")); });
  x = ForEachColumn(g, devices, [&](int) {
    return layers::Dense(Join(x, 1), {.units = 128, .activation = layers::Activation::kRelu, .name = "dense"});
  });
  auto scope = g.VariableScope("scores", {.reuse = tf::kAutoReuse});
  return layers::Dense(Join(x, 1), {.units = tf::data::Mnist::kClasses, .name = "logits"});
}

tf::Output Loss(tf::Output labels, tf::Output logits) {
  return tf::ReduceMean(nn::SparseSoftmaxCrossEntropy(labels, logits));
}

tf::Status Train(const tf::TaskFlags& task, const std::string& master, tf::data::Mnist mnist,
                 const std::string& device_type, const examples::TrainOptions& options) {
  tf::Graph g;
  g.SetRandomSeed(options.seed);
  Devices devices;
  for (int i = 0; i < kColumns; ++i) devices.push_back(examples::ReplicaDevice(task, i, device_type));
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
  TF_ASSIGN_OR_RETURN(auto optimizer, examples::ReplicaOptimizer(task, options.replicas,
                                                                 std::make_shared<tf::AdamOptimizer>(rate), hooks));
  // Gradients are computed where the forward pass was.
  TF_ASSIGN_OR_RETURN(auto grads, optimizer->ComputeGradients(loss));
  auto train = optimizer->ApplyGradients(grads, {.global_step = global_step});

  // The same network with both columns on one device shows that the split changes no value.
  auto loss_on_one = Loss(labels, TwoColumns(images, Devices(kColumns, devices[0])));
  TF_ASSIGN_OR_RETURN(auto grads_on_one, optimizer->ComputeGradients(loss_on_one));
  auto difference = examples::LargestDifference(loss, grads, loss_on_one, grads_on_one);

  auto session_options = options.Session(task, master, hooks);
  session_options.session.device_count = {{device_type, kColumns}};
  TF_ASSIGN_OR_RETURN(auto session, tf::MonitoredTrainingSession(g, session_options));

  // Compares them before the first step. In a cluster this is left out, because other workers may change the variables
  // meanwhile.
  if (!task.has_cluster() && !options.json) {
    auto batch = mnist.NextBatch(options.batch_size);
    TF_ASSIGN_OR_RETURN(auto compared, session->Run({difference}, {{images, batch.images}, {labels, batch.labels}}));
    std::printf("two devices against one: loss and gradients differ by %.1e of the largest value\n",
                compared[0].scalar<float>());
  }

  TF_RETURN_IF_ERROR(examples::TrainAndTest(task, options,
                                            {.model = model, .loss = loss, .global_step = global_step, .train = train},
                                            mnist, curve, *session));
  TF_RETURN_IF_ERROR(session->Close());
  return curve.Finish(/*quiet=*/options.json);
}

tf::Status Main(int argc, char** argv) {
  tf::StopOnSignals();
  tf::Flags flags("Trains a network of two columns, each on a device of its own. A cluster can be given as well.");
  auto& task = flags.DefineTask(/*required=*/false);
  auto& device_type =
      flags.Define("device_type", "CPU", "what the columns are on: CPU, GPU, or XLA_CPU (docs/accelerators.md)");
  const examples::TrainFlags train_flags(flags, {.program = "two_columns",
                                                 .steps = 1000,
                                                 .batch_size = 64,
                                                 .batch = "examples per step of one worker",
                                                 .learning_rate = 0.001});
  flags.ParseOrExit(argc, argv);
  const auto options = train_flags.options();
  TF_RETURN_IF_ERROR(examples::CheckTraining(task, options.checkpoint_dir, options.log_dir));

  std::unique_ptr<tf::Server> server;
  if (task.has_cluster()) {
    tf::ServerOptions server_options = task.server_options();
    if (task.job_name != "ps") server_options.device_count = {{device_type, kColumns}};
    TF_ASSIGN_OR_RETURN(server, tf::Server::Create(task.cluster(), server_options));
    if (task.job_name == "ps") return server->Join();
  }
  TF_ASSIGN_OR_RETURN(auto mnist, options.LoadMnist(task));
  return Train(task, server ? server->target() : "", std::move(mnist), device_type, options);
}

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
