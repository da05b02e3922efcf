// Runs a program in a simulation, in a separate process.
#ifndef TENSORBRAID_TESTS_SIMULATION_SIMULATE_H_
#define TENSORBRAID_TESTS_SIMULATION_SIMULATE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "simulation/scheduler.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct SimulationResult {
  Status status;           // the program's status, or the reason why the simulation failed
  std::string value;       // what the program returned
  uint64_t schedule = 0;   // Scheduler::hash
  uint64_t switches = 0;   // Scheduler::switches
  double seconds = 0;      // virtual time
  int64_t peak_bytes = 0;  // the most memory that the simulation has had resident
  double cpu_seconds = 0;  // real time of a processor
};

struct SimulationOptions {
  SchedulerOptions scheduler = {};
  // Only a failing simulation takes so much real time.
  std::chrono::seconds patience{600};
  // Changes the addresses of the program's objects, to find out whether its run depends on them.
  bool shift_addresses = false;
};

// Runs `program` with a Scheduler as the default environment and returns the result. The simulation runs in a child
// process, so that every run starts from the same state, and so that threads which wait for ever, or a crash, end with
// it. The result is DeadlineExceeded with a report that names the waiting threads if the program does not end, and
// Internal if it crashes.
//
// With the environment variable TENSORBRAID_SIMULATION_TRACE set, each change of the running thread is printed. The log
// is silent unless TENSORBRAID_LOG is set. Log lines take locks and time, so a seed's order depends on that setting.
//
// REQUIRES: this process has no threads.
SimulationResult Simulate(uint64_t seed, const std::function<StatusOr<std::string>(Scheduler&)>& program,
                          const SimulationOptions& options = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_SIMULATION_SIMULATE_H_
