#include "planner/model/node_costs.h"

#include <algorithm>

#include "core/text/device_name.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::planner {
namespace {

constexpr double kWideNs = 50'000;  // kernels that take longer divide their work among threads (docs/design/0006)

bool IsTransfer(const Node& node) { return node.type() == "_Send" || node.type() == "_Recv"; }

}  // namespace

NodeCosts::Time NodeCosts::Of(const Plan::PlanNode& p, bool on_worker) {
  const Node& node = *p.node;
  if (IsTransfer(node) || p.kind != Plan::Kind::kSync) return {};
  const DeviceSpeed* device = on_worker ? options_.worker_device : options_.server_device;
  const auto measured = graph_.measured.node_ns.find(node.name());
  if (device == nullptr && measured != graph_.measured.node_ns.end()) {
    double ns = measured->second;
    if (!at_measured_batch_.empty()) {
      const auto before = at_measured_batch_.find(node.name());
      const double now = Estimate(node).ns;
      if (before != at_measured_batch_.end() && before->second > 0 && now > 0) ns *= now / before->second;
    }
    return {ns, on_worker && ns > kWideNs ? graph_.measured.threads : 1};
  }
  const Estimated estimated = Estimate(node);
  // A _WireDecode is told the shape of its output, and the bytes that arrive are few.
  if (estimated.lacks_shape && node.type() != "_WireDecode") unknown_.insert(node.name());
  if (device == nullptr) return {estimated.ns, 1};
  if (estimated.ns == 0) return {};
  const double ns =
      std::max(estimated.cost.bytes / device->bytes_per_s, estimated.cost.flops / device->flops_per_s) * 1e9 +
      device->op_ns;
  if (device->is_gpu || estimated.ns < kWideNs || device->cores <= 1) return {ns, 1};
  return {ns / device->cores, device->cores};
}

NodeCosts::Estimated NodeCosts::Estimate(const Node& node) {
  const auto device = DeviceName::Parse(node.device());
  const auto kernel = KernelRegistry::Global().Find(node, device.ok() && device->type ? *device->type : "CPU");
  if (!kernel.ok() || (*kernel)->cost == kNoCost) return {};
  const CostContext context(node);
  const Cost cost = (*kernel)->cost(context);
  return {EstimatedNs(cost), cost, context.lacks_input()};
}

}  // namespace tensorbraid::planner
