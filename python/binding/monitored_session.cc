#include "tensorbraid/train/monitored_session.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding/hooks.h"
#include "binding/interrupt.h"
#include "binding/python_calls.h"

namespace tensorbraid::python {
namespace {

// A training loop and what its hooks share. `session` is null after close.
struct PyMonitoredSession {
  std::shared_ptr<Training> training;
  ThreadOwner<std::unique_ptr<MonitoredSession>> session;
  bool failed = false;  // a run has raised its error, which close does not raise again

  ~PyMonitoredSession() { Destroy(); }
  void Destroy() {
    training->End();
    session.reset();
  }
  MonitoredSession& get() const {
    if (session == nullptr) throw nb::value_error("the session is closed");
    session.CheckProcess("session");
    return *session;
  }
};

// Makes a session from a dict with the names of the options. Those that are missing have C++'s defaults.
PyMonitoredSession* CreateMonitored(nb::object graph, nb::list hooks, nb::dict given) {
  Graph& g = nb::cast<Graph&>(graph);
  auto made = std::make_unique<PyMonitoredSession>();
  made->training = Training::Make(graph);
  MonitoredTrainingSessionOptions options;
  options.save_checkpoints = false;  // the package adds the hooks that save
  const auto set = [&](const std::string& name, nb::handle value) {
    if (name == "master") options.master = nb::cast<std::string>(value);
    if (name == "session") options.session = SessionOptionsOf(value);
    if (name == "is_chief") options.is_chief = nb::cast<bool>(value);
    if (name == "checkpoint_dir") options.checkpoint_dir = nb::cast<std::string>(value);
    if (name == "saver") options.saver = nb::cast<std::shared_ptr<Saver>>(value);
    if (name == "queue_runners") options.queue_runners = nb::cast<std::vector<QueueRunner>>(value);
    if (name == "max_wait_secs") {
      options.max_wait = std::chrono::milliseconds(static_cast<int64_t>(nb::cast<double>(value) * 1000));
    }
    if (name == "init_op") options.init_op = OperationOf(value);
    if (name == "init_feed") options.init_feed = FeedsOf(value);
    if (name == "init_fn") options.init_fn = SessionFunction(nb::borrow(value), made->training);
    if (name == "local_init_op") options.local_init_op = OperationOf(value);
    if (name == "ready_op") options.ready_op = nb::cast<PyTensor&>(value).output;
    if (name == "ready_for_local_init_op") options.ready_for_local_init_op = nb::cast<PyTensor&>(value).output;
    if (name == "global_step") {
      const Variable& step = nb::cast<PyVariable&>(value).variable;
      if (!(GetGlobalStep(g) == step)) g.AddToCollection("global_step", step.handle());
    }
    return true;
  };
  for (const auto& [key, value] : given) {
    const std::string name = nb::cast<std::string>(key);
    Converted("'" + name + "' has a wrong type", value, [&, value = nb::handle(value)] { return set(name, value); });
  }
  options.hooks = HooksOf(hooks, made->training);
  const ScopeGuard at = AtUserLine(g);
  auto session = Interruptible().Run([&] { return MonitoredTrainingSession(g, std::move(options)); },
                                     [&made](const auto&) { made->training->Rethrow(); });
  CheckBuilt(g);
  made->session = Check(std::move(session));
  return made.release();
}

// Runs a step with the hooks. Returns the values, and the serialized RunMetadata.
nb::tuple RunMonitored(PyMonitoredSession& self, const PySignature& signature, nb::handle values,
                       nb::object run_context, nb::handle given) {
  MonitoredSession& session = self.get();
  self.training->run_context = std::move(run_context);
  std::vector<Feed> fed;
  for (Tensor& value : FedTensors(signature.feeds, values)) {
    fed.emplace_back(signature.feeds[fed.size()], std::move(value));
  }
  const RunOptions options = RunOptionsOf(given);
  RunMetadata metadata;
  auto results = Interruptible().Run([&] { return session.Run(signature.fetches, fed, options, &metadata); },
                                     [&self](const auto& ran) { self.failed = self.failed || !ran.ok(); });
  fed.clear();
  ReleaseFedArrays();
  if (!results.ok()) self.training->Rethrow();
  self.training->ForgetError();  // of a session that was lost, if training goes on with another one
  Check(session.end_of_training());
  return nb::make_tuple(ValuesOf(Check(std::move(results))), BytesOf(metadata));
}

void CloseMonitored(PyMonitoredSession& self, nb::handle exception) {
  if (self.session == nullptr || self.session.forked()) return;
  const bool failed = self.failed || !exception.is_none();
  // With an error the hooks know that the training has failed, and save nothing.
  const Status why =
      exception.is_none() ? OkStatus() : Status(absl::StatusCode::kUnknown, StatusOf(exception).message());
  const Status closed = Interruptible().Run(
      [&self, &why] {
        self.session->coordinator().RequestStop(why);
        return self.session->Close();
      },
      [&self, failed](const Status&) {
        self.Destroy();
        if (!failed) self.training->Rethrow();
      });
  if (!failed) Check(closed);
}

// The tf.Session and the tf.train.Coordinator behind the session.
nb::object Inner(const PyMonitoredSession& self, bool coordinator) {
  self.training->Meet(self.get().session(), self.get().coordinator());
  return coordinator ? self.training->coordinator() : self.training->session();
}

}  // namespace

void BindMonitoredSession(Module& m) {
  Class<PyMonitoredSession>(m, "MonitoredSession")
      .def_static("_make", &CreateMonitored, nb::rv_policy::take_ownership)
      .def("run", &RunMonitored)
      .def("should_stop",
           [](const PyMonitoredSession& self) { return self.session == nullptr || self.session->ShouldStop(); })
      .def("close", &CloseMonitored, nb::arg("exception").none())
      .def_prop_ro("closed", [](const PyMonitoredSession& self) { return self.session == nullptr; })
      .def_prop_ro("session", [](const PyMonitoredSession& self) { return Inner(self, false); })
      .def_prop_ro("coordinator", [](const PyMonitoredSession& self) { return Inner(self, true); });
}

}  // namespace tensorbraid::python
