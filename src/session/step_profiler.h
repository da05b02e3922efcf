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
// Of each run signature (the same feeds, fetches and targets) it first traces some steps and then times some. It writes
// for signature N:
//
//   step-N.graph.pb     the graph of the session, as a GraphDef
//   step-N.trace-K.pb   traced step K, as a RunMetadata
//   step-N.json         what the step feeds (with shapes), fetches and runs; times in ms, means: "run_ms" of a run,
//                       "interval_ms" from the start of one to the start of the next, both without intervals of more
//                       than ten times the median, such as one in which a checkpoint was saved; "cpu_ms" of the process
//                       in that time, "server_cpu_ms" of all parameter servers (0: not known), and the parts of both in
//                       which threads polled, "polling_ms" and "server_polling_ms"; "traces", their number; "local",
//                       whether the session has no cluster. It is written last, under its name at once.
//
//                       "interval_sigma" is the standard deviation of the logarithm of an interval, without outliers.
//                       "interval_parts_ms" are the means of kParts equal parts of the intervals, one after the other.
//
// Of steps that take long, fewer are timed and traced. If a session is closed while a signature is timed, the steps so
// far count. Signatures that run fewer times are not written. If a file cannot be written, the log says so, and the
// profiler does nothing more. Thread-safe.
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
  static constexpr size_t kParts = 4;

  // Null if the environment variable is not set. `local`: the session has no cluster.
  static std::unique_ptr<StepProfiler> FromEnvironment(bool local);
  StepProfiler(std::string directory, bool local) : directory_(std::move(directory)), local_(local) {}

  using Run = std::function<StatusOr<std::vector<Tensor>>(SessionBackend::Recording* recording)>;
  using CpuTime = SessionBackend::CpuTime;
  // The processor time of each task (SessionBackend::TaskCpuTimes).
  using CpuTimes = std::function<std::map<std::string, CpuTime>()>;
  // Makes a step by `run`, with a recording if the step is traced. Returns what `run` returns. Blocks in `cpu_times`
  // twice for each signature.
  StatusOr<std::vector<Tensor>> Step(const Graph& graph, const RunSignature& signature,
                                     const std::vector<Tensor>& feeds, const Run& run, const CpuTimes& cpu_times);
  // Before the session is closed: writes the signatures of which enough steps have been timed. Blocks in `cpu_times`.
  void Finish(const Graph& graph, const CpuTimes& cpu_times);

 private:
  enum StageNumber { kWarmingUp, kTracing, kTiming, kDone };
  struct Signature {
    int number = 0;
    int stage = kWarmingUp;
    int steps = 0;  // of this stage
    MonotonicClock::time_point stage_start;
    bool given_up = false;  // a step failed, or steps overlapped
    bool running = false;
    std::vector<MonotonicClock::time_point> starts;
    std::vector<double> run_ms;
    RunSignature fed;  // of the first step, with its feeds
    std::vector<Shape> feed_shapes;
    // How many steps had been timed when `own_then` was read, since a program may do something else before it closes
    // its session.
    int counted_steps = 0;
    CpuTime own_then;
    CpuTime own_before, own;  // of this process; `own` and `servers` are the time of one step
    std::map<std::string, CpuTime> servers_before;
    CpuTime servers;
    std::vector<std::string> traces;
  };
  static bool StageIsOver(const Signature& signature);
  // Goes on to the next stage if this one is over, and notes the time.
  static void BeginStep(Signature* signature, const CpuTimes& cpu_times);
  // The timed steps are over: writes the signature.
  void EndTiming(const Graph& graph, const CpuTimes& cpu_times, Signature* signature);
  Status Write(const Graph& graph, const Signature& profile);

  const std::string directory_;
  const bool local_;
  Mutex mu_;
  std::map<std::string, Signature> signatures_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_SESSION_STEP_PROFILER_H_
