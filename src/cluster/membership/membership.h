// What a task knows about the other tasks of its cluster.
#ifndef TENSORBRAID_CLUSTER_MEMBERSHIP_MEMBERSHIP_H_
#define TENSORBRAID_CLUSTER_MEMBERSHIP_MEMBERSHIP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/membership/cluster_view.h"
#include "cluster/membership/connections.h"
#include "cluster/membership/heartbeats.h"
#include "cluster/membership/options.h"
#include "core/system/clock.h"
#include "core/system/timer.h"
#include "core/threads/mutex.h"
#include "tensorbraid/cluster/cluster_spec.h"
#include "transport/transport.h"

namespace tensorbraid {

// Knows the tasks of a cluster and whether they are connected, have left or are lost. What it knows is a view with a
// version (cluster_view.h), which changes as tasks come and go. Connections dials and finds the links; Heartbeats
// watches them. Thread-safe. No lock is held while a function of a link, of the transport or of a caller runs.
class Membership {
 public:
  // `self` describes this task. Without a transport and a timer, no other task can be reached. All pointers must
  // outlive this object.
  Membership(Transport* transport, Timer* timer, const ClusterSpec& cluster, Hello self, MembershipOptions options);
  ~Membership();

  // Starts to listen, and to watch links. Returns the port. `acceptor` must pass on the events of links (below).
  StatusOr<int> Listen(const std::string& address, LinkAcceptor* acceptor);

  Connections& connections() { return connections_; }
  const MembershipOptions& options() const { return options_; }

  // What is known now. The same object as long as nothing changes.
  std::shared_ptr<const ClusterView> view();
  // Blocks until `done` is true of the view, or until this object stops, and returns the view of that moment; null at
  // the deadline. `done` is asked again after each change and after WakeWaiters; it must not call this object.
  std::shared_ptr<const ClusterView> AwaitView(MonotonicClock::time_point deadline,
                                               const std::function<bool(const ClusterView&)>& done);
  void WakeWaiters();
  // Replaces the tasks of the cluster. A task that is new, or has another address, can be reached from now on. The
  // links of a task that is no longer in the cluster are closed, and calls that wait for it fail with NotFound.
  void Update(const ClusterSpec& cluster);

  // From now on, this task tells the others that it only serves (see JoinCluster). A worker hears from the parameter
  // servers that the work is over. If the cluster has none, or all have been gone for lost_after, it connects with the
  // other workers instead, and sees for itself.
  void OnlyServe();
  // Sends Leave with `why` to every connected task, after a last WorkOver, then closes all links and stops. Waiters get
  // Cancelled. When this returns, OnLinkDown has been called for every link.
  void Shutdown(const Status& why);

  // What this task has received from `task` since this task started, over all links.
  struct Received {
    std::string task;
    uint64_t messages = 0;
    uint64_t tensor_bytes = 0;
  };
  // What this task has received from every task that has been connected, in the order of their names.
  std::vector<Received> AllReceived();

  // When a task that is no parameter server connected for the last time; std::nullopt if none ever did.
  std::optional<MonotonicClock::time_point> last_joined();

  // In the cluster of a session: Aborted if the task has ended its part in the session; otherwise OK.
  Status SessionEnded(const std::string& task);

  // The events of links, as in LinkAcceptor and LinkHandler, and the messages that are meant for this object.
  Status OnHello(const Hello& from, Hello* answer);
  void OnLinkUp(const std::shared_ptr<PeerConnection>& connection);
  void OnHeartbeat(const Hello& from, const Heartbeat& m);
  void OnLeave(const Hello& from, const Leave& m);
  void OnWorkOver(const Hello& from, const WorkOver& m);
  // Returns `why` with the name of the task at the other end.
  Status OnLinkDown(const std::shared_ptr<PeerConnection>& connection, const Status& why);

 private:
  using Clock = MonotonicClock;
  // A task that is in the cluster, or has connected from outside it.
  struct Task {
    std::string address;
    bool in_cluster = false;
    bool is_ps = false;
    bool seen = false;         // has been connected at least once
    bool only_serves = false;  // waits in JoinCluster itself
    bool told_over = false;    // has been sent WorkOver
    bool left = false;
    bool lost = false;
    Status leave_status;
    std::optional<Status> work_over;       // what the task has said with WorkOver
    uint64_t left_incarnation = 0;         // of the task when it left
    Clock::time_point down_since;          // when its last link went down
    std::shared_ptr<const TaskView> view;  // null when it must be made again
  };

  // The view of this task has changed.
  void Changed(Task& task) TB_REQUIRES(mu_);
  const std::shared_ptr<const ClusterView>& View() TB_REQUIRES(mu_);
  std::shared_ptr<const TaskView> ViewOf(const std::string& name, const Task& task) TB_REQUIRES(mu_);
  void NoteLeave(const Hello& from, const Leave& m) TB_EXCLUDES(mu_);
  void Tick();
  // Returns whether a task has been lost.
  bool LookForLostTasks() TB_REQUIRES(mu_);
  // At a parameter server: sends WorkOver to the workers that only serve, if the work is over and they do not know.
  void TellWorkOver() TB_EXCLUDES(mu_);
  // At a worker that only serves: connects with the other workers if no parameter server can tell it of their end, and
  // none has come back in time. Dials the parameter servers, too, from then on.
  void WatchWorkers() TB_EXCLUDES(mu_);

  Transport* const transport_;
  Timer* const timer_;
  const std::string name_;                     // of this task
  const std::vector<DeviceInfo> own_devices_;  // of this task
  const bool in_session_;                      // the cluster is one that a session has brought
  const MembershipOptions options_;
  Connections connections_;  // its lock may be taken while mu_ is held
  Heartbeats heartbeats_;    // used by Tick

  Mutex mu_;
  CondVar changed_;
  bool is_ps_ TB_GUARDED_BY(mu_) = false;                       // this task
  uint64_t version_ TB_GUARDED_BY(mu_) = 1;                     // of the view
  std::shared_ptr<const ClusterView> view_ TB_GUARDED_BY(mu_);  // null or outdated until it is asked for
  std::map<std::string, Task> tasks_ TB_GUARDED_BY(mu_);        // the other tasks
  using NamedTask = std::map<std::string, Task>::value_type;
  std::vector<NamedTask*> order_ TB_GUARDED_BY(mu_);  // the other tasks of the cluster, in order of job and index
  // The tasks whose last link is down, and which may therefore be lost. Looked at again and again, unlike tasks_, which
  // may have many tasks that this one never meets.
  std::map<std::string, Task*> away_ TB_GUARDED_BY(mu_);
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  int awaiting_ TB_GUARDED_BY(mu_) = 0;          // running calls of AwaitView
  int telling_ TB_GUARDED_BY(mu_) = 0;           // running calls of TellWorkOver that send
  bool only_serves_ TB_GUARDED_BY(mu_) = false;  // this task
  std::optional<Clock::time_point> last_joined_ TB_GUARDED_BY(mu_);
  // See WatchWorkers. Since when no parameter server is there.
  std::optional<Clock::time_point> hears_nothing_since_ TB_GUARDED_BY(mu_);
  bool watches_workers_ TB_GUARDED_BY(mu_) = false;
  Timer::Id tick_ TB_GUARDED_BY(mu_) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MEMBERSHIP_MEMBERSHIP_H_
