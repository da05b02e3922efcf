// Says what a command is busy with, if that takes long.
#ifndef TENSORBRAID_CLI_SLOW_WORK_H_
#define TENSORBRAID_CLI_SLOW_WORK_H_

#include <chrono>
#include <functional>
#include <string>

#include "core/system/clock.h"
#include "core/threads/mutex.h"
#include "core/threads/thread.h"

namespace tensorbraid {

// While this object exists, a thread writes lines such as "4096 workers (12 of 21): 13 s so far". Work that ends soon
// is not mentioned. Thread-safe.
class SlowWork {
 public:
  struct Times {
    std::chrono::milliseconds first = std::chrono::seconds(3);    // after the work has begun
    std::chrono::milliseconds others = std::chrono::seconds(10);  // after each line
  };
  // `write` is called for each line, by the object's thread.
  explicit SlowWork(std::function<void(const std::string& line)> write) : SlowWork(std::move(write), Times()) {}
  SlowWork(std::function<void(const std::string& line)> write, const Times& times);
  ~SlowWork();
  SlowWork(const SlowWork&) = delete;
  SlowWork& operator=(const SlowWork&) = delete;

  // The work before has ended, and this begins.
  void Begin(const std::string& what);

 private:
  void Run();

  const std::function<void(const std::string&)> write_;
  const Times times_;
  Mutex mu_;
  CondVar cv_;
  bool ended_ TB_GUARDED_BY(mu_) = false;
  std::string what_ TB_GUARDED_BY(mu_);  // "": nothing yet
  MonotonicClock::time_point began_ TB_GUARDED_BY(mu_), write_at_ TB_GUARDED_BY(mu_);
  Thread thread_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_SLOW_WORK_H_
