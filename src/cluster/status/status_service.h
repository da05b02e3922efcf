// The call with which any client asks one task how the whole cluster is.
#ifndef TENSORBRAID_CLUSTER_STATUS_STATUS_SERVICE_H_
#define TENSORBRAID_CLUSTER_STATUS_STATUS_SERVICE_H_

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "cluster/server/member.h"
#include "cluster/status/cluster_report.h"
#include "transport/calls.h"

namespace tensorbraid {

// The request is a ClusterReportRequest, the answer a ClusterReport (cluster/protobuf/report.proto).
inline constexpr char kGetClusterReport[] = "/tensorbraid.StatusService/GetClusterReport";
// How long the asked task waits for the answers of the others.
inline constexpr std::chrono::milliseconds kReportTimeout{2000};

// Answers GetClusterReport and passes all other calls on. Thread-safe.
class StatusService final : public CallHandler {
 public:
  // `env` and `others` must outlive the service.
  StatusService(std::shared_ptr<Member> member, WorkerEnv* env, CallHandler* others)
      : member_(std::move(member)), env_(env), others_(others) {}

  void OnCall(std::shared_ptr<Call> call) override;
  // CollectClusterReport for the same cluster, on a thread of the pool.
  void Collect(std::chrono::milliseconds timeout, std::function<void(const proto::ClusterReport&)> done);

 private:
  const std::shared_ptr<Member> member_;
  WorkerEnv* const env_;
  CallHandler* const others_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_STATUS_STATUS_SERVICE_H_
