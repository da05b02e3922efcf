#include "cluster/worker/dead_accelerators.h"

#include <set>
#include <string>

#include "absl/strings/cord.h"
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "pjrt/accelerator.h"
#include "pjrt/find_plugins.h"

namespace tensorbraid {
namespace {

constexpr char kDeadDevices[] = "tensorbraid/dead_devices";

}  // namespace

Status StartAccelerators(const Graph& part) {
  std::set<std::string> started;  // devices
  for (const auto& node : ImplOf(part).nodes()) {
    TF_ASSIGN_OR_RETURN(DeviceName device, DeviceName::Parse(node->device()));
    if (!device.type.has_value() || !pjrt::IsAcceleratorType(*device.type)) continue;
    if (!started.insert(node->device()).second) continue;
    pjrt::Accelerator& accelerator = pjrt::Accelerator::OfType(*device.type);
    const Status dead = accelerator.ClientWith(device.id.value_or(0)).status();
    if (dead.ok()) continue;
    // Without a client, no device of the type can be used.
    if (accelerator.client_if_made() == nullptr) device.id.reset();
    Status status = Annotate(dead, node->Describe());
    status.SetPayload(kDeadDevices, absl::Cord(device.ToString()));
    return status;
  }
  return OkStatus();
}

std::optional<DeviceName> DeadAcceleratorsOf(const Status& status) {
  const auto name = status.GetPayload(kDeadDevices);
  if (!name.has_value()) return std::nullopt;
  auto device = DeviceName::Parse(std::string(*name));
  if (!device.ok()) return std::nullopt;
  return *std::move(device);
}

Status AdviseSoftPlacement(const Status& status) {
  if (!DeadAcceleratorsOf(status).has_value()) return status;
  return {status.code(), StrCat(status.message(), "; with allow_soft_placement, the CPU computes instead")};
}

}  // namespace tensorbraid
