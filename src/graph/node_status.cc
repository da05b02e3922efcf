#include "graph/node_status.h"

#include "absl/strings/cord.h"

namespace tensorbraid {
namespace {

constexpr char kNodeName[] = "tensorbraid/node";

}  // namespace

void NoteNodeName(const std::string& name, Status* status) { status->SetPayload(kNodeName, absl::Cord(name)); }

Status AboutNode(Status status, const Node& node) {
  if (status.ok() || status.GetPayload(kNodeName).has_value()) return status;
  const bool is_users = !node.type().starts_with('_') || node.inputs().empty();
  NoteNodeName(is_users ? node.name() : node.inputs()[0].node()->name(), &status);
  return status;
}

Status AtNode(const Status& status, const Node& node) { return AboutNode(Annotate(status, node.Describe()), node); }

std::string NodeNameOf(const Status& status) {
  const auto name = status.GetPayload(kNodeName);
  return name.has_value() ? std::string(*name) : "";
}

}  // namespace tensorbraid
