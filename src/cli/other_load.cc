#include "cli/other_load.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "io/file.h"

namespace tensorbraid {
namespace {

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// What this process, or all of its children that have been waited for, has used of the cores.
double UsedSeconds(int of) {
  rusage use = {};
  return ::getrusage(of, &use) == 0 ? SecondsOf(use.ru_utime) + SecondsOf(use.ru_stime) : 0;
}

}  // namespace

std::optional<CoreTimes> ParseCoreTimes(const std::string& stat, double ticks_per_s) {
  CoreTimes times;
  bool has_sum = false;
  std::istringstream lines(stat);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (!name.starts_with("cpu")) continue;
    if (name != "cpu") {
      ++times.cores;
      continue;
    }
    // The time of guests is part of user and nice. What the host gives to other machines is lost, too.
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft_irq = 0, stolen = 0;
    has_sum = static_cast<bool>(words >> user >> nice >> system >> idle >> wait >> irq >> soft_irq >> stolen);
    times.busy_s = (user + nice + system + irq + soft_irq + stolen) / ticks_per_s;
  }
  return has_sum && times.cores > 0 ? std::optional(times) : std::nullopt;
}

OtherLoad::Times OtherLoad::Now() {
  Times times{.machine = std::nullopt,
              .own_s = UsedSeconds(RUSAGE_SELF) + UsedSeconds(RUSAGE_CHILDREN),
              .at = MonotonicClock::now()};
  if (const auto stat = ReadFile("/proc/stat"); stat.ok()) {
    times.machine = ParseCoreTimes(*stat, static_cast<double>(::sysconf(_SC_CLK_TCK)));
  }
  return times;
}

OtherLoad::OtherLoad() : before_(Now()) {}

double OtherLoad::Share() const {
  const Times now = Now();
  const double passed_s = std::chrono::duration<double>(now.at - before_.at).count();
  if (!now.machine || !before_.machine || passed_s <= 0) return 0;
  const double others_s = (now.machine->busy_s - before_.machine->busy_s) - (now.own_s - before_.own_s);
  return std::clamp(others_s / (passed_s * now.machine->cores), 0.0, 1.0);
}

}  // namespace tensorbraid
