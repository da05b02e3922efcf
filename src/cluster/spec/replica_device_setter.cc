// The device function of parameter-server training.
#include "tensorbraid/cluster/replica_device_setter.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/text/device_name.h"
#include "core/values/tensor_bytes.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/wire_attrs.h"
#include "tensorbraid/cluster/server.h"

namespace tensorbraid {
namespace {

// The state that the device function keeps between nodes.
struct Setter {
  DeviceName ps_device;
  DeviceName worker_device;
  std::vector<int> ps_indices;  // task indices of the ps job; may have gaps
  std::vector<std::string> ps_ops;
  std::function<int(const Operation&, int)> strategy;
  WireTypes wire;
  int next = 0;

  std::string DeviceOf(const Operation& op) {
    const auto parsed = DeviceName::Parse(op.device());
    if (!parsed.ok()) return "";  // the bad name is reported where it was set
    const DeviceName& asked = *parsed;
    if (ps_device.ToString().empty() || std::find(ps_ops.begin(), ps_ops.end(), op.type()) == ps_ops.end()) {
      return asked.MergedOver(worker_device).ToString();
    }
    DeviceName device = ps_device;
    // A node that names another job does not go to a parameter server. It gets no task index and must not advance the
    // round robin.
    if (device.job && (!asked.job || asked.job == device.job)) {
      const int count = static_cast<int>(ps_indices.size());
      int chosen = next;
      if (strategy) {
        chosen = strategy(op, count);
        if (chosen < 0 || chosen >= count) {
          op.graph()->AddError(InvalidArgument("ReplicaDeviceSetter: the strategy returned ", chosen, " for ",
                                               op.type(), " '", op.name(),
                                               "', but the parameter servers have the numbers 0 to ", count - 1));
          chosen = 0;
        }
      } else {
        next = (next + 1) % count;
      }
      device.task = ps_indices[chosen];
      SetWire(op);
    }
    return asked.MergedOver(device).ToString();
  }

  // Sets the wire types on the node in the graph. `op` refers to a copy of this node.
  void SetWire(const Operation& op) const {
    Node* const node = ImplOf(*op.graph()).Find(op.name());
    if (node == nullptr || (wire.parameters == Wire::kDefault && wire.gradients == Wire::kDefault)) return;
    const Status valid = CheckWireTypes(wire);
    if (!valid.ok()) return op.graph()->AddError(Annotate(valid, "ReplicaDeviceSetter"));
    SetWireTypes(node, wire);
  }
};

// How many rows a growing table, or a part of one, is taken to have.
constexpr int64_t kRowsOfTable = 1'000'000;

int64_t VariableBytes(const Operation& op) {
  const AttrValue* dtype = NodeOf(op)->FindAttr("dtype");
  const AttrValue* shape = NodeOf(op)->FindAttr("shape");
  if (dtype == nullptr || shape == nullptr || !dtype->get<DType>() || !shape->get<Shape>()) return 0;
  const int64_t bytes = std::max<int64_t>(0, TensorBytes(*shape->get<Shape>(), *dtype->get<DType>()));
  return op.type() == "KvVarHandleOp" ? bytes * kRowsOfTable : bytes;  // its shape describes one row
}

}  // namespace

DeviceFunction ReplicaDeviceSetter(ReplicaDeviceSetterOptions options) {
  const auto ps_device = DeviceName::Parse(options.ps_device);
  const auto worker_device = DeviceName::Parse(options.worker_device);
  // A name that cannot be parsed is returned unchanged, so that the graph's status reports it.
  if (!ps_device.ok()) return [name = options.ps_device](const Operation&) { return name; };
  if (!worker_device.ok()) return [name = options.worker_device](const Operation&) { return name; };

  auto setter = std::make_shared<Setter>();
  setter->ps_device = *ps_device;
  setter->worker_device = *worker_device;
  setter->ps_ops = std::move(options.ps_ops);
  setter->strategy = std::move(options.strategy);
  setter->wire = options.wire;
  if (!options.cluster.empty()) {
    if (ps_device->job) setter->ps_indices = options.cluster.task_indices(*ps_device->job);
  } else {
    for (int i = 0; i < options.ps_tasks; ++i) setter->ps_indices.push_back(i);
  }
  if (setter->ps_indices.empty()) return [](const Operation&) { return std::string(); };
  return [setter](const Operation& op) { return setter->DeviceOf(op); };
}

std::function<int(const Operation& op, int ps_tasks)> LeastBytesStrategy(int ps_tasks) {
  auto loads = std::make_shared<std::vector<int64_t>>(std::max(ps_tasks, 1));
  return [loads](const Operation& op, int ps_tasks) {
    loads->resize(std::max<size_t>(loads->size(), ps_tasks));
    const auto least = std::min_element(loads->begin(), loads->begin() + ps_tasks);
    if (__builtin_add_overflow(*least, VariableBytes(op), &*least)) *least = std::numeric_limits<int64_t>::max();
    return static_cast<int>(least - loads->begin());
  };
}

}  // namespace tensorbraid
