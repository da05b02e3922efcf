#include "cli/ask_report.h"

#include "cli/duration.h"
#include "cluster/protobuf/proto_io.h"
#include "cluster/status/status_service.h"
#include "core/system/clock.h"
#include "core/text/strings.h"

namespace tensorbraid {

StatusOr<proto::ClusterReport> AskForReport(CallClient& client, const std::string& address, double timeout_seconds) {
  proto::ClusterReportRequest request;
  request.set_timeout_seconds(timeout_seconds);
  const auto patience = kConnectPatience + Milliseconds(timeout_seconds + 2);
  CallClient::Result result =
      client.Ask(kGetClusterReport, SerializeMessage(request), MonotonicClock::now() + patience);
  if (absl::IsDeadlineExceeded(result.status)) {
    return Unavailable(address, " does not answer; ask another task of the cluster");
  }
  if (absl::IsUnimplemented(result.status)) {
    return FailedPrecondition(address, " is not a task of this release of Tensorbraid");
  }
  TF_RETURN_IF_ERROR(result.status);
  proto::ClusterReport report;
  if (!ParseMessage(result.answer, &report)) return Internal("the report of ", address, " cannot be parsed");
  return report;
}

}  // namespace tensorbraid
