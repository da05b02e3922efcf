// Log lines on standard error: "I 12:00:01.234 worker/1 transport: connected to ps/0".
//
// The environment variable TENSORBRAID_LOG sets the lowest level that is written: debug, info (the default), warning,
// error or off. An area, which is the name of a source folder, can have its own level:
// TENSORBRAID_LOG=warning,transport=debug.
#ifndef TENSORBRAID_CORE_TEXT_LOGGING_H_
#define TENSORBRAID_CORE_TEXT_LOGGING_H_

#include <sstream>
#include <string>
#include <string_view>

namespace tensorbraid {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

// Whether lines of this level and area are written. Cheap.
bool LogEnabled(LogLevel level, std::string_view area);
// Replaces the settings of TENSORBRAID_LOG; `spec` has the same form. Unknown words are reported on standard error and
// ignored.
void ConfigureLog(std::string_view spec);
// Sets a name, such as "worker/1", that appears on every line of this process.
void SetLogTask(const std::string& name);
// Writes a line. Does not check whether the level is enabled; TB_LOG does.
void WriteLog(LogLevel level, std::string_view area, const std::string& message);

// Logs file, line and message, then aborts the program. For broken invariants only, never for bad input.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition, const std::string& message);

namespace internal {
class LogLine {
 public:
  LogLine(LogLevel level, std::string_view area) : level_(level), area_(area) {}
  ~LogLine() { WriteLog(level_, area_, out_.str()); }
  std::ostream& stream() { return out_; }

 private:
  LogLevel level_;
  std::string_view area_;
  std::ostringstream out_;
};
}  // namespace internal

// Writes a line if its level is enabled: TB_LOG(Info, "cluster") << "joined as " << name;
#define TB_LOG(level, area)                                                  \
  if (!::tensorbraid::LogEnabled(::tensorbraid::LogLevel::k##level, area)) { \
  } else                                                                     \
    ::tensorbraid::internal::LogLine(::tensorbraid::LogLevel::k##level, area).stream()

#define TB_CHECK(condition)   \
  if (condition) [[likely]] { \
  } else                      \
    ::tensorbraid::CheckFailed(__FILE__, __LINE__, #condition, "")

#define TB_CHECK_OK(expr)                                                                \
  do {                                                                                   \
    const auto& tb_check_status = (expr);                                                \
    if (!tb_check_status.ok()) [[unlikely]]                                              \
      ::tensorbraid::CheckFailed(__FILE__, __LINE__, #expr, tb_check_status.ToString()); \
  } while (false)

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TEXT_LOGGING_H_
