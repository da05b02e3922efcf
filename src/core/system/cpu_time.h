// The processor time that has been used.
#ifndef TENSORBRAID_CORE_SYSTEM_CPU_TIME_H_
#define TENSORBRAID_CORE_SYSTEM_CPU_TIME_H_

#include <chrono>

namespace tensorbraid {

// Of the calling thread since it started. A call takes some tenths of a microsecond. Thread-safe.
std::chrono::nanoseconds ThreadCpuTime();

// Of all threads of the process, also of those that have ended. Thread-safe.
std::chrono::nanoseconds ProcessCpuTime();

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SYSTEM_CPU_TIME_H_
