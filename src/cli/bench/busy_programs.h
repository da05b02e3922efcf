// Other programs that want the processor while a benchmark runs.
#ifndef TENSORBRAID_CLI_BENCH_BUSY_PROGRAMS_H_
#define TENSORBRAID_CLI_BENCH_BUSY_PROGRAMS_H_

#include <sys/types.h>

#include <memory>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Processes that compute without end, on any core. They are killed when this object is destroyed or this process ends.
class BusyPrograms {
 public:
  static StatusOr<std::unique_ptr<BusyPrograms>> Start(int count);
  ~BusyPrograms();
  BusyPrograms(const BusyPrograms&) = delete;
  BusyPrograms& operator=(const BusyPrograms&) = delete;

 private:
  BusyPrograms() = default;

  std::vector<pid_t> pids_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_BENCH_BUSY_PROGRAMS_H_
