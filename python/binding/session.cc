#include "tensorbraid/session/session.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "binding/graph.h"

namespace tensorbraid::python {
namespace {

// A session, and the Python object of its graph, which must outlive it. Members are destroyed in reverse order.
struct PySession {
  nb::object graph;
  std::unique_ptr<Session> session;
};

// Runs the step without Python's lock, so that other threads of Python go on.
nb::list Run(PySession& self, nb::list fetches, nb::list feeds, int64_t timeout_ms) {
  if (self.session == nullptr) throw nb::value_error("the session is closed");
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
  std::vector<Feed> fed;
  for (const nb::handle pair : feeds) {
    const Output& output = nb::cast<PyTensor&>(pair[0]).output;
    fed.emplace_back(output, TensorOf(pair[1], output.dtype()));
  }
  std::vector<Tensor> values;
  {
    nb::gil_scoped_release unlocked;
    values = Check(self.session->Run(wanted, fed, {.timeout = std::chrono::milliseconds(timeout_ms)}));
  }
  nb::list result;
  for (Tensor& value : values) result.append(ArrayOf(std::move(value)));
  return result;
}

}  // namespace

void BindSession(nb::module_& m) {
  nb::class_<PySession>(m, "Session", nb::type_slots(Collected<PySession>()))
      .def(
          "__init__",
          [](PySession* self, nb::object graph, const std::string& target,
             const std::map<std::string, int>& device_count, bool allow_soft_placement) {
            Graph& g = nb::cast<Graph&>(graph);
            std::unique_ptr<Session> session;
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
      .def("_run", &Run)
      .def("list_devices", [](const PySession& self) { return self.session->ListDevices(); })
      .def("close", [](PySession& self) {
        if (self.session == nullptr) return;
        nb::gil_scoped_release unlocked;
        self.session->Close().IgnoreError();
      });
}

}  // namespace tensorbraid::python
