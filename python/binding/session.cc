#include "binding/session.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding/interrupt.h"

namespace tensorbraid::python {
namespace {

// Runs the step without Python's lock, so that other threads of Python go on.
// Returns the values, and the serialized RunMetadata.
nb::tuple RunStep(PySession& self, nb::list fetches, nb::list feeds, int64_t timeout_ms, bool trace,
                  bool partition_graphs) {
  const std::shared_ptr<Session> session = self.session;  // another thread may close it
  Session& running = self.get();
  const std::vector<Fetch> wanted = FetchesOf(fetches);
  const std::vector<Feed> fed = FeedsOf(feeds);
  const RunOptions options = {.timeout = std::chrono::milliseconds(timeout_ms),
                              .trace_level = trace ? TraceLevel::kFull : TraceLevel::kNone,
                              .output_partition_graphs = partition_graphs};
  const bool has_metadata = trace || partition_graphs;
  StatusOr<std::vector<Tensor>> values;
  RunMetadata metadata;
  {
    const Interruptible interruptible([&running] { running.CancelRuns(); });
    {
      nb::gil_scoped_release unlocked;
      values = running.Run(wanted, fed, options, has_metadata ? &metadata : nullptr);
    }
    interruptible.Check();
  }
  const std::string& bytes = metadata.serialized();
  return nb::make_tuple(ValuesOf(Check(std::move(values))), nb::bytes(bytes.data(), bytes.size()));
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

void BindSession(Module& m) {
  Class<PySession>(m, "Session", nb::type_slots(Collected<PySession>()))
      .def(
          "__init__",
          [](PySession* self, nb::object graph, const std::string& target,
             const std::map<std::string, int>& device_count, int inter_op_parallelism_threads,
             bool allow_soft_placement, bool log_device_placement, int64_t operation_timeout_ms,
             const std::vector<std::string>& device_filters, bool isolate_session_state,
             const std::map<std::string, std::map<int, std::string>>& cluster) {
            Graph& g = nb::cast<Graph&>(graph);
            std::shared_ptr<Session> session;
            {
              nb::gil_scoped_release unlocked;
              session = Check(Session::Create(g, {.target = target,
                                                  .device_count = device_count,
                                                  .inter_op_parallelism_threads = inter_op_parallelism_threads,
                                                  .allow_soft_placement = allow_soft_placement,
                                                  .log_device_placement = log_device_placement,
                                                  .operation_timeout = std::chrono::milliseconds(operation_timeout_ms),
                                                  .cluster = ClusterSpec::Sparse(cluster),
                                                  .device_filters = device_filters,
                                                  .isolate_session_state = isolate_session_state}));
            }
            new (self) PySession{std::move(graph), std::move(session)};
          },
          nb::arg("graph"), nb::arg("target") = "", nb::arg("device_count") = std::map<std::string, int>(),
          nb::arg("inter_op_parallelism_threads") = 0, nb::arg("allow_soft_placement") = false,
          nb::arg("log_device_placement") = false, nb::arg("operation_timeout_ms") = 0,
          nb::arg("device_filters") = std::vector<std::string>(), nb::arg("isolate_session_state") = false,
          nb::arg("cluster") = std::map<std::string, std::map<int, std::string>>())
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
