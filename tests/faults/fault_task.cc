// A task whose progress is easy to observe. By default, workers add 1 to a variable on the parameter server in each
// step. With --issync they train synchronously, and a step needs the gradients of all workers but one. With
// --checkpoint_dir they train with checkpoints, synchronously or not; a synchronous step then needs the gradients of
// all workers. Workers print "step N" from time to time, "recovered" after their session was replaced because a task
// was lost, and "done" at the end; with checkpoints, "done at N" with the global step. SIGTERM makes a task save and
// leave.
#include <tensorbraid/tensorbraid.h>

#include <chrono>
#include <cstdio>

namespace tf = tensorbraid;

// Adds 1 to two variables in each step, and checks that no update of the worker's own variable is lost.
tf::Status Work(const tf::TaskFlags& task, tf::Server& server, int steps) {
  tf::Graph g;
  auto device = g.Device(tf::ReplicaDeviceSetter({.cluster = task.cluster(), .worker_device = task.device()}));
  tf::Variable count(g, {}, tf::Zeros(), {.name = "count"});
  tf::Variable mine(g, {}, tf::Zeros(), {.name = "mine_" + std::to_string(task.task_index)});
  const tf::Operation add = tf::Group(g, {count.AssignAdd(1.0f), mine.AssignAdd(1.0f)});
  tf::Output so_far;
  {
    auto after = g.ControlDependencies({add});
    so_far = mine.Read();
  }
  const tf::Output ready = count.is_initialized();
  TF_ASSIGN_OR_RETURN(auto session, tf::Session::Create(g, {.target = server.target()}));
  if (task.is_chief()) {
    TF_ASSIGN_OR_RETURN(auto initialized, session->Run({ready}));
    if (!initialized[0].scalar<bool>()) TF_RETURN_IF_ERROR(session->Run({count.initializer()}).status());
  } else {
    for (bool waiting = true; waiting;) {
      TF_ASSIGN_OR_RETURN(auto initialized, session->Run({ready}));
      waiting = !initialized[0].scalar<bool>();
    }
  }
  TF_RETURN_IF_ERROR(session->Run({mine.initializer()}).status());
  for (int i = 1; (steps == 0 || i <= steps) && !tf::StopRequested(); ++i) {
    TF_ASSIGN_OR_RETURN(auto values, session->Run({so_far}));
    if (values[0].scalar<float>() != static_cast<float>(i)) return absl::DataLossError("an update was lost");
    if (i % 100 == 1) {
      std::printf("step %d\n", i);
      std::fflush(stdout);
    }
  }
  std::printf("done\n");
  return session->Close();
}

// Trains synchronously with one spare worker.
tf::Status WorkSynchronously(const tf::TaskFlags& task, tf::Server& server, int steps) {
  tf::Graph g;
  auto device = g.Device(tf::ReplicaDeviceSetter({.cluster = task.cluster(), .worker_device = task.device()}));
  tf::Variable x(g, {}, tf::Zeros(), {.name = "x"});
  tf::Variable global_step = tf::GetOrCreateGlobalStep(g);
  const int workers = static_cast<int>(task.worker_hosts.size());
  auto optimizer = std::make_shared<tf::SyncReplicasOptimizer>(
      std::make_shared<tf::GradientDescentOptimizer>(0.01),
      tf::SyncReplicasOptions{.replicas_to_aggregate = workers - 1, .total_num_replicas = workers});
  const tf::Operation train = optimizer->Minimize(tf::Square(x - 1.0f), {.global_step = global_step});
  std::vector<std::shared_ptr<tf::SessionRunHook>> hooks = {optimizer->MakeSessionRunHook(task.is_chief())};
  if (steps > 0) hooks.push_back(tf::StopAtStep(steps));
  TF_ASSIGN_OR_RETURN(auto session,
                      tf::MonitoredTrainingSession(
                          g, {.master = server.target(), .is_chief = task.is_chief(), .hooks = std::move(hooks)}));
  for (int i = 1; !session->ShouldStop(); ++i) {
    TF_RETURN_IF_ERROR(session->Run({train}).status());
    if (i % 100 == 1) {
      std::printf("step %d\n", i);
      std::fflush(stdout);
    }
  }
  std::printf("done\n");
  return session->Close();
}

// Trains with checkpoints, and recovers from the loss of a parameter server.
tf::Status Train(const tf::TaskFlags& task, tf::Server& server, int steps, const std::string& checkpoint_dir) {
  tf::Graph g;
  auto device = g.Device(tf::ReplicaDeviceSetter({.cluster = task.cluster(), .worker_device = task.device()}));
  tf::Variable x(g, {}, tf::Zeros(), {.name = "x"});
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
  const tf::Operation train = optimizer->Minimize(tf::Square(x - 1.0f), {.global_step = global_step});
  if (steps > 0) hooks.push_back(tf::StopAtStep(steps));
  TF_ASSIGN_OR_RETURN(auto session, tf::MonitoredTrainingSession(g, {.master = server.target(),
                                                                     .is_chief = task.is_chief(),
                                                                     .hooks = std::move(hooks),
                                                                     .checkpoint_dir = checkpoint_dir,
                                                                     .save_checkpoint_every_steps = 100}));
  const tf::Session* last = &session->session();
  for (int i = 1; !session->ShouldStop(); ++i) {
    TF_RETURN_IF_ERROR(session->Run({train}).status());
    if (&session->session() != last) std::printf("recovered\n");
    if (i % 100 == 1 || &session->session() != last) {
      std::printf("step %d\n", i);
      std::fflush(stdout);
    }
    last = &session->session();
  }
  TF_ASSIGN_OR_RETURN(auto end, session->Run({global_step}));
  std::printf("done at %lld\n", static_cast<long long>(end[0].scalar<int64_t>()));
  std::fflush(stdout);
  return session->Close();
}

tf::Status Main(int argc, char** argv) {
  tf::StopOnSignals();
  tf::Flags flags("A task for tests of faults.");
  auto& task = flags.DefineTask();
  auto& steps = flags.Define("steps", 200, "number of steps of a worker; 0: unlimited");
  auto& checkpoint_dir = flags.Define("checkpoint_dir", "", "directory of the checkpoints; empty: no checkpoints");
  flags.ParseOrExit(argc, argv);
  TF_ASSIGN_OR_RETURN(auto server,
                      tf::Server::Create(task.cluster(), {.job_name = task.job_name,
                                                          .task_index = task.task_index,
                                                          .heartbeat_interval = std::chrono::milliseconds(100),
                                                          .heartbeat_timeout = std::chrono::milliseconds(2000),
                                                          .lost_after = std::chrono::milliseconds(2000),
                                                          .slow_wait = std::chrono::milliseconds(500)}));
  std::printf("started\n");
  std::fflush(stdout);
  if (task.job_name == "ps") return server->Join();
  if (!checkpoint_dir.empty()) return Train(task, *server, steps, checkpoint_dir);
  return task.issync ? WorkSynchronously(task, *server, steps) : Work(task, *server, steps);
}

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
