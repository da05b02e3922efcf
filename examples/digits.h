// Shared by the programs that train a model of MNIST digits: flags, training loop, test and result. mnist_softmax.cc
// shows a training loop in full; these programs differ from it and from each other in their models and devices.
#ifndef EXAMPLES_DIGITS_H_
#define EXAMPLES_DIGITS_H_

#include <tensorbraid/tensorbraid.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "training.h"

namespace examples {

struct TrainOptions {
  int steps;
  int batch_size;
  double learning_rate;
  Replicas replicas;
  int64_t seed;
  bool json;
  std::string data_dir;
  std::string checkpoint_dir;
  std::chrono::milliseconds save_checkpoint_every;
  std::string log_dir;

  tf::MonitoredTrainingSessionOptions Session(const tf::TaskFlags& task, const std::string& master,
                                              std::vector<std::shared_ptr<tf::SessionRunHook>> hooks) const {
    tf::MonitoredTrainingSessionOptions session = {
        .master = master, .is_chief = task.is_chief(), .hooks = std::move(hooks)};
    if (!checkpoint_dir.empty()) {
      session.checkpoint_dir = checkpoint_dir;
      session.save_checkpoint_every = save_checkpoint_every;
    }
    return session;
  }

  // Each worker has its own order of the examples.
  tf::StatusOr<tf::data::Mnist> LoadMnist(const tf::TaskFlags& task) const {
    return tf::data::Mnist::Load(data_dir, {.seed = static_cast<uint64_t>(seed) + 1000 * task.task_index});
  }
};

// The flags of a program that trains. `options` returns their values after Parse.
class TrainFlags {
 public:
  struct Defaults {
    std::string program;
    int steps;
    int batch_size;
    std::string batch;  // what --batch_size counts
    double learning_rate;
    bool has_replica_flags = false;  // the flags of Replicas; without them, there are no spare workers
  };

  TrainFlags(tf::Flags& flags, const Defaults& defaults)
      : program_(defaults.program),
        steps_(flags.Define("train_steps", defaults.steps, "stop at this global step")),
        batch_size_(flags.Define("batch_size", defaults.batch_size, defaults.batch)),
        learning_rate_(flags.Define("learning_rate", defaults.learning_rate, "learning rate of Adam at the start")),
        seed_(flags.Define("seed", 1, "seed of the weights and of the order of the examples")),
        json_(flags.Define("json", false, "print one line of JSON at the end instead of progress")),
        data_dir_(flags.Define<std::string>("data_dir", "examples/data/mnist", "MNIST in idx format")),
        checkpoint_dir_(flags.Define<std::string>(
            "checkpoint_dir", "",
            "the chief saves checkpoints here and starts from the latest one; empty: no checkpoints")),
        save_secs_(flags.Define("save_checkpoint_secs", 600.0, "seconds between checkpoints")),
        log_dir_(flags.Define<std::string>(
            "log_dir", "",
            "directory of the learning curve; empty: checkpoint_dir or, without it, build/logs/" + defaults.program)) {
    RefuseWrongNumbers(flags);
    if (!defaults.has_replica_flags) return;
    replica_flags_.emplace(DefineReplicas(flags));
  }

  TrainOptions options() const {
    return {.steps = steps_,
            .batch_size = batch_size_,
            .learning_rate = learning_rate_,
            .replicas = replica_flags_ ? replica_flags_->replicas() : Replicas(),
            .seed = seed_,
            .json = json_,
            .data_dir = data_dir_,
            .checkpoint_dir = checkpoint_dir_,
            .save_checkpoint_every =
                std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(save_secs_)),
            .log_dir = LearningCurve::Directory(log_dir_, checkpoint_dir_, program_.c_str())};
  }

 private:
  const std::string program_;
  const int& steps_;
  const int& batch_size_;
  const double& learning_rate_;
  const int& seed_;
  const bool& json_;
  const std::string& data_dir_;
  const std::string& checkpoint_dir_;
  const double& save_secs_;
  const std::string& log_dir_;
  std::optional<ReplicaFlags> replica_flags_;
};

// A model of MNIST digits, as the test sees it.
struct DigitModel {
  tf::Output images, labels;
  tf::Output correct;  // how many images of a batch the model gets right
};

constexpr int64_t kQuickTest = 1000;  // the number of images for the tests during training

// The part of the first `count` test images that the model gets right, in batches that fit into memory.
inline tf::StatusOr<double> TestAccuracy(tf::MonitoredSession& session, const DigitModel& model,
                                         const tf::data::Mnist& mnist, int64_t count) {
  const tf::Tensor images = mnist.test_images(), labels = mnist.test_labels();
  count = std::min(count, mnist.num_test());
  double correct = 0;
  for (int64_t begin = 0; begin < count; begin += 500) {
    const int64_t end = std::min(begin + 500, count);
    TF_ASSIGN_OR_RETURN(auto tested, session.Run({model.correct}, {{model.images, images.Slice(begin, end)},
                                                                   {model.labels, labels.Slice(begin, end)}}));
    correct += tested[0].scalar<float>();
  }
  return correct / static_cast<double>(count);
}

// What TrainAndTest needs to train a model.
struct DigitTraining {
  DigitModel model;
  tf::Output loss;
  tf::Variable global_step;
  tf::Operation train;
  std::vector<tf::Feed> more_feeds = {};  // for each training step, in addition to images and labels
  // For the result in JSON: `devices` is the value of the member `devices_name`; "": no such member.
  std::string devices_name = {};
  int devices = 0;
};

// Trains until the session should stop. Then the chief tests the model, and each worker prints its result.
inline tf::Status TrainAndTest(const tf::TaskFlags& task, const TrainOptions& options, const DigitTraining& training,
                               tf::data::Mnist& mnist, LearningCurve& curve, tf::MonitoredSession& session) {
  const DigitModel& model = training.model;
  int64_t steps = 0;
  float first_loss = 0, last_loss = 0;
  StepTimes times;
  const auto start = std::chrono::steady_clock::now();
  while (!session.ShouldStop()) {
    auto batch = mnist.NextBatch(options.batch_size);
    std::vector<tf::Feed> feeds = training.more_feeds;
    feeds.emplace_back(model.images, batch.images);
    feeds.emplace_back(model.labels, batch.labels);
    times.Begin();
    TF_ASSIGN_OR_RETURN(auto values, session.Run({training.loss, training.global_step, training.train}, feeds));
    times.End();
    if (values[0].is_valid()) last_loss = values[0].scalar<float>();
    if (steps++ == 0) first_loss = last_loss;
    // The step is not known if the chief has just ended the training.
    const int64_t step = values[1].is_valid() ? values[1].scalar<int64_t>() : options.steps;
    if (curve.TestIsDue(step)) {
      TF_ASSIGN_OR_RETURN(const double accuracy, TestAccuracy(session, model, mnist, kQuickTest));
      TF_RETURN_IF_ERROR(curve.AddTest(step, accuracy));
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  // A worker that starts after the last step has made no steps.
  const double ms_per_step = steps == 0 ? 0 : 1e3 * seconds.count() / static_cast<double>(steps);

  TF_ASSIGN_OR_RETURN(auto last, session.Run({training.global_step}));
  const auto last_step = last[0].scalar<int64_t>();
  double accuracy = 0;
  if (task.is_chief()) {
    TF_ASSIGN_OR_RETURN(accuracy, TestAccuracy(session, model, mnist, mnist.num_test()));
    TF_RETURN_IF_ERROR(curve.AddTest(last_step, accuracy));
    if (!options.json) std::printf("loss from %.3f to %.3f, test accuracy %.4f\n", first_loss, last_loss, accuracy);
  }
  if (options.json) {
    std::printf("{\"worker\":%d,\"mode\":\"%s\",", task.task_index,
                !task.has_cluster() ? "local"
                : task.issync       ? "sync"
                                    : "async");
    if (!training.devices_name.empty()) std::printf("\"%s\":%d,", training.devices_name.c_str(), training.devices);
    std::printf("\"steps_per_s\":%.1f,\"ms\":%.4f,\"median_ms\":%.4f,\"global_step\":%lld,",
                static_cast<double>(steps) / seconds.count(), ms_per_step, times.median_ms(),
                static_cast<long long>(last_step));
    std::printf("\"first_loss\":%.4f,\"loss\":%.4f", first_loss, last_loss);
    if (task.is_chief()) std::printf(",\"accuracy\":%.4f", accuracy);
    std::printf("}\n");
  }
  return tf::OkStatus();
}

}  // namespace examples

#endif  // EXAMPLES_DIGITS_H_
