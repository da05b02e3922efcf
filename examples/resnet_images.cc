// Residual networks (He et al., 2016) on images of stripes, whose angle is the class. The program makes the images
// itself. ResNet-20 on small images, in this process:
//
//   build/release/examples/resnet_images
//
// ResNet-50 on two GPUs, with one batch that stays in their memory, which shows the speed of the training alone:
//
//   build/release/examples/resnet_images --depth=50 --device_type=GPU --num_devices=2 --fixed_batch
//
// As a cluster on one machine:
//
//   tensorbraid launch --ps=1 --workers=2 -- build/release/examples/resnet_images --issync
#include <tensorbraid/tensorbraid.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "training.h"

namespace tf = tensorbraid;
namespace nn = tensorbraid::nn;
namespace layers = tensorbraid::layers;

constexpr int64_t kClasses = 10;

struct Batch {
  tf::Tensor images;  // float32 [batch, size, size, 3], from 0 to 1
  tf::Tensor labels;  // int64 [batch]
};

// Makes images of stripes with random widths, colours and noise.
class Stripes {
 public:
  Stripes(int64_t size, uint64_t seed) : size_(size), random_(seed) {}

  Batch Next(int64_t count) {
    Batch batch = {tf::Tensor(tf::kFloat32, {count, size_, size_, 3}), tf::Tensor(tf::kInt64, {count})};
    auto pixel = batch.images.mutable_data<float>().begin();
    for (int64_t& label : batch.labels.mutable_data<int64_t>()) {
      label = static_cast<int64_t>(random_() % kClasses);
      const float angle = static_cast<float>(label) * std::numbers::pi_v<float> / kClasses;
      const float waves = Uniform(3, 6) * 2 * std::numbers::pi_v<float> / static_cast<float>(size_);
      const float dx = waves * std::cos(angle), dy = waves * std::sin(angle), phase = Uniform(0, 6.28f);
      const float colour[3] = {Uniform(0.2f, 0.5f), Uniform(0.2f, 0.5f), Uniform(0.2f, 0.5f)};
      for (int64_t y = 0; y < size_; ++y) {
        for (int64_t x = 0; x < size_; ++x) {
          const float wave = std::sin(dx * static_cast<float>(x) + dy * static_cast<float>(y) + phase);
          const float noise = Uniform(-0.1f, 0.1f);
          for (const float c : colour) *pixel++ = 0.5f + c * wave + noise;
        }
      }
    }
    return batch;
  }

 private:
  float Uniform(float low, float high) { return std::uniform_real_distribution<float>(low, high)(random_); }

  const int64_t size_;
  std::mt19937_64 random_;
};

// The scores of the classes. The variables are made by the first network in the graph and shared by the others.
class ResNet {
 public:
  // If `bfloat16`, activations are bfloat16. Weights and normalisation stay float32.
  ResNet(int depth, bool training, bool bfloat16) : depth_(depth), training_(training), bfloat16_(bfloat16) {}

  tf::Output Scores(tf::Output x) {
    auto scope = x.graph()->VariableScope("resnet", {.reuse = tf::kAutoReuse});
    if (bfloat16_) x = tf::Cast(x, tf::kBfloat16);
    convolutions_ = 0;
    if (depth_ == 20) {
      x = Convolution(x, 16, 3, 1, /*relu=*/true);
      for (int stage = 0; stage < 3; ++stage) {
        for (int block = 0; block < 3; ++block) x = Basic(x, 16 << stage, stage > 0 && block == 0 ? 2 : 1);
      }
    } else {
      x = nn::MaxPool(Convolution(x, 64, 7, 2, /*relu=*/true),
                      {.size = {3}, .strides = {2}, .padding = nn::Padding::kSame});
      const int blocks[] = {3, 4, 6, 3};
      for (int stage = 0; stage < 4; ++stage) {
        for (int block = 0; block < blocks[stage]; ++block) {
          x = Bottleneck(x, 64 << stage, stage > 0 && block == 0 ? 2 : 1);
        }
      }
    }
    const auto features = tf::ReduceMean(bfloat16_ ? tf::Cast(x, tf::kFloat32) : x, {1, 2});
    return layers::Dense(features, {.units = kClasses, .name = "scores"});
  }

 private:
  tf::Output Convolution(tf::Output x, int64_t filters, int64_t kernel, int64_t stride, bool relu) {
    if (bfloat16_) {
      x = tf::Cast(Bfloat16Convolution(x, filters, kernel, stride), tf::kFloat32);
      x = tf::Cast(layers::BatchNorm(x, {.training = training_, .momentum = 0.9}), tf::kBfloat16);
      return relu ? nn::Relu(x) : x;
    }
    x = layers::Conv2D(x, {.filters = filters,
                           .kernel = {kernel},
                           .strides = {stride},
                           .bias = false,
                           .kernel_regularizer = tf::L2Regularizer(1e-4)});
    x = layers::BatchNorm(x, {.training = training_, .momentum = 0.9});
    return relu ? nn::Relu(x) : x;
  }
  // The layer would make weights of the dtype of x.
  tf::Output Bfloat16Convolution(const tf::Output& x, int64_t filters, int64_t kernel, int64_t stride) {
    const std::string name = "convolution_" + std::to_string(convolutions_++) + "/kernel";
    const tf::Variable weights = tf::GetVariable(*x.graph(), name, {kernel, kernel, x.shape().dim(3), filters},
                                                 {.regularizer = tf::L2Regularizer(1e-4)});
    return nn::Conv2D(x, tf::Cast(weights, tf::kBfloat16), {.strides = {stride}});
  }
  // The input of a block, with the shape of its output.
  tf::Output Shortcut(const tf::Output& x, int64_t filters, int64_t stride) {
    if (stride == 1 && x.shape().dim(3) == filters) return x;
    return Convolution(x, filters, 1, stride, /*relu=*/false);
  }
  tf::Output Basic(const tf::Output& x, int64_t filters, int64_t stride) {
    const auto shortcut = Shortcut(x, filters, stride);
    auto y = Convolution(x, filters, 3, stride, /*relu=*/true);
    y = Convolution(y, filters, 3, 1, /*relu=*/false);
    return nn::Relu(y + shortcut);
  }
  tf::Output Bottleneck(const tf::Output& x, int64_t filters, int64_t stride) {
    const auto shortcut = Shortcut(x, 4 * filters, stride);
    auto y = Convolution(x, filters, 1, 1, /*relu=*/true);
    y = Convolution(y, filters, 3, stride, /*relu=*/true);
    y = Convolution(y, 4 * filters, 1, 1, /*relu=*/false);
    return nn::Relu(y + shortcut);
  }

  const int depth_;
  const bool training_, bfloat16_;
  int convolutions_ = 0;  // of this network so far
};

struct Options {
  int depth, size, num_devices, steps, batch_size, test_images, seed;
  double learning_rate;
  std::string device_type;
  bool fixed_batch, bfloat16;
};

// Device i of this task.
std::string DeviceName(const tf::TaskFlags& task, const Options& options, int i) {
  return task.device() + "/device:" + options.device_type + ":" + std::to_string(i);
}

// Device i of this task computes. The variables are on the parameter servers; without a cluster, on the device if there
// is one, and on the CPU if there are several.
tf::DeviceFunction PlaceOn(const tf::TaskFlags& task, const Options& options, int i) {
  const std::string device = DeviceName(task, options, i);
  if (task.has_cluster()) return tf::ReplicaDeviceSetter({.cluster = task.cluster(), .worker_device = device});
  const std::string variables = options.num_devices == 1 ? device : "/device:CPU:0";
  return [=](const tf::Operation& op) { return op.type() == "VarHandleOp" ? variables : device; };
}

tf::Status Train(const tf::TaskFlags& task, const std::string& master, const Options& options) {
  tf::Graph g;
  g.SetRandomSeed(options.seed);
  auto first_device = g.Device(PlaceOn(task, options, 0));
  auto images = tf::Placeholder(g, tf::kFloat32, {-1, options.size, options.size, 3}, "images");
  auto labels = tf::Placeholder(g, tf::kInt64, {-1}, "labels");
  tf::Variable global_step = tf::GetOrCreateGlobalStep(g);
  std::vector<std::shared_ptr<tf::SessionRunHook>> hooks = {tf::StopAtStep(options.steps)};
  TF_ASSIGN_OR_RETURN(auto optimizer,
                      examples::ReplicaOptimizer(
                          task, {},
                          std::make_shared<tf::MomentumOptimizer>(
                              tf::CosineDecay(options.learning_rate, global_step, options.steps, /*alpha=*/0.01), 0.9),
                          hooks));

  // Each device computes the gradients of its share of the batch.
  Stripes stripes(options.size, static_cast<uint64_t>(options.seed) + 1000 * task.task_index);
  const int64_t share = options.batch_size / options.num_devices;
  const auto image_shares = tf::Split(images, options.num_devices);
  const auto label_shares = tf::Split(labels, options.num_devices);
  std::vector<std::vector<tf::GradAndVar>> gradients;
  std::vector<tf::Output> losses;
  for (int i = 0; i < options.num_devices; ++i) {
    auto device = g.Device(PlaceOn(task, options, i));
    tf::Output x = image_shares[i], y = label_shares[i];
    if (options.fixed_batch) {
      auto here = g.Device(DeviceName(task, options, i));  // also the variables
      const Batch batch = stripes.Next(share);
      x = tf::Variable(g, batch.images.shape(), tf::Constant(batch.images), {.trainable = false, .local = true}).Read();
      y = tf::Variable(g, {share}, tf::Constant(batch.labels), {.dtype = tf::kInt64, .trainable = false, .local = true})
              .Read();
    }
    const auto scores = ResNet(options.depth, /*training=*/true, options.bfloat16).Scores(x);
    losses.push_back(tf::ReduceMean(nn::SparseSoftmaxCrossEntropy(y, scores)));
    const tf::Output penalised = i == 0 ? losses[0] + layers::RegularizationLoss(g) : losses[i];
    TF_ASSIGN_OR_RETURN(auto tower, optimizer->ComputeGradients(penalised));
    gradients.push_back(std::move(tower));
  }
  const auto loss = tf::ReduceMean(tf::Stack({losses.begin(), losses.end()}));
  const auto train = optimizer->ApplyGradients(
      options.num_devices == 1 ? gradients[0] : tf::AverageGradients(gradients), {.global_step = global_step});
  const auto test_scores = ResNet(options.depth, /*training=*/false, options.bfloat16).Scores(images);
  const auto right = tf::ReduceSum(tf::Cast(tf::Equal(tf::ArgMax(test_scores, 1), labels), tf::kFloat32));

  hooks.push_back(tf::NanCheck(loss));
  hooks.push_back(tf::ShowProgress(loss));
  tf::MonitoredTrainingSessionOptions session_options = {
      .master = master, .is_chief = task.is_chief(), .hooks = std::move(hooks)};
  session_options.session.device_count = {{options.device_type, options.num_devices}};
  TF_ASSIGN_OR_RETURN(auto session, tf::MonitoredTrainingSession(g, session_options));
  float first_loss = 0, last_loss = 0;
  examples::StepTimes times;
  for (int64_t step = 0; !session->ShouldStop(); ++step) {
    std::vector<tf::Feed> feeds;
    if (!options.fixed_batch) {
      const Batch batch = stripes.Next(options.batch_size);
      feeds = {{images, batch.images}, {labels, batch.labels}};
    }
    times.Begin();
    TF_ASSIGN_OR_RETURN(const auto values, session->Run({loss, train}, feeds));
    times.End();
    if (values[0].is_valid()) last_loss = values[0].scalar<float>();
    if (step == 0) first_loss = last_loss;
  }
  if (times.median_ms() > 0) {
    std::printf("ResNet-%d, %d %s, batch %d: %.1f images/s\n", options.depth, options.num_devices,
                options.device_type.c_str(), options.batch_size, 1e3 * options.batch_size / times.median_ms());
  }
  if (task.is_chief()) {
    Stripes test(options.size, 0);  // a seed that no worker has
    float correct = 0;
    for (int tested = 0; tested < options.test_images; tested += 100) {
      const Batch batch = test.Next(std::min(100, options.test_images - tested));
      TF_ASSIGN_OR_RETURN(const auto values, session->Run({right}, {{images, batch.images}, {labels, batch.labels}}));
      correct += values[0].scalar<float>();
    }
    std::printf("loss from %.3f to %.3f", first_loss, last_loss);
    if (options.test_images > 0) {
      std::printf(", test accuracy %.4f", correct / static_cast<float>(options.test_images));
    }
    std::printf("\n");
  }
  return session->Close();
}

tf::Status Main(int argc, char** argv) {
  tf::StopOnSignals();
  tf::Flags flags(
      "A residual network on images of stripes, on one device, on several, or over parameter servers with the flags of "
      "a "
      "cluster.");
  auto& task = flags.DefineTask(/*required=*/false);
  auto& depth = flags.Define("depth", 20, "layers of the network: 20 or 50");
  auto& size = flags.Define("size", 0, "width and height of the images; 0: 32 for 20 layers, 224 for 50");
  auto& device_type = flags.Define<std::string>("device_type", "CPU", "where to compute: CPU, GPU or XLA_CPU");
  auto& num_devices = flags.Define("num_devices", 1, "devices of this task that share each batch");
  auto& steps = flags.Define("train_steps", 200, "stop at this global step");
  auto& batch_size = flags.Define("batch_size", 64, "images per step of one worker");
  auto& rate = flags.Define("learning_rate", 0.05, "learning rate of Momentum at the start");
  auto& test_images = flags.Define("test_images", 1000, "how many images the test takes; 0: no test");
  auto& seed = flags.Define("seed", 1, "seed of the weights and of the images");
  auto& fixed = flags.Define("fixed_batch", false, "train with one batch, which stays in the memory of the devices");
  auto& bfloat16 = flags.Define("bfloat16", false, "compute activations in bfloat16, with weights of float32");
  for (const char* name : {"train_steps", "batch_size", "num_devices", "seed"}) flags.AtLeast(name, 1);
  for (const char* name : {"size", "learning_rate", "test_images"}) flags.AtLeast(name, 0);
  flags.ParseOrExit(argc, argv);
  if (depth != 20 && depth != 50) {
    return absl::InvalidArgumentError("--depth must be 20 or 50, not " + std::to_string(depth));
  }
  if (batch_size % num_devices != 0) {
    return absl::InvalidArgumentError("--batch_size must be a multiple of --num_devices, got " +
                                      std::to_string(batch_size) + " and " + std::to_string(num_devices));
  }
  TF_RETURN_IF_ERROR(examples::CheckTraining(task, "", ""));
  std::unique_ptr<tf::Server> server;
  if (task.has_cluster()) {
    tf::ServerOptions server_options = task.server_options();
    if (task.job_name != "ps") server_options.device_count = {{device_type, num_devices}};
    TF_ASSIGN_OR_RETURN(server, tf::Server::Create(task.cluster(), server_options));
    if (task.job_name == "ps") return server->Join();
  }
  return Train(task, server ? server->target() : "",
               {.depth = depth,
                .size = size > 0      ? size
                        : depth == 20 ? 32
                                      : 224,
                .num_devices = num_devices,
                .steps = steps,
                .batch_size = batch_size,
                .test_images = test_images,
                .seed = seed,
                .learning_rate = rate,
                .device_type = device_type,
                .fixed_batch = fixed,
                .bfloat16 = bfloat16});
}

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
