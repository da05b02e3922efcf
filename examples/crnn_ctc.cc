// Reads lines of digits, without being told where each digit is: a CRNN (convolutions, then a bidirectional LSTM) with
// the CTC loss, trained under a Supervisor. The lines are made of MNIST digits. Alone:
//
//   build/release/examples/crnn_ctc
//
// As a cluster on one machine (on several machines, start each task with its own flags, as in mnist_softmax):
//
//   tensorbraid launch --ps=1 --workers=2 -- build/release/examples/crnn_ctc --issync
#include <tensorbraid/tensorbraid.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "training.h"

namespace tf = tensorbraid;
namespace nn = tensorbraid::nn;
namespace layers = tensorbraid::layers;

constexpr int kDigits = 5;           // of each line
constexpr int kSide = 28;            // of an MNIST image
constexpr int kHeight = 32;          // of a line
constexpr int kWidth = 144;          // of the longest line: kHeight - kSide + kDigits * kSide
constexpr int kReduction = 4;        // columns of the image for each step of the LSTM
constexpr int kTestSeed = 20;        // the seed of the places of the digits in the test lines
constexpr int64_t kQuickTest = 200;  // the number of lines for the tests during training

struct TrainOptions {
  int steps;
  int batch_size;
  double learning_rate;
  uint64_t seed;
  bool json;
  std::string checkpoint_dir;
  std::chrono::milliseconds save_checkpoint_every;
  std::string init_from;
  std::string log_dir;
};

// A batch of n lines.
struct Lines {
  tf::Tensor images;   // float32 [n, kHeight, kWidth, 1], 0 (paper) to 1 (ink)
  tf::Tensor lengths;  // int32 [n]: how many steps of the LSTM the line takes
  // The digits as a sparse tensor [n, kDigits].
  tf::Tensor label_indices, label_values, label_shape;
};

// Writes the digits (float32 [kDigits * n, 784], with labels int64 [kDigits * n]) side by side into lines of kDigits
// each. The distance between neighbours and the height of each digit are random. The frames of neighbours may overlap.
Lines MakeLines(const tf::Tensor& digits, const tf::Tensor& labels, std::mt19937_64& random) {
  const int64_t n = labels.num_elements() / kDigits;
  Lines lines = {.images = tf::Tensor(tf::kFloat32, {n, kHeight, kWidth, 1}),
                 .lengths = tf::Tensor(tf::kInt32, {n}),
                 .label_indices = tf::Tensor(tf::kInt64, {n * kDigits, 2}),
                 .label_values = tf::Tensor(tf::kInt32, {n * kDigits}),
                 .label_shape = tf::Tensor::Vector<int64_t>({n, kDigits})};
  const auto image = lines.images.mutable_data<float>();
  const auto length = lines.lengths.mutable_data<int32_t>();
  const auto index = lines.label_indices.mutable_data<int64_t>();
  const auto value = lines.label_values.mutable_data<int32_t>();
  const auto digit = digits.data<float>();
  std::uniform_int_distribution<int> margin(0, kHeight - kSide), distance(20, kSide);
  std::fill(image.begin(), image.end(), 0.0f);
  for (int64_t i = 0; i < n; ++i) {
    int left = margin(random);
    for (int k = 0; k < kDigits; ++k) {
      if (k > 0) left += distance(random);
      const int top = margin(random);
      const int64_t d = i * kDigits + k;
      for (int y = 0; y < kSide; ++y) {
        const float* from = &digit[d * tf::data::Mnist::kPixels + y * kSide];
        float* to = &image[(i * kHeight + top + y) * kWidth + left];
        for (int x = 0; x < kSide; ++x) to[x] = std::max(to[x], from[x]);
      }
      index[2 * d] = i;
      index[2 * d + 1] = k;
      value[d] = static_cast<int32_t>(labels.data<int64_t>()[d]);
    }
    length[i] = (left + kSide + kReduction - 1) / kReduction;
  }
  return lines;
}

// The placeholders that are fed.
struct Inputs {
  tf::Output images, lengths;
  tf::SparseTensor labels;
};

// The outputs of the model.
struct Model {
  tf::Output loss;   // the mean of the losses of the lines
  tf::Output right;  // float32 [batch]: 1 for a line that is read without a mistake, else 0
};

// A convolution with batch normalization, then pooling.
tf::Output Block(tf::Output x, int filters, std::vector<int64_t> pool, bool training) {
  x = layers::Conv2D(x, {.filters = filters, .kernel = {3, 3}, .bias = false});
  x = nn::Relu(layers::BatchNorm(x, {.training = training}));
  return nn::MaxPool(x, {.size = std::move(pool)});
}

// Scores of the ten digits and the blank, [steps of the LSTM, batch, 11]. The first call makes the variables; later
// calls share them.
tf::Output Crnn(tf::Output images, tf::Output lengths, bool training) {
  auto scope = images.graph()->VariableScope("crnn", {.reuse = tf::kAutoReuse});
  auto x = Block(images, 16, {2, 2}, training);
  x = Block(x, 32, {2, 2}, training);
  x = Block(x, 64, {2, 1}, training);  // [batch, kHeight / 8, kWidth / kReduction, 64]
  // One window, as high as the rest of the line, turns each column into a vector.
  x = layers::Conv2D(x, {.filters = 96,
                         .kernel = {kHeight / 8, 1},
                         .padding = nn::Padding::kValid,
                         .activation = layers::Activation::kRelu});
  x = tf::Transpose(tf::Squeeze(x, {1}), {1, 0, 2});  // time first, the faster form of the LSTM and of CTC
  x = layers::BidirectionalRnn(layers::LSTMCell(64), layers::LSTMCell(64), x, {.lengths = lengths, .time_major = true})
          .outputs;
  return layers::Dense(x, {.units = tf::data::Mnist::kClasses + 1, .name = "logits"});
}

Inputs MakeInputs(tf::Graph& g) {
  return {.images = tf::Placeholder(g, tf::kFloat32, {-1, kHeight, kWidth, 1}, "images"),
          .lengths = tf::Placeholder(g, tf::kInt32, {-1}, "lengths"),
          .labels = tf::SparsePlaceholder(g, tf::kInt32, {-1, -1}, "labels")};
}

// The model for training or for testing. Batch normalization uses the mean and the variance of the batch while
// training, and their moving averages while testing. Both models have the same variables.
Model MakeModel(const Inputs& in, bool training) {
  auto logits = Crnn(in.images, in.lengths, training);
  auto decoded = nn::CtcBeamSearchDecode(logits, in.lengths, {.time_major = true, .beam_width = 10});
  auto mistakes = tf::EditDistance(decoded.sequence, in.labels, {.normalize = false});
  return {.loss = tf::ReduceMean(nn::CtcLoss(in.labels, logits, in.lengths, {.time_major = true})),
          .right = tf::Cast(tf::Equal(mistakes, 0.0f), tf::kFloat32)};
}

std::vector<tf::Feed> Feeds(const Inputs& in, const Lines& lines) {
  return {{in.images, lines.images},
          {in.lengths, lines.lengths},
          {in.labels.indices, lines.label_indices},
          {in.labels.values, lines.label_values},
          {in.labels.dense_shape, lines.label_shape}};
}

// Returns the fraction of the first `lines` test lines in which all digits are read correctly. The test lines are the
// same in each run of the program.
tf::StatusOr<double> SequenceAccuracy(tf::SupervisedSession& session, const Inputs& inputs, const Model& tested,
                                      const tf::data::Mnist& mnist, int64_t lines) {
  const tf::Tensor digits = mnist.test_images();
  std::mt19937_64 random(kTestSeed);
  double correct = 0;
  for (int64_t begin = 0; begin < lines; begin += 200) {
    const int64_t first = begin * kDigits, last = std::min(begin + 200, lines) * kDigits;
    const Lines batch = MakeLines(digits.Slice(first, last), mnist.test_labels().Slice(first, last), random);
    TF_ASSIGN_OR_RETURN(auto values, session.Run({tested.right}, Feeds(inputs, batch)));
    for (const float right : values[0].data<float>()) correct += right;
  }
  return correct / static_cast<double>(lines);
}

// The progress of this worker in all its sessions.
struct Progress {
  int64_t steps = 0;
  examples::StepTimes times;
  float first_loss = 0, last_loss = 0;
  std::chrono::duration<double> seconds{0};
};

// Prints the result. `step` is the global step, and only the chief knows the accuracy.
void Report(const tf::TaskFlags& task, const TrainOptions& options, const Progress& progress, int64_t step,
            double accuracy) {
  if (options.json) {
    // A task that starts after the last step has made no steps.
    const double steps = static_cast<double>(progress.steps), seconds = progress.seconds.count();
    std::printf(
        "{\"worker\":%d,\"mode\":\"%s\",\"steps_per_s\":%.1f,\"ms\":%.4f,\"median_ms\":%.4f,\"global_step\":%lld,",
        task.task_index,
        !task.has_cluster() ? "local"
        : task.issync       ? "sync"
                            : "async",
        steps == 0 ? 0 : steps / seconds, steps == 0 ? 0 : 1e3 * seconds / steps, progress.times.median_ms(),
        static_cast<long long>(step));
    std::printf("\"first_loss\":%.4f,\"loss\":%.4f", progress.first_loss, progress.last_loss);
    if (task.is_chief()) std::printf(",\"accuracy\":%.4f", accuracy);
    std::printf("}\n");
  } else if (task.is_chief()) {
    if (progress.steps > 0) std::printf("loss from %.3f to %.3f, ", progress.first_loss, progress.last_loss);
    std::printf("sequence accuracy %.4f\n", accuracy);
  }
}

tf::Status Train(const tf::TaskFlags& task, const std::string& target, tf::data::Mnist mnist,
                 const TrainOptions& options) {
  tf::Graph g;
  g.SetRandomSeed(static_cast<int64_t>(options.seed));
  std::optional<tf::ScopeGuard> device;
  if (task.has_cluster()) {
    device.emplace(g.Device(tf::ReplicaDeviceSetter({.cluster = task.cluster(), .worker_device = task.device()})));
  }
  const Inputs inputs = MakeInputs(g);
  const Model trained = MakeModel(inputs, /*training=*/true);
  const Model tested = MakeModel(inputs, /*training=*/false);
  TF_ASSIGN_OR_RETURN(auto curve,
                      examples::LearningCurve::Open(task, {"crnn_ctc: lines of digits", options.log_dir, options.steps},
                                                    trained.loss, tf::ReduceMean(trained.right)));
  // Restores the model only: the global step and the optimizer's slots do not exist yet.
  std::optional<tf::Saver> weights;
  if (!options.init_from.empty()) {
    const std::vector<tf::Variable> variables = g.variables();
    weights.emplace(g, tf::SaverOptions{.variables = {variables.begin(), variables.end()}});
  }

  tf::Variable global_step = tf::GetOrCreateGlobalStep(g);
  auto rate = tf::CosineDecay(options.learning_rate, global_step, options.steps, /*alpha=*/0.02);
  std::shared_ptr<tf::Optimizer> optimizer =
      std::make_shared<tf::AdadeltaOptimizer>(rate, tf::AdadeltaOptions{.epsilon = 1e-6});
  std::shared_ptr<tf::SyncReplicasOptimizer> sync;
  if (task.issync) {
    const int n = std::max<int>(1, static_cast<int>(task.worker_hosts.size()));
    sync = std::make_shared<tf::SyncReplicasOptimizer>(
        optimizer, tf::SyncReplicasOptions{.replicas_to_aggregate = n, .total_num_replicas = n});
    optimizer = sync;
  }
  TF_ASSIGN_OR_RETURN(auto grads, optimizer->ComputeGradients(trained.loss));
  auto train = optimizer->ApplyGradients(tf::ClipByGlobalNorm(grads, 10.0), {.global_step = global_step});
  // Reads the global step after the update. With an older value, a synchronous worker would begin one step more and
  // wait for the other workers, which have ended.
  tf::Output step_count;
  {
    auto after = g.ControlDependencies({train});
    step_count = global_step.Read();
  }

  tf::SupervisorOptions supervised = {
      .is_chief = task.is_chief(),
      .logdir = options.checkpoint_dir,
      .global_step = global_step,
      .save_model_every = options.save_checkpoint_every,
      .summary_op = tf::Output(),  // the summaries need feeds: see SummaryComputed below
      .summary_writer = curve.writer()};
  if (weights) {
    supervised.init_fn = [&](tf::Session& session) -> tf::Status {
      TF_ASSIGN_OR_RETURN(auto checkpoint, tf::LatestCheckpoint(options.init_from));
      return weights->Restore(session, checkpoint);
    };
  }
  tf::Supervisor supervisor(g, supervised);
  std::mt19937_64 random(options.seed + 1000 * task.task_index);
  Progress progress;
  // Trains in one session to the end.
  const auto train_and_test = [&]() -> tf::Status {
    TF_ASSIGN_OR_RETURN(auto session, supervisor.ManagedSession(target));
    if (sync && task.is_chief()) {
      TF_RETURN_IF_ERROR(supervisor.StartQueueRunners(session->session(), {sync->chief_queue_runner()}));
      TF_RETURN_IF_ERROR(session->Run({sync->init_tokens_op()}).status());
    }
    TF_ASSIGN_OR_RETURN(auto begun, session->Run({global_step}));
    int64_t step = begun[0].scalar<int64_t>();
    // Without a directory of checkpoints, the supervisor does not log the start. With one, the supervisor has logged
    // the start already; the second entry does no harm, because no summary is written between the two.
    if (task.is_chief()) TF_RETURN_IF_ERROR(curve.writer()->AddSessionLog(tf::summary::SessionStatus::kStart, step));
    const auto start = std::chrono::steady_clock::now();
    while (!supervisor.ShouldStop() && step < options.steps) {
      auto digits = mnist.NextBatch(kDigits * options.batch_size);
      const Lines lines = MakeLines(digits.images, digits.labels, random);
      std::vector<tf::Fetch> fetches = {trained.loss, step_count, train};
      const bool summarize = task.is_chief() && progress.steps % curve.steps_per_point() == 0;
      if (summarize) fetches.push_back(curve.summaries());
      progress.times.Begin();
      TF_ASSIGN_OR_RETURN(auto values, session->Run(fetches, Feeds(inputs, lines)));
      progress.times.End();
      if (!values[0].is_valid()) {
        if (tf::StopRequested()) break;
        // The chief has closed the queue of tokens.
        if (step + 1 >= options.steps) break;
        return absl::AbortedError("the chief ended its session after step " + std::to_string(step));
      }
      progress.last_loss = values[0].scalar<float>();
      step = values[1].scalar<int64_t>();
      if (summarize) TF_RETURN_IF_ERROR(supervisor.SummaryComputed(values[3], step));
      if (curve.TestIsDue(step)) {
        TF_ASSIGN_OR_RETURN(const double accuracy, SequenceAccuracy(*session, inputs, tested, mnist, kQuickTest));
        TF_RETURN_IF_ERROR(curve.AddTest(step, accuracy));
      }
      if (progress.steps++ == 0) progress.first_loss = progress.last_loss;
      if (!options.json && progress.steps % 50 == 1) {
        std::printf("step %lld of %d: loss %.3f\n", static_cast<long long>(step), options.steps, progress.last_loss);
        std::fflush(stdout);
      }
    }
    progress.seconds += std::chrono::steady_clock::now() - start;
    // A thread of the supervisor may have noticed first that a task is lost.
    TF_RETURN_IF_ERROR(supervisor.coordinator().status());
    double accuracy = 0;
    if (task.is_chief()) {
      TF_ASSIGN_OR_RETURN(accuracy, SequenceAccuracy(*session, inputs, tested, mnist, mnist.num_test() / kDigits));
      TF_RETURN_IF_ERROR(curve.AddTest(step, accuracy));
    }
    Report(task, options, progress, step, accuracy);
    return session->Close();
  };
  tf::Status status = train_and_test();
  // If a parameter server is lost, its variables are lost, too. When it is back, the chief restores the latest
  // checkpoint, and the other workers wait for the chief.
  const bool recovers = task.has_cluster() && !options.checkpoint_dir.empty();
  while (recovers && (absl::IsUnavailable(status) || absl::IsAborted(status))) {
    std::printf("going on from the latest checkpoint after an error: %s\n", tf::ToString(status).c_str());
    std::fflush(stdout);
    status = train_and_test();
  }
  TF_RETURN_IF_ERROR(status);
  return curve.Finish(/*quiet=*/options.json);
}

tf::Status Main(int argc, char** argv) {
  tf::StopOnSignals();
  tf::Flags flags("Reads lines of MNIST digits. Without the flags of a cluster, trains in this process.");
  auto& task = flags.DefineTask(/*required=*/false);
  auto& data_dir = flags.Define<std::string>("data_dir", "examples/data/mnist", "MNIST in idx format");
  auto& steps = flags.Define("train_steps", 2500, "stop at this global step");
  auto& batch_size = flags.Define("batch_size", 32, "lines per step of one worker");
  auto& learning_rate = flags.Define("learning_rate", 1.0, "learning rate of Adadelta at the start");
  auto& seed = flags.Define("seed", 1, "seed of the weights and of the lines");
  auto& checkpoint_dir = flags.Define<std::string>(
      "checkpoint_dir", "", "the chief saves checkpoints here and starts from the latest one; empty: no checkpoints");
  auto& log_dir = flags.Define<std::string>(
      "log_dir", "", "directory of the learning curve; empty: checkpoint_dir or, without it, build/logs/crnn_ctc");
  auto& save_secs = flags.Define("save_checkpoint_secs", 60.0, "seconds between checkpoints");
  auto& init_from = flags.Define<std::string>(
      "init_from", "", "checkpoint_dir of another training run, whose weights a new run starts with; empty: random");
  auto& json = flags.Define("json", false, "print one line of JSON at the end instead of progress");
  examples::RefuseWrongNumbers(flags);
  flags.ParseOrExit(argc, argv);
  TF_RETURN_IF_ERROR(examples::CheckTraining(task, checkpoint_dir, log_dir));
  if (const auto start = tf::LatestCheckpoint(init_from); !init_from.empty() && !start.ok()) {
    return absl::InvalidArgumentError("--init_from must be the --checkpoint_dir of an earlier training run: " +
                                      std::string(start.status().message()));
  }

  std::unique_ptr<tf::Server> server;
  if (task.has_cluster()) {
    TF_ASSIGN_OR_RETURN(server, tf::Server::Create(task.cluster(), task.server_options()));
    if (task.job_name == "ps") return server->Join();
  }
  // Each worker has lines of its own.
  const auto worker_seed = static_cast<uint64_t>(seed) + 1000 * task.task_index;
  TF_ASSIGN_OR_RETURN(auto mnist, tf::data::Mnist::Load(data_dir, {.seed = worker_seed}));
  const auto save_every = std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(save_secs));
  return Train(task, server ? server->target() : "", mnist,
               {steps, batch_size, learning_rate, static_cast<uint64_t>(seed), json, checkpoint_dir, save_every,
                init_from, examples::LearningCurve::Directory(log_dir, checkpoint_dir, "crnn_ctc")});
}

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
