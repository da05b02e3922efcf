#include "tensorbraid/cluster.h"

#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "binding/graph.h"
#include "binding/interrupt.h"
#include "binding/python_calls.h"
#include "binding/thread_owner.h"
#include "cluster/discovery/discover.h"

namespace tensorbraid::python {
namespace {

struct PyServer {
  ThreadOwner<std::unique_ptr<Server>> server;

  explicit PyServer(std::unique_ptr<Server> made) : server(std::move(made)) {}
  // Raises FailedPreconditionError in a child of the server's process.
  Server& get() const {
    server.CheckProcess("server");
    return *server;
  }
};

// The task of this process, for all time: engines let a process exchange addresses only once, and the port and the
// registry of a task must live as long as the process.
std::atomic<const FoundTask*> found_task = nullptr;

// `access` has the certificates and tokens of tensorbraid.internal.credentials.
std::unique_ptr<PyServer> MakeServer(const ClusterSpec& cluster, const std::string& job_name, int task_index,
                                     const std::string& config, bool start,
                                     const std::map<std::string, std::string>& access) {
  ServerOptions options{.job_name = job_name, .task_index = task_index, .config = config, .start = start};
  for (const auto& [name, value] : access) {
    if (name == "tls_cert") options.tls.cert = value;
    if (name == "tls_key") options.tls.key = value;
    if (name == "tls_ca") options.tls.ca = value;
    if (name == "token_file") options.token_file = value;
    if (name == "client_token_file") options.client_token_file = value;
    if (name == "insecure") options.insecure = value == "1";
  }
  // Also for a cluster whose jobs have other names, such as the chief of an Estimator: tasks are known by addresses.
  if (const FoundTask* const found = found_task; found != nullptr) options.watch = found->watch;
  const Unlocked unlocked;
  return std::make_unique<PyServer>(Check(Server::Create(cluster, std::move(options))));
}

void Join(const PyServer& self) {
  Server& server = self.get();
  Check(Interruptible([&server] { server.Stop(); }).Run([&server] { return server.Join(); }));
}

// Returns None, or the job, the index, the cluster and the source. `script` is the file that the interpreter runs.
nb::object FindTask(const std::string& script, const std::map<std::string, std::string>& access) {
  static std::mutex finding;  // one thread of Python finds the task, and others wait for it
  const auto find = [&]() -> Status {
    const std::lock_guard lock(finding);
    if (found_task != nullptr) return OkStatus();
    Surroundings around = Surroundings::OfProcess();
    if (!script.empty()) around.program = script;
    TaskArguments arguments;
    if (const auto token_file = access.find("token_file"); token_file != access.end()) {
      arguments.token_file = token_file->second;
    }
    ReadAccess(around, &arguments.tls, &arguments.token_file);
    TF_ASSIGN_OR_RETURN(const std::optional<FoundTask> task, Discover(arguments, around).task);
    if (task.has_value()) found_task = new FoundTask(*task);
    return OkStatus();
  };
  if (found_task == nullptr) Check(Interruptible().Run(find));
  if (found_task == nullptr) return nb::none();
  const FoundTask& task = *found_task;
  return nb::make_tuple(task.job, task.index, task.cluster, task.source);
}

// The wire types with these names: none for those of the server, one for values and gradients, or one for each of them.
WireTypes WireTypesOf(const std::vector<std::string>& names) {
  const auto check = [](const Status& status) {
    if (status.ok()) return;
    throw nb::value_error(("replica_device_setter: the argument 'wire': " + std::string(status.message())).c_str());
  };
  std::vector<Wire> types;
  for (const std::string& name : names) {
    const StatusOr<Wire> type = WireOf(name);
    check(type.status());
    types.push_back(*type);
  }
  if (types.empty()) return {};
  const WireTypes found = types.size() == 1 ? WireTypes(types[0]) : WireTypes(types[0], types[1]);
  check(CheckWireTypes(found));
  return found;
}

}  // namespace

void BindCluster(Module& m) {
  Class<ClusterSpec>(m, "ClusterSpec")
      .def("__init__",
           [](ClusterSpec* self, const std::map<std::string, std::map<int, std::string>>& jobs) {
             new (self) ClusterSpec(ClusterSpec::Sparse(jobs));
           })
      .def_prop_ro("jobs", [](const ClusterSpec& self) { return self.jobs(); })
      .def("num_tasks", [](const ClusterSpec& self, const std::string& job) { return self.num_tasks(job); })
      .def("task_indices", [](const ClusterSpec& self, const std::string& job) { return self.task_indices(job); })
      .def("task_address", [](const ClusterSpec& self, const std::string& job,
                              int index) { return Check(self.task_address(job, index)); })
      .def("__str__", [](const ClusterSpec& self) { return self.ToString(); })
      .def("__eq__", [](const ClusterSpec& self, nb::handle other) {
        return nb::isinstance<ClusterSpec>(other) && nb::cast<ClusterSpec&>(other) == self;
      });

  Class<PyServer>(m, "Server")
      .def_static("_make", &MakeServer)
      .def_prop_ro("target", [](const PyServer& self) { return self.server->target(); })
      .def("start",
           [](const PyServer& self) {
             Server& server = self.get();
             const Unlocked unlocked;
             Check(server.Start());
           })
      .def("join", &Join)
      .def("_stop", [](const PyServer& self) {
        if (self.server.forked()) return;
        const Unlocked unlocked;
        self.server->Stop();
      });

  m.def("find_task", &FindTask);

  // `ps_ops` is None for the default types. `strategy` is None for round robin. `wire` has no type for the server's,
  // one for values and gradients, or the type of the values and that of the gradients.
  m.def(
      "replica_device_setter",
      [](const ClusterSpec& cluster, int ps_tasks, const std::string& ps_device, const std::string& worker_device,
         std::optional<std::vector<std::string>> ps_ops, std::function<int(OperationObject)> strategy,
         const std::vector<std::string>& wire) {
        ReplicaDeviceSetterOptions options = {.cluster = cluster,
                                              .ps_tasks = ps_tasks,
                                              .ps_device = ps_device,
                                              .worker_device = worker_device,
                                              .wire = WireTypesOf(wire)};
        if (ps_ops.has_value()) options.ps_ops = *std::move(ps_ops);
        if (strategy) {
          options.strategy = [strategy = std::move(strategy)](const Operation& op, int) {
            return strategy(WrapPlaced(op));
          };
        }
        return PyDeviceFunction{ReplicaDeviceSetter(std::move(options))};
      },
      nb::arg("cluster"), nb::arg("ps_tasks"), nb::arg("ps_device"), nb::arg("worker_device"), nb::arg("ps_ops").none(),
      nb::arg("strategy").none(), nb::arg("wire"));
}

}  // namespace tensorbraid::python
