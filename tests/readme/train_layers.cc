// Trains the network of the README's second program for some steps, on the digits of examples/data.
#include <tensorbraid/tensorbraid.h>

#include <cstdio>
#include <vector>

namespace tf = tensorbraid;

tf::Output LeNet(tf::Output pixels, tf::Output training);  // the README's second program

namespace {

tf::Status Main() {
  TF_ASSIGN_OR_RETURN(auto mnist, tf::data::Mnist::Load("examples/data/mnist"));

  tf::Graph g;
  g.SetRandomSeed(1);
  auto images = tf::Placeholder(g, tf::kFloat32, {-1, 784}, "images");
  auto labels = tf::Placeholder(g, tf::kInt64, {-1}, "labels");
  auto training = tf::Placeholder(g, tf::kBool, {}, "training");
  auto logits = LeNet(images, training);
  auto loss = tf::ReduceMean(tf::nn::SparseSoftmaxCrossEntropy(labels, logits));
  auto train = tf::GradientDescentOptimizer(0.1).Minimize(loss);

  TF_ASSIGN_OR_RETURN(auto session, tf::Session::Create(g));
  TF_RETURN_IF_ERROR(session->Run({tf::GlobalVariablesInitializer(g)}));
  const auto batch = mnist.NextBatch(32);
  auto feeds = [&](bool is_training) {
    return std::vector<tf::Feed>{
        {images, batch.images}, {labels, batch.labels}, {training, tf::Tensor::Scalar(is_training)}};
  };
  TF_ASSIGN_OR_RETURN(auto before, session->Run({loss}, feeds(false)));
  for (int step = 0; step < 10; ++step) TF_RETURN_IF_ERROR(session->Run({train}, feeds(true)));
  TF_ASSIGN_OR_RETURN(auto after, session->Run({loss}, feeds(false)));
  std::printf("the loss %s\n", after[0].scalar<float>() < before[0].scalar<float>() ? "fell" : "did not fall");
  return tf::OkStatus();
}

}  // namespace

int main() { return tf::ExitCode(Main()); }
