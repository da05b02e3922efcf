#include "binding/session.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding/interrupt.h"

namespace tensorbraid::python {
namespace {

// Runs the step without Python's lock, so that other threads of Python go on.
nb::list RunStep(PySession& self, nb::list fetches, nb::list feeds, int64_t timeout_ms) {
  const std::shared_ptr<Session> session = self.session;  // another thread may close it
  Session& running = self.get();
  const std::vector<Fetch> wanted = FetchesOf(fetches);
  const std::vector<Feed> fed = FeedsOf(feeds);
  StatusOr<std::vector<Tensor>> values;
  {
    const Interruptible interruptible([&running] { running.CancelRuns(); });
    {
      nb::gil_scoped_release unlocked;
      values = running.Run(wanted, fed, {.timeout = std::chrono::milliseconds(timeout_ms)});
    }
    interruptible.Check();
  }
  return ValuesOf(Check(std::move(values)));
}

}  // namespace

Session& PySession::get() const {
  if (session == nullptr) throw nb::value_error("the session is closed");
  return *session;
}

PySession Borrow(nb::object graph, Session& session) {
  return {std::move(graph), std::shared_ptr<Session>(&session, [](Session*) {})};
}

std::vector<Fetch> FetchesOf(nb::handle fetches) {
  std::vector<Fetch> wanted;
  for (const nb::handle fetch : fetches) {
    if (nb::isinstance<PyTensor>(fetch)) {
      wanted.emplace_back(nb::cast<PyTensor&>(fetch).output);
    } else if (nb::isinstance<PyVariable>(fetch)) {
      wanted.emplace_back(nb::cast<PyVariable&>(fetch).variable);
    } else {
      wanted.emplace_back(nb::cast<PyOperation&>(fetch).operation);
    }
  }
  return wanted;
}

std::vector<Feed> FeedsOf(nb::handle feeds) {
  std::vector<Feed> fed;
  for (const nb::handle pair : feeds) {
    const Output& output = nb::cast<PyTensor&>(pair[0]).output;
    fed.emplace_back(output, TensorOf(pair[1], output.dtype()));
  }
  return fed;
}

nb::list ValuesOf(std::vector<Tensor> values) {
  nb::list result;
  for (Tensor& value : values) result.append(ArrayOf(std::move(value)));
  return result;
}

void BindSession(nb::module_& m) {
  nb::class_<PySession>(m, "Session", nb::type_slots(Collected<PySession>()))
      .def(
          "__init__",
          [](PySession* self, nb::object graph, const std::string& target,
             const std::map<std::string, int>& device_count, bool allow_soft_placement) {
            Graph& g = nb::cast<Graph&>(graph);
            std::shared_ptr<Session> session;
            {
              nb::gil_scoped_release unlocked;
              session = Check(Session::Create(
                  g, {.target = target, .device_count = device_count, .allow_soft_placement = allow_soft_placement}));
            }
            new (self) PySession{std::move(graph), std::move(session)};
          },
          nb::arg("graph"), nb::arg("target") = "", nb::arg("device_count") = std::map<std::string, int>(),
          nb::arg("allow_soft_placement") = false)
      .def_prop_ro("graph", [](const PySession& self) { return self.graph; })
      .def("_run", &RunStep)
      .def("list_devices", [](const PySession& self) { return self.get().ListDevices(); })
      .def("close", [](PySession& self) {
        if (self.session == nullptr) return;
        nb::gil_scoped_release unlocked;
        self.session->Close().IgnoreError();
      });
}

}  // namespace tensorbraid::python
