#include "launch/launcher/launched_task.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "core/system/clock.h"
#include "core/text/strings.h"
#include "launch/processes/write_all.h"

namespace tensorbraid {
namespace {

std::string ColorOf(size_t number) {
  static constexpr std::array<int, 6> kColors = {36, 33, 32, 35, 34, 31};
  return StrCat("\033[", kColors[number % kColors.size()], "m");
}

}  // namespace

LaunchedTask::LaunchedTask(std::string job, int index, size_t number)
    : job_(std::move(job)), index_(index), color_(ColorOf(number)) {}

std::string LaunchedTask::name() const { return StrCat(job_, "/", index_); }

Status LaunchedTask::OpenLog(const std::string& directory) {
  log_path_ = StrCat(directory, "/", job_, "-", index_, ".log");
  log_ = Fd(::open(log_path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  return log_.is_open() ? OkStatus() : absl::ErrnoToStatus(errno, StrCat("cannot write '", log_path_, "'"));
}

Status LaunchedTask::Log(std::string_view line) {
  if (!log_.is_open()) return OkStatus();
  const int error = WriteAll(log_.get(), StrCat(line, "\n"));
  if (error == 0) return OkStatus();
  log_.Close();
  return absl::ErrnoToStatus(error, StrCat("cannot write '", log_path_, "'"));
}

std::string LaunchedTask::Named(std::string_view line, bool in_color) const {
  if (line.starts_with('{')) return StrCat(line, "\n");
  return in_color ? StrCat(color_, "[", name(), "]\033[0m ", line, "\n") : StrCat("[", name(), "] ", line, "\n");
}

Status LaunchedTask::OnStart() {
  started_ = Clock::now();
  GiveUpRestart();  // this is it
  is_running = has_output = true;
  const auto now = static_cast<std::time_t>(WallClock::Seconds());
  std::tm local{};
  char text[32] = "";
  ::localtime_r(&now, &local);
  std::strftime(text, sizeof text, "%F %T", &local);
  return Log(StrCat("launch: ", name(), " starts, ", text));
}

void LaunchedTask::GiveUpRestart() {
  restart_at.reset();
  awaits_place = false;
}

std::chrono::milliseconds LaunchedTask::ScheduleRestart(const RestartPolicy& policy) {
  if (Clock::now() - started_ >= policy.max_delay) delay_ = std::chrono::milliseconds(0);
  delay_ = delay_.count() == 0 ? policy.first_delay : std::min(2 * delay_, policy.max_delay);
  ++restarts_;
  restart_at = Clock::now() + delay_;
  return delay_;
}

}  // namespace tensorbraid
