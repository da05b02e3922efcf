// A task of a cluster that trains until SIGTERM. With --issync, each step needs the gradients of all workers.
#include <tensorbraid/tensorbraid.h>

namespace tf = tensorbraid;

tf::Status Train(const tf::TaskFlags& task, tf::Server& server) {
  tf::Graph g;
  auto device = g.Device(tf::ReplicaDeviceSetter({.cluster = task.cluster(), .worker_device = task.device()}));
  tf::Variable x(g, {1000}, tf::Zeros(), {.name = "x"});
  tf::Variable global_step = tf::GetOrCreateGlobalStep(g);
  std::shared_ptr<tf::Optimizer> optimizer = std::make_shared<tf::GradientDescentOptimizer>(0.01);
  std::vector<std::shared_ptr<tf::SessionRunHook>> hooks;
  if (task.issync) {
    const int workers = static_cast<int>(task.worker_hosts.size());
    auto sync = std::make_shared<tf::SyncReplicasOptimizer>(
        optimizer, tf::SyncReplicasOptions{.replicas_to_aggregate = workers, .total_num_replicas = workers});
    hooks.push_back(sync->MakeSessionRunHook(task.is_chief()));
    optimizer = sync;
  }
  const tf::Operation train = optimizer->Minimize(tf::ReduceSum(tf::Square(x - 1.0f)), {.global_step = global_step});
  TF_ASSIGN_OR_RETURN(auto session, tf::MonitoredTrainingSession(
                                        g, {.master = server.target(), .is_chief = task.is_chief(), .hooks = hooks}));
  while (!session->ShouldStop()) TF_RETURN_IF_ERROR(session->Run({train}).status());
  return session->Close();
}

tf::Status Main(const tf::TaskFlags& task) {
  tf::StopOnSignals();
  TF_ASSIGN_OR_RETURN(auto server, tf::Server::Create(task.cluster(), task.server_options()));
  if (task.job_name == "ps") return server->Join();
  const tf::Status status = Train(task, *server);
  server->Stop(status);
  return status;
}

int main(int argc, char** argv) {
  tf::Flags flags("Trains until SIGTERM.");
  auto& task = flags.DefineTask();
  flags.ParseOrExit(argc, argv);
  return tf::ExitCode(Main(task));
}
