// The supervised training of TensorFlow 1: one object that starts the session, saves checkpoints and summaries in the
// background, and ends its threads together. New programs may prefer MonitoredTrainingSession
// (train/monitored_session.h), which also recovers from lost tasks and takes hooks.
//
//   tensorbraid::Supervisor supervisor(g, {.is_chief = task.is_chief(), .logdir = "logs",
//                                          .save_model_every = std::chrono::minutes(1)});
//   TF_ASSIGN_OR_RETURN(auto session, supervisor.PrepareOrWaitForSession(server.target()));
//   while (!supervisor.ShouldStop()) TF_RETURN_IF_ERROR(session->Run({train}, feeds).status());
//   return supervisor.Stop();
#ifndef TENSORBRAID_TRAIN_SUPERVISOR_H_
#define TENSORBRAID_TRAIN_SUPERVISOR_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/session/session.h"
#include "tensorbraid/train/coordinator.h"
#include "tensorbraid/train/file_writer.h"
#include "tensorbraid/train/monitored_session.h"
#include "tensorbraid/train/saver.h"

namespace tensorbraid {

// Members of type std::optional have a default. Set them to an invalid Operation or Output for "none".
struct SupervisorOptions {
  // The chief restores or initialises the model, and runs the standard services. The other tasks wait for it.
  bool is_chief = true;
  // Directory of checkpoints and event files, on storage that all tasks share; "": none are written.
  std::string logdir = "";
  // The operation that the chief runs if there is no checkpoint. Default: initialises all global variables.
  std::optional<Operation> init_op = std::nullopt;
  // The operation that every task runs before it uses a session. Default: initialises the local variables.
  std::optional<Operation> local_init_op = std::nullopt;
  // Fed to init_op.
  std::vector<Feed> init_feed = {};
  // Called by the chief after init_op, only if there is no checkpoint in the logdir.
  std::function<Status(Session&)> init_fn = nullptr;
  // A list of the names of what is missing. The model is ready when the list is empty. Default: the variables without a
  // value.
  std::optional<Output> ready_op = std::nullopt;
  // As ready_op, but the condition for running local_init_op, which may read the global variables. Default: the global
  // variables without a value.
  std::optional<Output> ready_for_local_init_op = std::nullopt;
  // Saves and restores the model. Null: a new Saver of all global variables. From PrepareOrWaitForSession to Stop, only
  // the supervisor may use it.
  std::shared_ptr<Saver> saver = nullptr;
  // Default: the global step of the graph, if it has one.
  Variable global_step = {};
  // Time between two checkpoints; 0: none are saved. The first is saved at the start, the last by Stop. If a checkpoint
  // other than the first cannot be written, the error is logged and the training continues.
  std::chrono::milliseconds save_model_every = std::chrono::minutes(10);
  // Time between two saves: those between two checkpoints are increments, which hold what has changed since the save
  // before. 0: none are saved. Needs save_model_every, and a saver with SaverOptions::incremental, which the default
  // is.
  std::chrono::milliseconds save_increment_every{0};
  // Time between two writes of summary_op and of the steps per second; 0: neither is written.
  std::chrono::milliseconds save_summaries_every = std::chrono::minutes(2);
  // A serialized Summary, computed by a thread of the supervisor and therefore without feeds. Default: all summaries of
  // the graph, merged. If the summaries need feeds, set this member to Output() and call SummaryComputed.
  std::optional<Output> summary_op = std::nullopt;
  // Receives the graph, the summaries, and the start and stop of the session. Stop closes it. Null: a new writer for
  // the logdir, on the chief.
  std::shared_ptr<summary::FileWriter> summary_writer = nullptr;
  // How often a waiting task checks whether the model is ready. A check is one small step. After a longer wait, the
  // time between two checks is a quarter of the wait, up to 1 s.
  std::chrono::milliseconds recovery_wait{50};
  // Checkpoints are named "LOGDIR/BASENAME-STEP".
  std::string checkpoint_basename = "model.ckpt";
  // How long Stop waits for services and loops that are at work, before it cancels the steps that they run.
  std::chrono::milliseconds stop_grace = std::chrono::minutes(2);
};

struct PrepareSessionOptions {
  // The options of the session; its `target` is ignored.
  SessionOptions session = {};
  // Whether the chief starts the standard services (see Supervisor::StartStandardServices).
  bool start_standard_services = true;
  // The chief waits until the logdir has a checkpoint, instead of initialising the model.
  bool wait_for_checkpoint = false;
  // How long to wait for the parameter servers and the chief. After that, DeadlineExceeded says what was missing.
  std::chrono::milliseconds max_wait = std::chrono::hours(2);
};

class SupervisedSession;

// Supervises the training of one graph. One thread prepares sessions and stops them; ShouldStop, RequestStop,
// WaitForStop and coordinator may be called by any thread. Source: tf.train.Supervisor.
class Supervisor {
 public:
  // Adds the default operations to the graph and finalizes it: adding a node from now on is a mistake that names the
  // line. Mistakes in the options are recorded in the graph, and PrepareOrWaitForSession returns them. `graph` must
  // outlive the supervisor.
  explicit Supervisor(Graph& graph, SupervisorOptions options = {},
                      std::source_location loc = std::source_location::current());
  // Stops. Logs an error that the caller has not seen.
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Returns a session in which the model is ready. The chief restores the latest checkpoint in the logdir or, if there
  // is none, runs init_op and calls init_fn; then it writes the graph to the logdir, as "graph.pbtxt" and for
  // TensorBoard, and starts the standard services. Other tasks wait for the chief. Blocks until then and logs what it
  // waits for. Restores and initialises even if the variables have values already, as TensorFlow does.
  //
  // Returns the graph's first mistake, if it has one; the error of an initialiser or of init_fn; FailedPrecondition if
  // the model is not ready afterwards, or if a worker's variable has no device; DataLoss as
  // MonitoredTrainingSessionOptions::checkpoint_dir says.
  //
  // If this is called again, for example after a parameter server was lost, it first ends the earlier session and its
  // threads, and forgets an earlier request to stop. The supervisor keeps the session alive until it stops.
  StatusOr<std::shared_ptr<Session>> PrepareOrWaitForSession(const std::string& target = "",
                                                             const PrepareSessionOptions& options = {});
  // As PrepareOrWaitForSession, but the returned object reports failed runs to the supervisor, and stops the supervisor
  // when it is destroyed.
  StatusOr<std::unique_ptr<SupervisedSession>> ManagedSession(const std::string& target = "",
                                                              const PrepareSessionOptions& options = {});

  // Starts the chief's background threads: checkpoints every save_model_every, summaries and the steps per second every
  // save_summaries_every. Each begins at once. If one fails, its error requests a stop. PrepareOrWaitForSession calls
  // this unless start_standard_services is false. FailedPrecondition if this task is not the chief. Without a logdir,
  // logs that there is nothing to do.
  Status StartStandardServices();
  // Starts the threads of queue runners. Stop ends them. REQUIRES: `session` is the one that PrepareOrWaitForSession
  // returned last.
  Status StartQueueRunners(Session& session, const std::vector<QueueRunner>& runners);
  // Calls `fn` on a thread of its own, at once and then once per interval (0: without a pause), until a stop is
  // requested. An error of `fn` requests a stop. FailedPrecondition before the first PrepareOrWaitForSession.
  Status Loop(std::chrono::milliseconds interval, std::function<Status()> fn);

  // Writes a summary that the program computed, at the given step or else at the current global step.
  // FailedPrecondition without a summary writer, which only the chief has by default.
  Status SummaryComputed(const Tensor& summary, std::optional<int64_t> step = std::nullopt);

  // Also true after a signal has asked this process to stop (core/stop.h).
  bool ShouldStop() const;
  // Asks all threads to stop. The first error is kept, and returned by Stop. OutOfRange is not an error: the input has
  // ended.
  void RequestStop(const Status& why = OkStatus());
  // Blocks until a stop is requested, here or by a signal.
  void WaitForStop() const;
  // Requests a stop, waits for services and loops (see stop_grace), saves a last checkpoint if there was no error,
  // closes the session, which ends the queue runners, and joins all threads. Returns the first error of a thread, of
  // RequestStop or of the last checkpoint. Later calls return the same. Must not be called by a thread of Loop.
  Status Stop();

  bool is_chief() const;
  Coordinator& coordinator() const;  // replaced by PrepareOrWaitForSession
  const Variable& global_step() const;
  Saver* saver() const;                         // null if nothing is saved
  std::string save_path() const;                // of checkpoints, without the step; "" without a logdir
  summary::FileWriter* summary_writer() const;  // null before the first session, and without a logdir

 private:
  friend class SupervisedSession;
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

// A session of a Supervisor. When it is destroyed, the supervisor stops. Used by one thread at a time. Source:
// Supervisor.managed_session.
//
//   TF_ASSIGN_OR_RETURN(auto session, supervisor.ManagedSession(server.target()));
//   while (!supervisor.ShouldStop()) TF_RETURN_IF_ERROR(session->Run({train}, feeds).status());
//   return session->Close();
class SupervisedSession {
 public:
  ~SupervisedSession();  // Closes; logs an error that the caller has not seen.
  SupervisedSession(const SupervisedSession&) = delete;
  SupervisedSession& operator=(const SupervisedSession&) = delete;

  // As Session::Run; an error requests a stop. OutOfRange (the input has ended or, in synchronous training, the chief
  // has stopped) ends the training without an error: Run returns OK and invalid tensors, and ShouldStop becomes true.
  // The same happens when a signal asks this process to stop and the step does not end soon (core/stop.h).
  StatusOr<std::vector<Tensor>> Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds = {},
                                    const RunOptions& options = {});
  // Stops the supervisor. Returns the first error of a run or of Supervisor::Stop.
  Status Close();
  Session& session() const { return *session_; }

 private:
  friend class Supervisor;
  SupervisedSession(Supervisor& supervisor, std::shared_ptr<Session> session)
      : supervisor_(supervisor), session_(std::move(session)) {}

  Supervisor& supervisor_;
  const std::shared_ptr<Session> session_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_SUPERVISOR_H_
