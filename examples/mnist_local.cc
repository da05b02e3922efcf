// Softmax regression on MNIST in one process: mnist_softmax without a cluster.
#include <tensorbraid/tensorbraid.h>

#include <cstdio>
#include <string>
#include <vector>

#include "training.h"

namespace tf = tensorbraid;

tf::Status Train(tf::data::Mnist mnist, int steps, int batch_size, double learning_rate, const std::string& device_name,
                 bool fixed_batch) {
  tf::Graph g;
  auto device = g.Device(device_name);
  auto x = tf::Placeholder(g, tf::kFloat32, {-1, 784}, "images");
  auto labels = tf::Placeholder(g, tf::kInt64, {-1}, "labels");
  tf::Variable w(g, {784, 10}, tf::Zeros(), {.name = "weights"});
  tf::Variable b(g, {10}, tf::Zeros(), {.name = "bias"});
  auto logits = tf::MatMul(x, w) + b;
  auto accuracy = tf::ReduceMean(tf::Cast(tf::Equal(tf::ArgMax(logits, 1), labels), tf::kFloat32));
  tf::Output trained_labels = labels, trained_logits = logits;
  if (fixed_batch) {
    const auto batch = mnist.NextBatch(batch_size);
    const tf::Variable images(g, batch.images.shape(), tf::Constant(batch.images), {.trainable = false});
    trained_logits = tf::MatMul(images, w) + b;
    trained_labels =
        tf::Variable(g, batch.labels.shape(), tf::Constant(batch.labels), {.dtype = tf::kInt64, .trainable = false})
            .Read();
  }
  auto loss = tf::ReduceMean(tf::nn::SparseSoftmaxCrossEntropy(trained_labels, trained_logits));

  tf::Variable global_step = tf::GetOrCreateGlobalStep(g);
  tf::GradientDescentOptimizer optimizer(learning_rate);
  auto train = optimizer.Minimize(loss, {.global_step = global_step});

  TF_ASSIGN_OR_RETURN(auto session,
                      tf::MonitoredTrainingSession(g, {.hooks = {tf::StopAtStep(steps), tf::ShowProgress(loss)}}));
  examples::StepTimes times;
  while (!session->ShouldStop()) {
    std::vector<tf::Feed> feeds;
    if (!fixed_batch) {
      const auto batch = mnist.NextBatch(batch_size);
      feeds = {{x, batch.images}, {labels, batch.labels}};
    }
    times.Begin();
    TF_RETURN_IF_ERROR(session->Run({train}, feeds).status());
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
  auto& fixed = flags.Define("fixed_batch", false, "train with one batch, which stays in the memory of the device");
  flags.AtLeast("train_steps", 1);
  flags.AtLeast("batch_size", 1);
  flags.ParseOrExit(argc, argv);
  TF_ASSIGN_OR_RETURN(auto mnist, tf::data::Mnist::Load(data_dir));
  return Train(mnist, steps, batch_size, learning_rate, device, fixed);
}

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
