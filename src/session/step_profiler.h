// Records the steps of a session for `tensorbraid plan`.
#ifndef TENSORBRAID_SESSION_STEP_PROFILER_H_
#define TENSORBRAID_SESSION_STEP_PROFILER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/system/clock.h"
#include "core/threads/mutex.h"
#include "session/backend.h"

namespace tensorbraid {

// If the environment variable TENSORBRAID_STEP_PROFILE names a directory, every session of the process has a profiler.
// Of each run signature (the same feeds, fetches and targets) it first times some steps and then traces some. It writes
// for signature N:
//
//   step-N.graph.pb     the graph of the session, as a GraphDef
//   step-N.trace-K.pb   traced step K, as a RunMetadata
//   step-N.json         what the step feeds (with shapes), fetches and runs; times in ms, means: "run_ms" of a run,
//                       "interval_ms" from the start of one to the start of the next, both without intervals of more
//                       than ten times the median, such as one in which a checkpoint was saved; "cpu_ms" of the process
//                       in that time, "server_cpu_ms" of all parameter servers (0: not known), and the parts of both in
//                       which threads polled, "polling_ms" and "server_polling_ms"; "traces", their number. It is
//                       written last, under its name at once.
//
//                       "interval_sigma" is the standard deviation of the logarithm of an interval, without outliers
//
// Of steps that take long, fewer are timed and traced. Signatures that run fewer times are not written. If a file
// cannot be written, the log says so, and the profiler does nothing more. Thread-safe.
class StepProfiler {
 public:
  static constexpr char kVariable[] = "TENSORBRAID_STEP_PROFILE";
  // A stage ends when it has `steps` and has lasted for `time`, or has lasted for kStageTime and has `least` steps.
  // Processor time is counted in milliseconds, so short steps are timed for longer.
  struct Stage {
    int steps, least;
    std::chrono::milliseconds time;
  };
  static constexpr Stage kWarmUp = {10, 2, std::chrono::milliseconds(100)};
  static constexpr Stage kTimed = {40, 8, std::chrono::milliseconds(1000)};
  static constexpr Stage kTraced = {10, 3, std::chrono::milliseconds(0)};
  static constexpr std::chrono::seconds kStageTime{3};

  // Null if the environment variable is not set.
  static std::unique_ptr<StepProfiler> FromEnvironment();
  explicit StepProfiler(std::string directory) : directory_(std::move(directory)) {}

  using Run = std::function<StatusOr<std::vector<Tensor>>(SessionBackend::Recording* recording)>;
  using CpuTime = SessionBackend::CpuTime;
  // The processor time of each task (SessionBackend::TaskCpuTimes).
  using CpuTimes = std::function<std::map<std::string, CpuTime>()>;
  // Makes a step by `run`, with a recording if the step is traced. Returns what `run` returns. Blocks in `cpu_times`
  // twice for each signature.
  StatusOr<std::vector<Tensor>> Step(const Graph& graph, const RunSignature& signature,
                                     const std::vector<Tensor>& feeds, const Run& run, const CpuTimes& cpu_times);

 private:
  struct Signature {
    int number = 0;
    int stage = 0;  // of warm-up, timed, traced; 3: done
    int steps = 0;  // of this stage
    MonotonicClock::time_point stage_start;
    bool given_up = false;  // a step failed, or steps overlapped
    bool running = false;
    std::vector<MonotonicClock::time_point> starts;
    std::vector<double> run_ms;
    CpuTime own_before, own;  // of this process; `own` and `servers` are the time of one step
    std::map<std::string, CpuTime> servers_before;
    CpuTime servers;
    std::vector<std::string> traces;
  };
  static bool StageIsOver(const Signature& signature);
  // Goes on to the next stage if this one is over, and notes the time.
  static void BeginStep(Signature* signature, const CpuTimes& cpu_times);
  Status Write(const Graph& graph, const RunSignature& signature, const std::vector<Tensor>& feeds,
               const Signature& profile);

  const std::string directory_;
  Mutex mu_;
  std::map<std::string, Signature> signatures_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_SESSION_STEP_PROFILER_H_
