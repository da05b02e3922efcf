// Creates sessions that are ready for training.
#ifndef TENSORBRAID_TRAIN_SESSIONS_SESSION_MANAGER_H_
#define TENSORBRAID_TRAIN_SESSIONS_SESSION_MANAGER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tensorbraid/session/session.h"

namespace tensorbraid {

// The operations that initialise a graph's variables and report which are not initialised.
struct SetupOps {
  Operation init;          // of all global variables
  Operation local_init;    // of the local ones
  Output not_initialized;  // names of global variables without a value
  Output global_step;      // invalid when the graph has none

  // Adds the operations, or finds those that an earlier call has added (the graph may be finalized by now).
  static StatusOr<SetupOps> AddTo(Graph& graph);
};

// Sets the variables to the values of earlier training. Returns false if there are none.
using RestoreFn = std::function<StatusOr<bool>(Session&)>;

struct SessionManagerOptions {
  // How the chief makes the model ready: it restores the model; if there is nothing to restore, it runs `init` with
  // `init_feed` and then calls `init_fn`. Each of the three may be missing.
  RestoreFn restore = nullptr;
  Operation init = {};
  std::vector<Feed> init_feed = {};
  std::function<Status(Session&)> init_fn = nullptr;
  // The chief waits until `restore` finds something, instead of initialising.
  bool wait_for_checkpoint = false;
  // If the variables have values already, because other tasks train or earlier training left them, the chief keeps
  // these values.
  bool keep_values = false;

  // Every task runs `local_init` (if valid) once `ready_for_local_init` is empty, and uses the session once `ready` is
  // empty. Both are lists of names of what is missing; if one is invalid, there is nothing to wait for. In synchronous
  // training, every task then sets up its replica (see replica_setup.h).
  Output ready_for_local_init = {};
  Operation local_init = {};
  Output ready = {};

  // For the log; may be invalid.
  Output global_step = {};
  // Time between two attempts. After a longer wait it is a quarter of the wait, up to 1 s. The default reacts quickly
  // and uses almost no processor time.
  std::chrono::milliseconds recovery_wait{50};
  // How long to try. After that, DeadlineExceeded says what was missing.
  std::chrono::milliseconds max_wait = std::chrono::hours(2);
};

// Creates sessions of one graph. PrepareSession and WaitForSession try again while tasks cannot be reached or have been
// restarted, and log what they wait for. Other errors, such as that of a failing initialiser, are returned at once.
// Used by one thread. Source: tf.train.SessionManager.
class SessionManager {
 public:
  SessionManager(Graph& graph, SessionManagerOptions options) : graph_(graph), options_(std::move(options)) {}

  // For the chief: makes the model ready. FailedPrecondition if a checkpoint and the initialisers leave variables
  // without a value.
  StatusOr<std::unique_ptr<Session>> PrepareSession(const SessionOptions& session) {
    return Create(session, /*is_chief=*/true);
  }
  // For other tasks: waits until the chief has made the model ready.
  StatusOr<std::unique_ptr<Session>> WaitForSession(const SessionOptions& session) {
    return Create(session, /*is_chief=*/false);
  }

 private:
  class Attempt;
  StatusOr<std::unique_ptr<Session>> Create(const SessionOptions& session, bool is_chief);

  Graph& graph_;
  const SessionManagerOptions options_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_SESSIONS_SESSION_MANAGER_H_
