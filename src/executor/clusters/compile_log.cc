#include "executor/clusters/compile_log.h"

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
