// A task of the trainings that benchmarks/host_sums compares: a model with many weights and little computation.
#include <tensorbraid/tensorbraid.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

namespace tf = tensorbraid;

namespace {

constexpr int kLayers = 8;
constexpr int kWarmUpSteps = 3;

tf::Status Train(const tf::TaskFlags& task, const std::string& master, double mb, int steps, bool sum_per_host) {
  tf::Graph g;
  auto device = g.Device(tf::ReplicaDeviceSetter({.cluster = task.cluster(), .worker_device = task.device()}));
  const auto columns = static_cast<int64_t>(mb * 1e6 / kLayers / 4 / 512);
  tf::Output loss;
  for (int i = 0; i < kLayers; ++i) {
    const tf::Variable weights(g, {512, columns}, tf::Zeros(), {.name = "weights" + std::to_string(i)});
    const tf::Output x = tf::Const(g, tf::Tensor(tf::kFloat32, {1, 512}));
    const tf::Output part = tf::ReduceSum(tf::Square(tf::MatMul(x, weights) - 1.0f));
    loss = loss.valid() ? loss + part : part;
  }
  const tf::Variable global_step = tf::GetOrCreateGlobalStep(g);
  const int workers = static_cast<int>(task.worker_hosts.size());
  tf::SyncReplicasOptimizer sync(std::make_shared<tf::GradientDescentOptimizer>(1e-3),
                                 {.replicas_to_aggregate = workers,
                                  .sum_per_host = sum_per_host,
                                  .cluster = task.cluster(),
                                  .worker_device = task.device()});
  const tf::Operation train = sync.Minimize(loss, {.global_step = global_step});
  TF_ASSIGN_OR_RETURN(
      auto session,
      tf::MonitoredTrainingSession(g, {.master = master,
                                       .is_chief = task.is_chief(),
                                       .hooks = {tf::StopAtStep(steps), sync.MakeSessionRunHook(task.is_chief())}}));
  int made = 0;
  auto start = std::chrono::steady_clock::now();
  auto end = start;
  while (!session->ShouldStop()) {
    TF_RETURN_IF_ERROR(session->Run({train}).status());
    end = std::chrono::steady_clock::now();
    if (++made == kWarmUpSteps) start = end;
  }
  const double seconds = std::chrono::duration<double>(end - start).count();
  std::printf("{\"worker\":%d,\"steps\":%d,\"steps_per_s\":%.6g,\"dropped\":%lld}\n", task.task_index, made,
              made > kWarmUpSteps && seconds > 0 ? (made - kWarmUpSteps) / seconds : 0.0,
              static_cast<long long>(sync.dropped_gradients()));
  return session->Close();
}

tf::Status Main(int argc, char** argv) {
  tf::StopOnSignals();
  tf::Flags flags("A task of benchmarks/host_sums.");
  auto& task = flags.DefineTask();
  auto& mb = flags.Define("mb", 16.0, "megabytes of weights");
  auto& steps = flags.Define("train_steps", 20, "stop at this global step");
  auto& sum_per_host = flags.Define("sum_per_host", false, "sum the gradients of each host there");
  flags.ParseOrExit(argc, argv);
  TF_ASSIGN_OR_RETURN(auto server, tf::Server::Create(task.cluster(), task.server_options()));
  if (task.job_name == "ps") return server->Join();
  return Train(task, server->target(), mb, steps, sum_per_host);
}

}  // namespace

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
