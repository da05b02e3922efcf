// Lines are written by threads that may hold locks of the library, and waiting for Python's lock there could deadlock.
// So a line is kept in a queue. It leaves the queue when its thread returns to Python, and otherwise by a thread of
// this file, which serves the threads of the library and calls that take long.
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

// A line of a thread of Python leaves the queue when the thread's call returns, or after this time.
constexpr std::chrono::milliseconds kReturnTime{100};
// Waiting longer for another thread's handlers could be a deadlock: they may need what the waiting thread holds.
constexpr std::chrono::seconds kMaxWaitForHandlers{1};
// If Python does not take lines for so long, the others are written to standard error at once.
constexpr size_t kMaxKeptLines = 10000;

// The levels of Python's logging.
int PythonLevel(LogLevel level) { return 10 * (static_cast<int>(level) + 1); }

// TensorFlow's Python writes the lines of hooks, savers and training sessions; its C++ writes the others.
constexpr std::string_view kArea = "train";

class PythonLog final : public LogSink {
 public:
  // Never destroyed, since threads may write lines until the process has ended.
  static PythonLog& Get() {
    static PythonLog* const log = new PythonLog;
    return *log;
  }

  // Lines go to `write` from now on: (level, area, message, line). `lowest` returns the lowest level for an area.
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

  // As PassLogLines.
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

  // Passes on what there is. Later lines, such as those of objects that Python destroys at the end, go to standard
  // error.
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
        PyErr_SetInterrupt();  // the program gets it after this call
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

  // A forked process has only the thread that has called fork, and the lines are those of its parent.
  void BeginInChild() {
    lines_.clear();
    busy_ = false;
    has_thread_ = false;
    if (passer_ != std::this_thread::get_id()) passer_ = std::thread::id();
    changed_ = new std::condition_variable;  // the old one may count on threads that are gone
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

// TensorFlow's variable for what its C++ writes: the number of levels to hide, INFO first. A level that TENSORBRAID_LOG
// sets has priority.
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
    // The program's handlers are closed by logging's own function, which was registered before and so is called later.
    nb::module_::import_("logging");
    nb::module_::import_("atexit").attr("register")(nb::cpp_function([] { PythonLog::Get().End(); }));
  });
}

}  // namespace tensorbraid::python
