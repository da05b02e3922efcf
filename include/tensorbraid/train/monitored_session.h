// The training loop: a session that starts and recovers by itself, hooks that observe each step, and background
// threads.
//
//   TF_ASSIGN_OR_RETURN(auto session, tensorbraid::MonitoredTrainingSession(g, {
//       .master = server.target(), .is_chief = task.is_chief(),
//       .hooks = {tensorbraid::StopAtStep(2000), tensorbraid::ShowProgress(loss)}}));
//   while (!session->ShouldStop()) TF_RETURN_IF_ERROR(session->Run({train}, feeds).status());
//   return session->Close();
#ifndef TENSORBRAID_TRAIN_MONITORED_SESSION_H_
#define TENSORBRAID_TRAIN_MONITORED_SESSION_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/core/status.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/session/session.h"
#include "tensorbraid/train/coordinator.h"
#include "tensorbraid/train/hooks.h"
#include "tensorbraid/train/saver.h"

namespace tensorbraid {

struct MonitoredTrainingSessionOptions {
  // The session's target, as in SessionOptions::target.
  std::string master = "";
  // The chief initialises the variables. The other tasks wait until it has done so.
  bool is_chief = true;
  std::vector<std::shared_ptr<SessionRunHook>> hooks = {};
  // Started with the session, before the hooks see the session. Stopped and started again when the session is
  // replaced.
  std::vector<QueueRunner> queue_runners = {};
  // Directory of the training's checkpoints, on storage that all tasks share; "": none. The chief saves to it (see
  // CheckpointSaver) and starts from its latest checkpoint. If the directory names checkpoints that are gone, the start
  // fails with DataLoss. If a parameter server loses its variables, the chief restores them from the latest checkpoint,
  // and every task that was given the directory continues by itself. In a task without the directory, runs then fail
  // with Unavailable or Aborted.
  std::string checkpoint_dir = "";
  // A checkpoint, for example of another training run, from which the chief takes the values of variables when it
  // initialises them, with the increments that follow it; or an increment. "": none. Variables that the checkpoint
  // lacks, or has with another shape or dtype, keep their initial values, and the log lists them. Not used when there
  // is a checkpoint in checkpoint_dir.
  std::string warm_start_from = "";
  // As in CheckpointSaverOptions.
  std::optional<int64_t> save_checkpoint_every_steps = std::nullopt;
  std::optional<std::chrono::milliseconds> save_checkpoint_every = std::nullopt;
  // CheckpointSaverOptions::increment_every. Increments that are in checkpoint_dir already are restored in any case,
  // unless `saver` is given and does not follow them.
  std::optional<std::chrono::milliseconds> save_increment_every = std::nullopt;
  std::shared_ptr<Saver> saver = nullptr;
  // As in SaverOptions, for the saver that is made if `saver` is null. Only the chief's states are saved, so training
  // with one worker resumes from a checkpoint as if it had not been interrupted. If the parameter servers have kept the
  // variables, nothing is restored, and the states start anew.
  bool save_random_state = false;
  // Initializers of the input pipelines' iterators. They run in each new session, after the variables have their
  // values, unless a checkpoint has the states of the iterators.
  std::vector<Operation> input_initializers = {};
  // How the model is made ready, if the defaults do not fit: as in SupervisorOptions, except that by default the model
  // is ready when ready_for_local_init_op is empty and local_init_op has run. The chief runs init_op only if
  // ready_for_local_init_op names something that is missing.
  std::optional<Operation> init_op = std::nullopt;
  std::vector<Feed> init_feed = {};
  std::function<Status(Session&)> init_fn = nullptr;
  std::optional<Operation> local_init_op = std::nullopt;
  std::optional<Output> ready_op = std::nullopt;
  std::optional<Output> ready_for_local_init_op = std::nullopt;
  // If false, the chief starts from the latest checkpoint in checkpoint_dir and saves none there; add a CheckpointSaver
  // to `hooks` if some should be saved.
  bool save_checkpoints = true;
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

  // True after a hook has requested a stop, after Run has returned an error, after another task has ended the training,
  // and after a signal has asked this process to stop (core/stop.h). After an error of a background thread, such as a
  // queue runner, it stays false until Run has returned that error.
  bool ShouldStop() const;

  // Runs the fetches together with what the hooks add, as one Session::Run. Returns one tensor per fetch; operations
  // give an invalid tensor. Blocks until the step has ended, and with a checkpoint_dir until the training has recovered
  // from a lost task. If a background thread fails, the step is cancelled and Run returns the error of the thread.
  //
  // If a queue that the step takes from is closed and empty (OutOfRange; in synchronous training this means that the
  // chief has stopped), the training is over: Run returns OK and ShouldStop() becomes true. The tensors among the
  // fetches are then computed once more without the operations among the fetches; a tensor that cannot be computed is
  // invalid. All tensors are invalid if a signal asked this process to stop and the step did not end soon
  // (core/stop.h).
  //
  // Hooks may add to `options` (SessionRunArgs). If `metadata` is not null, a run that succeeds stores there what the
  // joined options record; what was there before stays if they record nothing.
  StatusOr<std::vector<Tensor>> Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds = {},
                                    const RunOptions& options = {}, RunMetadata* metadata = nullptr);

  // The OutOfRange with which a run has ended the training; OK if none has.
  const Status& end_of_training() const;

  // Requests a stop, ends the hooks, closes the session and joins the background threads. Returns the first error of a
  // Run, of a thread, of a hook's End, or of closing the session. Later calls return the same.
  Status Close();

  // The underlying session. Its runs bypass the hooks. Valid until the next Run, which may replace the session. Do not
  // start queue runners with it, because their threads would outlive the session; use
  // MonitoredTrainingSessionOptions::queue_runners instead.
  Session& session() const;
  // The coordinator of the background threads. Valid until the next Run, like session().
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

#endif  // TENSORBRAID_TRAIN_MONITORED_SESSION_H_
