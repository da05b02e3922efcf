#include "core/text/logging.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>

#include "core/system/clock.h"
#include "core/text/log_sink.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"

namespace tensorbraid {
namespace {

constexpr std::array<const char*, 5> kLevelNames = {"debug", "info", "warning", "error", "off"};

struct LogConfig {
  LogLevel level = LogLevel::kInfo;
  std::map<std::string, LogLevel, std::less<>> areas;
  const LogConfig* replaced = nullptr;
};

LogConfig Parse(std::string_view spec) {
  LogConfig config;
  for (const std::string& word : StrSplit(spec, ',')) {
    if (word.empty()) continue;
    const size_t eq = word.find('=');
    const std::string level_name = eq == std::string::npos ? word : word.substr(eq + 1);
    int level = -1;
    for (size_t i = 0; i < kLevelNames.size(); ++i) {
      if (level_name == kLevelNames[i]) level = static_cast<int>(i);
    }
    if (level < 0) {
      std::fprintf(stderr, "TENSORBRAID_LOG: '%s' is not a level; use debug, info, warning, error or off\n",
                   level_name.c_str());
    } else if (eq == std::string::npos) {
      config.level = LogLevel(level);
    } else {
      config.areas[word.substr(0, eq)] = LogLevel(level);
    }
  }
  return config;
}

// A new configuration replaces the old one as a whole. The old one is never freed, because another thread may still be
// reading it; the new one points to it, so that leak checkers do not report it.
std::atomic<const LogConfig*>& Config() {
  static std::atomic<const LogConfig*> config = [] {
    const char* spec = std::getenv("TENSORBRAID_LOG");
    return new LogConfig(Parse(spec == nullptr ? "" : spec));
  }();
  return config;
}

Mutex task_mu;
std::string& TaskName() {
  static std::string* name = new std::string;
  return *name;
}

std::atomic<LogSink*> log_sink{nullptr};

// The text of a line, without its end.
std::string LineText(LogLevel level, std::string_view area, const std::string& message) {
  const auto now = WallClock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm local{};
  localtime_r(&seconds, &local);
  char time[32];
  std::snprintf(time, sizeof time, "%02d:%02d:%02d.%03d", local.tm_hour, local.tm_min, local.tm_sec,
                static_cast<int>(ms));
  std::string task;
  {
    MutexLock lock(task_mu);
    task = TaskName();
  }
  if (!task.empty()) task += ' ';
  return StrCat(std::string(1, "DIWEO"[static_cast<int>(level)]), " ", time, " ", task, area, ": ", message);
}

}  // namespace

bool LogEnabled(LogLevel level, std::string_view area) {
  const LogConfig* config = Config().load(std::memory_order_acquire);
  if (!config->areas.empty()) {
    if (auto it = config->areas.find(area); it != config->areas.end()) return level >= it->second;
  }
  return level >= config->level;
}

void ConfigureLog(std::string_view spec) {
  auto* config = new LogConfig(Parse(spec));
  config->replaced = Config().load(std::memory_order_relaxed);
  while (!Config().compare_exchange_weak(config->replaced, config, std::memory_order_acq_rel)) {
  }
}

void SetLogTask(const std::string& name) {
  MutexLock lock(task_mu);
  TaskName() = name;
}

void SetLogSink(LogSink* sink) { log_sink = sink; }

void WriteLineToStderr(const std::string& line) {
  const std::string whole = line + "\n";
  std::fwrite(whole.data(), 1, whole.size(), stderr);
}

void WriteLog(LogLevel level, std::string_view area, const std::string& message) {
  const std::string line = LineText(level, area, message);
  if (LogSink* const sink = log_sink; sink != nullptr) {
    sink->Write(level, area, message, line);
  } else {
    WriteLineToStderr(line);
  }
}

void CheckFailed(const char* file, int line, const char* condition, const std::string& message) {
  if (LogSink* const sink = log_sink; sink != nullptr) sink->WriteRest();
  WriteLineToStderr(LineText(LogLevel::kError, "check",
                             StrCat(file, ":", line, ": ", condition, message.empty() ? "" : ": ", message)));
  std::abort();
}

}  // namespace tensorbraid
