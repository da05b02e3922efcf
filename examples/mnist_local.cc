// Softmax regression on MNIST in one process: mnist_softmax without a cluster.
#include <tensorbraid/tensorbraid.h>

#include <cstdio>
#include <string>

#include "training.h"

namespace tf = tensorbraid;

tf::Status Train(tf::data::Mnist mnist, int steps, int batch_size, double learning_rate,
                 const std::string& device_name) {
  tf::Graph g;
  auto device = g.Device(device_name);
  auto x = tf::Placeholder(g, tf::kFloat32, {-1, 784}, "images");
  auto labels = tf::Placeholder(g, tf::kInt64, {-1}, "labels");
  tf::Variable w(g, {784, 10}, tf::Zeros(), {.name = "weights"});
  tf::Variable b(g, {10}, tf::Zeros(), {.name = "bias"});
  auto logits = tf::MatMul(x, w) + b;
  auto loss = tf::ReduceMean(tf::nn::SparseSoftmaxCrossEntropy(labels, logits));
  auto accuracy = tf::ReduceMean(tf::Cast(tf::Equal(tf::ArgMax(logits, 1), labels), tf::kFloat32));

  tf::Variable global_step = tf::GetOrCreateGlobalStep(g);
  tf::GradientDescentOptimizer optimizer(learning_rate);
  auto train = optimizer.Minimize(loss, {.global_step = global_step});

  TF_ASSIGN_OR_RETURN(auto session,
                      tf::MonitoredTrainingSession(g, {.hooks = {tf::StopAtStep(steps), tf::ShowProgress(loss)}}));
  examples::StepTimes times;
  while (!session->ShouldStop()) {
    auto batch = mnist.NextBatch(batch_size);
    times.Begin();
    TF_RETURN_IF_ERROR(session->Run({train}, {{x, batch.images}, {labels, batch.labels}}).status());
    times.End();
  }
  TF_ASSIGN_OR_RETURN(auto tested, session->Run({accuracy}, {{x, mnist.test_images()}, {labels, mnist.test_labels()}}));
  std::printf("median step %.3f ms, test accuracy %.4f\n", times.median_ms(), tested[0].scalar<float>());
  return session->Close();
}

tf::Status Main(int argc, char** argv) {
  tf::Flags flags("Softmax regression on MNIST in one process.");
  auto& data_dir = flags.Define<std::string>("data_dir", "examples/data/mnist", "MNIST in idx format");
  auto& steps = flags.Define("train_steps", 2000, "number of training steps");
  auto& batch_size = flags.Define("batch_size", 100, "examples per step");
  auto& learning_rate = flags.Define("learning_rate", 0.2, "learning rate of gradient descent");
  auto& device = flags.Define<std::string>("device", "", "where to train, such as /gpu:0; empty: on the CPU");
  flags.AtLeast("train_steps", 1);
  flags.AtLeast("batch_size", 1);
  flags.ParseOrExit(argc, argv);
  TF_ASSIGN_OR_RETURN(auto mnist, tf::data::Mnist::Load(data_dir));
  return Train(mnist, steps, batch_size, learning_rate, device);
}

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
