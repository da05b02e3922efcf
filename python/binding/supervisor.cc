#include "tensorbraid/train/supervisor.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding/hooks.h"
#include "binding/interrupt.h"
#include "binding/python_calls.h"

namespace tensorbraid::python {
namespace {

struct PySupervisor {
  std::shared_ptr<Training> training;  // the first error of init_fn or of a loop, and the coordinator
  ThreadOwner<std::unique_ptr<Supervisor>> supervisor;
  ThreadOwner<std::shared_ptr<Session>> session;  // the latest

  ~PySupervisor() {
    training->End();
    supervisor.reset();
  }
  // Raises FailedPreconditionError in a child of the supervisor's process.
  Supervisor& get() const {
    supervisor.CheckProcess("supervisor");
    return *supervisor;
  }
};

std::chrono::milliseconds SecondsOf(nb::handle seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(nb::cast<double>(seconds) * 1000));
}

// An operation for an object; None stands for "no operation".
Operation OperationOrNone(nb::handle value) { return value.is_none() ? Operation() : OperationOf(value); }
Output OutputOrNone(nb::handle value) { return value.is_none() ? Output() : nb::cast<PyTensor&>(value).output; }

// Makes a supervisor from a dict with the names of the options. Those that are missing have C++'s defaults.
PySupervisor* CreateSupervisor(nb::object graph, nb::dict given) {
  Graph& g = nb::cast<Graph&>(graph);
  auto made = std::make_unique<PySupervisor>();
  made->training = Training::Make(graph);
  SupervisorOptions options;
  const auto set = [&](const std::string& name, nb::handle value) {
    if (name == "is_chief") options.is_chief = nb::cast<bool>(value);
    if (name == "logdir") options.logdir = nb::cast<std::string>(value);
    if (name == "init_op") options.init_op = OperationOrNone(value);
    if (name == "local_init_op") options.local_init_op = OperationOrNone(value);
    if (name == "init_feed") options.init_feed = FeedsOf(value);
    if (name == "init_fn") options.init_fn = SessionFunction(nb::borrow(value), made->training);
    if (name == "ready_op") options.ready_op = OutputOrNone(value);
    if (name == "ready_for_local_init_op") options.ready_for_local_init_op = OutputOrNone(value);
    if (name == "saver") options.saver = nb::cast<std::shared_ptr<Saver>>(value);
    if (name == "global_step") options.global_step = nb::cast<PyVariable&>(value).variable;
    if (name == "save_model_secs") options.save_model_every = SecondsOf(value);
    if (name == "save_incremental_checkpoint_secs") options.save_increment_every = SecondsOf(value);
    if (name == "save_summaries_secs") options.save_summaries_every = SecondsOf(value);
    if (name == "summary_op") options.summary_op = OutputOrNone(value);
    if (name == "summary_writer") options.summary_writer = nb::cast<std::shared_ptr<summary::FileWriter>>(value);
    if (name == "recovery_wait_secs") options.recovery_wait = SecondsOf(value);
    if (name == "checkpoint_basename") options.checkpoint_basename = nb::cast<std::string>(value);
    if (name == "stop_grace_secs") options.stop_grace = SecondsOf(value);
    return true;
  };
  for (const auto& [key, value] : given) {
    const std::string name = nb::cast<std::string>(key);
    Converted("'" + name + "' has a wrong type", value, [&, value = nb::handle(value)] { return set(name, value); });
  }
  const ScopeGuard at = AtUserLine(g);
  {
    const Unlocked unlocked;
    made->supervisor = std::make_unique<Supervisor>(g, std::move(options));
  }
  CheckBuilt(g);
  return made.release();
}

PySession PrepareSession(PySupervisor& self, const std::string& target, nb::handle options, bool wait_for_checkpoint,
                         double max_wait_secs, bool start_standard_services) {
  const SessionOptions session_options = SessionOptionsOf(options);
  self.training->End();
  auto session = Interruptible().Run(
      [&] {
        return self.get().PrepareOrWaitForSession(
            target, {.session = session_options,
                     .start_standard_services = start_standard_services,
                     .wait_for_checkpoint = wait_for_checkpoint,
                     .max_wait = std::chrono::milliseconds(static_cast<int64_t>(max_wait_secs * 1000))});
      },
      [&self](const auto& result) {
        if (!result.ok()) self.training->Rethrow();
      });
  self.session = Check(std::move(session));
  return {self.training->graph(), self.session.pointer()};
}

Status Call(Training& training, const nb::object& function) {
  nb::gil_scoped_acquire locked;
  return training.Guard([&] { function(); });
}

void StartLoop(PySupervisor& self, double interval_secs, nb::object function) {
  const auto interval = std::chrono::milliseconds(static_cast<int64_t>(interval_secs * 1000));
  const auto call = [training = self.training, function = Shared(std::move(function))] {
    return Call(*training, *function);
  };
  const Unlocked unlocked;
  Check(self.get().Loop(interval, call));
}

void StopSupervisor(PySupervisor& self) {
  if (self.supervisor.forked()) return;
  Check(Interruptible().Run(
      [&self] { return self.get().Stop(); },
      [&self](const Status& stopped) {
        self.training->End();  // its coordinator may have an error, which refers to the program's supervisor
        if (!stopped.ok()) self.training->Rethrow();
      }));
}

nb::object CoordinatorOf(PySupervisor& self) {
  if (self.session == nullptr) return nb::none();
  self.training->Meet(*self.session, self.supervisor->coordinator());
  return self.training->coordinator();
}

}  // namespace

void BindSupervisor(Module& m) {
  Class<PySupervisor>(m, "Supervisor")
      .def_static("_make", &CreateSupervisor, nb::rv_policy::take_ownership)
      .def("prepare", &PrepareSession)
      .def("loop", &StartLoop)
      .def("stop", &StopSupervisor)
      .def("start_standard_services",
           [](PySupervisor& self) {
             const Unlocked unlocked;
             Check(self.get().StartStandardServices());
           })
      .def("start_queue_runners",
           [](PySupervisor& self, const PySession& session, const std::vector<QueueRunner>& runners) {
             Session& used = session.get();
             const Unlocked unlocked;
             Check(self.get().StartQueueRunners(used, runners));
           })
      .def(
          "summary_computed",
          [](PySupervisor& self, const nb::bytes& summary, std::optional<int64_t> step) {
            const Tensor value = Tensor::Scalar(std::string(summary.c_str(), summary.size()));
            const Unlocked unlocked;
            Check(self.get().SummaryComputed(value, step));
          },
          nb::arg("summary"), nb::arg("step").none())
      .def("should_stop", [](const PySupervisor& self) { return self.get().ShouldStop(); })
      .def(
          "request_stop",
          [](PySupervisor& self, nb::handle exception) {
            const Status why = exception.is_none() ? OkStatus() : StatusOf(exception);
            const Unlocked unlocked;
            self.get().RequestStop(why);
          },
          nb::arg("exception").none())
      .def("wait_for_stop",
           [](const PySupervisor& self) {
             Check(Interruptible().Run([&self] {
               self.get().WaitForStop();
               return OkStatus();
             }));
           })
      .def_prop_ro("coordinator", &CoordinatorOf)
      .def_prop_ro("is_chief", [](const PySupervisor& self) { return self.get().is_chief(); })
      .def_prop_ro("save_path", [](const PySupervisor& self) { return self.get().save_path(); })
      .def_prop_ro("global_step", [](const PySupervisor& self) { return Wrap(self.get().global_step()); });
}

}  // namespace tensorbraid::python
