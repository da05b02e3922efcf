// What the report of a cluster needs from a task.
#ifndef TENSORBRAID_CLUSTER_STATUS_REPORT_SOURCE_H_
#define TENSORBRAID_CLUSTER_STATUS_REPORT_SOURCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/membership/remote_workers.h"

namespace tensorbraid {

namespace proto {
class TaskReport;
}

// This process as a task of one cluster. Thread-safe.
class ReportSource {
 public:
  virtual ~ReportSource() = default;
  // See FillTaskReport.
  virtual void FillReport(proto::TaskReport* report) = 0;
  virtual Membership& membership() = 0;
  // The number of the cluster if a session brought it, otherwise 0.
  virtual uint64_t cluster_id() const = 0;
  // The name of the task that is the session's master, if a session brought the cluster.
  virtual const std::string& cluster_master() const = 0;
};

// Returns this process as a task of each cluster that a session brought.
using SessionSources = std::function<std::vector<std::shared_ptr<ReportSource>>()>;

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_STATUS_REPORT_SOURCE_H_
