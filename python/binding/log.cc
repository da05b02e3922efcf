// A thread that writes a line may hold locks of the library, so waiting for Python's lock could deadlock. So the line
// is put into a queue. PassLogLines takes it out when the thread returns to Python. A thread of this file takes out the
// lines of threads that do not return to Python, and of calls that take long.
#include "binding/log.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

#include "binding/binding.h"
#include "binding/python_calls.h"
#include "core/text/log_sink.h"

namespace tensorbraid::python {
namespace {

using LogClock = std::chrono::steady_clock;

// The thread of this file takes a Python thread's line out of the queue if the thread's call lasts longer than this.
constexpr std::chrono::milliseconds kReturnTime{100};
// The wait for another thread's handlers is limited, because they may need a lock that the waiting thread holds.
constexpr std::chrono::seconds kMaxWaitForHandlers{1};
// If the queue has this many lines, further lines are written to standard error at once.
constexpr size_t kMaxKeptLines = 10000;

// The levels of Python's logging.
int PythonLevel(LogLevel level) { return 10 * (static_cast<int>(level) + 1); }

// The area of hooks, savers and training sessions. In TensorFlow, Python logs these lines, and C++ the others.
constexpr std::string_view kArea = "train";

class PythonLog final : public LogSink {
 public:
  // Never destroyed, because threads may write lines until the process ends.
  static PythonLog& Get() {
    static PythonLog* const log = new PythonLog;
    return *log;
  }

  // Passes lines to write(level, area, message, line) from now on. lowest(area) returns the lowest level to pass.
  void Begin(nb::object write, nb::object lowest) {
    write_ = std::move(write);
    lowest_ = std::move(lowest);
    SetLogSink(this);
    ::pthread_atfork([] { Get().mu_.lock(); }, [] { Get().mu_.unlock(); }, [] { Get().BeginInChild(); });
  }

  void Write(LogLevel level, std::string_view area, const std::string& message, const std::string& line) override {
    const bool returns = PyGILState_GetThisThreadState() != nullptr;
    {
      const std::lock_guard lock(mu_);
      if (!ended_ && lines_.size() < kMaxKeptLines) {
        const auto due = LogClock::now() + (returns ? kReturnTime : std::chrono::milliseconds(0));
        lines_.push_back({level, std::string(area), message, line, due});
        busy_ = true;
        if (!has_thread_) StartThread();
        changed_->notify_all();
        return;
      }
    }
    WriteDirectly(level, area, line);
  }

  void WriteRest() override {
    const std::unique_lock lock(mu_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    for (const Line& line : lines_) WriteDirectly(line.level, line.area, line.line);
    lines_.clear();
  }

  // Implements PassLogLines.
  void Pass() {
    if (!busy_) return;
    std::unique_lock lock(mu_);
    if (passer_ == std::this_thread::get_id()) return;  // a handler has called the library
    if (passer_ != std::thread::id()) {
      lock.unlock();
      PyThreadState* const state = PyEval_SaveThread();
      lock.lock();
      changed_->wait_for(lock, kMaxWaitForHandlers, [this] { return passer_ == std::thread::id(); });
      lock.unlock();
      TakeLock(state);
      return;  // that thread has passed on the lines of this one, too
    }
    passer_ = std::this_thread::get_id();
    while (!lines_.empty()) {
      const Line line = std::move(lines_.front());
      lines_.pop_front();
      lock.unlock();
      Pass(line);
      lock.lock();
    }
    busy_ = false;
    passer_ = std::thread::id();
    changed_->notify_all();
  }

  // Passes on all lines in the queue. Later lines, such as those of objects that Python destroys at exit, go to
  // standard error.
  void End() {
    Pass();
    const int train = LowestLevel(std::string(kArea)), others = LowestLevel("");
    const std::lock_guard lock(mu_);
    lowest_train_ = train;
    lowest_others_ = others;
    ended_ = true;
    for (const Line& line : lines_) WriteDirectly(line.level, line.area, line.line);
    lines_.clear();
    write_.release();
    lowest_.release();
  }

 private:
  struct Line {
    LogLevel level;
    std::string area, message, line;
    LogClock::time_point due;  // when the thread of this file passes the line on
  };

  void WriteDirectly(LogLevel level, std::string_view area, const std::string& line) const {
    if (PythonLevel(level) >= (area == kArea ? lowest_train_ : lowest_others_)) WriteLineToStderr(line);
  }

  void StartThread() {
    has_thread_ = true;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    std::thread([this] { Serve(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void Serve() {
    while (true) {
      {
        std::unique_lock lock(mu_);
        changed_->wait(lock, [this] { return !lines_.empty() && passer_ == std::thread::id(); });
        if (const auto due = lines_.front().due; LogClock::now() < due) {
          changed_->wait_until(lock, due);
          continue;
        }
      }
      const PythonCall python;
      if (!python.allowed()) return;
      Pass();
    }
  }

  void Pass(const Line& line) const {
    const nb::error_scope keep;  // an error that the caller is raising
    try {
      write_(PythonLevel(line.level), line.area.c_str(), Text(line.message), Text(line.line));
    } catch (nb::python_error& error) {
      if (error.matches(PyExc_KeyboardInterrupt)) {
        PyErr_SetInterrupt();  // raises KeyboardInterrupt in the program after this call
      } else {
        error.discard_as_unraisable("the log of tensorbraid");
      }
    }
  }

  static nb::object Text(const std::string& text) {
    PyObject* const decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
    if (decoded == nullptr) throw nb::python_error();
    return nb::steal(decoded);
  }

  int LowestLevel(const std::string& area) const {
    try {
      return nb::cast<int>(lowest_(area.c_str()));
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("the log of tensorbraid");
      return PythonLevel(LogLevel::kInfo);
    }
  }

  // A forked process has only the thread that called fork. The lines in the queue belong to the parent.
  void BeginInChild() {
    lines_.clear();
    busy_ = false;
    has_thread_ = false;
    if (passer_ != std::this_thread::get_id()) passer_ = std::thread::id();
    changed_ = new std::condition_variable;  // the old one may have waiters that do not exist in this process
    mu_.unlock();
  }

  std::mutex mu_;
  std::condition_variable* changed_ = new std::condition_variable;
  std::deque<Line> lines_;         // guarded by mu_
  std::thread::id passer_;         // guarded by mu_: the thread that is passing lines on
  bool has_thread_ = false;        // guarded by mu_
  bool ended_ = false;             // guarded by mu_
  std::atomic<bool> busy_{false};  // whether there are lines, or a thread is passing some on
  nb::object write_, lowest_;
  // For lines that go to standard error.
  std::atomic<int> lowest_train_{PythonLevel(LogLevel::kWarning)}, lowest_others_{PythonLevel(LogLevel::kInfo)};
};

// TensorFlow's variable for the lines of its C++ code: how many levels are hidden, from INFO upwards. TENSORBRAID_LOG
// has priority.
void UseTensorFlowsLevel() {
  const char* const hidden = std::getenv("TF_CPP_MIN_LOG_LEVEL");
  if (hidden == nullptr || std::getenv("TENSORBRAID_LOG") != nullptr) return;
  const int levels = std::atoi(hidden);
  if (levels <= 0) return;
  ConfigureLog(std::string(levels == 1 ? "warning" : levels == 2 ? "error" : "off") + ",train=info");
}

}  // namespace

void PassLogLines() { PythonLog::Get().Pass(); }

void BindLog(Module& m) {
  UseTensorFlowsLevel();
  m.def("pass_log_to", [](nb::object write, nb::object lowest) {
    PythonLog::Get().Begin(std::move(write), std::move(lowest));
    // The function that closes the handlers is registered by logging first, so it is called after End.
    nb::module_::import_("logging");
    nb::module_::import_("atexit").attr("register")(nb::cpp_function([] { PythonLog::Get().End(); }));
  });
}

}  // namespace tensorbraid::python
