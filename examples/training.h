// What the programs here that train a model share: the learning curve that they leave, the devices of a replica, and
// the test on MNIST.
#ifndef EXAMPLES_TRAINING_H_
#define EXAMPLES_TRAINING_H_

#include <tensorbraid/tensorbraid.h>

#include <algorithm>
#include <cstdio>
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
    int64_t steps;  // of the whole training
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

  // A hundred points of the training batches.
  int64_t steps_per_point() const { return std::max<int64_t>(1, options_.steps / 100); }
  const tf::Output& summaries() const { return summaries_; }
  const std::shared_ptr<tf::summary::FileWriter>& writer() const { return writer_; }

  // Lets the session save the summaries.
  void AddHook(std::vector<std::shared_ptr<tf::SessionRunHook>>& hooks) const {
    if (writer_ == nullptr) return;
    hooks.push_back(
        tf::SummarySaver("", {.every_n_steps = steps_per_point(), .summary_op = summaries_, .writer = writer_}));
  }

  // Ten times during the training, but not in each hundred steps more than once. `step` is the global step.
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

// Places everything on device `i` of this process, but the variables on the parameter servers or, without a cluster, on
// CPU:0.
inline tf::DeviceFunction ReplicaDevice(const tf::TaskFlags& task, int i) {
  const std::string device = task.device() + "/device:CPU:" + std::to_string(i);
  if (task.has_cluster()) return tf::ReplicaDeviceSetter({.cluster = task.cluster(), .worker_device = device});
  return [device](const tf::Operation& op) { return op.type() == "VarHandleOp" ? "/device:CPU:0" : device; };
}

// How much a loss and its gradients differ from those of the same model computed in another way, as a part of their
// largest values.
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

// A model of MNIST, as the test sees it.
struct DigitModel {
  tf::Output images, labels;
  tf::Output correct;  // how many images of a batch the model gets right
};

constexpr int64_t kQuickTest = 1000;  // images, for the tests during a training

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

}  // namespace examples

#endif  // EXAMPLES_TRAINING_H_
