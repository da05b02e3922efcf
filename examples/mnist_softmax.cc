// Softmax regression on MNIST over parameter servers. Every process of the cluster runs this program. On one machine:
//
//   tensorbraid launch --ps=1 --workers=2 -- build/release/examples/mnist_softmax
//
// On several machines, start each task with its own --job_name and --task_index:
//
//   mnist_softmax --ps_hosts=ps0:2222 --worker_hosts=w0:2222,w1:2222 --job_name=worker --task_index=0
#include <tensorbraid/tensorbraid.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "training.h"

namespace tf = tensorbraid;

struct TrainOptions {
  int steps;
  int batch_size;
  double learning_rate;
  examples::Replicas replicas;
  int64_t seed;
  bool json;
  std::string checkpoint_dir;
  std::chrono::milliseconds save_checkpoint_every;
  std::string log_dir;
  std::string device;
};

tf::Status Train(const tf::TaskFlags& task, tf::Server& server, tf::data::Mnist mnist, const TrainOptions& options) {
  tf::Graph g;
  g.SetRandomSeed(options.seed);
  auto device =
      g.Device(tf::ReplicaDeviceSetter({.cluster = task.cluster(), .worker_device = task.device() + options.device}));

  auto x = tf::Placeholder(g, tf::kFloat32, {-1, 784}, "images");
  auto labels = tf::Placeholder(g, tf::kInt64, {-1}, "labels");
  tf::Variable w(g, {784, 10}, tf::Zeros(), {.name = "weights"});
  tf::Variable b(g, {10}, tf::Zeros(), {.name = "bias"});
  auto logits = tf::MatMul(x, w) + b;
  auto loss = tf::ReduceMean(tf::nn::SparseSoftmaxCrossEntropy(labels, logits));
  auto accuracy = tf::ReduceMean(tf::Cast(tf::Equal(tf::ArgMax(logits, 1), labels), tf::kFloat32));

  tf::Variable global_step = tf::GetOrCreateGlobalStep(g);
  std::vector<std::shared_ptr<tf::SessionRunHook>> hooks = {tf::StopAtStep(options.steps), tf::NanCheck(loss)};
  if (!options.json) hooks.push_back(tf::ShowProgress(loss));
  TF_ASSIGN_OR_RETURN(
      auto curve,
      examples::LearningCurve::Open(
          task, {"mnist_softmax: softmax regression on MNIST", options.log_dir, options.steps}, loss, accuracy));
  curve.AddHook(hooks);
  std::shared_ptr<tf::Optimizer> optimizer = std::make_shared<tf::GradientDescentOptimizer>(options.learning_rate);
  TF_ASSIGN_OR_RETURN(optimizer, examples::ReplicaOptimizer(task, options.replicas, optimizer, hooks));
  auto train = optimizer->Minimize(loss, {.global_step = global_step});

  tf::MonitoredTrainingSessionOptions session_options = {
      .master = server.target(), .is_chief = task.is_chief(), .hooks = hooks};
  if (!options.checkpoint_dir.empty()) {
    session_options.checkpoint_dir = options.checkpoint_dir;
    session_options.save_checkpoint_every = options.save_checkpoint_every;
  }
  TF_ASSIGN_OR_RETURN(auto session, tf::MonitoredTrainingSession(g, session_options));
  int64_t steps = 0;
  const auto start = std::chrono::steady_clock::now();
  while (!session->ShouldStop()) {
    auto batch = mnist.NextBatch(options.batch_size);
    TF_RETURN_IF_ERROR(session->Run({train}, {{x, batch.images}, {labels, batch.labels}}).status());
    ++steps;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  // A worker that starts after the last step has made no steps.
  const double ms_per_step = steps == 0 ? 0 : 1e3 * seconds.count() / static_cast<double>(steps);

  // The chief computes the accuracy in a single run, so that it uses one set of weights while other workers may still
  // train.
  float test_accuracy = 0;
  if (task.is_chief()) {
    TF_ASSIGN_OR_RETURN(auto tested,
                        session->Run({accuracy}, {{x, mnist.test_images()}, {labels, mnist.test_labels()}}));
    test_accuracy = tested[0].scalar<float>();
    TF_RETURN_IF_ERROR(curve.AddTest(options.steps, test_accuracy));
    if (!options.json) std::printf("test accuracy %.4f\n", test_accuracy);
  }
  if (options.json) {
    TF_ASSIGN_OR_RETURN(auto last, session->Run({global_step}));
    std::printf("{\"worker\":%d,\"mode\":\"%s\",\"steps_per_s\":%.1f,\"ms\":%.4f,\"global_step\":%lld", task.task_index,
                task.issync ? "sync" : "async", static_cast<double>(steps) / seconds.count(), ms_per_step,
                static_cast<long long>(last[0].scalar<int64_t>()));
    if (task.is_chief()) std::printf(",\"accuracy\":%.4f", test_accuracy);
    std::printf("}\n");
  }
  TF_RETURN_IF_ERROR(session->Close());
  return curve.Finish(/*quiet=*/options.json);
}

tf::Status Main(int argc, char** argv) {
  tf::StopOnSignals();
  tf::Flags flags("Softmax regression on MNIST over parameter servers. (Without a cluster: mnist_local.)");
  auto& task = flags.DefineTask();  // --ps_hosts --worker_hosts --job_name --task_index --issync, or TF_CONFIG
  auto& data_dir = flags.Define<std::string>("data_dir", "examples/data/mnist", "MNIST in idx format");
  auto& steps = flags.Define("train_steps", 2000, "stop at this global step");
  auto& batch_size = flags.Define("batch_size", 100, "examples per step of one worker");
  auto& learning_rate = flags.Define("learning_rate", 0.2, "learning rate of gradient descent");
  const examples::ReplicaFlags replica_flags = examples::DefineReplicas(flags);
  auto& seed = flags.Define("seed", 1, "seed of the order of the examples; each worker has its own order");
  auto& checkpoint_dir = flags.Define<std::string>(
      "checkpoint_dir", "", "the chief saves checkpoints here and starts from the latest one; empty: no checkpoints");
  auto& log_dir = flags.Define<std::string>(
      "log_dir", "", "directory of the learning curve; empty: checkpoint_dir or, without it, build/logs/mnist_softmax");
  auto& save_secs = flags.Define("save_checkpoint_secs", 600.0, "seconds between checkpoints");
  auto& device = flags.Define<std::string>(
      "device", "", "the workers' device, such as /device:GPU:0; empty: the CPU. The variables are on the servers");
  auto& json = flags.Define("json", false, "print one line of JSON at the end instead of progress");
  examples::RefuseWrongNumbers(flags);
  flags.ParseOrExit(argc, argv);
  TF_RETURN_IF_ERROR(examples::CheckTraining(task, checkpoint_dir, log_dir));
  TF_RETURN_IF_ERROR(examples::CheckReplicas(task, replica_flags.replicas()));

  TF_ASSIGN_OR_RETURN(auto server, tf::Server::Create(task.cluster(), task.server_options()));
  if (task.job_name == "ps") return server->Join();
  const auto worker_seed = static_cast<uint64_t>(seed) + 1000 * task.task_index;
  TF_ASSIGN_OR_RETURN(auto mnist, tf::data::Mnist::Load(data_dir, {.seed = worker_seed}));
  const auto save_every = std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(save_secs));
  return Train(task, *server, mnist,
               {steps, batch_size, learning_rate, replica_flags.replicas(), seed, json, checkpoint_dir, save_every,
                examples::LearningCurve::Directory(log_dir, checkpoint_dir, "mnist_softmax"), device});
}

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
