#include "pjrt/compile_log.h"

#include "core/text/strings.h"

namespace tensorbraid {

CompileLog& CompileLog::Global() {
  static auto* const log = new CompileLog;
  return *log;
}

int64_t CompileLog::Begin(const std::string& program) {
  MutexLock lock(mu_);
  running_[next_] = {program, MonotonicClock::now()};
  return next_++;
}

void CompileLog::End(int64_t request) {
  MutexLock lock(mu_);
  running_.erase(request);
}

void CompileLog::Count(bool ok, std::chrono::duration<double> took) {
  MutexLock lock(mu_);
  ++(ok ? totals_.programs : totals_.failed);
  totals_.time += took;
}

void CompileLog::CountHostRun() {
  MutexLock lock(mu_);
  ++totals_.host_runs;
}

CompileLog::Waiting::Waiting(const std::string& program, WaitFor what) {
  CompileLog& log = Global();
  MutexLock lock(log.mu_);
  number_ = log.next_++;
  log.waits_[number_] = {{program, MonotonicClock::now()}, what};
}

CompileLog::Waiting::~Waiting() {
  if (number_ < 0) return;
  CompileLog& log = Global();
  MutexLock lock(log.mu_);
  log.waits_.erase(number_);
}

std::string CompileLog::DescribeWait(const std::string& program) const {
  MutexLock lock(mu_);
  for (const auto& [number, wait] : waits_) {
    if (wait.first.program != program) continue;
    const auto time = std::chrono::duration_cast<std::chrono::seconds>(MonotonicClock::now() - wait.first.since);
    switch (wait.second) {
      case WaitFor::kCompiler:
        return StrCat(", which the compiler has worked on for ", time.count(), " s");
      case WaitFor::kHost:
        return StrCat(", in whose place the host has computed for ", time.count(), " s");
      case WaitFor::kDevice:
        return StrCat(", which has run on the device for ", time.count(), " s");
    }
  }
  return "";
}

std::vector<CompileLog::Compile> CompileLog::running() const {
  MutexLock lock(mu_);
  std::vector<Compile> compiles;
  for (const auto& [number, compile] : running_) compiles.push_back(compile);
  return compiles;
}

CompileLog::Totals CompileLog::totals() const {
  MutexLock lock(mu_);
  return totals_;
}

}  // namespace tensorbraid
