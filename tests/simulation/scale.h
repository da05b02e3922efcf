// Trains on many simulated tasks, and measures what each of them pays.
#ifndef TENSORBRAID_TESTS_SIMULATION_SCALE_H_
#define TENSORBRAID_TESTS_SIMULATION_SCALE_H_

#include <cstdint>
#include <string>

#include "simulation/simulate.h"
#include "simulation/training.h"

namespace tensorbraid {

// What one task of a job pays: the task that pays most, of those with the same work. Processor time, which varies with
// the other work of the machine, is that of the median task.
struct RoleCosts {
  int threads = 0;
  double links = 0;                  // to other tasks
  double heartbeats_per_second = 0;  // that it sends
  // The messages that it sends for a step of its own and, on a parameter server, for a step of one worker. In
  // synchronous training they are those of a step of all workers. Heartbeats are not included.
  double messages_per_step = 0;
  double control_bytes_per_step = 0;  // without the bytes of tensors
  double cpu_us_per_step = 0;         // processor time of the task's own code
};

struct ScaleCosts {
  RoleCosts ps, chief, worker;
  double seconds_to_start = 0;       // virtual: until the last worker has its session
  double start_cpu_ms_per_task = 0;  // processor time of the tasks' own code until then, on average
  double worker_loss_seconds = 0;    // virtual: until every parameter server has noticed that a machine has died
  double ps_loss_seconds = 0;        // the same of a parameter server, until every worker has noticed
  double seconds = 0;                // the simulation: virtual,
  double cpu_seconds = 0;            // real,
  double peak_mb = 0;                // and its memory
};

struct JobSize {
  int num_ps = 1;
  int num_workers = 2;

  int num_tasks() const { return num_ps + num_workers; }
};
// 20 parameter servers for 480 workers, and the same share for fewer tasks.
JobSize UsualJob(int num_tasks);

// The options of a training on these tasks, in which each parameter server has a variable.
TrainingOptions ScaleTraining(const JobSize& size, bool sync);

// A simulation whose threads are interrupted only where they wait, because its purpose is the number of tasks. It has
// patience on a machine that is busy with other work.
SimulationOptions ScaleSimulation();

// Trains on `size` tasks, with two workers or more. In asynchronous training, each worker makes about `rounds` steps;
// in synchronous training, all of them make `rounds` steps together, and one worker in 20 is a spare.
StatusOr<ScaleCosts> MeasureScale(uint64_t seed, const JobSize& size, bool sync, int rounds);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_SIMULATION_SCALE_H_
