// Bringing a session to the point where training can begin.
#ifndef TENSORBRAID_TRAIN_SESSION_SETUP_H_
#define TENSORBRAID_TRAIN_SESSION_SETUP_H_

#include <chrono>
#include <functional>
#include <memory>

#include "tensorbraid/session.h"

namespace tensorbraid {

// The operations that initialise a graph's variables and say which are not.
struct SetupOps {
  Operation init;          // of all global variables
  Operation local_init;    // of the local ones
  Output not_initialized;  // names of global variables without a value
  Output global_step;      // invalid when the graph has none

  // Adds them, or finds those that an earlier call has added (the graph may be finalized by now).
  static StatusOr<SetupOps> AddTo(Graph& graph);
};

// Gives variables the values of an earlier training. False when there is none.
using RestoreFn = std::function<StatusOr<bool>(Session&)>;

// A session whose variables have values. The chief gives them, by `restore` (which may be null) or else their
// initialisers, unless they are alive already; others wait for it.
// Tries again while tasks cannot be reached or have been restarted; logs what it waits for. DeadlineExceeded, with the
// reason, when `max_wait` has passed.
StatusOr<std::unique_ptr<Session>> CreateReadySession(Graph& graph, const SetupOps& ops, const SessionOptions& options,
                                                      bool is_chief, std::chrono::milliseconds max_wait,
                                                      const RestoreFn& restore = nullptr);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_SESSION_SETUP_H_
