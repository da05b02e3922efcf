// The call by which a client asks one task for the report of the whole cluster.
#ifndef TENSORBRAID_CLUSTER_STATUS_STATUS_SERVICE_H_
#define TENSORBRAID_CLUSTER_STATUS_STATUS_SERVICE_H_

#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "cluster/status/cluster_report.h"
#include "cluster/status/report_source.h"
#include "cluster/worker/worker_env.h"
#include "transport/calls.h"

namespace tensorbraid {

// The request is a ClusterReportRequest, the answer a ClusterReport (cluster/protobuf/report.proto).
inline constexpr char kGetClusterReport[] = "/tensorbraid.StatusService/GetClusterReport";
// How long the asked task waits for the answers of the other tasks, unless the request sets another time.
inline constexpr std::chrono::milliseconds kReportTimeout{2000};

// Answers GetClusterReport and passes all other calls on. Thread-safe.
class StatusService final : public CallHandler {
 public:
  // `task` is this process in the cluster that it was started in, `sessions` finds this process in the clusters that
  // sessions brought, and `others` handles all other calls. `env` and `others` must outlive the service.
  StatusService(std::shared_ptr<ReportSource> task, SessionSources sessions, WorkerEnv* env, CallHandler* others)
      : task_(std::move(task)), sessions_(std::move(sessions)), env_(env), others_(others) {}

  void OnCall(std::shared_ptr<Call> call) override;
  // Calls CollectClusterReport, on a thread of the pool, for the task's own cluster and the clusters of sessions.
  void Collect(std::chrono::milliseconds timeout, std::function<void(const proto::ClusterReport&)> done);

 private:
  const std::shared_ptr<ReportSource> task_;
  const SessionSources sessions_;
  WorkerEnv* const env_;
  CallHandler* const others_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_STATUS_STATUS_SERVICE_H_
