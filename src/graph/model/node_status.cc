#include "graph/model/node_status.h"

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"

namespace tensorbraid {
namespace {

constexpr char kNodeName[] = "tensorbraid/node";
constexpr char kOpType[] = "tensorbraid/op";
constexpr char kTensorFlowCode[] = "tensorbraid/tensorflow_code";

std::string PayloadText(const Status& status, const char* payload) {
  const auto text = status.GetPayload(payload);
  return text.has_value() ? std::string(*text) : "";
}

}  // namespace

void NoteNodeName(const std::string& name, Status* status) { status->SetPayload(kNodeName, absl::Cord(name)); }

Status AboutNode(Status status, const Node& node) {
  if (status.ok() || status.GetPayload(kNodeName).has_value()) return status;
  const bool is_user_node = !node.type().starts_with('_') || node.inputs().empty();
  status.SetPayload(kOpType, absl::Cord(node.type()));
  NoteNodeName(is_user_node ? node.name() : NodeOf(node.inputs()[0])->name(), &status);
  return status;
}

Status AtNode(const Status& status, const Node& node) {
  // A cluster stands for nodes of the user, of which the error names one.
  if (node.type() == "_Cluster" && status.GetPayload(kNodeName).has_value()) return status;
  return AboutNode(Annotate(status, node.Describe()), node);
}

Status WithTensorFlowCode(Status status, absl::StatusCode code) {
  status.SetPayload(kTensorFlowCode, absl::Cord(std::to_string(static_cast<int>(code))));
  return status;
}

absl::StatusCode TensorFlowCodeOf(const Status& status) {
  const auto text = status.GetPayload(kTensorFlowCode);
  int code = 0;
  if (!text.has_value() || !absl::SimpleAtoi(std::string(*text), &code)) return status.code();
  return static_cast<absl::StatusCode>(code);
}

std::string NodeNameOf(const Status& status) { return PayloadText(status, kNodeName); }

std::string OpTypeOf(const Status& status) { return PayloadText(status, kOpType); }

}  // namespace tensorbraid
