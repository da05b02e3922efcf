// Which programs this process compiles now, how many it has compiled, how often the host took the place of one, and
// what steps wait for.
#ifndef TENSORBRAID_PJRT_COMPILE_LOG_H_
#define TENSORBRAID_PJRT_COMPILE_LOG_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/system/clock.h"
#include "core/threads/mutex.h"

namespace tensorbraid {

// What the caches of programs tell, for the status of the task and for messages about steps that wait. Thread-safe.
class CompileLog {
 public:
  struct Compile {
    std::string program;               // CompileOptions::name
    MonotonicClock::time_point since;  // when the first step asked for it
  };
  struct Totals {
    int64_t programs = 0;                   // that were compiled
    int64_t failed = 0;                     // that could not be compiled
    std::chrono::duration<double> time{0};  // that this took, of all together
    int64_t host_runs = 0;                  // of clusters, by the host in place of a program (host_substitute.h)
  };

  // The one of this process.
  static CompileLog& Global();

  // A step asks for a program, which must be compiled or, from a file, loaded. Returns a number for End.
  int64_t Begin(const std::string& program);
  void End(int64_t request);
  // A program has been compiled.
  void Count(bool ok, std::chrono::duration<double> took);

  // The host has run a cluster.
  void CountHostRun();

  // What a run of a cluster may wait for.
  enum class WaitFor : uint8_t { kCompiler, kHost, kDevice };
  // While it exists, a run waits. Movable.
  class Waiting {
   public:
    Waiting() = default;
    Waiting(const std::string& program, WaitFor what);
    Waiting(Waiting&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Waiting& operator=(Waiting&& other) noexcept {
      std::swap(number_, other.number_);
      return *this;
    }
    ~Waiting();

   private:
    int64_t number_ = -1;  // -1: none
  };
  // What the oldest waiting run of this program waits for, as the rest of a sentence: ", which the compiler has worked
  // on for 12 s". Empty if there is none.
  std::string DescribeWait(const std::string& program) const;

  // The programs that are compiled now, the oldest first.
  std::vector<Compile> running() const;
  Totals totals() const;

 private:
  mutable Mutex mu_;
  int64_t next_ TB_GUARDED_BY(mu_) = 0;
  std::map<int64_t, Compile> running_ TB_GUARDED_BY(mu_);
  std::map<int64_t, std::pair<Compile, WaitFor>> waits_ TB_GUARDED_BY(mu_);  // in the order in which they began
  Totals totals_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_PJRT_COMPILE_LOG_H_
