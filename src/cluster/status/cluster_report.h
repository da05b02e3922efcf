// Collects the reports of all tasks of a cluster.
#ifndef TENSORBRAID_CLUSTER_STATUS_CLUSTER_REPORT_H_
#define TENSORBRAID_CLUSTER_STATUS_CLUSTER_REPORT_H_

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace tensorbraid {

class ReportSource;
class Timer;

namespace proto {
class ClusterReport;
}

// The longest timeout that a task accepts from others.
inline constexpr std::chrono::milliseconds kMaxReportTimeout{60000};

// Asks every task of the cluster for its report, including those that `task` has no connection to yet, and calls
// `done` once: when all have answered, or after `timeout`. A task that has not answered by then is reported with the
// reason. `done` may be called before this returns, or on a thread of the transport, of the timer or of the pool; it
// must not block. `timer` must live until then. Does not wait for the other tasks. Like FillTaskReport, must
// not be called on a transport thread.
//
// A worker asks a parameter server for the report of all tasks, if one is connected, and other tasks only in case that
// it does not answer. It makes no new connection then, because such a connection would stay.
//
// The report also has the clusters that sessions brought (ClusterReport::session_clusters): those of `sessions`, and
// those whose master is another task of `task`'s cluster.
void CollectClusterReport(const std::shared_ptr<ReportSource>& task,
                          const std::vector<std::shared_ptr<ReportSource>>& sessions, Timer* timer,
                          std::chrono::milliseconds timeout, std::function<void(const proto::ClusterReport&)> done);

// As CollectClusterReport, for the clusters of `sources`, which sessions brought. The reports are in the order of
// `sources`. Does not connect to any task, because a connection from the session's master would make that task a member
// of the cluster. So a task without a connection is reported without being asked.
//
// Only the session's master is connected to all tasks that the session uses. Any other task therefore asks the master
// for its report of the cluster, and uses its own connections only if the master does not answer.
void CollectSessionClusters(const std::vector<std::shared_ptr<ReportSource>>& sources, Timer* timer,
                            std::chrono::milliseconds timeout,
                            std::function<void(const std::vector<proto::ClusterReport>&)> done);

// Fills in what follows from the reports of all tasks: the global step, the stragglers and the blocked steps. Does not
// change `session_clusters`.
void Summarize(proto::ClusterReport* report);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_STATUS_CLUSTER_REPORT_H_
