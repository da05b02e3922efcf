#include "cluster/status/status_service.h"

#include <algorithm>
#include <utility>

#include "cluster/protobuf/proto_io.h"
#include "cluster/protobuf/report.pb.h"

namespace tensorbraid {

void StatusService::OnCall(std::shared_ptr<Call> call) {
  if (call->method() != kGetClusterReport) return others_->OnCall(std::move(call));
  proto::ClusterReportRequest request;
  if (!ReadRequest(call, &request)) return;
  constexpr double kMostSeconds = std::chrono::duration<double>(kMaxReportTimeout).count();
  auto timeout = kReportTimeout;
  if (request.timeout_seconds() > 0) {
    timeout = std::chrono::milliseconds(static_cast<int64_t>(std::min(request.timeout_seconds(), kMostSeconds) * 1000));
  }
  Collect(timeout, [call](const proto::ClusterReport& report) { AnswerCall(call, report); });
}

void StatusService::Collect(std::chrono::milliseconds timeout, std::function<void(const proto::ClusterReport&)> done) {
  env_->pool().ScheduleBlocking(
      [task = task_, sessions = sessions_, timer = env_->timer(), timeout, done = std::move(done)]() mutable {
        CollectClusterReport(task, sessions(), timer, timeout, std::move(done));
      });
}

}  // namespace tensorbraid
