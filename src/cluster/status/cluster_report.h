// What all tasks of a cluster report, collected by one of them.
#ifndef TENSORBRAID_CLUSTER_STATUS_CLUSTER_REPORT_H_
#define TENSORBRAID_CLUSTER_STATUS_CLUSTER_REPORT_H_

#include <chrono>
#include <functional>
#include <memory>

namespace tensorbraid {

class Member;
class Timer;

namespace proto {
class ClusterReport;
}

// Asks every task of the cluster for its report, including those that `member` has no connection to yet, and calls
// `done` once: when all have answered, or after `timeout`. A task that has not answered by then is reported with the
// reason. `done` may be called before this returns, or on a thread of the transport, of the timer or of the pool; it
// must not block. `timer` must live until it is called. Does not wait for the other tasks, but as FillTaskReport must
// not be called on a transport thread.
void CollectClusterReport(const std::shared_ptr<Member>& member, Timer* timer, std::chrono::milliseconds timeout,
                          std::function<void(const proto::ClusterReport&)> done);

// Fills in what follows from the reports of all tasks: the global step, the stragglers and the blocked steps.
void Summarize(proto::ClusterReport* report);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_STATUS_CLUSTER_REPORT_H_
