// The training loop: sessions that start themselves, hooks that watch each step, and the threads beside it.
//
//   TF_ASSIGN_OR_RETURN(auto session, tensorbraid::MonitoredTrainingSession(g, {
//       .master = server.target(), .is_chief = task.is_chief(),
//       .hooks = {tensorbraid::StopAtStep(2000), tensorbraid::ShowProgress(loss)}}));
//   while (!session->ShouldStop()) TF_RETURN_IF_ERROR(session->Run({train}, feeds).status());
//   return session->Close();
#ifndef TENSORBRAID_TRAIN_H_
#define TENSORBRAID_TRAIN_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensorbraid/graph.h"
#include "tensorbraid/saver.h"
#include "tensorbraid/session.h"
#include "tensorbraid/variable.h"

namespace tensorbraid {

// Lets threads that work on one thing stop together. Thread-safe.
class Coordinator {
 public:
  Coordinator();
  ~Coordinator();  // Stops and joins.
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // Asks all threads to stop. The first error is kept and is what Join returns; OutOfRange ("the input has ended") is
  // a stop and no error, and so is Cancelled once stopping has begun.
  void RequestStop(const Status& why = OkStatus());
  bool ShouldStop() const;
  // Blocks until somebody asked for a stop.
  void WaitForStop() const;
  // As WaitForStop, for so long at most; whether a stop was asked for.
  bool WaitForStop(std::chrono::steady_clock::duration timeout) const;
  // The error that was kept, OK so far.
  Status status() const;

  // Runs `body` on a new thread that Join waits for. An error it returns asks for a stop.
  void StartThread(std::function<Status()> body);
  // Runs `wake` once when a stop is asked for (now, if it was), on the thread that asks: for waking what waits.
  void OnStop(std::function<void()> wake);
  // Waits for the threads; returns the error kept. REQUIRES: a stop was asked for, or the threads end by themselves.
  Status Join();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

// Runs operations over and over, each on a thread of its own, until told to stop or OutOfRange: what keeps a queue
// filled, or the steps of synchronous training going. A description: copies are alike.
class QueueRunner {
 public:
  QueueRunner() = default;
  // When all threads have come to their end, `close` runs; when a stop is asked for first, `cancel` does, which must
  // wake those who wait. Either may be invalid.
  explicit QueueRunner(std::vector<Operation> enqueue, Operation close = {}, Operation cancel = {})
      : enqueue_(std::move(enqueue)), close_(close), cancel_(cancel) {}

  // REQUIRES: `session` lives until the coordinator's threads are joined.
  Status Start(Session& session, Coordinator& coordinator) const;
  const std::vector<Operation>& enqueue_operations() const { return enqueue_; }

 private:
  std::vector<Operation> enqueue_;
  Operation close_;
  Operation cancel_;
};

// What a hook wants a step to do besides what the user asked for. It costs no run of its own.
struct SessionRunArgs {
  std::vector<Output> fetches = {};
  std::vector<Feed> feeds = {};
  bool global_step = false;  // see SessionRunValues
};

// What came of it.
struct SessionRunValues {
  std::vector<Tensor> results;  // one for each of the hook's fetches
  // After the step when the run trained; otherwise at some moment of it. -1 when not asked for.
  int64_t global_step = -1;
};

// What a hook sees of the run and the session.
class SessionRunContext {
 public:
  SessionRunContext(Session& session, Coordinator& coordinator, std::optional<int64_t> last_step, bool recovers = false)
      : session_(session), coordinator_(coordinator), last_step_(last_step), recovers_(recovers) {}
  Session& session() const { return session_; }
  Coordinator& coordinator() const { return coordinator_; }
  // Where the training will stop, if one of the hooks knows.
  std::optional<int64_t> last_step() const { return last_step_; }
  // Whether the training goes on with another session after this error: a task was lost, and there are checkpoints.
  bool RecoversFrom(const Status& status) const {
    return recovers_ && (absl::IsUnavailable(status) || absl::IsAborted(status));
  }
  // The user's fetches of the current run.
  const std::vector<Fetch>& fetches() const { return *fetches_; }
  // Whether an optimizer's operation is among them. Hooks leave other runs, such as evaluations, alone: those feed
  // other values, or none. True of every run of a graph whose optimizers count no global step.
  bool trains() const { return trains_; }
  void BeginRun(const std::vector<Fetch>* fetches, bool trains) {
    fetches_ = fetches;
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
  bool trains_ = false;
};

// Takes part in every run of a MonitoredSession, in the order Begin, AfterCreateSession, (BeforeRun, AfterRun)*, End.
// Called by one thread at a time.
class SessionRunHook {
 public:
  virtual ~SessionRunHook() = default;
  // The graph may still grow here, and no longer afterwards.
  virtual Status Begin(Graph& graph) { return OkStatus(); }
  // Variables are initialised. Called again, with the new session, when a lost parameter server has made one necessary.
  virtual Status AfterCreateSession(SessionRunContext& context) { return OkStatus(); }
  virtual SessionRunArgs BeforeRun(SessionRunContext& context) { return {}; }
  // Not called for a run that failed. An error stops the training and is what the run returns.
  virtual Status AfterRun(SessionRunContext& context, const SessionRunValues& values) { return OkStatus(); }
  // The session still runs. `status` is how the training ended.
  virtual Status End(SessionRunContext& context, const Status& status) { return OkStatus(); }
  // The global step at which this hook will ask for a stop, if it knows.
  virtual std::optional<int64_t> last_step() const { return std::nullopt; }
};

// Asks for a stop when the global step has come to `last_step`.
std::shared_ptr<SessionRunHook> StopAtStep(int64_t last_step);

struct ShowProgressOptions {
  // Between two lines where standard error is no terminal. On a terminal one line is renewed ten times a second.
  std::chrono::milliseconds interval{2000};
  // Takes the lines instead of standard error.
  std::function<void(const std::string& line)> sink = {};
};
// Writes step, steps per second (of all workers), `loss` (may be left out) and the time left, on standard error. The
// loss is fetched only for the steps that are shown.
std::shared_ptr<SessionRunHook> ShowProgress(Output loss = {}, ShowProgressOptions options = {});

struct LoggingOptions {
  // Every so many runs, or, when 0, after so much time.
  int64_t every_n_steps = 0;
  std::chrono::milliseconds every{10'000};
  // Takes the lines instead of the log.
  std::function<void(const std::string& line)> sink = {};
};
// Logs the values of `tensors`, fetched only when they are logged.
std::shared_ptr<SessionRunHook> LoggingHook(std::vector<std::pair<std::string, Output>> tensors,
                                            LoggingOptions options = {});

struct NanCheckOptions {
  // Asks for a stop instead of failing.
  bool stop_only = false;
};
// Fails the run with InvalidArgument when `loss`, fetched with every run that trains, is not finite.
std::shared_ptr<SessionRunHook> NanCheck(Output loss, NanCheckOptions options = {});

struct StepCounterOptions {
  int64_t every_n_steps = 100;
  // Takes (global step, steps per second) instead of the log.
  std::function<void(int64_t global_step, double steps_per_second)> sink = {};
};
// Reports steps per second.
std::shared_ptr<SessionRunHook> StepCounter(StepCounterOptions options = {});

struct CheckpointSaverOptions {
  // After so much time or so many global steps, whichever comes first; neither: every 600 s.
  std::optional<double> save_secs = std::nullopt;
  std::optional<int64_t> save_steps = std::nullopt;
  // Null: one of all global variables.
  std::shared_ptr<Saver> saver = nullptr;
  std::string basename = "model.ckpt";
};
// Saves to `directory` at the start, as the training goes on, and when it ends without an error. A save that fails
// fails the run. MonitoredTrainingSession adds one to the chief's hooks when it has a checkpoint_dir.
std::shared_ptr<SessionRunHook> CheckpointSaver(std::string directory, CheckpointSaverOptions options = {});

struct MonitoredTrainingSessionOptions {
  // As SessionOptions::target.
  std::string master = "";
  // The chief initialises the variables; the others wait until it has.
  bool is_chief = true;
  std::vector<std::shared_ptr<SessionRunHook>> hooks = {};
  // Where the training's checkpoints are; "": it has none. The chief saves to it (see CheckpointSaver), begins with
  // what is there, and begins again with the last of them when a parameter server has lost its variables: every task
  // that is given the directory then goes on by itself, where it would otherwise fail with Unavailable or Aborted.
  std::string checkpoint_dir = "";
  // As in CheckpointSaverOptions.
  std::optional<double> save_checkpoint_secs = std::nullopt;
  std::optional<int64_t> save_checkpoint_steps = std::nullopt;
  std::shared_ptr<Saver> saver = nullptr;
  // The rest of the session's options; `target` is not looked at.
  SessionOptions session = {};
  // How long to wait for parameter servers and for the chief; then DeadlineExceeded says what was missing.
  std::chrono::milliseconds max_wait = std::chrono::hours(2);
};

// A session that trains. Used by one thread at a time.
class MonitoredSession {
 public:
  ~MonitoredSession();  // Closes; an error that Close would have returned is logged.
  MonitoredSession(const MonitoredSession&) = delete;
  MonitoredSession& operator=(const MonitoredSession&) = delete;

  // True after a hook asked for it, after an error, and when the training has been ended elsewhere.
  bool ShouldStop() const;

  // One Session::Run with what the hooks add; returns a tensor for each fetch, invalid ones for operations.
  // When a queue the step takes from has been closed and is empty (OutOfRange; in synchronous training: the chief has
  // stopped), the training is over: OK comes back, ShouldStop() is true, and tensors are computed once more without the
  // operations among the fetches, invalid where that cannot be.
  StatusOr<std::vector<Tensor>> Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds = {});

  // Ends the hooks, then stops and joins the threads they started. Returns the first error of all: what a Run returned,
  // what a thread met, what a hook's End returned. A later call returns the same.
  Status Close();

  // The session below, without hooks, and the coordinator of its threads. Both until the next Run, which may replace
  // them.
  Session& session() const;
  Coordinator& coordinator() const;

 private:
  friend StatusOr<std::unique_ptr<MonitoredSession>> MonitoredTrainingSession(Graph& graph,
                                                                              MonitoredTrainingSessionOptions options);
  struct Impl;
  explicit MonitoredSession(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Finalizes the graph and makes a session in which all variables are initialised: by this task if it is the chief and
// they are not already (it logs "resuming at step N" when they are), from the last checkpoint if there is one,
// otherwise once the chief has done it. Blocks until then, saying what it waits for. Returns the graph's first mistake,
// if it has one, and the errors of Session::Create.
StatusOr<std::unique_ptr<MonitoredSession>> MonitoredTrainingSession(Graph& graph,
                                                                     MonitoredTrainingSessionOptions options = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_H_
