#include "cluster/client_service/client_errors.h"

#include <string_view>

#include "cluster/protobuf/proto_io.h"
#include "core/text/strings.h"
#include "graph/model/node_status.h"

namespace tensorbraid {
namespace {

constexpr std::string_view kBefore = "\n\t [[{{node ";
constexpr std::string_view kAfter = "}}]]";
// Every error about a variable without a value has this text in its message. For some ops, TensorFlow gives such an
// error another code than this program, which uses FailedPrecondition; ToClientError and FromClientError convert the
// code.
constexpr std::string_view kUninitialized = "Attempting to use uninitialized value ";

}  // namespace

Status ToClientError(const Status& status) {
  if (status.ok()) return status;
  const std::string node = NodeNameOf(status);
  std::string message = ToUtf8(std::string(status.message()));
  if (!node.empty()) message += StrCat(kBefore, ToUtf8(node), kAfter);
  return Status(TensorFlowCodeOf(status), message);
}

Status FromClientError(const Status& status) {
  if (status.ok()) return status;
  const std::string text(status.message());
  const std::string_view message = text;
  const auto code =
      message.find(kUninitialized) == std::string_view::npos ? status.code() : absl::StatusCode::kFailedPrecondition;
  const size_t at = message.rfind(kBefore);
  if (at == std::string_view::npos || !message.ends_with(kAfter)) return Status(code, text);
  const std::string_view name =
      message.substr(at + kBefore.size(), message.size() - at - kBefore.size() - kAfter.size());
  Status plain(code, std::string(message.substr(0, at)));
  NoteNodeName(std::string(name), &plain);
  return plain;
}

}  // namespace tensorbraid
