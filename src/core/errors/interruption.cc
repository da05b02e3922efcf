#include "core/errors/interruption.h"

#include <utility>

#include "absl/strings/cord.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// The payload of an interruption: its reason, with which the message ends.
constexpr char kReason[] = "tensorbraid/interruption";
constexpr std::string_view kSeparator = ": ";

}  // namespace

Status Interrupted(std::string_view wait, std::string_view reason) {
  return Annotate(AsReason(Cancelled(reason)), std::string(wait));
}

Status AsReason(Status why) {
  const absl::Cord reason{why.message()};
  why.SetPayload(kReason, reason);
  return why;
}

std::string WithoutReason(const Status& error) {
  std::string message(error.message());
  if (const auto reason = error.GetPayload(kReason); reason.has_value()) {
    const std::string end = StrCat(kSeparator, std::string(*reason));
    if (message.ends_with(end)) message.resize(message.size() - end.size());
  }
  return message;
}

}  // namespace tensorbraid
