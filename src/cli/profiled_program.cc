#include "cli/profiled_program.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "checkpoint/files.h"
#include "cli/other_load.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "launch/launcher/launcher.h"
#include "planner/model/profile.h"
#include "session/step_profiler.h"

namespace tensorbraid {
namespace {

constexpr auto kRecordedSteps = StepProfiler::kWarmUp.steps + StepProfiler::kTimed.steps + StepProfiler::kTraced.steps;
constexpr std::chrono::seconds kReportEvery{30};
constexpr int kWrongArguments = 2;  // the exit code of a program that does not know one of its flags

// Runs the command until it has written a profile to the directory, or ends.
StatusOr<LaunchResult> RunUntilProfiled(const LaunchOptions& options, const std::string& directory) {
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
  auto result = Launch(options);
  ended = true;
  watcher.join();
  const timespec none = {};
  while (::sigtimedwait(&signals, nullptr, &none) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

// Removes the profile of a program whose two tasks have each trained by themselves, and so disturbed each other.
Status RemoveSteps(const std::string& directory) {
  TF_ASSIGN_OR_RETURN(const auto paths, MatchingPaths(JoinPath(directory, "step-*")));
  for (const std::string& path : paths) TF_RETURN_IF_ERROR(RemoveFile(path));
  return OkStatus();
}

}  // namespace

StatusOr<ProfiledRun> RunProfiled(const std::vector<std::string>& command, const std::string& directory) {
  if (planner::HasProfile(directory)) {
    return absl::AlreadyExistsError(StrCat("'", directory, "' has a profile already: plan it with --profile=",
                                           directory, " and without a program, or remove it"));
  }
  LaunchOptions options;
  options.ps = 1;
  options.workers = 1;
  options.command = command;
  options.environment = {{StepProfiler::kVariable, directory}};
  options.out_fd = options.err_fd = 2;
  options.stop_grace = std::chrono::seconds(5);
  std::optional<OtherLoad> load(std::in_place);
  TF_ASSIGN_OR_RETURN(LaunchResult result, RunUntilProfiled(options, directory));
  TF_ASSIGN_OR_RETURN(const bool is_local, planner::IsLocalProfile(directory));
  if (is_local || (!planner::HasProfile(directory) && result.exit_code == kWrongArguments)) {
    std::fprintf(stderr,
                 is_local ? "plan: the program trains in one process and not in a cluster; it runs once more, alone\n"
                          : "plan: the program may not know the flags of a cluster; it runs once more without them\n");
    TF_RETURN_IF_ERROR(RemoveSteps(directory));
    options.ps = 0;
    options.style = TaskStyle::kNone;
    load.emplace();
    TF_ASSIGN_OR_RETURN(result, RunUntilProfiled(options, directory));
  }
  if (planner::HasProfile(directory)) return ProfiledRun{.others_share = load->Share()};
  if (!result.failure.empty()) {
    const std::string what = StrCat(result.failure, " before its steps could be measured; its output above says why");
    return result.exit_code == kWrongArguments ? InvalidArgument(what) : FailedPrecondition(what);
  }
  return FailedPrecondition(
      "'", command[0], "' ended before its steps were measured, which takes at least ", kRecordedSteps,
      " steps with the same feeds and fetches, after a first tenth of a second: let it make more steps");
}

}  // namespace tensorbraid
