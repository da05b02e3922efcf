#include "core/system/cpu_time.h"

#include <time.h>

namespace tensorbraid {
namespace {

std::chrono::nanoseconds Read(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

std::chrono::nanoseconds ThreadCpuTime() { return Read(CLOCK_THREAD_CPUTIME_ID); }
std::chrono::nanoseconds ProcessCpuTime() { return Read(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace tensorbraid
