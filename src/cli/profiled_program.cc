#include "cli/profiled_program.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "core/text/strings.h"
#include "launch/launcher/launcher.h"
#include "planner/model/profile.h"
#include "session/step_profiler.h"

namespace tensorbraid {
namespace {

constexpr auto kRecordedSteps = StepProfiler::kWarmUp.steps + StepProfiler::kTimed.steps + StepProfiler::kTraced.steps;
constexpr std::chrono::seconds kReportEvery{30};

}  // namespace

Status RunProfiled(const std::vector<std::string>& command, const std::string& directory) {
  if (planner::HasProfile(directory)) {
    return absl::AlreadyExistsError(StrCat("'", directory, "' has a profile already: plan it with --profile=",
                                           directory, " and without a program, or remove it"));
  }
  ::setenv(StepProfiler::kVariable, directory.c_str(), /*overwrite=*/1);
  // Launch requires that other threads block these signals. It lets the program end when this process gets one. They
  // stay blocked until the watcher has ended: its signal may come when Launch has ended by itself.
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &signals, &before);
  std::atomic<bool> ended = false;
  std::thread watcher([&] {
    auto report_at = std::chrono::steady_clock::now() + kReportEvery;
    while (!ended && !planner::HasProfile(directory)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (std::chrono::steady_clock::now() < report_at) continue;
      std::fprintf(stderr,
                   "plan: the program runs until %lld steps with the same feeds and fetches have been measured; Ctrl-C "
                   "ends it\n",
                   static_cast<long long>(kRecordedSteps));
      report_at += kReportEvery;
    }
    if (!ended) ::kill(::getpid(), SIGTERM);
  });
  LaunchOptions options;
  options.ps = 1;
  options.workers = 1;
  options.command = command;
  options.out_fd = options.err_fd = 2;
  options.stop_grace = std::chrono::seconds(5);
  const auto result = Launch(options);
  ended = true;
  watcher.join();
  const timespec none = {};
  while (::sigtimedwait(&signals, nullptr, &none) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::unsetenv(StepProfiler::kVariable);
  TF_RETURN_IF_ERROR(result.status());
  if (planner::HasProfile(directory)) return OkStatus();
  if (!result->failure.empty()) {
    const std::string what = StrCat(result->failure, " before its steps could be measured; its output above says why");
    return result->exit_code == 2 ? InvalidArgument(what) : FailedPrecondition(what);
  }
  return FailedPrecondition(
      "'", command[0], "' ended before its steps were measured, which takes at least ", kRecordedSteps,
      " steps with the same feeds and fetches, and those of a second or more: let it make more steps");
}

}  // namespace tensorbraid
