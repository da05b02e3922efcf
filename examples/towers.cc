// Data parallelism in one process: each device ("tower") computes the gradients of its share of the batch, and one
// update applies their mean. Alone, with four devices:
//
//   build/release/examples/towers --num_devices=4
//
// As a cluster on one machine, where each worker has its own towers and sends one gradient for all of them:
//
//   tensorbraid launch --ps=1 --workers=2 -- build/release/examples/towers --num_devices=2 --issync
#include <tensorbraid/tensorbraid.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "training.h"

namespace tf = tensorbraid;
namespace nn = tensorbraid::nn;

struct TrainOptions {
  int num_devices;
  int steps;
  int batch_size;
  double learning_rate;
  int64_t seed;
  bool json;
  std::string checkpoint_dir;
  std::chrono::milliseconds save_checkpoint_every;
  std::string log_dir;
};

// What one tower computes of its share of the batch.
struct Tower {
  tf::Output loss, correct;
};

// A small convolutional network. The first call makes the variables; later calls share them.
Tower MakeTower(tf::Output images, tf::Output labels) {
  auto scope = images.graph()->VariableScope("model", {.reuse = tf::kAutoReuse});
  auto x = tf::Reshape(images, {-1, 28, 28, 1});
  x = nn::Conv2D(x, {.filters = 16, .kernel = {5, 5}, .activation = nn::Activation::kRelu});
  x = nn::MaxPool(x, {.size = {2}});
  x = nn::Conv2D(x, {.filters = 32, .kernel = {5, 5}, .activation = nn::Activation::kRelu});
  x = nn::MaxPool(x, {.size = {2}});
  x = nn::Dense(nn::Flatten(x), {.units = 256, .activation = nn::Activation::kRelu});
  auto logits = nn::Dense(x, {.units = 10, .name = "logits"});
  return {tf::ReduceMean(nn::SparseSoftmaxCrossEntropy(labels, logits)),
          tf::ReduceSum(tf::Cast(tf::Equal(tf::ArgMax(logits, 1), labels), tf::kFloat32))};
}

tf::Status Train(const tf::TaskFlags& task, const std::string& master, tf::data::Mnist mnist,
                 const TrainOptions& options) {
  tf::Graph g;
  g.SetRandomSeed(options.seed);
  auto main_device = g.Device(examples::ReplicaDevice(task, 0));
  auto images = tf::Placeholder(g, tf::kFloat32, {-1, tf::data::Mnist::kPixels}, "images");
  auto labels = tf::Placeholder(g, tf::kInt64, {-1}, "labels");

  tf::Variable global_step = tf::GetOrCreateGlobalStep(g);
  auto rate = tf::CosineDecay(options.learning_rate, global_step, options.steps, /*alpha=*/0.05);
  std::vector<std::shared_ptr<tf::SessionRunHook>> hooks = {tf::StopAtStep(options.steps)};
  std::shared_ptr<tf::Optimizer> optimizer = std::make_shared<tf::AdamOptimizer>(rate);
  if (task.issync) {
    const int n = std::max<int>(1, static_cast<int>(task.worker_hosts.size()));
    auto sync = std::make_shared<tf::SyncReplicasOptimizer>(
        optimizer, tf::SyncReplicasOptions{.replicas_to_aggregate = n, .total_num_replicas = n});
    hooks.push_back(sync->MakeSessionRunHook(task.is_chief()));
    optimizer = sync;
  }

  // The towers.
  const auto image_shares = tf::Split(images, options.num_devices);
  const auto label_shares = tf::Split(labels, options.num_devices);
  std::vector<std::vector<tf::GradAndVar>> tower_grads;
  std::vector<tf::Operand> losses, corrects;
  for (int i = 0; i < options.num_devices; ++i) {
    auto device = g.Device(examples::ReplicaDevice(task, i));
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

  // The same network over a whole batch tests, and shows that the towers compute the same gradients.
  const Tower whole = MakeTower(images, labels);
  const examples::DigitModel model = {images, labels, whole.correct};
  TF_ASSIGN_OR_RETURN(auto whole_grads, optimizer->ComputeGradients(whole.loss));
  auto difference = examples::LargestDifference(loss, mean_grads, whole.loss, whole_grads);

  hooks.push_back(tf::NanCheck(loss));
  TF_ASSIGN_OR_RETURN(
      auto curve,
      examples::LearningCurve::Open(task, {"towers: several devices share each batch", options.log_dir, options.steps},
                                    loss, train_accuracy));
  curve.AddHook(hooks);
  if (!options.json) hooks.push_back(tf::ShowProgress(loss));
  tf::MonitoredTrainingSessionOptions session_options = {.master = master,
                                                         .is_chief = task.is_chief(),
                                                         .hooks = hooks,
                                                         .session = {.device_count = {{"CPU", options.num_devices}}}};
  if (!options.checkpoint_dir.empty()) {
    session_options.checkpoint_dir = options.checkpoint_dir;
    session_options.save_checkpoint_every = options.save_checkpoint_every;
  }
  TF_ASSIGN_OR_RETURN(auto session, tf::MonitoredTrainingSession(g, session_options));

  // Before the first step, and without a step. In a cluster, other workers may change the variables meanwhile.
  if (!task.has_cluster() && !options.json) {
    auto batch = mnist.NextBatch(options.batch_size);
    TF_ASSIGN_OR_RETURN(auto compared, session->Run({difference}, {{images, batch.images}, {labels, batch.labels}}));
    std::printf("%d towers against one with the whole batch: loss and gradients differ by %.1e of the largest value\n",
                options.num_devices, compared[0].scalar<float>());
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
    std::printf("{\"worker\":%d,\"mode\":\"%s\",\"towers\":%d,\"steps_per_s\":%.1f,\"ms\":%.4f,\"global_step\":%lld,",
                task.task_index,
                !task.has_cluster() ? "local"
                : task.issync       ? "sync"
                                    : "async",
                options.num_devices, static_cast<double>(steps) / seconds.count(), ms_per_step,
                static_cast<long long>(last[0].scalar<int64_t>()));
    std::printf("\"first_loss\":%.4f,\"loss\":%.4f", first_loss, last_loss);
    if (task.is_chief()) std::printf(",\"accuracy\":%.4f", accuracy);
    std::printf("}\n");
  }
  TF_RETURN_IF_ERROR(session->Close());
  return curve.Finish(/*quiet=*/options.json);
}

tf::Status Main(int argc, char** argv) {
  tf::Flags flags("Several devices of one process train a network together. A cluster can be given as well.");
  auto& task = flags.DefineTask(/*required=*/false);
  auto& num_devices = flags.Define("num_devices", 4, "towers of this process, each on a device of its own");
  auto& data_dir = flags.Define<std::string>("data_dir", "examples/data/mnist", "MNIST in idx format");
  auto& steps = flags.Define("train_steps", 1000, "stop at this global step");
  auto& batch_size = flags.Define("batch_size", 128, "examples per step of all towers of a worker together");
  auto& learning_rate = flags.Define("learning_rate", 0.001, "learning rate of Adam at the start");
  auto& seed = flags.Define("seed", 1, "seed of the weights and of the order of the examples");
  auto& checkpoint_dir = flags.Define<std::string>(
      "checkpoint_dir", "", "the chief saves checkpoints here and starts from the latest one; empty: no checkpoints");
  auto& log_dir = flags.Define<std::string>(
      "log_dir", "", "the learning curve; empty: in checkpoint_dir or, without it, in build/logs/towers");
  auto& save_secs = flags.Define("save_checkpoint_secs", 600.0, "seconds between checkpoints");
  auto& json = flags.Define("json", false, "print one line of JSON at the end instead of progress");
  flags.ParseOrExit(argc, argv);
  if (num_devices < 1 || batch_size < 1 || batch_size % num_devices != 0) {
    return absl::InvalidArgumentError("--batch_size must be a multiple of --num_devices, got " +
                                      std::to_string(batch_size) + " and " + std::to_string(num_devices));
  }

  std::unique_ptr<tf::Server> server;
  if (task.has_cluster()) {
    TF_ASSIGN_OR_RETURN(server, tf::Server::Create(task.cluster(), {.job_name = task.job_name,
                                                                    .task_index = task.task_index,
                                                                    .device_count = {{"CPU", num_devices}}}));
    if (task.job_name == "ps") return server->Join();
  }
  // Each worker has its own order of the examples.
  const auto worker_seed = static_cast<uint64_t>(seed) + 1000 * task.task_index;
  TF_ASSIGN_OR_RETURN(auto mnist, tf::data::Mnist::Load(data_dir, {.seed = worker_seed}));
  const auto save_every = std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(save_secs));
  return Train(task, server ? server->target() : "", mnist,
               {num_devices, steps, batch_size, learning_rate, seed, json, checkpoint_dir, save_every,
                examples::LearningCurve::Directory(log_dir, checkpoint_dir, "towers")});
}

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
