// Asks a task for the report of its cluster.
#ifndef TENSORBRAID_CLI_ASK_REPORT_H_
#define TENSORBRAID_CLI_ASK_REPORT_H_

#include <chrono>
#include <string>

#include "cluster/protobuf/report.pb.h"
#include "tensorbraid/core/status.h"
#include "transport/grpc/call_client.h"

namespace tensorbraid {

inline constexpr std::chrono::seconds kConnectPatience{5};

// `timeout_seconds` is the time that the tasks have to answer; `address` ("host:port") appears in errors. Unavailable
// if the task does not answer, FailedPrecondition if it is none of this release.
StatusOr<proto::ClusterReport> AskForReport(CallClient& client, const std::string& address, double timeout_seconds);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_ASK_REPORT_H_
