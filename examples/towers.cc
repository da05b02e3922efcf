// Data parallelism in one process: each device ("tower") computes the gradients of its share of the batch, and one
// update applies their mean. Alone, with four devices:
//
//   build/release/examples/towers --num_devices=4
//
// As a cluster on one machine, where each worker has its own towers and sends one gradient for all of them:
//
//   tensorbraid launch --ps=1 --workers=2 -- build/release/examples/towers --num_devices=2 --issync
#include <tensorbraid/tensorbraid.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "digits.h"
#include "training.h"

namespace tf = tensorbraid;
namespace nn = tensorbraid::nn;
namespace layers = tensorbraid::layers;

// The results of one tower for its share of the batch.
struct Tower {
  tf::Output loss, correct;
};

// A small convolutional network. The first call makes the variables; later calls share them.
Tower MakeTower(tf::Output images, tf::Output labels) {
  auto scope = images.graph()->VariableScope("model", {.reuse = tf::kAutoReuse});
  auto x = tf::Reshape(images, {-1, 28, 28, 1});
  x = layers::Conv2D(x, {.filters = 16, .kernel = {5, 5}, .activation = layers::Activation::kRelu});
  x = nn::MaxPool(x, {.size = {2}});
  x = layers::Conv2D(x, {.filters = 32, .kernel = {5, 5}, .activation = layers::Activation::kRelu});
  x = nn::MaxPool(x, {.size = {2}});
  x = layers::Dense(layers::Flatten(x), {.units = 256, .activation = layers::Activation::kRelu});
  auto logits = layers::Dense(x, {.units = 10, .name = "logits"});
  return {tf::ReduceMean(nn::SparseSoftmaxCrossEntropy(labels, logits)),
          tf::ReduceSum(tf::Cast(tf::Equal(tf::ArgMax(logits, 1), labels), tf::kFloat32))};
}

tf::Status Train(const tf::TaskFlags& task, const std::string& master, tf::data::Mnist mnist,
                 const std::string& device_type, int num_devices, const examples::TrainOptions& options) {
  tf::Graph g;
  g.SetRandomSeed(options.seed);
  auto main_device = g.Device(examples::ReplicaDevice(task, 0));
  auto images = tf::Placeholder(g, tf::kFloat32, {-1, tf::data::Mnist::kPixels}, "images");
  auto labels = tf::Placeholder(g, tf::kInt64, {-1}, "labels");

  tf::Variable global_step = tf::GetOrCreateGlobalStep(g);
  auto rate = tf::CosineDecay(options.learning_rate, global_step, options.steps, /*alpha=*/0.05);
  std::vector<std::shared_ptr<tf::SessionRunHook>> hooks = {tf::StopAtStep(options.steps)};
  TF_ASSIGN_OR_RETURN(auto optimizer, examples::ReplicaOptimizer(task, options.replicas,
                                                                 std::make_shared<tf::AdamOptimizer>(rate), hooks));

  // The towers.
  const auto image_shares = tf::Split(images, num_devices);
  const auto label_shares = tf::Split(labels, num_devices);
  std::vector<std::vector<tf::GradAndVar>> tower_grads;
  std::vector<tf::Operand> losses, corrects;
  for (int i = 0; i < num_devices; ++i) {
    auto device = g.Device(examples::ReplicaDevice(task, i, device_type));
    auto scope = g.NameScope("tower" + std::to_string(i));
    const Tower tower = MakeTower(image_shares[i], label_shares[i]);
    TF_ASSIGN_OR_RETURN(auto grads, optimizer->ComputeGradients(tower.loss));
    tower_grads.push_back(std::move(grads));
    losses.push_back(tower.loss);
    corrects.push_back(tower.correct);
  }
  const auto mean_grads = tf::AverageGradients(tower_grads);
  auto train = optimizer->ApplyGradients(mean_grads, {.global_step = global_step});
  auto loss = tf::ReduceMean(tf::Stack(losses));
  auto train_accuracy = tf::ReduceSum(tf::Stack(corrects)) / static_cast<float>(options.batch_size);

  // The same network over a whole batch. It is used for testing, and to show that the towers compute the same
  // gradients.
  const Tower whole = MakeTower(images, labels);
  TF_ASSIGN_OR_RETURN(auto whole_grads, optimizer->ComputeGradients(whole.loss));
  auto difference = examples::LargestDifference(loss, mean_grads, whole.loss, whole_grads);

  hooks.push_back(tf::NanCheck(loss));
  TF_ASSIGN_OR_RETURN(
      auto curve,
      examples::LearningCurve::Open(task, {"towers: several devices share each batch", options.log_dir, options.steps},
                                    loss, train_accuracy));
  curve.AddHook(hooks);
  if (!options.json) hooks.push_back(tf::ShowProgress(loss));
  auto session_options = options.Session(task, master, hooks);
  session_options.session.device_count = {{device_type, num_devices}};
  TF_ASSIGN_OR_RETURN(auto session, tf::MonitoredTrainingSession(g, session_options));

  // Compares them before the first step. In a cluster this is left out, because other workers may change the variables
  // meanwhile.
  if (!task.has_cluster() && !options.json) {
    auto batch = mnist.NextBatch(options.batch_size);
    TF_ASSIGN_OR_RETURN(auto compared, session->Run({difference}, {{images, batch.images}, {labels, batch.labels}}));
    std::printf("%d towers against one with the whole batch: loss and gradients differ by %.1e of the largest value\n",
                num_devices, compared[0].scalar<float>());
  }

  TF_RETURN_IF_ERROR(examples::TrainAndTest(task, options,
                                            {.model = {images, labels, whole.correct},
                                             .loss = loss,
                                             .global_step = global_step,
                                             .train = train,
                                             .devices_name = "towers",
                                             .devices = num_devices},
                                            mnist, curve, *session));
  TF_RETURN_IF_ERROR(session->Close());
  return curve.Finish(/*quiet=*/options.json);
}

tf::Status Main(int argc, char** argv) {
  tf::StopOnSignals();
  tf::Flags flags("Several devices of one process train a network together. A cluster can be given as well.");
  auto& task = flags.DefineTask(/*required=*/false);
  auto& num_devices = flags.Define("num_devices", 4, "towers of this process, each on a device of its own");
  auto& device_type =
      flags.Define("device_type", "CPU", "what the towers are on: CPU, GPU, or XLA_CPU (docs/accelerators.md)");
  const examples::TrainFlags train_flags(flags, {.program = "towers",
                                                 .steps = 1000,
                                                 .batch_size = 128,
                                                 .batch = "examples per step of all towers of a worker together",
                                                 .learning_rate = 0.001});
  flags.AtLeast("num_devices", 1);
  flags.ParseOrExit(argc, argv);
  const auto options = train_flags.options();
  TF_RETURN_IF_ERROR(examples::CheckTraining(task, options.checkpoint_dir, options.log_dir));
  if (num_devices > 256) {
    return absl::InvalidArgumentError("--num_devices must be at most 256, not " + std::to_string(num_devices));
  }
  if (options.batch_size % num_devices != 0) {
    return absl::InvalidArgumentError("--batch_size must be a multiple of --num_devices, got " +
                                      std::to_string(options.batch_size) + " and " + std::to_string(num_devices));
  }

  std::unique_ptr<tf::Server> server;
  if (task.has_cluster()) {
    tf::ServerOptions server_options = task.server_options();
    if (task.job_name != "ps") server_options.device_count = {{device_type, num_devices}};
    TF_ASSIGN_OR_RETURN(server, tf::Server::Create(task.cluster(), server_options));
    if (task.job_name == "ps") return server->Join();
  }
  TF_ASSIGN_OR_RETURN(auto mnist, options.LoadMnist(task));
  return Train(task, server ? server->target() : "", std::move(mnist), device_type, num_devices, options);
}

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
