// A task of the chaos test: softmax regression on MNIST over parameter servers, with checkpoints, increments and short
// heartbeats. A growing table gives each brightness of an image a bias of its own. A task prints "listens" when its
// server has started. A worker prints "step N" with the global step, at most once in 20 ms. SIGTERM ends training; then
// the chief prints "accuracy A", which it has on the test images, and "done at N".
#include <tensorbraid/tensorbraid.h>

#include <chrono>
#include <cstdio>
#include <numeric>

namespace tf = tensorbraid;
using std::chrono::milliseconds;

// How bright each image is, as keys of the table.
tf::Tensor Brightness(const tf::Tensor& images) {
  const int64_t count = images.shape().dim(0), pixels = images.num_elements() / count;
  tf::Tensor keys(tf::kInt64, {count});
  const auto data = images.data<float>();
  for (int64_t i = 0; i < count; ++i) {
    const auto* const image = data.data() + i * pixels;
    keys.mutable_data<int64_t>()[static_cast<size_t>(i)] =
        static_cast<int64_t>(std::accumulate(image, image + pixels, 0.0f)) * 1'000'003;
  }
  return keys;
}

tf::Status Train(const tf::TaskFlags& task, tf::Server& server, const std::string& data_dir,
                 const std::string& checkpoint_dir) {
  tf::Graph g;
  auto device = g.Device(tf::ReplicaDeviceSetter({.cluster = task.cluster(), .worker_device = task.device()}));
  auto x = tf::Placeholder(g, tf::kFloat32, {-1, 784}, "images");
  auto labels = tf::Placeholder(g, tf::kInt64, {-1}, "labels");
  tf::Variable w(g, {784, 10}, tf::Zeros(), {.name = "weights"});
  tf::Variable b(g, {10}, tf::Zeros(), {.name = "bias"});
  const tf::EmbeddingVariable biases(
      g, 10, {.name = "biases", .initializer = tf::Constant(0.0), .partitioner = tf::FixedSizePartitioner(2)});
  auto brightness = tf::Placeholder(g, tf::kInt64, {-1}, "brightness");
  auto logits = tf::MatMul(x, w) + b + tf::nn::EmbeddingLookup(biases, brightness);
  auto loss = tf::ReduceMean(tf::nn::SparseSoftmaxCrossEntropy(labels, logits));
  auto accuracy = tf::ReduceMean(tf::Cast(tf::Equal(tf::ArgMax(logits, 1), labels), tf::kFloat32));
  auto rows = biases.NumRows();
  tf::Variable global_step = tf::GetOrCreateGlobalStep(g);
  std::shared_ptr<tf::Optimizer> optimizer = std::make_shared<tf::GradientDescentOptimizer>(0.1);
  std::vector<std::shared_ptr<tf::SessionRunHook>> hooks;
  if (task.issync) {
    const int workers = static_cast<int>(task.worker_hosts.size());
    auto sync = std::make_shared<tf::SyncReplicasOptimizer>(
        optimizer, tf::SyncReplicasOptions{.replicas_to_aggregate = workers, .total_num_replicas = workers});
    hooks.push_back(sync->MakeSessionRunHook(task.is_chief()));
    optimizer = sync;
  }
  const tf::Operation train = optimizer->Minimize(loss, {.global_step = global_step});
  TF_ASSIGN_OR_RETURN(auto session, tf::MonitoredTrainingSession(g, {.master = server.target(),
                                                                     .is_chief = task.is_chief(),
                                                                     .hooks = std::move(hooks),
                                                                     .checkpoint_dir = checkpoint_dir,
                                                                     .save_checkpoint_every = milliseconds(500),
                                                                     .save_increment_every = milliseconds(100)}));
  TF_ASSIGN_OR_RETURN(auto mnist,
                      tf::data::Mnist::Load(data_dir, {.seed = 1 + static_cast<uint64_t>(task.task_index)}));
  auto printed = std::chrono::steady_clock::time_point();
  while (!session->ShouldStop()) {
    auto batch = mnist.NextBatch(50);
    TF_ASSIGN_OR_RETURN(
        auto values, session->Run({train, global_step},
                                  {{x, batch.images}, {brightness, Brightness(batch.images)}, {labels, batch.labels}}));
    const auto now = std::chrono::steady_clock::now();
    if (!values[1].is_valid() || now - printed < milliseconds(20)) continue;
    printed = now;
    std::printf("step %lld\n", static_cast<long long>(values[1].scalar<int64_t>()));
    std::fflush(stdout);
  }
  if (task.is_chief()) {
    const tf::Tensor& images = mnist.test_images();
    TF_ASSIGN_OR_RETURN(
        auto tested,
        session->session().Run({accuracy, global_step, rows},
                               {{x, images}, {brightness, Brightness(images)}, {labels, mnist.test_labels()}}));
    if (tested[2].scalar<int64_t>() < 100)
      return tf::Internal("the table has too few rows: ", tested[2].scalar<int64_t>());
    std::printf("accuracy %.4f\n", static_cast<double>(tested[0].scalar<float>()));
    std::printf("done at %lld\n", static_cast<long long>(tested[1].scalar<int64_t>()));
    std::fflush(stdout);
  }
  return session->Close();
}

tf::Status Main(int argc, char** argv) {
  tf::StopOnSignals();
  tf::Flags flags("A task of the chaos test.");
  auto& task = flags.DefineTask();
  auto& data_dir = flags.Define("data_dir", "examples/data/mnist", "MNIST in idx format");
  auto& checkpoint_dir = flags.Define("checkpoint_dir", "", "directory of the checkpoints");
  flags.ParseOrExit(argc, argv);
  auto options = task.server_options();
  options.heartbeat_interval = milliseconds(100);
  options.heartbeat_timeout = milliseconds(1000);
  // A task that was killed is started again, so a parameter server must wait for it and not end.
  options.lost_after = milliseconds(600'000);
  TF_ASSIGN_OR_RETURN(auto server, tf::Server::Create(task.cluster(), options));
  std::printf("listens\n");
  std::fflush(stdout);
  return task.job_name == "ps" ? server->Join() : Train(task, *server, data_dir, checkpoint_dir);
}

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
