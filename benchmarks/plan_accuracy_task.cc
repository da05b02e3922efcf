// A task of the trainings with which benchmarks/plan_accuracy compares the planner. Each worker trains on batches that
// do not change. At its end a task prints a line of JSON: what it used of the processors, and of a worker also when its
// steps ended.
#include <sys/resource.h>
#include <tensorbraid/tensorbraid.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace tf = tensorbraid;

namespace {

constexpr int64_t kBatch = 100;
constexpr int kWarmUpSteps = 10;
constexpr size_t kMostPrinted = 400;  // times of steps

struct Model {
  tf::Output loss;
  std::vector<tf::Feed> feeds;
};

tf::Tensor Values(const tf::Shape& shape) {
  tf::Tensor t(tf::kFloat32, shape);
  int64_t i = 0;
  for (float& v : t.mutable_data<float>()) v = static_cast<float>(++i * 7919 % 1000) / 1000;
  return t;
}
tf::Tensor Numbers(int64_t count, int64_t below, int64_t seed) {
  tf::Tensor t(tf::kInt64, {count});
  int64_t i = seed;
  for (int64_t& v : t.mutable_data<int64_t>()) v = ++i * 104729 % below;
  return t;
}

// 7,850 weights.
Model Softmax(tf::Graph& g) {
  auto images = tf::Placeholder(g, tf::kFloat32, {-1, 784}, "images");
  auto labels = tf::Placeholder(g, tf::kInt64, {-1}, "labels");
  auto loss = tf::ReduceMean(tf::nn::SparseSoftmaxCrossEntropy(labels, tf::layers::Dense(images, {.units = 10})));
  return {loss, {{images, Values({kBatch, 784})}, {labels, Numbers(kBatch, 10, 0)}}};
}

// 3.3 million weights, 13 MB.
Model LeNet(tf::Graph& g) {
  using tf::layers::Activation;
  auto images = tf::Placeholder(g, tf::kFloat32, {-1, 28, 28, 1}, "images");
  auto labels = tf::Placeholder(g, tf::kInt64, {-1}, "labels");
  auto x = tf::layers::Conv2D(images, {.filters = 32, .kernel = {5, 5}, .activation = Activation::kRelu});
  x = tf::nn::MaxPool(x, {.size = {2}});
  x = tf::layers::Conv2D(x, {.filters = 64, .kernel = {5, 5}, .activation = Activation::kRelu});
  x = tf::nn::MaxPool(x, {.size = {2}});
  x = tf::layers::Dense(tf::layers::Flatten(x), {.units = 1024, .activation = Activation::kRelu});
  auto loss = tf::ReduceMean(tf::nn::SparseSoftmaxCrossEntropy(labels, tf::layers::Dense(x, {.units = 10})));
  return {loss, {{images, Values({kBatch, 28, 28, 1})}, {labels, Numbers(kBatch, 10, 0)}}};
}

// 2,000 of 100,000 rows of 64 numbers in a step, and a dense layer.
Model Embedding(tf::Graph& g, int worker) {
  constexpr int64_t kRows = 100'000, kIds = 20;
  auto ids = tf::Placeholder(g, tf::kInt64, {-1}, "ids");
  auto labels = tf::Placeholder(g, tf::kInt64, {-1}, "labels");
  tf::Variable table(g, {kRows, 64}, tf::Zeros(), {.name = "table"});
  auto words = tf::Reshape(tf::nn::EmbeddingLookup(table, ids), {-1, kIds * 64});
  auto loss = tf::ReduceMean(tf::nn::SparseSoftmaxCrossEntropy(labels, tf::layers::Dense(words, {.units = 10})));
  return {loss, {{ids, Numbers(kBatch * kIds, kRows, 1000 * worker)}, {labels, Numbers(kBatch, 10, 0)}}};
}

double Seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); }

// Prints every n-th of the times, so that a line stays short.
void PrintSteps(const tf::TaskFlags& task, const std::vector<double>& ends) {
  const size_t step = std::max<size_t>(1, ends.size() / kMostPrinted);
  std::string times;
  for (size_t i = kWarmUpSteps; i < ends.size(); i += step) {
    char text[40];
    std::snprintf(text, sizeof(text), "%s[%zu,%.6f]", times.empty() ? "" : ",", i, ends[i]);
    times += text;
  }
  std::printf("{\"worker\":%d,\"steps\":%zu,\"ends\":[%s]}\n", task.task_index, ends.size(), times.c_str());
}

void PrintUse(const tf::TaskFlags& task) {
  rusage use = {};
  if (::getrusage(RUSAGE_SELF, &use) != 0) return;
  std::printf("{\"task\":\"%s/%d\",\"user_s\":%.3f,\"system_s\":%.3f,\"sleeps\":%ld,\"preemptions\":%ld}\n",
              task.job_name.c_str(), task.task_index, Seconds(use.ru_utime), Seconds(use.ru_stime), use.ru_nvcsw,
              use.ru_nivcsw);
  std::fflush(stdout);
}

tf::Status Train(const tf::TaskFlags& task, const std::string& master, const std::string& name, int steps) {
  tf::Graph g;
  auto device = g.Device(tf::ReplicaDeviceSetter({.cluster = task.cluster(), .worker_device = task.device()}));
  const Model model = name == "softmax" ? Softmax(g) : name == "lenet" ? LeNet(g) : Embedding(g, task.task_index);
  const tf::Variable global_step = tf::GetOrCreateGlobalStep(g);
  std::vector<std::shared_ptr<tf::SessionRunHook>> hooks = {tf::StopAtStep(steps)};
  std::shared_ptr<tf::Optimizer> optimizer = std::make_shared<tf::GradientDescentOptimizer>(0.01);
  if (task.issync) {
    auto sync = std::make_shared<tf::SyncReplicasOptimizer>(
        optimizer, tf::SyncReplicasOptions{.replicas_to_aggregate = static_cast<int>(task.worker_hosts.size())});
    hooks.push_back(sync->MakeSessionRunHook(task.is_chief()));
    optimizer = sync;
  }
  const tf::Operation train = optimizer->Minimize(model.loss, {.global_step = global_step});
  TF_ASSIGN_OR_RETURN(auto session,
                      tf::MonitoredTrainingSession(g, {.master = master, .is_chief = task.is_chief(), .hooks = hooks}));
  // When each step ended. Workers start one after the other, so only a time in which all of them train counts.
  std::vector<double> ends;
  while (!session->ShouldStop()) {
    TF_RETURN_IF_ERROR(session->Run({train}, model.feeds).status());
    ends.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
  }
  PrintSteps(task, ends);
  return session->Close();
}

tf::Status Main(int argc, char** argv) {
  tf::StopOnSignals();
  tf::Flags flags("A task of benchmarks/plan_accuracy.");
  auto& task = flags.DefineTask();
  auto& model = flags.Define<std::string>("model", "softmax", "softmax, lenet or embedding");
  auto& steps = flags.Define("train_steps", 100, "stop at this global step");
  flags.ParseOrExit(argc, argv);
  TF_ASSIGN_OR_RETURN(auto server, tf::Server::Create(task.cluster(), task.server_options()));
  const tf::Status ended = task.job_name == "ps" ? server->Join() : Train(task, server->target(), model, steps);
  PrintUse(task);
  return ended;
}

}  // namespace

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
