#include "binding/coordinator.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "binding/interrupt.h"
#include "binding/python_calls.h"
#include "train/checkpoints/meta_graph.h"
#include "train/sessions/staged_lookups.h"

namespace tensorbraid::python {
namespace {

using Seconds = std::chrono::duration<double>;

bool WaitForStop(const PyCoordinator& self, double seconds) {
  if (self.coordinator == nullptr) return true;
  Coordinator& coordinator = *self.coordinator;
  // In pieces, so that Ctrl-C interrupts the wait.
  constexpr Seconds kPiece(0.2);
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(Seconds(std::min(seconds, 1e8)));
  while (true) {
    const auto left = end - std::chrono::steady_clock::now();
    bool stopped = false;
    {
      const Unlocked unlocked;
      const auto piece = std::chrono::duration_cast<std::chrono::steady_clock::duration>(kPiece);
      stopped = coordinator.WaitForStop(std::min(left, piece));
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (stopped || left.count() <= 0) return stopped;
  }
}

void BindQueueRunner(Module& m) {
  Class<QueueRunner>(m, "QueueRunner")
      .def(
          "__init__",
          [](QueueRunner* self, nb::list enqueue, nb::handle close, nb::handle cancel) {
            std::vector<Operation> operations;
            for (const nb::handle op : enqueue) operations.push_back(OperationOf(op));
            new (self) QueueRunner(std::move(operations), close.is_none() ? Operation() : OperationOf(close),
                                   cancel.is_none() ? Operation() : OperationOf(cancel));
          },
          nb::arg("enqueue"), nb::arg("close").none(), nb::arg("cancel").none())
      .def_prop_ro("enqueue_ops",
                   [](const QueueRunner& self) {
                     nb::list operations;
                     for (const Operation& op : self.enqueue_operations()) operations.append(Wrap(op));
                     return operations;
                   })
      .def_prop_ro("close_op", [](const QueueRunner& self) { return Wrap(self.close_operation()); })
      .def_prop_ro("cancel_op", [](const QueueRunner& self) { return Wrap(self.cancel_operation()); })
      .def("definition",
           [](const QueueRunner& self) {
             const std::string bytes = QueueRunnerDefOf(self);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("start", [](const QueueRunner& self, const PySession& session, PyCoordinator& coordinator) {
        Session& used = session.get();
        if (!coordinator.borrowed) coordinator.sessions.push_back(session.session.pointer());
        const Unlocked unlocked;
        Check(self.Start(used, coordinator.get()));
      });
  m.def(
      "look_up_ahead",
      [](const PyTensor& queue, const PyOperation& taken, nb::list marked) -> nb::object {
        std::vector<Operation> also;
        for (const nb::handle op : marked) also.push_back(OperationOf(op));
        std::optional<QueueRunner> runner = Check(LookUpAhead(queue.output, taken.operation, also));
        return runner.has_value() ? nb::cast(*std::move(runner)) : nb::none();
      },
      nb::arg("queue"), nb::arg("taken"), nb::arg("marked"));
}

}  // namespace

PyCoordinator::~PyCoordinator() { StopThreads(); }

void PyCoordinator::StopThreads() {
  if (borrowed || coordinator == nullptr || coordinator.forked() || sessions.empty()) return;
  {
    const Unlocked unlocked;
    coordinator->RequestStop();
    for (const auto& session : sessions) session->CancelRuns();
    coordinator->Join().IgnoreError();
  }
  sessions.clear();
}

Coordinator& PyCoordinator::get() const {
  if (coordinator == nullptr) throw nb::value_error("the training that the coordinator belongs to has ended");
  coordinator.CheckProcess("coordinator");
  return *coordinator;
}

Status StatusOf(nb::handle exception) {
  const nb::module_ errors = nb::module_::import_("tensorbraid.errors");
  if (nb::isinstance(exception, errors.attr("OpError"))) {
    return Status(static_cast<absl::StatusCode>(nb::cast<int>(exception.attr("error_code"))),
                  nb::cast<std::string>(nb::str(exception.attr("message"))));
  }
  const std::string type = nb::cast<std::string>(exception.type().attr("__name__"));
  return Status(absl::StatusCode::kUnknown, type + ": " + nb::cast<std::string>(nb::str(exception)));
}

void BindCoordinator(Module& m) {
  Class<PyCoordinator>(m, "Coordinator")
      .def(nb::init<>())
      .def(
          "request_stop",
          [](const PyCoordinator& self, nb::handle exception) {
            if (self.coordinator == nullptr) return;
            const Status why = exception.is_none() ? OkStatus() : StatusOf(exception);
            const Unlocked unlocked;
            self.coordinator->RequestStop(why);
          },
          nb::arg("exception").none())
      .def("_abandon", [](PyCoordinator& self) { self.StopThreads(); })
      .def("should_stop",
           [](const PyCoordinator& self) { return self.coordinator == nullptr || self.coordinator->ShouldStop(); })
      .def("wait_for_stop", &WaitForStop)
      .def("raise_error",
           [](const PyCoordinator& self) {
             if (self.coordinator != nullptr) Check(self.coordinator->status());
           })
      .def("join", [](const PyCoordinator& self) {
        if (self.coordinator == nullptr) return;
        Coordinator& coordinator = self.get();
        const Interruptible interruptible([&self] {
          self.coordinator->RequestStop();
          for (const auto& session : self.sessions) session->CancelRuns();
        });
        Check(interruptible.Run([&coordinator] { return coordinator.Join(); }));
      });
  BindQueueRunner(m);
}

}  // namespace tensorbraid::python
