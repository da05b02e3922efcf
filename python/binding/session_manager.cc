// Sessions that are ready for training, as tf.train.SessionManager makes them.
#include "train/sessions/session_manager.h"

#include <nanobind/stl/string.h>

#include "binding/hooks.h"
#include "binding/interrupt.h"
#include "binding/python_calls.h"

namespace tensorbraid::python {
namespace {

// `given` is a dict with the names of the options, of which each may be missing.
PySession ReadySession(nb::object graph, const std::string& target, nb::handle session_options, bool is_chief,
                       nb::dict given) {
  const auto training = Training::Make(graph);
  SessionManagerOptions options;
  const auto milliseconds = [](nb::handle seconds) {
    return std::chrono::milliseconds(static_cast<int64_t>(nb::cast<double>(seconds) * 1000));
  };
  const auto set = [&](const std::string& name, nb::handle value) {
    if (name == "restore") options.restore = SessionPredicate(nb::borrow(value), training);
    if (name == "wait_for_checkpoint") options.wait_for_checkpoint = nb::cast<bool>(value);
    if (name == "init_op") options.init = OperationOf(value);
    if (name == "init_feed") options.init_feed = FeedsOf(value);
    if (name == "init_fn") options.init_fn = SessionFunction(nb::borrow(value), training);
    if (name == "local_init_op") options.local_init = OperationOf(value);
    if (name == "ready_op") options.ready = nb::cast<PyTensor&>(value).output;
    if (name == "ready_for_local_init_op") options.ready_for_local_init = nb::cast<PyTensor&>(value).output;
    if (name == "recovery_wait_secs") options.recovery_wait = milliseconds(value);
    if (name == "max_wait_secs") options.max_wait = milliseconds(value);
    return true;
  };
  for (const auto& [key, value] : given) {
    const std::string name = nb::cast<std::string>(key);
    Converted("'" + name + "' has a wrong type", value, [&, value = nb::handle(value)] { return set(name, value); });
  }
  Graph& g = nb::cast<Graph&>(graph);
  SessionOptions session = SessionOptionsOf(session_options);
  session.target = target;
  auto made = Interruptible().Run(
      [&] {
        SessionManager manager(g, std::move(options));
        return is_chief ? manager.PrepareSession(session) : manager.WaitForSession(session);
      },
      [&training](const auto& result) {
        if (!result.ok()) training->Rethrow();
      });
  return {std::move(graph), Check(std::move(made))};
}

}  // namespace

void BindSessionManager(Module& m) { m.def("ready_session", &ReadySession); }

}  // namespace tensorbraid::python
