// The training loop: a session that starts and recovers by itself, hooks that observe each step, and background
// threads.
//
//   TF_ASSIGN_OR_RETURN(auto session, tensorbraid::MonitoredTrainingSession(g, {
//       .master = server.target(), .is_chief = task.is_chief(),
//       .hooks = {tensorbraid::StopAtStep(2000), tensorbraid::ShowProgress(loss)}}));
//   while (!session->ShouldStop()) TF_RETURN_IF_ERROR(session->Run({train}, feeds).status());
//   return session->Close();
#ifndef TENSORBRAID_TRAIN_TRAIN_H_
#define TENSORBRAID_TRAIN_TRAIN_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/session/session.h"
#include "tensorbraid/train/saver.h"

namespace tensorbraid {

namespace summary {
class FileWriter;  // summary.h
}

// Lets cooperating threads stop together. Thread-safe.
class Coordinator {
 public:
  Coordinator();
  ~Coordinator();  // Requests a stop and joins the threads.
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // Asks all threads to stop. The first error is kept and returned by Join. OutOfRange ("the input has ended") requests
  // a stop but is no error, and neither is Cancelled once a stop has been requested.
  void RequestStop(const Status& why = OkStatus());
  bool ShouldStop() const;
  // Blocks until a stop is requested.
  void WaitForStop() const;
  // Blocks until a stop is requested, for at most `timeout`. Returns whether a stop was requested.
  bool WaitForStop(std::chrono::steady_clock::duration timeout) const;
  // The first error so far, or OK.
  Status status() const;

  // Runs `body` on a new thread, for which Join waits. If it returns an error, that error requests a stop.
  void StartThread(std::function<Status()> body);
  // Calls `wake` once when a stop is requested, on the requesting thread; at once if a stop was requested before. Use
  // it to wake threads that wait for something else.
  void OnStop(std::function<void()> wake);
  // Blocks until all threads have ended; returns the first error. REQUIRES: a stop was requested, or the threads end by
  // themselves.
  Status Join();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

// Runs each of several operations repeatedly on a thread of its own, until a stop is requested or the operation fails
// with OutOfRange. Used to keep a queue filled, or to run the chief's part of synchronous training. Holds only the
// description; copies are equivalent.
class QueueRunner {
 public:
  QueueRunner() = default;
  // `close` runs when all threads have ended by themselves. `cancel` runs when a stop is requested before that, and
  // must wake threads that wait in `enqueue`. Either may be invalid.
  explicit QueueRunner(std::vector<Operation> enqueue, Operation close = {}, Operation cancel = {})
      : enqueue_(std::move(enqueue)), close_(close), cancel_(cancel) {}

  // Starts the threads and returns. In a MonitoredSession, use MonitoredTrainingSessionOptions::queue_runners instead.
  // InvalidArgument if an operation is not valid. REQUIRES: `session` lives until the coordinator's threads are joined.
  Status Start(Session& session, Coordinator& coordinator) const;
  const std::vector<Operation>& enqueue_operations() const { return enqueue_; }

 private:
  std::vector<Operation> enqueue_;
  Operation close_;
  Operation cancel_;
};

// The fetches and feeds that a hook adds to a run. They become part of the user's run and do not cause an additional
// run.
struct SessionRunArgs {
  std::vector<Fetch> fetches = {};
  std::vector<Feed> feeds = {};
  bool global_step = false;  // see SessionRunValues
};

// The results of the fetches that a hook added to a run.
struct SessionRunValues {
  std::vector<Tensor> results;  // one for each of the hook's fetches; invalid for operations
  // The global step. If the run trained, the value after the step; otherwise a value read at some time during the run.
  // -1 if SessionRunArgs::global_step was false.
  int64_t global_step = -1;
};

// The run and the session, as passed to hooks.
class SessionRunContext {
 public:
  SessionRunContext(Session& session, Coordinator& coordinator, std::optional<int64_t> last_step, bool recovers = false)
      : session_(session), coordinator_(coordinator), last_step_(last_step), recovers_(recovers) {}
  Session& session() const { return session_; }
  Coordinator& coordinator() const { return coordinator_; }
  // The global step at which the training will stop, if a hook knows it.
  std::optional<int64_t> last_step() const { return last_step_; }
  // Whether the training will continue with another session after this error: a task was lost, and there are
  // checkpoints.
  bool RecoversFrom(const Status& status) const {
    return recovers_ && (absl::IsUnavailable(status) || absl::IsAborted(status));
  }
  // The user's fetches of the current run.
  const std::vector<Fetch>& fetches() const { return *fetches_; }
  // Whether the current run executes `op`: it is one of the user's fetches, or they depend on it. Operations that only
  // hooks fetch do not count.
  bool Runs(const Operation& op) const;
  // Whether the current run trains: it executes an optimizer's operation, or one that changes the global step. Hooks
  // should add nothing to other runs, such as evaluations, which feed other values or none. Always true in a graph that
  // has no such operation.
  bool trains() const { return trains_; }
  // For MonitoredSession. `executed` has an element for each node of the graph, by node id.
  void BeginRun(const std::vector<Fetch>* fetches, const std::vector<bool>* executed, bool trains) {
    fetches_ = fetches;
    executed_ = executed;
    trains_ = trains;
  }
  // Makes ShouldStop() true.
  void RequestStop() { coordinator_.RequestStop(); }

 private:
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

// Requests a stop when the global step reaches `last_step`. FailedPrecondition when the session is created if no
// optimizer was given the global step.
std::shared_ptr<SessionRunHook> StopAtStep(int64_t last_step);

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
  // The number of runs between two logged runs; if 0, logs after every interval `every`.
  int64_t every_n_steps = 0;
  std::chrono::milliseconds every{10'000};
  // Receives the lines instead of the log.
  std::function<void(const std::string& line)> sink = {};
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
  // The floating tensors to check; empty: all of the graph. Tensors in loops and in the branches of conditionals cannot
  // be checked, but the results of loops and conditionals can.
  std::vector<Output> tensors = {};
};
// Finds the operation that makes the first NaN or infinity: fails a run that trains with InvalidArgument, which names
// the operation, the tensor and the line of the program that added the operation. A tensor is checked after all tensors
// that it depends on, so the error names a cause and not a consequence. Checks the tensors that the user's fetches
// depend on, each on the device where it is made. The variables may have been updated before a check fails. This hook
// is for finding a mistake: it makes steps slower, because every tensor is read once more, and operations that are
// otherwise merged run one by one. Feed placeholders only: the operations from which another fed tensor would be
// computed run and are checked, too. Source: tf.add_check_numerics_ops.
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
  // Saves after so many global steps or after this time, whichever comes first. If neither is set: every 100 steps.
  std::optional<int64_t> every_n_steps = std::nullopt;
  std::optional<std::chrono::milliseconds> every = std::nullopt;
  // The summaries to save. Default: all summaries of the graph, merged (summary::MergeAll).
  Output summary_op = {};
  // Receives the summaries. Null: a new FileWriter for the directory.
  std::shared_ptr<summary::FileWriter> writer = nullptr;
};
// Writes the graph once, and summaries of runs that train: of the first such run, and then regularly. They are computed
// as part of the user's run. `directory` is not used if a writer is given. MonitoredTrainingSession adds this hook on
// the chief if it has a summary_dir.
std::shared_ptr<SessionRunHook> SummarySaver(std::string directory, SummarySaverOptions options = {});

struct CheckpointSaverOptions {
  // Saves after so many global steps or after this time, whichever comes first. If neither is set: every 10 minutes.
  std::optional<int64_t> every_n_steps = std::nullopt;
  std::optional<std::chrono::milliseconds> every = std::nullopt;
  // Null: a new Saver of all global variables.
  std::shared_ptr<Saver> saver = nullptr;
  std::string basename = "model.ckpt";
};
// Saves a checkpoint to `directory` at the start, regularly during the training, and at the end if there was no error.
// If files cannot be written, the error is logged, the training continues, and the next checkpoint is due at the usual
// time. There are two exceptions: the start fails if `directory` has no checkpoint yet, and MonitoredSession::Close
// returns the error of the last save. MonitoredTrainingSession adds this hook on the chief if it has a checkpoint_dir.
std::shared_ptr<SessionRunHook> CheckpointSaver(std::string directory, CheckpointSaverOptions options = {});

struct MonitoredTrainingSessionOptions {
  // The session's target, as in SessionOptions::target.
  std::string master = "";
  // The chief initialises the variables. The other tasks wait until it has done so.
  bool is_chief = true;
  std::vector<std::shared_ptr<SessionRunHook>> hooks = {};
  // Started with the session, before the hooks see it; stopped and started again when the session is replaced.
  std::vector<QueueRunner> queue_runners = {};
  // Directory of the training's checkpoints, on storage that all tasks share; "": none. The chief saves to it (see
  // CheckpointSaver) and starts from its latest checkpoint. If the directory names checkpoints that are gone, the start
  // fails with DataLoss. If a parameter server loses its variables, the chief restores them from the latest checkpoint,
  // and every task that was given the directory continues by itself; without the directory its runs fail with
  // Unavailable or Aborted.
  std::string checkpoint_dir = "";
  // A checkpoint, for example of another training, from which the chief takes the values of variables when it
  // initialises them; "": none. Variables that it does not have, or has with another shape or dtype, keep their initial
  // values, and the log lists them. Not used when there is a checkpoint in checkpoint_dir.
  std::string warm_start_from = "";
  // As in CheckpointSaverOptions.
  std::optional<int64_t> save_checkpoint_every_steps = std::nullopt;
  std::optional<std::chrono::milliseconds> save_checkpoint_every = std::nullopt;
  std::shared_ptr<Saver> saver = nullptr;
  // Directory of event files, which TensorBoard reads; "": none. The chief writes the graph, its summaries (see
  // SummarySaver) and the steps per second to it.
  std::string summary_dir = "";
  // As in SummarySaverOptions.
  std::optional<int64_t> save_summaries_every_steps = std::nullopt;
  std::optional<std::chrono::milliseconds> save_summaries_every = std::nullopt;
  // The other options of the session; its `target` is ignored.
  SessionOptions session = {};
  // How long to wait for the parameter servers and the chief. After that, DeadlineExceeded says what was missing.
  std::chrono::milliseconds max_wait = std::chrono::hours(2);
};

// A session that trains. Used by one thread at a time.
class MonitoredSession {
 public:
  ~MonitoredSession();  // Closes; logs an error that the caller has not seen.
  MonitoredSession(const MonitoredSession&) = delete;
  MonitoredSession& operator=(const MonitoredSession&) = delete;

  // True after a hook has requested a stop, after Run has returned an error, when the training was ended by another
  // task, and after a signal has asked this process to stop (stop.h). After an error of a background thread, such as a
  // queue runner, it stays false until Run has returned that error.
  bool ShouldStop() const;

  // Runs the fetches together with what the hooks add, as one Session::Run. Returns one tensor per fetch; operations
  // give an invalid tensor. Blocks until the step has ended, and with a checkpoint_dir until the training has recovered
  // from a lost task. If a background thread fails, the step is cancelled and Run returns the error of the thread.
  //
  // If a queue that the step takes from is closed and empty (OutOfRange; in synchronous training this means that the
  // chief has stopped), the training is over: Run returns OK and ShouldStop() becomes true. The tensors among the
  // fetches are then computed once more without the operations among the fetches; a tensor that cannot be computed is
  // invalid. All tensors are invalid if a signal asked this process to stop and the step did not end soon (stop.h).
  StatusOr<std::vector<Tensor>> Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds = {});

  // Requests a stop, ends the hooks, closes the session and joins the background threads. Returns the first error of a
  // Run, of a thread, of a hook's End, or of closing the session. Later calls return the same.
  Status Close();

  // The underlying session, whose runs bypass the hooks, and the coordinator of the background threads. Both are valid
  // until the next Run, which may replace them. Do not start queue runners with them, because the threads would outlive
  // the session; use MonitoredTrainingSessionOptions::queue_runners instead.
  Session& session() const;
  Coordinator& coordinator() const;

 private:
  friend StatusOr<std::unique_ptr<MonitoredSession>> MonitoredTrainingSession(Graph& graph,
                                                                              MonitoredTrainingSessionOptions options,
                                                                              std::source_location loc);
  struct Impl;
  explicit MonitoredSession(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Finalizes the graph and creates a session in which all variables are initialised. The chief restores the latest
// checkpoint or, if there is none, runs the initialisers; if the variables are initialised already, it keeps their
// values and logs "resuming at step N". Other workers wait for the chief. Blocks until then and logs what it waits for.
// Returns the graph's first mistake, if it has one, and the errors of Session::Create.
StatusOr<std::unique_ptr<MonitoredSession>> MonitoredTrainingSession(
    Graph& graph, MonitoredTrainingSessionOptions options = {},
    std::source_location loc = std::source_location::current());

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_TRAIN_H_
