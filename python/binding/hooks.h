// Hooks of training sessions that are written in Python.
#ifndef TENSORBRAID_PYTHON_BINDING_HOOKS_H_
#define TENSORBRAID_PYTHON_BINDING_HOOKS_H_

#include <memory>
#include <optional>
#include <vector>

#include "binding/coordinator.h"
#include "binding/log.h"
#include "binding/python_calls.h"
#include "binding/session.h"
#include "tensorbraid/train/hooks.h"

namespace tensorbraid::python {

// What the hooks of one training loop share: the objects of Python that stand for the loop's session and coordinator,
// and the first error that a hook has raised. Used with Python's lock only.
class Training {
 public:
  // The result may be destroyed without Python's lock.
  static std::shared_ptr<Training> Make(nb::object graph);

  // The tf.Session and the tf.train.Coordinator for the loop's present ones. They are replaced when the loop replaces
  // its session; the old objects then raise errors.
  void Meet(Session& session, Coordinator& coordinator);
  const nb::object& graph() const { return graph_; }
  const nb::object& session() const { return session_; }
  const nb::object& coordinator() const { return coordinator_; }
  // The tf.train.SessionRunContext of the present run.
  nb::object run_context = nb::none();
  // From now on the objects raise errors.
  void End();

  // Calls `f`. If it raises an error, keeps the error for Rethrow and returns its status.
  template <typename F>
  Status Guard(const F& f) {
    PassLogLines();
    try {
      f();
      return OkStatus();
    } catch (nb::python_error& error) {
      return Keep(error);
    }
  }
  // Raises the first error that was kept since the last call.
  void Rethrow();
  void ForgetError() { error_.reset(); }

 private:
  explicit Training(nb::object graph) : graph_(std::move(graph)) {}
  Status Keep(nb::python_error& error);

  const nb::object graph_;
  Session* met_ = nullptr;
  nb::object core_session_, core_coordinator_;
  nb::object session_ = nb::none();
  nb::object coordinator_ = nb::none();
  std::optional<nb::python_error> error_;
};

// The hooks in the list: those of the library, and hooks of Python, for which C++ calls the methods of
// tf.train.SessionRunHook.
std::vector<std::shared_ptr<SessionRunHook>> HooksOf(nb::handle hooks, const std::shared_ptr<Training>& training);

// A function of Python that gets the session. The result is whether it returns True.
std::function<StatusOr<bool>(Session&)> SessionPredicate(nb::object function, std::shared_ptr<Training> training);
// The same for a function whose result does not matter, as SupervisorOptions::init_fn.
std::function<Status(Session&)> SessionFunction(nb::object function, std::shared_ptr<Training> training);

}  // namespace tensorbraid::python

#endif  // TENSORBRAID_PYTHON_BINDING_HOOKS_H_
