#include "binding/session.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>

#include "binding/interrupt.h"
#include "binding/python_calls.h"
#include "graph/model/fed_variables.h"
#include "pjrt/accelerator.h"
#include "pjrt/client.h"
#include "pjrt/find_plugins.h"
#include "pjrt/math_switches.h"

namespace tensorbraid::python {
namespace {

// A step that has been prepared, and the Python objects that it needs.
struct PyPrepared {
  ThreadOwner<std::unique_ptr<Session::Prepared>> prepared;  // may be the session's last owner
  std::vector<Output> feeds;
  nb::object session;
  nb::object graph;
};

// What Ctrl-C ends during a step.
Interruptible CancelsRuns(Session& session) {
  return Interruptible([&session] { session.CancelRuns(); });
}

PyPrepared Prepare(nb::handle self, const PySignature& signature) {
  const PySession& session = nb::cast<PySession&>(self);
  Session& running = session.get();
  auto prepared = CancelsRuns(running).Run(
      [&] { return running.Prepare(signature.fetches, signature.feeds, signature.connections); });
  return {std::make_unique<Session::Prepared>(Check(std::move(prepared))), signature.feeds, nb::borrow(self),
          signature.graph};
}

nb::list RunPrepared(const PyPrepared& self, nb::handle values) {
  const PySession& session = nb::cast<PySession&>(self.session);
  Session& running = session.get();
  StatusOr<std::vector<Tensor>> results;
  {
    const std::vector<Tensor> fed = FedTensors(self.feeds, values);
    results = CancelsRuns(running).Run([&] { return self.prepared->Run(fed); });
  }
  if (!self.feeds.empty()) ReleaseFedArrays();
  return ValuesOf(Check(std::move(results)));
}

// Runs a step with options. Returns the values, and the serialized RunMetadata.
nb::tuple RunWithOptions(const PySession& self, const PySignature& signature, nb::handle values, nb::handle given) {
  Session& running = self.get();
  std::vector<Feed> fed;
  for (Tensor& value : FedTensors(signature.feeds, values)) {
    fed.emplace_back(signature.feeds[fed.size()], std::move(value));
  }
  const RunOptions options = RunOptionsOf(given);
  RunMetadata metadata;
  auto results = CancelsRuns(running).Run([&] { return running.Run(signature.fetches, fed, options, &metadata); });
  fed.clear();
  ReleaseFedArrays();
  return nb::make_tuple(ValuesOf(Check(std::move(results))), BytesOf(metadata));
}

int TraversePrepared(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::inst_ptr<PyPrepared>(self)->session.ptr());
  Py_VISIT(nb::inst_ptr<PyPrepared>(self)->graph.ptr());
  return 0;
}
int ClearPrepared(PyObject* self) {
  nb::inst_ptr<PyPrepared>(self)->session.reset();
  nb::inst_ptr<PyPrepared>(self)->graph.reset();
  return 0;
}
PyType_Slot prepared_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&TraversePrepared)},
                                {Py_tp_clear, reinterpret_cast<void*>(&ClearPrepared)},
                                {0, nullptr}};

}  // namespace

Session& PySession::get() const {
  if (session == nullptr) throw nb::value_error("the session is closed");
  session.CheckProcess("session");
  return *session;
}

SessionOptions SessionOptionsOf(nb::handle given) {
  SessionOptions options;
  for (const auto& [key, value] : nb::cast<nb::dict>(given)) {
    const std::string name = nb::cast<std::string>(key);
    if (name == "device_count") options.device_count = nb::cast<std::map<std::string, int>>(value);
    if (name == "gpu_options") {
      options.gpu_options = {.per_process_gpu_memory_fraction = nb::cast<double>(value[0]),
                             .allow_growth = nb::cast<bool>(value[1]),
                             .visible_device_list = nb::cast<std::string>(value[2])};
    }
    if (name == "inter_op_parallelism_threads") options.inter_op_parallelism_threads = nb::cast<int>(value);
    if (name == "allow_soft_placement") options.allow_soft_placement = nb::cast<bool>(value);
    if (name == "log_device_placement") options.log_device_placement = nb::cast<bool>(value);
    if (name == "operation_timeout_ms") {
      options.operation_timeout = std::chrono::milliseconds(nb::cast<int64_t>(value));
    }
    if (name == "device_filters") options.device_filters = nb::cast<std::vector<std::string>>(value);
    if (name == "isolate_session_state") options.isolate_session_state = nb::cast<bool>(value);
    if (name == "cluster") {
      options.cluster = ClusterSpec::Sparse(nb::cast<std::map<std::string, std::map<int, std::string>>>(value));
    }
    if (name == "tls_cert") options.tls.cert = nb::cast<std::string>(value);
    if (name == "tls_key") options.tls.key = nb::cast<std::string>(value);
    if (name == "tls_ca") options.tls.ca = nb::cast<std::string>(value);
    if (name == "insecure") options.insecure = nb::cast<std::string>(value) == "1";
    if (name == "token_file") options.token_file = nb::cast<std::string>(value);
  }
  return options;
}

RunOptions RunOptionsOf(nb::handle options) {
  return {.timeout = std::chrono::milliseconds(nb::cast<int64_t>(options[0])),
          .trace_level = nb::cast<bool>(options[1]) ? TraceLevel::kFull : TraceLevel::kNone,
          .output_partition_graphs = nb::cast<bool>(options[2])};
}

nb::bytes BytesOf(const RunMetadata& metadata) {
  return nb::bytes(metadata.serialized().data(), metadata.serialized().size());
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

nb::list ValuesOf(std::vector<Tensor> values) {
  nb::list result;
  for (Tensor& value : values) result.append(ArrayOf(std::move(value)));
  return result;
}

void BindSession(Module& m) {
  m.def(
      "find_plugin",
      [](const std::string& device_type) {
        const pjrt::FoundPlugin found = pjrt::FindPlugin(pjrt::ThisMachine(), device_type);
        return nb::make_tuple(found.path, found.devices, found.problem);
      },
      nb::arg("device_type"),
      "The path of the plugin for devices of this type, how many it would have, and why it has none.");
  m.def("allow_tensor_float_32", &pjrt::AllowTensorFloat32, nb::arg("allow"),
        "Says whether programs of accelerators that are compiled later may round operands of products to "
        "TensorFloat-32.");
  m.def("allows_tensor_float_32", &pjrt::AllowsTensorFloat32,
        "Whether programs of accelerators may round operands of products to TensorFloat-32.");
  m.def("require_determinism", &pjrt::RequireDeterminism, nb::arg("require"),
        "Says whether programs of accelerators that are compiled later must give the same bits in each run.");
  m.def("requires_determinism", &pjrt::RequiresDeterminism,
        "Whether programs of accelerators must give the same bits in each run.");
  m.def(
      "describe_device",
      [](const std::string& device_type, int id) {
        const auto client = Interruptible().Run([&]() -> StatusOr<pjrt::Client*> {
          if (device_type != "GPU" && device_type != "XLA_CPU") {
            return InvalidArgument("there are no accelerators of type ", device_type);
          }
          if (id < 0) return InvalidArgument("the number of a device must not be negative, got ", id);
          pjrt::Accelerator& accelerator = pjrt::Accelerator::OfType(device_type);
          // As many as sessions will expect, for a plugin that has as many as it is told.
          accelerator.Expect(pjrt::FindPlugin(pjrt::ThisMachine(), device_type).devices);
          return accelerator.ClientWith(id);
        });
        Check(client.status());
        pjrt::DeviceMemory memory{.bytes_in_use = -1};
        if (const auto known = (*client)->MemoryOf(id); known.ok()) memory = *known;
        return nb::make_tuple((*client)->device_kind(id), (*client)->compute_capability(id), memory.bytes_in_use,
                              memory.peak_bytes_in_use, memory.bytes_limit);
      },
      nb::arg("device_type"), nb::arg("id"),
      "The model of an accelerator, its compute capability (\"\": none), and the bytes of its memory that are in use, "
      "that were at most, and that there are (-1: the plugin does not say). Starts the accelerators of this type.");
  m.def("reset_session", [](const std::string& target, nb::handle given, const std::vector<std::string>& containers) {
    SessionOptions options = SessionOptionsOf(given);
    options.target = target;
    Check(Interruptible().Run([&] { return Session::Reset(options, containers); }));
  });
  Class<PySignature>(m, "Signature", nb::type_slots(Collected<PySignature>()))
      .def(
          "__init__",
          [](PySignature* self, nb::object graph, nb::list fetches, nb::list feeds, nb::list sources, nb::list sinks) {
            std::vector<Output> fed = OutputsOf(feeds);
            for (Output& tensor : fed) tensor = FedTensorOf(tensor);
            const std::vector<Output> from = OutputsOf(sources), to = OutputsOf(sinks);
            std::vector<TensorConnection> connections;
            for (size_t i = 0; i < from.size(); ++i) connections.push_back({from[i], to.at(i)});
            new (self) PySignature{FetchesOf(fetches), std::move(fed), std::move(connections), std::move(graph)};
          },
          nb::arg("graph"), nb::arg("fetches"), nb::arg("feeds"), nb::arg("sources") = nb::list(),
          nb::arg("sinks") = nb::list(), "In the step, the consumers of each of `sinks` get the value of its source.");
  Class<PyPrepared>(m, "Prepared", nb::type_slots(prepared_slots)).def("run", &RunPrepared);
  Class<PySession>(m, "Session", nb::type_slots(Collected<PySession>()))
      .def(
          "__init__",
          [](PySession* self, nb::object graph, const std::string& target, nb::handle options) {
            Graph& g = nb::cast<Graph&>(graph);
            SessionOptions session_options = SessionOptionsOf(options);
            session_options.target = target;
            // A local session is made at once. Another one may wait for its server.
            const auto create = [&] { return Session::Create(g, std::move(session_options)); };
            auto session = target.empty() ? WithoutLock(create) : Interruptible().Run(create);
            new (self) PySession{std::move(graph), Check(std::move(session))};
          },
          nb::arg("graph"), nb::arg("target"), nb::arg("options"))
      .def_prop_ro("graph", [](const PySession& self) { return self.graph; })
      .def("_prepare", &Prepare)
      .def("_run_with_options", &RunWithOptions)
      .def("list_devices", [](const PySession& self) { return self.get().ListDevices(); })
      .def(
          "describe_devices",
          [](const PySession& self) {
            // Plugins write to standard error, and may take seconds to start.
            std::vector<DeviceDescription> devices = WithoutLock([&] { return self.get().DescribeDevices(); });
            nb::list result;
            for (const DeviceDescription& d : devices) {
              result.append(nb::make_tuple(d.name, d.type, d.memory_limit, d.incarnation, d.physical));
            }
            return result;
          },
          "The name, type, memory limit, incarnation and physical description of each device.")
      .def("close", [](PySession& self) {
        if (self.session == nullptr || self.session.forked()) return;
        const Unlocked unlocked;
        self.session->Close().IgnoreError();
      });
}

}  // namespace tensorbraid::python
