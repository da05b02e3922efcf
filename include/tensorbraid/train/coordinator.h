// Threads that run beside the training loop: their coordinator, and the threads that fill queues.
#ifndef TENSORBRAID_TRAIN_COORDINATOR_H_
#define TENSORBRAID_TRAIN_COORDINATOR_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tensorbraid/core/status.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {

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

  // Runs `body` on a new thread, for which Join waits. If `body` returns an error, this error requests a stop.
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
// with OutOfRange. Used to keep a queue filled, or to run the chief's part of synchronous training. A QueueRunner only
// describes the threads, so copies are equivalent.
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
  const Operation& close_operation() const { return close_; }    // may be invalid
  const Operation& cancel_operation() const { return cancel_; }  // may be invalid

 private:
  std::vector<Operation> enqueue_;
  Operation close_;
  Operation cancel_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_COORDINATOR_H_
