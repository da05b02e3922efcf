// Hooks: code that runs before and after the steps of a training session.
#ifndef TENSORBRAID_TRAIN_HOOKS_H_
#define TENSORBRAID_TRAIN_HOOKS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "tensorbraid/core/status.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/session/session.h"
#include "tensorbraid/train/coordinator.h"
#include "tensorbraid/train/saver.h"

namespace tensorbraid {

namespace summary {
class FileWriter;  // train/file_writer.h
}

// What a hook adds to a run. Fetches and feeds become part of the user's run and do not cause an additional run.
struct SessionRunArgs {
  std::vector<Fetch> fetches = {};
  std::vector<Feed> feeds = {};
  bool global_step = false;  // see SessionRunValues
  // Joined with the options of the user and of the other hooks: the run has the longest of the timeouts and the highest
  // of the trace levels, and outputs partition graphs if one of them says so. Source: tf.train.SessionRunArgs.
  RunOptions options = {};
};

// The results of what a hook added to a run.
struct SessionRunValues {
  std::vector<Tensor> results;  // one for each of the hook's fetches; invalid for operations
  // The global step. If the run trained, the value after the step; otherwise a value read at some time during the run.
  // -1 if SessionRunArgs::global_step was false.
  int64_t global_step = -1;
  RunOptions options = {};  // those with which the run was made
  // What `options` record; null if they record nothing. All hooks of the run share it.
  std::shared_ptr<const RunMetadata> metadata = nullptr;
};

// The current run and its session, as passed to hooks.
class SessionRunContext {
 public:
  Session& session() const { return session_; }
  Coordinator& coordinator() const { return coordinator_; }
  // The global step at which the training will stop, if a hook knows it.
  std::optional<int64_t> last_step() const { return last_step_; }
  // Whether the training will continue with another session after this error. It does so if a task was lost and there
  // are checkpoints.
  bool RecoversFrom(const Status& status) const {
    return recovers_ && (absl::IsUnavailable(status) || absl::IsAborted(status));
  }
  // The user's fetches of the current run.
  const std::vector<Fetch>& fetches() const { return *fetches_; }
  // Whether the current run executes `op`: it is one of the user's fetches, or they depend on it. Operations that only
  // hooks fetch are not considered.
  bool Runs(const Operation& op) const;
  // Whether the current run trains: it executes an optimizer's operation, or one that changes the global step. Hooks
  // should add nothing to other runs, such as evaluations, which feed other values or none. Always true in a graph that
  // has no such operation.
  bool trains() const { return trains_; }
  // Makes ShouldStop() true.
  void RequestStop() { coordinator_.RequestStop(); }

 private:
  friend class MonitoredSession;
  SessionRunContext(Session& session, Coordinator& coordinator, std::optional<int64_t> last_step, bool recovers)
      : session_(session), coordinator_(coordinator), last_step_(last_step), recovers_(recovers) {}
  // `executed` has an element for each node of the graph, in order of node id.
  void BeginRun(const std::vector<Fetch>* fetches, const std::vector<bool>* executed, bool trains) {
    fetches_ = fetches;
    executed_ = executed;
    trains_ = trains;
  }

  Session& session_;
  Coordinator& coordinator_;
  const std::optional<int64_t> last_step_;
  const bool recovers_;
  const std::vector<Fetch>* fetches_ = nullptr;
  const std::vector<bool>* executed_ = nullptr;
  bool trains_ = false;
};

// Takes part in every run of a MonitoredSession. The calls come in the order Begin, AfterCreateSession, (BeforeRun,
// AfterRun)*, End, and never from two threads at a time.
class SessionRunHook {
 public:
  virtual ~SessionRunHook() = default;
  // Called before the session exists. Nodes can be added to the graph here, and no longer afterwards.
  virtual Status Begin(Graph& /*graph*/) { return OkStatus(); }
  // Called when all variables are initialised, and again with the new session when the session had to be replaced after
  // the loss of a task.
  virtual Status AfterCreateSession(SessionRunContext& /*context*/) { return OkStatus(); }
  virtual SessionRunArgs BeforeRun(SessionRunContext& /*context*/) { return {}; }
  // Not called after a run that failed. An error ends the training and is returned by the run.
  virtual Status AfterRun(SessionRunContext& /*context*/, const SessionRunValues& /*values*/) { return OkStatus(); }
  // Called before the session is closed. `status` says how the training ended.
  virtual Status End(SessionRunContext& /*context*/, const Status& /*status*/) { return OkStatus(); }
  // The global step at which this hook will request a stop, if it knows.
  virtual std::optional<int64_t> last_step() const { return std::nullopt; }
};

// Requests a stop when the global step reaches `last_step`. If no optimizer was given the global step, creating the
// session fails with FailedPrecondition.
std::shared_ptr<SessionRunHook> StopAtStep(int64_t last_step);
// Requests a stop when the global step has grown by `num_steps`, which is positive, since the session was created.
// Needs a global step, as StopAtStep does. Source: tf.train.StopAtStepHook with num_steps.
std::shared_ptr<SessionRunHook> StopAfterSteps(int64_t num_steps);
// Delays this worker's first run that trains until the global step is at least `step`, or a stop is requested, so that
// workers can start one after the other. Needs a global step. Source: tf.train.GlobalStepWaiterHook.
std::shared_ptr<SessionRunHook> WaitForStep(int64_t step);

struct ShowProgressOptions {
  // Time between two lines if standard error is not a terminal. On a terminal one line is updated ten times a second.
  std::chrono::milliseconds interval{2000};
  // Receives the lines instead of standard error.
  std::function<void(const std::string& line)> sink = {};
};
// Writes the step, the steps per second (of all workers), the value of `loss` (optional) and the time left to standard
// error. The loss is fetched in every run, so that the last line shows the loss of the last run.
std::shared_ptr<SessionRunHook> ShowProgress(Output loss = {}, ShowProgressOptions options = {});

struct LoggingOptions {
  // The number of runs between two logged runs; if 0, logs after every interval `every`; if negative, logs no runs.
  int64_t every_n_steps = 0;
  std::chrono::milliseconds every{10'000};
  // Also logs the values at the end of a training without an error, in a step that runs nothing else.
  bool at_end = false;
  // Receives the lines instead of the log.
  std::function<void(const std::string& line)> sink = {};
  // Makes the line from the names and values, in the order of `tensors`, if the default does not fit.
  std::function<StatusOr<std::string>(const std::vector<std::pair<std::string, Tensor>>& values)> format = {};
};
// Logs the values of `tensors`, which are fetched only in the runs that are logged.
std::shared_ptr<SessionRunHook> LoggingHook(std::vector<std::pair<std::string, Output>> tensors,
                                            LoggingOptions options = {});

struct NanCheckOptions {
  // Logs a warning and requests a stop instead of failing the run.
  bool stop_only = false;
};
// Fails the run with InvalidArgument when `loss` is not finite. The loss is fetched in every run that trains.
std::shared_ptr<SessionRunHook> NanCheck(Output loss, NanCheckOptions options = {});

struct CheckNumericsOptions {
  // The floating tensors to check; empty: all floating tensors of the graph. Tensors in loops and in the branches of
  // conditionals cannot be checked, but the results of loops and conditionals can.
  std::vector<Output> tensors = {};
};
// Finds the operation that makes the first NaN or infinity in a run that trains. The run then fails with
// InvalidArgument, and the message names the operation, the tensor and the line of the program that added the
// operation. A tensor is checked after all tensors that it depends on, so the error names a cause and not a
// consequence. Checks the tensors that the user's fetches depend on, each on the device where it is made. The variables
// may have been updated before a check fails. Use this hook only to find the cause of such values: it makes steps
// slower, because every tensor is read once more, and operations that are otherwise merged run one by one. Feed
// placeholders only: if another tensor is fed, the operations that would compute it run all the same and are checked,
// too. Source: tf.add_check_numerics_ops.
std::shared_ptr<SessionRunHook> CheckNumericsHook(CheckNumericsOptions options = {});

struct StepCounterOptions {
  // The number of global steps between two reports; if 0, reports after the time `every`.
  int64_t every_n_steps = 100;
  std::chrono::milliseconds every{10'000};
  // Receives (global step, steps per second) instead of the log.
  std::function<void(int64_t global_step, double steps_per_second)> sink = {};
  // Receives the scalar "global_step/sec" instead of the log.
  std::shared_ptr<summary::FileWriter> writer = nullptr;
};
// Reports the steps per second of all workers together.
std::shared_ptr<SessionRunHook> StepCounter(StepCounterOptions options = {});

struct SummarySaverOptions {
  // Saves when so many global steps have passed since the last save.
  std::optional<int64_t> every_n_steps = std::nullopt;
  // Saves when this time has passed since the last save. If both are set, whichever comes first; if neither is set:
  // every 100 steps.
  std::optional<std::chrono::milliseconds> every = std::nullopt;
  // The summaries to save. Default: all summaries of the graph, merged (summary::MergeAll).
  Output summary_op = {};
  // Receives the summaries. Null: a new FileWriter for the directory.
  std::shared_ptr<summary::FileWriter> writer = nullptr;
};
// Writes the graph once, and summaries of runs that train: of the first such run, and then regularly. The summaries are
// computed as part of the user's run. `directory` is not used if a writer is given. MonitoredTrainingSession adds this
// hook on the chief if it has a summary_dir.
std::shared_ptr<SessionRunHook> SummarySaver(std::string directory, SummarySaverOptions options = {});

struct ProfilerOptions {
  // Records a run when so many global steps have passed since the last record.
  std::optional<int64_t> every_n_steps = std::nullopt;
  // Records a run when this time has passed since the last record. If both are set, whichever comes first; if neither
  // is set: every 100 steps.
  std::optional<std::chrono::milliseconds> every = std::nullopt;
  ChromeTraceOptions trace = {};
};
// Records when and where each node of a run ran, for chrome://tracing and ui.perfetto.dev. Of the runs that train, the
// first is not recorded, because it prepares the step; later ones are, regularly. The record of the run that makes step
// 200 is written to "timeline-200.json" in `directory`, which is created if it does not exist; "": the present
// directory. TensorBoard shows it, as "step_200", from an event file that the hook writes there. A recorded run is
// slower than others. Needs a global step: without one, creating the session fails with FailedPrecondition; so it does
// with InvalidArgument if every_n_steps is not positive or `every` is negative. A run whose record cannot be written
// fails. Source: tf.train.ProfilerHook.
std::shared_ptr<SessionRunHook> ProfilerHook(std::string directory, ProfilerOptions options = {});

struct CheckpointSaverOptions {
  // Saves when so many global steps have passed since the last save.
  std::optional<int64_t> every_n_steps = std::nullopt;
  // Saves when this time has passed since the last save. If both are set, whichever comes first; if neither is set:
  // every 10 minutes.
  std::optional<std::chrono::milliseconds> every = std::nullopt;
  // Saves an increment (Saver::SaveIncrement) when this time has passed since the last save of either kind. A saver of
  // your own then needs SaverOptions::incremental.
  std::optional<std::chrono::milliseconds> increment_every = std::nullopt;
  // Null: a new Saver of all global variables.
  std::shared_ptr<Saver> saver = nullptr;
  std::string basename = "model.ckpt";
  // Whether to write the graph beside each checkpoint.
  bool write_meta_graph = true;
  // Called before a full checkpoint is written, and after it was written, with its global step. An error ends the
  // training.
  // `after_save` may request a stop.
  std::function<Status(SessionRunContext& context, int64_t global_step)> before_save = {};
  std::function<Status(SessionRunContext& context, int64_t global_step)> after_save = {};
};
// Saves a checkpoint to `directory` at the start, regularly during the training, and at the end if there was no error.
// If files cannot be written, the error is logged, the training continues, and the next checkpoint is due at the usual
// time. There are two exceptions: the start fails if `directory` has no checkpoint yet, and MonitoredSession::Close
// returns the error of the last save. MonitoredTrainingSession adds this hook on the chief if it has a checkpoint_dir.
std::shared_ptr<SessionRunHook> CheckpointSaver(std::string directory, CheckpointSaverOptions options = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_HOOKS_H_
