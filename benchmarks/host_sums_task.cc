// A task of the trainings that benchmarks/host_sums compares: a model with many weights and little computation.
#include <sys/resource.h>
#include <tensorbraid/tensorbraid.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

namespace tf = tensorbraid;

namespace {

constexpr int kLayers = 8;
constexpr int kWarmUpSteps = 3;

using Clock = std::chrono::steady_clock;
double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The processor time of this process so far.
double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Each weight is used once and has a gradient.
tf::Output Loss(tf::Graph& g, double mb) {
  const auto columns = static_cast<int64_t>(mb * 1e6 / kLayers / 4 / 512);
  tf::Output loss;
  for (int i = 0; i < kLayers; ++i) {
    const tf::Variable weights(g, {512, columns}, tf::Zeros(), {.name = "weights" + std::to_string(i)});
    const tf::Output x = tf::Const(g, tf::Tensor(tf::kFloat32, {1, 512}));
    const tf::Output part = tf::ReduceSum(tf::Square(tf::MatMul(x, weights) - 1.0f));
    loss = loss.valid() ? loss + part : part;
  }
  return loss;
}

// Prints the processor time of a step on one task, which has no link.
tf::Status TrainAlone(double mb, int steps) {
  tf::Graph g;
  const tf::Operation train = tf::GradientDescentOptimizer(1e-3).Minimize(Loss(g, mb));
  TF_ASSIGN_OR_RETURN(auto session, tf::Session::Create(g));
  TF_RETURN_IF_ERROR(session->Run({tf::GlobalVariablesInitializer(g)}).status());
  double start = 0;
  for (int step = -kWarmUpSteps; step < steps; ++step) {
    if (step == 0) start = CpuSeconds();
    TF_RETURN_IF_ERROR(session->Run({train}).status());
  }
  std::printf("{\"cpu_seconds\":%.6g}\n", (CpuSeconds() - start) / steps);
  return tf::OkStatus();
}

struct Way {
  double mb;
  int steps;  // for each worker
  bool async;
  bool sum_per_host;
};

tf::Status Train(const tf::TaskFlags& task, const std::string& master, const Way& way) {
  tf::Graph g;
  auto device = g.Device(tf::ReplicaDeviceSetter({.cluster = task.cluster(), .worker_device = task.device()}));
  const tf::Output loss = Loss(g, way.mb);
  const tf::Variable global_step = tf::GetOrCreateGlobalStep(g);
  const int workers = static_cast<int>(task.worker_hosts.size());
  const auto descent = std::make_shared<tf::GradientDescentOptimizer>(1e-3);
  std::shared_ptr<tf::Optimizer> optimizer;
  std::shared_ptr<tf::SessionRunHook> hook;
  if (way.async) {
    const auto async =
        std::make_shared<tf::AsyncReplicasOptimizer>(descent, tf::AsyncReplicasOptions{.replica = task.task_index,
                                                                                       .sum_per_host = way.sum_per_host,
                                                                                       .cluster = task.cluster(),
                                                                                       .worker_device = task.device()});
    hook = async->MakeSessionRunHook();
    optimizer = async;
  } else {
    const auto sync =
        std::make_shared<tf::SyncReplicasOptimizer>(descent, tf::SyncReplicasOptions{.replicas_to_aggregate = workers,
                                                                                     .sum_per_host = way.sum_per_host,
                                                                                     .cluster = task.cluster(),
                                                                                     .worker_device = task.device()});
    hook = sync->MakeSessionRunHook(task.is_chief());
    optimizer = sync;
  }
  const tf::Operation train = optimizer->Minimize(loss, {.global_step = global_step});
  // An asynchronous step is one gradient of one worker.
  const int64_t per_round = way.async ? workers : 1;
  const auto hooks = {tf::StopAtStep(way.steps * per_round), hook};
  TF_ASSIGN_OR_RETURN(auto session,
                      tf::MonitoredTrainingSession(g, {.master = master, .is_chief = task.is_chief(), .hooks = hooks}));
  int64_t first = -1, last = -1;  // global steps between which the time is measured
  Clock::time_point start;
  double seconds = 0;
  while (!session->ShouldStop()) {
    TF_ASSIGN_OR_RETURN(const auto results, session->Run({train, global_step}));
    if (!results[1].is_valid()) break;  // the training has ended
    last = results[1].scalar<int64_t>();
    seconds = SecondsSince(start);
    if (first < 0 && last >= kWarmUpSteps * per_round) {
      first = last;
      start = Clock::now();
    }
  }
  std::printf("{\"worker\":%d,\"steps_per_s\":%.6g}\n", task.task_index,
              last > first && first >= 0 ? static_cast<double>(last - first) / seconds : 0.0);
  return session->Close();
}

tf::Status Main(int argc, char** argv) {
  tf::StopOnSignals();
  tf::Flags flags("A task of benchmarks/host_sums.");
  auto& task = flags.DefineTask(/*required=*/false);
  auto& mb = flags.Define("mb", 16.0, "megabytes of weights");
  auto& steps = flags.Define("train_steps", 20, "the steps of each worker");
  auto& async = flags.Define("async", false, "train asynchronously");
  auto& sum_per_host = flags.Define("sum_per_host", false, "sum the gradients of each host there");
  flags.ParseOrExit(argc, argv);
  if (!task.has_cluster()) return TrainAlone(mb, steps);
  TF_ASSIGN_OR_RETURN(auto server, tf::Server::Create(task.cluster(), task.server_options()));
  if (task.job_name == "ps") return server->Join();
  return Train(task, server->target(), {mb, steps, async, sum_per_host});
}

}  // namespace

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
