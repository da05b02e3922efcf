// Measures what other programs use of this machine's cores.
#ifndef TENSORBRAID_CLI_OTHER_LOAD_H_
#define TENSORBRAID_CLI_OTHER_LOAD_H_

#include <chrono>
#include <optional>
#include <string>

#include "core/system/clock.h"

namespace tensorbraid {

// The cores of a machine and how long they have been busy, all together.
struct CoreTimes {
  int cores = 0;
  double busy_s = 0;
};
// From the text of /proc/stat, whose times are in ticks; null if it cannot be understood.
std::optional<CoreTimes> ParseCoreTimes(const std::string& stat, double ticks_per_s);

// The CPU time that programs other than this process and its children have used since the construction. The time of a
// child is known only when the child has been waited for. Not thread-safe.
class OtherLoad {
 public:
  OtherLoad();
  // This time as a share of all cores of the machine, from 0 to 1; 0 if the system does not provide it.
  double Share() const;

 private:
  struct Times {
    std::optional<CoreTimes> machine;
    double own_s = 0;
    MonotonicClock::time_point at;
  };
  static Times Now();
  const Times before_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_OTHER_LOAD_H_
