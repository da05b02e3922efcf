#include "tensorbraid/core/status.h"

#include <cstdio>

#include "absl/strings/cord.h"
#include "core/system/program_end.h"

namespace tensorbraid {

std::string ToString(const Status& status) {
  if (status.ok()) return "OK";
  return absl::StatusCodeToString(status.code()) + ": " + std::string(status.message());
}

int ExitCode(const Status& status) {
  EndProgram();
  if (status.ok()) return 0;
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", ToString(status).c_str());
  return absl::IsInvalidArgument(status) || absl::IsUnimplemented(status) ? 2 : 1;
}

Status Annotate(const Status& status, const std::string& context) {
  if (status.ok()) return status;
  Status annotated(status.code(), context + ": " + std::string(status.message()));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& value) { annotated.SetPayload(url, value); });
  return annotated;
}

}  // namespace tensorbraid
