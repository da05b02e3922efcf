// A convolutional network on MNIST, in one process or over parameter servers. Alone:
//
//   build/release/examples/mnist_cnn
//
// As a cluster on one machine (on several machines, start each task with its own flags, as in mnist_softmax):
//
//   tensorbraid launch --ps=1 --workers=2 -- build/release/examples/mnist_cnn --issync
#include <tensorbraid/tensorbraid.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "training.h"

namespace tf = tensorbraid;
namespace nn = tensorbraid::nn;

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

// LeNet: two convolutions, each followed by pooling, and two dense layers. Returns the scores of the ten digits.
tf::Output LeNet(tf::Output pixels, tf::Output training) {
  auto x = tf::Reshape(pixels, {-1, 28, 28, 1});
  x = nn::Conv2D(x, {.filters = 32, .kernel = {5, 5}, .activation = nn::Activation::kRelu});
  x = nn::MaxPool(x, {.size = {2}});
  x = nn::Conv2D(x, {.filters = 64, .kernel = {5, 5}, .activation = nn::Activation::kRelu});
  x = nn::MaxPool(x, {.size = {2}});
  x = nn::Dense(nn::Flatten(x), {.units = 1024, .activation = nn::Activation::kRelu});
  x = nn::Dropout(x, {.rate = 0.5, .training = training});
  return nn::Dense(x, {.units = 10, .name = "logits"});
}

tf::Status Train(const tf::TaskFlags& task, const std::string& master, tf::data::Mnist mnist,
                 const TrainOptions& options) {
  tf::Graph g;
  g.SetRandomSeed(options.seed);
  std::optional<tf::ScopeGuard> device;
  if (task.has_cluster()) {
    device.emplace(g.Device(tf::ReplicaDeviceSetter({.cluster = task.cluster(), .worker_device = task.device()})));
  }

  auto images = tf::Placeholder(g, tf::kFloat32, {-1, tf::data::Mnist::kPixels}, "images");
  auto labels = tf::Placeholder(g, tf::kInt64, {-1}, "labels");
  auto training = tf::PlaceholderWithDefault(tf::Const(g, tf::Tensor::Scalar(false)), {}, "training");
  auto logits = LeNet(images, training);
  auto loss = tf::ReduceMean(nn::SparseSoftmaxCrossEntropy(labels, logits));
  auto right = tf::Cast(tf::Equal(tf::ArgMax(logits, 1), labels), tf::kFloat32);
  const examples::DigitModel model = {images, labels, tf::ReduceSum(right)};

  tf::Variable global_step = tf::GetOrCreateGlobalStep(g);
  std::vector<std::shared_ptr<tf::SessionRunHook>> hooks = {tf::StopAtStep(options.steps), tf::NanCheck(loss)};
  if (!options.json) hooks.push_back(tf::ShowProgress(loss));
  TF_ASSIGN_OR_RETURN(auto curve,
                      examples::LearningCurve::Open(
                          task, {"mnist_cnn: a convolutional network on MNIST", options.log_dir, options.steps}, loss,
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
  auto train = optimizer->Minimize(loss, {.global_step = global_step});

  tf::MonitoredTrainingSessionOptions session_options = {.master = master, .is_chief = task.is_chief(), .hooks = hooks};
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
    TF_ASSIGN_OR_RETURN(auto values, session->Run({loss, global_step, train}, {{images, batch.images},
                                                                               {labels, batch.labels},
                                                                               {training, tf::Tensor::Scalar(true)}}));
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
  tf::Flags flags("A convolutional network on MNIST. Without the flags of a cluster, trains in this process.");
  auto& task = flags.DefineTask(/*required=*/false);
  auto& data_dir = flags.Define<std::string>("data_dir", "examples/data/mnist", "MNIST in idx format");
  auto& steps = flags.Define("train_steps", 2000, "stop at this global step");
  auto& batch_size = flags.Define("batch_size", 100, "examples per step of one worker");
  auto& learning_rate = flags.Define("learning_rate", 0.001, "learning rate of Adam at the start");
  auto& seed = flags.Define("seed", 1, "seed of the weights and of the order of the examples");
  auto& checkpoint_dir = flags.Define<std::string>(
      "checkpoint_dir", "", "the chief saves checkpoints here and starts from the latest one; empty: no checkpoints");
  auto& log_dir = flags.Define<std::string>(
      "log_dir", "", "the learning curve; empty: in checkpoint_dir or, without it, in build/logs/mnist_cnn");
  auto& save_secs = flags.Define("save_checkpoint_secs", 600.0, "seconds between checkpoints");
  auto& json = flags.Define("json", false, "print one line of JSON at the end instead of progress");
  flags.ParseOrExit(argc, argv);

  std::unique_ptr<tf::Server> server;
  if (task.has_cluster()) {
    TF_ASSIGN_OR_RETURN(server,
                        tf::Server::Create(task.cluster(), {.job_name = task.job_name, .task_index = task.task_index}));
    if (task.job_name == "ps") return server->Join();
  }
  // Each worker has its own order of the examples.
  const auto worker_seed = static_cast<uint64_t>(seed) + 1000 * task.task_index;
  TF_ASSIGN_OR_RETURN(auto mnist, tf::data::Mnist::Load(data_dir, {.seed = worker_seed}));
  const auto save_every = std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(save_secs));
  return Train(task, server ? server->target() : "", mnist,
               {steps, batch_size, learning_rate, seed, json, checkpoint_dir, save_every,
                examples::LearningCurve::Directory(log_dir, checkpoint_dir, "mnist_cnn")});
}

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
