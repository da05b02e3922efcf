// The faults of a simulation: a list that is drawn from a seed.
#ifndef TENSORBRAID_TESTS_SIMULATION_FAULT_PLAN_H_
#define TENSORBRAID_TESTS_SIMULATION_FAULT_PLAN_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tensorbraid {

struct FaultyTask {
  std::string job;
  int index = 0;
  friend auto operator<=>(const FaultyTask&, const FaultyTask&) = default;
};

struct Fault {
  enum class Kind {
    kKill,           // `task` is killed, and started again after `lasts`
    kKillAtMessage,  // as kKill, right before the network delivers its `n`-th message after `at`
    kKillAtChange,   // as kKill, for the task that makes the `n`-th change of a file after `at`, in the middle of it
    kStop,           // `task` stops as by SIGSTOP, and wakes after `lasts`
    kCut,            // no message passes between `task` and `other`
    kCutOneWay,      // no message passes from `task` to `other`
    kSlow,           // each message from `task` to `other` takes up to 50 ms longer
    kLoseLinks,      // a link breaks instead of carrying a message, with a probability of 2 %
    kConnects,       // attempts to connect arrive up to 10 s late, or twice
    kClockJump,      // the wall clock of `task` jumps by `n` - 500 s
    kDiskFails,      // each change of a file fails
    kDiskFull,       // nothing can be written
    kDiskSlow,       // each change of a file takes up to 50 ms
    kPowerLoss,      // all tasks are killed, and started again after `lasts`; the disk loses what was not synced
  };

  Kind kind = Kind::kKill;
  FaultyTask task, other;
  std::chrono::microseconds at{};     // when the fault begins, counted from the start of the cluster
  std::chrono::microseconds lasts{};  // how long the fault lasts
  uint64_t n = 0;                     // see Kind

  std::string ToString() const;  // "ps/0 is killed at 12.3 ms, and starts again after 40.0 ms"
};

using FaultPlan = std::vector<Fault>;

struct FaultPlanOptions {
  int num_ps = 1;
  int num_workers = 2;
  std::vector<Fault::Kind> kinds;
  int max_faults = 6;
  std::chrono::milliseconds during{400};  // all faults begin within this time
};

// Draws one to max_faults faults. They depend on the arguments only.
FaultPlan DrawFaultPlan(uint64_t seed, const FaultPlanOptions& options);

// One line for each fault, with its number.
std::string ToString(const FaultPlan& plan);

// Removes faults from a plan while `fails` returns true for the remaining ones, and returns the numbers of the faults
// that cannot be removed. `fails` must be true for the whole plan.
std::vector<size_t> ShortestFailingPlan(const FaultPlan& plan, const std::function<bool(const FaultPlan&)>& fails);

// The faults with these numbers.
FaultPlan Select(const FaultPlan& plan, const std::vector<size_t>& numbers);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_SIMULATION_FAULT_PLAN_H_
