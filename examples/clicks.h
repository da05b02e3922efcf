// Shared by the programs that train a model of clicks: the log, its best AUC, the flags and the training loop.
#ifndef EXAMPLES_CLICKS_H_
#define EXAMPLES_CLICKS_H_

#include <tensorbraid/tensorbraid.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "training.h"

namespace examples {

// Lines of keys, such as those of a user and an item, and whether the item was clicked.
class ClickLog {
 public:
  explicit ClickLog(int64_t columns) : columns_(columns) {}

  // Adds a line whose log-odds of a click are `odds`. Without a line beyond it, the AUC of the odds is the best.
  void Add(const std::vector<int64_t>& keys, double odds, std::mt19937_64& random) {
    keys_.insert(keys_.end(), keys.begin(), keys.end());
    odds_.push_back(odds);
    const double probability = 1 / (1 + std::exp(-odds));
    clicked_.push_back(std::uniform_real_distribution<>()(random) < probability ? 1.0f : 0.0f);
  }

  int64_t columns() const { return columns_; }
  // The first sixth of the lines is for the test.
  int64_t num_test() const { return static_cast<int64_t>(clicked_.size()) / 6; }
  int64_t size() const { return static_cast<int64_t>(clicked_.size()); }
  // The keys [count, columns] and clicks [count] of some lines.
  std::pair<tf::Tensor, tf::Tensor> Lines(const std::vector<int64_t>& lines) const {
    std::vector<int64_t> keys;
    std::vector<float> clicked;
    for (const int64_t line : lines) {
      const auto begin = keys_.begin() + line * columns_;
      keys.insert(keys.end(), begin, begin + columns_);
      clicked.push_back(clicked_[static_cast<size_t>(line)]);
    }
    return {tf::Tensor::Of(tf::Shape({static_cast<int64_t>(lines.size()), columns_}), keys),
            tf::Tensor::Vector(clicked)};
  }
  // The AUC on the test lines: the probability that a click has a higher score than another line.
  template <typename T>
  double Auc(const std::vector<T>& scores) const {
    std::vector<size_t> order(static_cast<size_t>(num_test()));
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] < scores[b]; });
    double others = 0, clicks = 0, pairs = 0;
    for (const size_t i : order) {
      const bool is_click = clicked_[i] > 0;
      if (is_click) pairs += others;
      (is_click ? clicks : others) += 1;
    }
    return pairs / (clicks * others);
  }
  double BestAuc() const { return Auc(odds_); }

 private:
  const int64_t columns_;
  std::vector<int64_t> keys_;  // the columns of each line
  std::vector<double> odds_;
  std::vector<float> clicked_;
};

// What a program trains: the log that it makes, and the log-odds [batch] of clicks for keys [batch, columns]. `parts`
// divides tables over the parameter servers.
struct ClickProgram {
  std::string help;
  int steps;
  double learning_rate;
  std::function<ClickLog(int64_t lines)> make_log;
  std::function<tf::Output(const tf::Output& keys, const tf::Partitioner& parts)> model;
};

struct ClickOptions {
  int steps, batch_size;
  double learning_rate;
  std::string checkpoint_dir;
};

inline tf::Status TrainOnClicks(const tf::TaskFlags& task, const std::string& master, const ClickLog& log,
                                const ClickProgram& program, const ClickOptions& options) {
  tf::Graph g;
  g.SetRandomSeed(1);
  auto device = g.Device(ReplicaDevice(task, 0));
  auto keys = tf::Placeholder(g, tf::kInt64, {-1, log.columns()}, "keys");
  auto clicked = tf::Placeholder(g, tf::kFloat32, {-1}, "clicked");
  const auto servers = std::max<int>(1, static_cast<int>(task.ps_hosts.size()));
  auto scores = program.model(keys, tf::FixedSizePartitioner(servers));
  auto loss = tf::ReduceMean(tf::nn::SigmoidCrossEntropy(clicked, scores));
  tf::Variable step = tf::GetOrCreateGlobalStep(g);
  auto train = tf::AdamAsyncOptimizer(options.learning_rate).Minimize(loss, {.global_step = step});

  tf::MonitoredTrainingSessionOptions session_options = {
      .master = master,
      .is_chief = task.is_chief(),
      .hooks = {tf::StopAtStep(options.steps), tf::NanCheck(loss), tf::ShowProgress(loss)}};
  if (!options.checkpoint_dir.empty()) session_options.checkpoint_dir = options.checkpoint_dir;
  TF_ASSIGN_OR_RETURN(auto session, tf::MonitoredTrainingSession(g, session_options));
  std::mt19937_64 random(static_cast<uint64_t>(task.task_index));
  std::uniform_int_distribution<int64_t> any(log.num_test(), log.size() - 1);
  while (!session->ShouldStop()) {
    std::vector<int64_t> lines(static_cast<size_t>(options.batch_size));
    for (int64_t& line : lines) line = any(random);
    const auto [of_keys, of_clicks] = log.Lines(lines);
    TF_RETURN_IF_ERROR(session->Run({train}, {{keys, of_keys}, {clicked, of_clicks}}).status());
  }
  if (task.is_chief()) {
    std::vector<int64_t> lines(static_cast<size_t>(log.num_test()));
    std::iota(lines.begin(), lines.end(), int64_t{0});
    TF_ASSIGN_OR_RETURN(const auto tested, session->Run({scores}, {{keys, log.Lines(lines).first}}));
    const auto found = tested[0].data<float>();
    std::printf("test AUC %.3f, where %.3f is the best that is possible\n",
                log.Auc(std::vector<float>(found.begin(), found.end())), log.BestAuc());
  }
  return session->Close();
}

inline tf::Status RunOnClicks(int argc, char** argv, const ClickProgram& program) {
  tf::StopOnSignals();
  tf::Flags flags(program.help);
  auto& task = flags.DefineTask(/*required=*/false);
  auto& steps = flags.Define("train_steps", program.steps, "stop at this global step");
  auto& batch_size = flags.Define("batch_size", 256, "lines per step of one worker");
  auto& learning_rate = flags.Define("learning_rate", program.learning_rate, "learning rate of Adam");
  auto& lines = flags.Define("make_lines", 60000, "how many lines the log has");
  auto& checkpoint_dir = flags.Define<std::string>("checkpoint_dir", "", "where to save checkpoints; empty: nowhere");
  for (const char* name : {"train_steps", "batch_size"}) flags.AtLeast(name, 1);
  flags.AtLeast("learning_rate", 0);
  flags.AtLeast("make_lines", 100);
  flags.ParseOrExit(argc, argv);
  TF_RETURN_IF_ERROR(CheckTraining(task, checkpoint_dir, ""));
  std::unique_ptr<tf::Server> server;
  if (task.has_cluster()) {
    TF_ASSIGN_OR_RETURN(server, tf::Server::Create(task.cluster(), task.server_options()));
    if (task.job_name == "ps") return server->Join();
  }
  return TrainOnClicks(task, server ? server->target() : "", program.make_log(lines), program,
                       {steps, batch_size, learning_rate, checkpoint_dir});
}

}  // namespace examples

#endif  // EXAMPLES_CLICKS_H_
