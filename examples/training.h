// Shared by the programs here that train a model: the learning curve that they write, the checks of their flags, and
// the devices of a replica.
#ifndef EXAMPLES_TRAINING_H_
#define EXAMPLES_TRAINING_H_

#include <tensorbraid/tensorbraid.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace examples {

namespace tf = tensorbraid;

// The loss and accuracy of training batches and the accuracy on test examples, written to a directory for TensorBoard
// and, at the end, as an image. Only the chief writes; the object of another task does nothing.
//
//   TF_ASSIGN_OR_RETURN(auto curve, LearningCurve::Open(task, {.title = "...", ...}, loss, accuracy));
//   curve.AddHook(hooks);
//   while (...) if (curve.TestIsDue(step)) curve.AddTest(step, ...);
//   curve.AddTest(last_step, ...);   // then close the session
//   curve.Finish();
class LearningCurve {
 public:
  struct Options {
    std::string title;
    std::string directory;
    int64_t steps;  // of the whole training run
  };

  // The directory of the learning curve: --log_dir if it is set, else --checkpoint_dir, else build/logs/PROGRAM.
  static std::string Directory(const std::string& log_dir, const std::string& checkpoint_dir, const char* program) {
    if (!log_dir.empty()) return log_dir;
    return !checkpoint_dir.empty() ? checkpoint_dir : std::string("build/logs/") + program;
  }

  // Adds the summaries of a training batch to the graph. `loss` and `accuracy` are scalars.
  static tf::StatusOr<LearningCurve> Open(const tf::TaskFlags& task, Options options, tf::Output loss,
                                          tf::Output accuracy) {
    LearningCurve curve(std::move(options));
    if (!task.is_chief()) return curve;
    curve.summaries_ =
        tf::summary::Merge({tf::summary::Scalar("loss", loss), tf::summary::Scalar("accuracy", accuracy)});
    TF_ASSIGN_OR_RETURN(curve.writer_, tf::summary::FileWriter::Open(curve.options_.directory));
    return curve;
  }

  // The number of steps between two points of the curve, so that training batches give about a hundred points.
  int64_t steps_per_point() const { return std::max<int64_t>(1, options_.steps / 100); }
  const tf::Output& summaries() const { return summaries_; }
  const std::shared_ptr<tf::summary::FileWriter>& writer() const { return writer_; }

  // Lets the session save the summaries.
  void AddHook(std::vector<std::shared_ptr<tf::SessionRunHook>>& hooks) const {
    if (writer_ == nullptr) return;
    hooks.push_back(
        tf::SummarySaver("", {.every_n_steps = steps_per_point(), .summary_op = summaries_, .writer = writer_}));
  }

  // True ten times during the training, but at most once in a hundred steps. `step` is the global step.
  bool TestIsDue(int64_t step) {
    if (writer_ == nullptr || step < next_test_ || step >= options_.steps) return false;
    const int64_t every = std::max<int64_t>(100, options_.steps / 10);
    next_test_ = (step / every + 1) * every;
    return step >= every;
  }
  tf::Status AddTest(int64_t step, double accuracy) {
    if (writer_ == nullptr) return tf::OkStatus();
    return writer_->AddScalar("test_accuracy", static_cast<float>(accuracy), step);
  }

  // Draws the curve and, unless `quiet`, prints where it is.
  tf::Status Finish(bool quiet) const {
    if (writer_ == nullptr) return tf::OkStatus();
    TF_RETURN_IF_ERROR(writer_->Flush());
    const tf::summary::LearningCurveOptions drawing = {
        .title = options_.title,
        .panels = {{"loss", {"loss"}, /*log_scale=*/true}, {"accuracy", {"accuracy", "test_accuracy"}}}};
    TF_ASSIGN_OR_RETURN(const std::string path, tf::summary::WriteLearningCurve(options_.directory, drawing));
    if (!quiet) {
      std::printf("learning curve: %s, and in TensorBoard with 'tensorboard --logdir=%s'\n", path.c_str(),
                  options_.directory.c_str());
    }
    return tf::OkStatus();
  }

 private:
  explicit LearningCurve(Options options) : options_(std::move(options)) {}

  Options options_;
  tf::Output summaries_;
  std::shared_ptr<tf::summary::FileWriter> writer_;
  int64_t next_test_ = 0;
};

// Measures the time of training steps. The time between End and the next Begin is not counted.
class StepTimes {
 public:
  void Begin() { begin_ = std::chrono::steady_clock::now(); }
  void End() {
    ms_.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count());
  }
  // The median, which a slow first step does not change; 0 without steps.
  double median_ms() const {
    if (ms_.empty()) return 0;
    std::vector<double> sorted = ms_;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
    return sorted[sorted.size() / 2];
  }

 private:
  std::chrono::steady_clock::time_point begin_;
  std::vector<double> ms_;
};

// InvalidArgument unless this worker can write files to the directory of a flag. Makes it if it does not exist.
inline tf::Status CheckWritable(const tf::TaskFlags& task, const std::string& flag, const std::string& directory) {
  if (directory.empty() || task.job_name == "ps") return tf::OkStatus();
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  const auto file = std::filesystem::path(directory) / (".worker_" + std::to_string(task.task_index));
  const bool written = static_cast<bool>(std::ofstream(file));
  std::filesystem::remove(file, error);
  if (written) return tf::OkStatus();
  return absl::InvalidArgumentError(flag + "=" + directory + " is not a directory that this user can write to");
}

// Makes Parse refuse numbers with which no program here can train.
inline void RefuseWrongNumbers(tf::Flags& flags) {
  flags.AtLeast("train_steps", 1);
  flags.AtLeast("batch_size", 1);
  flags.AtLeast("learning_rate", 0);
  flags.AtLeast("save_checkpoint_secs", 0);
}

// How the replicas of a model train together.
struct Replicas {
  int to_aggregate = 0;        // synchronous: gradients per step; 0: one per worker
  std::string staleness = "";  // asynchronous: a StalenessPolicy
  bool sum_per_host = false;   // the option of this name of SyncReplicasOptions and AsyncReplicasOptions
};

// The values of the flags of Replicas, which Flags::Parse sets.
struct ReplicaFlags {
  const int& to_aggregate;
  const std::string& staleness;
  const bool& sum_per_host;

  Replicas replicas() const { return {to_aggregate, staleness, sum_per_host}; }
};

// Adds the flags of Replicas.
inline ReplicaFlags DefineReplicas(tf::Flags& flags) {
  auto& to_aggregate =
      flags.Define("replicas_to_aggregate", 0,
                   "with --issync: gradients per step; fewer than workers leaves spare workers; 0: one per worker");
  auto& staleness = flags.Define<std::string>("staleness", "",
                                              "without --issync: what is done about gradients of old values: " +
                                                  tf::StalenessPolicy::FlagHelp() + "; see docs/staleness.md");
  auto& sum_per_host = flags.Define("sum_per_host", false,
                                    "workers of a host add up their gradients there, and fetch the variables once; see "
                                    "docs/synchronous.md and docs/staleness.md");
  return {to_aggregate, staleness, sum_per_host};
}

// Checks the flags of Replicas, like CheckTraining.
inline tf::Status CheckReplicas(const tf::TaskFlags& task, const Replicas& replicas) {
  if (task.issync && !replicas.staleness.empty()) {
    return absl::InvalidArgumentError(
        "--staleness is for asynchronous training: synchronous training (--issync) drops late gradients by itself");
  }
  const auto policy = tf::StalenessPolicy::Parse(replicas.staleness);
  return policy.ok() ? tf::OkStatus()
                     : absl::InvalidArgumentError("--staleness: " + std::string(policy.status().message()));
}

// Wraps the optimizer of a replica in a cluster as the flags say, and adds the hook of the wrapper. Returns the
// optimizer unchanged if the flags need no wrapper.
inline tf::StatusOr<std::shared_ptr<tf::Optimizer>> ReplicaOptimizer(
    const tf::TaskFlags& task, const Replicas& replicas, std::shared_ptr<tf::Optimizer> optimizer,
    std::vector<std::shared_ptr<tf::SessionRunHook>>& hooks) {
  if (task.issync) {
    const int n = std::max<int>(1, static_cast<int>(task.worker_hosts.size()));
    auto sync = std::make_shared<tf::SyncReplicasOptimizer>(
        optimizer,
        tf::SyncReplicasOptions{.replicas_to_aggregate = replicas.to_aggregate == 0 ? n : replicas.to_aggregate,
                                .total_num_replicas = n,
                                .sum_per_host = replicas.sum_per_host,
                                .cluster = task.cluster(),
                                .worker_device = task.device()});
    hooks.push_back(sync->MakeSessionRunHook(task.is_chief()));
    return sync;
  }
  if (replicas.staleness.empty() && !replicas.sum_per_host) return optimizer;
  TF_ASSIGN_OR_RETURN(const auto policy, tf::StalenessPolicy::Parse(replicas.staleness));
  auto async = std::make_shared<tf::AsyncReplicasOptimizer>(
      optimizer, tf::AsyncReplicasOptions{.staleness = policy,
                                          .replica = task.task_index,
                                          .sum_per_host = replicas.sum_per_host,
                                          .cluster = task.cluster(),
                                          .worker_device = task.device()});
  hooks.push_back(async->MakeSessionRunHook());
  return async;
}

// Checks the flags that all programs here have. Every worker calls this before it connects to the others, which would
// otherwise wait for a chief that has ended.
inline tf::Status CheckTraining(const tf::TaskFlags& task, const std::string& checkpoint_dir,
                                const std::string& log_dir) {
  if (task.has_cluster() && task.worker_hosts.size() > 1 && task.ps_hosts.empty()) {
    return absl::InvalidArgumentError(
        "--ps_hosts is missing: the workers share their variables on at least one parameter server");
  }
  TF_RETURN_IF_ERROR(CheckWritable(task, "--checkpoint_dir", checkpoint_dir));
  return CheckWritable(task, "--log_dir", log_dir);
}

// Places everything on device `i` of a type of this process, but the variables on the parameter servers or, without a
// cluster, on CPU:0.
inline tf::DeviceFunction ReplicaDevice(const tf::TaskFlags& task, int i, const std::string& type = "CPU") {
  const std::string device = task.device() + "/device:" + type + ":" + std::to_string(i);
  if (task.has_cluster()) return tf::ReplicaDeviceSetter({.cluster = task.cluster(), .worker_device = device});
  return [device](const tf::Operation& op) { return op.type() == "VarHandleOp" ? "/device:CPU:0" : device; };
}

// The largest difference between a loss with its gradients and the same model computed in another way, relative to the
// largest value.
inline tf::Output LargestDifference(tf::Output loss, const std::vector<tf::GradAndVar>& grads, tf::Output other_loss,
                                    const std::vector<tf::GradAndVar>& other_grads) {
  std::vector<tf::Operand> differences = {tf::Abs(loss - other_loss)}, sizes = {tf::Abs(other_loss)};
  for (size_t v = 0; v < grads.size(); ++v) {
    const auto grad = grads[v].grad.ToDense(), other = other_grads[v].grad.ToDense();
    differences.push_back(tf::ReduceMax(tf::Abs(grad - other)));
    sizes.push_back(tf::ReduceMax(tf::Abs(other)));
  }
  return tf::ReduceMax(tf::Stack(differences) / tf::Stack(sizes));
}

}  // namespace examples

#endif  // EXAMPLES_TRAINING_H_
