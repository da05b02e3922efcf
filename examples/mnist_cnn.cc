// A convolutional network on MNIST, in one process or over parameter servers. Alone:
//
//   build/release/examples/mnist_cnn
//
// As a cluster on one machine (on several machines, start each task with its own flags, as in mnist_softmax):
//
//   tensorbraid launch --ps=1 --workers=2 -- build/release/examples/mnist_cnn --issync
//
// On a GPU, see docs/accelerators.md:
//
//   build/release/examples/mnist_cnn --device=/gpu:0
#include <tensorbraid/tensorbraid.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "digits.h"
#include "training.h"

namespace tf = tensorbraid;
namespace nn = tensorbraid::nn;
namespace layers = tensorbraid::layers;

// LeNet: two convolutions, each followed by pooling, and two dense layers. Dropout has the rate `dropout`, a scalar.
// Returns the scores of the ten digits.
tf::Output LeNet(tf::Output pixels, tf::Output dropout) {
  auto x = tf::Reshape(pixels, {-1, 28, 28, 1});
  x = layers::Conv2D(x, {.filters = 32, .kernel = {5, 5}, .activation = layers::Activation::kRelu});
  x = nn::MaxPool(x, {.size = {2}});
  x = layers::Conv2D(x, {.filters = 64, .kernel = {5, 5}, .activation = layers::Activation::kRelu});
  x = nn::MaxPool(x, {.size = {2}});
  x = layers::Dense(layers::Flatten(x), {.units = 1024, .activation = layers::Activation::kRelu});
  x = nn::Dropout(x, dropout);
  return layers::Dense(x, {.units = 10, .name = "logits"});
}

tf::Status Train(const tf::TaskFlags& task, const std::string& master, tf::data::Mnist mnist,
                 const std::string& compute, const examples::TrainOptions& options) {
  tf::Graph g;
  g.SetRandomSeed(options.seed);
  std::optional<tf::ScopeGuard> device;
  if (task.has_cluster()) {
    device.emplace(
        g.Device(tf::ReplicaDeviceSetter({.cluster = task.cluster(), .worker_device = task.device() + compute})));
  } else {
    device.emplace(g.Device(compute));
  }

  auto images = tf::Placeholder(g, tf::kFloat32, {-1, tf::data::Mnist::kPixels}, "images");
  auto labels = tf::Placeholder(g, tf::kInt64, {-1}, "labels");
  // A number that training steps feed. A layer with a flag for training would put the dropout into a conditional, and
  // the step of an accelerator would be several programs.
  auto dropout = tf::PlaceholderWithDefault(tf::Const(g, tf::Tensor::Scalar(0.0f)), {}, "dropout");
  auto logits = LeNet(images, dropout);
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
  TF_ASSIGN_OR_RETURN(auto optimizer, examples::ReplicaOptimizer(task, options.replicas,
                                                                 std::make_shared<tf::AdamOptimizer>(rate), hooks));
  auto train = optimizer->Minimize(loss, {.global_step = global_step});

  TF_ASSIGN_OR_RETURN(auto session, tf::MonitoredTrainingSession(g, options.Session(task, master, hooks)));
  TF_RETURN_IF_ERROR(examples::TrainAndTest(task, options,
                                            {.model = model,
                                             .loss = loss,
                                             .global_step = global_step,
                                             .train = train,
                                             .more_feeds = {{dropout, tf::Tensor::Scalar(0.5f)}}},
                                            mnist, curve, *session));
  TF_RETURN_IF_ERROR(session->Close());
  return curve.Finish(/*quiet=*/options.json);
}

tf::Status Main(int argc, char** argv) {
  tf::StopOnSignals();
  tf::Flags flags("A convolutional network on MNIST. Without the flags of a cluster, trains in this process.");
  auto& task = flags.DefineTask(/*required=*/false);
  const examples::TrainFlags train_flags(flags, {.program = "mnist_cnn",
                                                 .steps = 2000,
                                                 .batch_size = 100,
                                                 .batch = "examples per step of one worker",
                                                 .learning_rate = 0.001,
                                                 .has_replica_flags = true});
  auto& device = flags.Define("device", "", "where a worker computes, such as /gpu:0; empty: on the CPU");
  flags.ParseOrExit(argc, argv);
  const auto options = train_flags.options();
  TF_RETURN_IF_ERROR(examples::CheckTraining(task, options.checkpoint_dir, options.log_dir));
  TF_RETURN_IF_ERROR(examples::CheckReplicas(task, options.replicas));

  std::unique_ptr<tf::Server> server;
  if (task.has_cluster()) {
    TF_ASSIGN_OR_RETURN(server, tf::Server::Create(task.cluster(), task.server_options()));
    if (task.job_name == "ps") return server->Join();
  }
  TF_ASSIGN_OR_RETURN(auto mnist, options.LoadMnist(task));
  return Train(task, server ? server->target() : "", std::move(mnist), device, options);
}

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
