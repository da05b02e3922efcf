#include "simulation/scale.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "core/system/clock.h"
#include "core/text/device_name.h"
#include "core/text/logging.h"
#include "transport/sim/sim_network.h"

namespace tensorbraid {
namespace {

using std::chrono::duration;

// A program returns these bytes from the process of its simulation.
template <typename T>
std::string BytesOf(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
template <typename T>
T FromBytes(const std::string& bytes) {
  T value;
  TB_CHECK(bytes.size() == sizeof value);
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// The most that a task for which `has_role` is true pays between the two moments; of processor time, the median. A task
// that has made no step is left out. The steps of a parameter server are those of all workers.
RoleCosts CostsOf(const Trained& trained, bool sync, const std::function<bool(const FaultyTask&)>& has_role) {
  RoleCosts most;
  std::vector<double> cpu_us;
  for (const auto& [task, after] : trained.reached.tasks) {
    const TaskCosts& before = trained.warm.tasks.at(task);
    // The chief of synchronous training makes a part of each step, even if it has missed the step as a worker.
    const bool per_global_step = task.job == "ps" || (sync && task.index == 0);
    const auto steps = static_cast<double>(per_global_step ? trained.reached.global_step - trained.warm.global_step
                                                           : after.runs - before.runs);
    if (!has_role(task) || steps == 0) continue;
    const auto add = [](double* value, double of_task) { *value = std::max(*value, of_task); };
    const uint64_t heartbeats = after.traffic.heartbeats - before.traffic.heartbeats;
    most.threads = std::max(most.threads, after.most_threads);
    add(&most.links, static_cast<double>(after.traffic.links));
    add(&most.messages_per_step,
        static_cast<double>(after.traffic.messages - before.traffic.messages - heartbeats) / steps);
    add(&most.control_bytes_per_step,
        static_cast<double>(after.traffic.control_bytes - before.traffic.control_bytes) / steps);
    cpu_us.push_back(duration<double, std::micro>(after.cpu - before.cpu).count() / steps);
  }
  if (cpu_us.empty()) return most;
  std::ranges::nth_element(cpu_us, cpu_us.begin() + static_cast<std::ptrdiff_t>(cpu_us.size() / 2));
  most.cpu_us_per_step = cpu_us[cpu_us.size() / 2];
  return most;
}

ScaleCosts CostsOf(const Trained& trained, bool sync) {
  ScaleCosts costs;
  costs.ps = CostsOf(trained, sync, [](const FaultyTask& task) { return task.job == "ps"; });
  costs.chief = CostsOf(trained, sync, [](const FaultyTask& task) { return task.job == "worker" && task.index == 0; });
  costs.worker = CostsOf(trained, sync, [](const FaultyTask& task) { return task.job == "worker" && task.index > 0; });
  costs.seconds_to_start = duration<double>(trained.ready.at).count();
  for (const auto& [task, ready] : trained.ready.tasks) {
    costs.start_cpu_ms_per_task += duration<double, std::milli>(ready.cpu).count();
  }
  costs.start_cpu_ms_per_task /= static_cast<double>(trained.ready.tasks.size());
  return costs;
}

// A cluster without work, whose tasks are simulated processes.
class IdleCluster {
 public:
  IdleCluster(Scheduler& scheduler, int num_ps, int num_workers)
      : scheduler_(scheduler),
        cluster_(TestCluster::NotStarted{}, num_ps, num_workers, {.inter_op_threads = 1},
                 std::make_unique<SimNetwork>(static_cast<uint32_t>(scheduler.Random(uint64_t{1} << 32)),
                                              SimOptions{.follow_clock = true})),
        num_ps_(num_ps),
        num_workers_(num_workers) {
    for (int i = 0; i < num_ps; ++i) Start("ps", i);
    for (int i = 0; i < num_workers; ++i) Start("worker", i);
    Await([&] {
      return AllOf("ps", num_ps_, [&](Task& task) { return Sees(task, "worker", 0) && Sees(task, "worker", 1); }) &&
             AllOf("worker", num_workers_, [&](Task& task) { return Sees(task, "ps", 0); });
    });
  }

  // The heartbeats that a task sends in a second, without work.
  double HeartbeatsPerSecond(const std::string& job, int index) {
    constexpr double kSeconds = 10;
    const std::string address = *cluster_.spec().task_address(job, index);
    const uint64_t before = cluster_.network().TrafficOf(address).heartbeats;
    SleepFor(std::chrono::seconds(static_cast<int64_t>(kSeconds)));
    return static_cast<double>(cluster_.network().TrafficOf(address).heartbeats - before) / kSeconds;
  }

  // How long it takes until all tasks of `by_job` have noticed that the machine of a task has died: the task stops, and
  // its links stay up.
  double SecondsUntilNoticed(const std::string& job, int index, const std::string& by_job, int num) {
    const auto begin = MonotonicClock::now();
    cluster_.network().PauseTask(*cluster_.spec().task_address(job, index));
    scheduler_.StopProcess(processes_.at({job, index}));
    Await([&] { return AllOf(by_job, num, [&](Task& task) { return !Sees(task, job, index); }); });
    const auto noticed = MonotonicClock::now();
    scheduler_.WakeProcess(processes_.at({job, index}));
    cluster_.network().ResumeTask(*cluster_.spec().task_address(job, index));
    return duration<double>(noticed - begin).count();
  }

 private:
  void Start(const std::string& job, int index) {
    const ProcessId process = scheduler_.NewProcess();
    const Scheduler::ProcessScope scope(scheduler_, process);
    cluster_.Start(job, index);
    processes_[{job, index}] = process;
  }
  static bool Sees(Task& task, const std::string& job, int index) {
    return task.membership().connections().Find(FullTaskName(job, index)) != nullptr;
  }
  bool AllOf(const std::string& job, int num, const std::function<bool(Task&)>& holds) {
    for (int i = 0; i < num; ++i) {
      if (!holds(cluster_.task(job, i))) return false;
    }
    return true;
  }
  static void Await(const std::function<bool()>& done) {
    while (!done()) SleepFor(std::chrono::milliseconds(10));
  }

  Scheduler& scheduler_;
  TestCluster cluster_;
  const int num_ps_, num_workers_;
  std::map<FaultyTask, ProcessId> processes_;
};

}  // namespace

JobSize UsualJob(int num_tasks) {
  const int num_ps = std::max(1, num_tasks / 25);
  return {.num_ps = num_ps, .num_workers = num_tasks - num_ps};
}

TrainingOptions ScaleTraining(const JobSize& size, bool sync) {
  return {.num_ps = size.num_ps,
          .num_workers = size.num_workers,
          .sync = sync,
          .spares = sync ? size.num_workers / 20 : 0,
          .biases = std::max(0, size.num_ps - 3),
          .heartbeat_interval = std::chrono::seconds(1)};
}

SimulationOptions ScaleSimulation() {
  return {
      .scheduler = {.interrupt_one_in = 0, .tick = std::chrono::nanoseconds(50), .num_cores = 1, .measure_cpu = true},
      .patience = std::chrono::seconds(600)};
}

StatusOr<ScaleCosts> MeasureScale(uint64_t seed, const JobSize& size, bool sync, int rounds) {
  TrainingOptions options = ScaleTraining(size, sync);
  options.measure = true;
  options.last_step = sync ? rounds : int64_t{rounds} * options.num_workers;
  const SimulationResult trained = Simulate(
      seed,
      [&](Scheduler& scheduler) -> StatusOr<std::string> {
        TF_ASSIGN_OR_RETURN(const Trained result, Train(scheduler, options));
        return BytesOf(CostsOf(result, sync));
      },
      ScaleSimulation());
  TF_RETURN_IF_ERROR(trained.status);
  struct Watching {
    double ps_heartbeats, worker_heartbeats, chief_heartbeats, worker_loss, ps_loss;
  };
  const SimulationResult watched = Simulate(
      seed,
      [&](Scheduler& scheduler) -> StatusOr<std::string> {
        IdleCluster cluster(scheduler, options.num_ps, options.num_workers);
        const int last = options.num_workers - 1;
        Watching watching;
        watching.ps_heartbeats = cluster.HeartbeatsPerSecond("ps", 0);
        watching.worker_heartbeats = cluster.HeartbeatsPerSecond("worker", last);
        watching.chief_heartbeats = cluster.HeartbeatsPerSecond("worker", 0);
        watching.worker_loss = cluster.SecondsUntilNoticed("worker", last, "ps", options.num_ps);
        watching.ps_loss = cluster.SecondsUntilNoticed("ps", 0, "worker", last);
        return BytesOf(watching);
      },
      ScaleSimulation());
  TF_RETURN_IF_ERROR(watched.status);
  auto costs = FromBytes<ScaleCosts>(trained.value);
  const auto watching = FromBytes<Watching>(watched.value);
  costs.ps.heartbeats_per_second = watching.ps_heartbeats;
  costs.worker.heartbeats_per_second = watching.worker_heartbeats;
  costs.chief.heartbeats_per_second = watching.chief_heartbeats;
  costs.worker_loss_seconds = watching.worker_loss;
  costs.ps_loss_seconds = watching.ps_loss;
  costs.seconds = trained.seconds;
  costs.cpu_seconds = trained.cpu_seconds;
  costs.peak_mb = static_cast<double>(trained.peak_bytes) / 1e6;
  return costs;
}

}  // namespace tensorbraid
