// Which compilations run at a time.
#ifndef TENSORBRAID_PJRT_COMPILE_QUEUE_H_
#define TENSORBRAID_PJRT_COMPILE_QUEUE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "core/threads/mutex.h"
#include "core/threads/thread_pool.h"

namespace tensorbraid {

// The environment variable that says how many programs this process compiles at a time, a number of at least 1. Without
// it, the process compiles half as many as it has cores, but no more than have kMemoryOfCompile each.
inline constexpr const char* kParallelCompilesVariable = "TENSORBRAID_PARALLEL_COMPILES";
// What a compilation is supposed to need of the memory of the host. A whole process that compiled and trained ResNet-20
// took 0.4 GB with xla-cpu-pjrt, and one that compiled LeNet for an H100 0.3 GB; larger models need more.
inline constexpr int64_t kMemoryOfCompile = int64_t{1} << 30;

// How many compilations may run at a time on this many threads if this much memory is available. At least 1.
int CompilesInMemory(int threads, int64_t available);

// Does work on the threads of a pool, a few pieces at a time. Work that a step waits for begins before work that may be
// of use later. Work of the same kind begins in the order in which it was added. Thread-safe.
class CompileQueue {
 public:
  // The queue for the compilers of this process. It exists until the process ends, like the plugins' threads, but ends
  // with the program (core/system/program_end.h): a compiler that runs while the plugin's static objects are destroyed
  // may crash.
  static CompileQueue& Global();

  // `limit` says how many pieces may run at a time. It is called when one begins while none runs, and holds until none
  // runs again: what the running ones will still need cannot be seen. `threads` outlives the queue and has as many
  // threads as `limit` ever returns.
  CompileQueue(ThreadPool& threads, std::function<int()> limit) : threads_(threads), limit_(std::move(limit)) {}

  enum class Order : uint8_t { kNow, kLater };
  // Has work done. Returns its number. Does not block.
  uint64_t Add(Order order, std::function<void()> work) TB_EXCLUDES(mu_);
  // A step waits for this work now. Does nothing if the work has begun.
  void Hurry(uint64_t number) TB_EXCLUDES(mu_);
  // Lets no more work begin, and blocks until none runs. If this takes more than a second, the log says so.
  void End() TB_EXCLUDES(mu_);
  // Whether no more work begins.
  bool has_ended() const TB_EXCLUDES(mu_);
  // How many pieces run.
  int running() const TB_EXCLUDES(mu_);

 private:
  struct Piece {
    uint64_t number;
    std::function<void()> work;
  };
  void Begin() TB_REQUIRES(mu_);
  void Run(std::function<void()> work) TB_EXCLUDES(mu_);

  ThreadPool& threads_;
  const std::function<int()> limit_;
  mutable Mutex mu_;
  CondVar changed_;  // running_
  bool has_ended_ TB_GUARDED_BY(mu_) = false;
  uint64_t next_ TB_GUARDED_BY(mu_) = 0;
  int running_ TB_GUARDED_BY(mu_) = 0;
  int most_ TB_GUARDED_BY(mu_) = 1;  // what `limit` has said
  std::deque<Piece> now_ TB_GUARDED_BY(mu_), later_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_PJRT_COMPILE_QUEUE_H_
