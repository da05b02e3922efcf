// The other tasks of a cluster, and the links to them.
#ifndef TENSORBRAID_CLUSTER_MEMBERSHIP_MEMBERSHIP_H_
#define TENSORBRAID_CLUSTER_MEMBERSHIP_MEMBERSHIP_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/membership/cluster_view.h"
#include "cluster/membership/peer_links.h"
#include "core/system/clock.h"
#include "core/system/timer.h"
#include "core/threads/mutex.h"
#include "core/threads/still_wanted.h"
#include "tensorbraid/cluster/cluster_spec.h"
#include "transport/transport.h"

namespace tensorbraid {

struct MembershipOptions {
  std::chrono::milliseconds heartbeat_interval{1000};
  std::chrono::milliseconds heartbeat_timeout{10000};
  std::chrono::milliseconds lost_after{30000};
  std::chrono::milliseconds slow_wait{5000};
  // How long Join waits for tasks that work after this process was asked to stop.
  std::chrono::milliseconds stop_grace{30000};
  // How long Join waits before it logs which tasks have never connected. The time doubles with each such line.
  std::chrono::milliseconds join_log_after{10000};
};

// Knows the tasks of a cluster, connects to them, keeps the links alive and watches them. What it knows is a view with
// a version (cluster_view.h), which changes as tasks come and go. Two tasks usually have one link, whichever side
// dialed. If both dial at the same moment, they have two: each side sends on the link that came up first on its side,
// and receives on both.
//
// Tasks are watched by heartbeats. A link that has been silent for heartbeat_timeout is closed, so that everything that
// waits for its task fails. Thread-safe. No lock is held while a function of a link, of the transport or of a caller
// runs.
class Membership final : public PeerLinks {
 public:
  // `self` describes this task. Without a transport and a timer, no other task can be reached. All pointers must
  // outlive this object.
  Membership(Transport* transport, Timer* timer, const ClusterSpec& cluster, Hello self, MembershipOptions options);
  ~Membership() override;

  // Starts to listen, and to watch links. Returns the port. `acceptor` must pass on the events of links (below).
  StatusOr<int> Listen(const std::string& address, LinkAcceptor* acceptor);

  // What is known now. The same object as long as nothing changes.
  std::shared_ptr<const ClusterView> view();
  // Replaces the tasks of the cluster. A task that is new, or has another address, can be reached from now on. The
  // links of a task that is no longer in the cluster are closed, and calls that wait for it fail with NotFound.
  void Update(const ClusterSpec& cluster);

  // Returns the link to a task, or null if the task is not connected. Never dials.
  std::shared_ptr<Link> Find(const std::string& task);
  // Calls back with the link to a task: at once if it is connected, otherwise after dialing. Fails if the task cannot
  // be reached within `timeout`, if another task answers at its address, or if this object shuts down.
  using GetDone = std::function<void(StatusOr<std::shared_ptr<Link>>)>;
  void Get(const std::string& task, std::chrono::milliseconds timeout, GetDone done);
  // As Get, for a task that is known by its number. Waits at most 5 s for the task, or heartbeat_timeout if that is
  // less.
  void GetLink(uint32_t peer, LinkDone done) override;
  StatusOr<uint32_t> NumberOf(const std::string& task) override;
  // Blocks until the task is connected, and logs the wait every slow_wait. DeadlineExceeded if the deadline passes
  // first, the error of `still_wanted` soon after it returns one.
  StatusOr<std::shared_ptr<Link>> WaitFor(const std::string& task, std::chrono::steady_clock::time_point deadline,
                                          const StillWanted& still_wanted);
  // Dials the task, and dials again whenever the link breaks, until shutdown or until the task leaves.
  void KeepConnected(const std::string& task);

  // What this task has received from another one since it started, over all links.
  struct Traffic {
    std::string task;
    uint64_t messages = 0;
    uint64_t tensor_bytes = 0;
  };
  // Of every task that has been connected, in the order of their names.
  std::vector<Traffic> Received();

  // See Server::Join.
  Status Join();
  // Sends Leave with `why` to every connected task, then closes all links and stops. Waiters get Cancelled. When this
  // returns, OnLinkDown has been called for every link.
  void Shutdown(const Status& why);

  // In the cluster of a session: Aborted if the task has ended its part in the session; otherwise OK.
  Status SessionEnded(const std::string& task);
  std::string AddressOf(const std::string& task);
  // Why the last attempt to connect to the task failed. OK if it did not fail, or if there was none.
  Status LastError(const std::string& task);
  std::string own_address();  // with the port in use; empty before Listen

  // The events of links, as in LinkAcceptor and LinkHandler, and the messages that are meant for this object.
  Status OnHello(const Hello& from, Hello* answer);
  void OnLinkUp(const std::shared_ptr<Link>& link);
  void OnAnyMessage(const Link& link, uint64_t tensor_bytes);
  void OnHeartbeat(const Link& link, const Heartbeat& m);
  void OnLeave(const Link& link, const Leave& m);
  // Returns `why` with the name of the task at the other end.
  Status OnLinkDown(const std::shared_ptr<Link>& link, const Status& why);

 private:
  using Clock = MonotonicClock;
  struct Waiter {
    GetDone done;
    Clock::time_point deadline;
  };
  // A task that is in the cluster, or has connected from outside it.
  struct Counters {
    std::atomic<uint64_t> messages{0};
    std::atomic<uint64_t> tensor_bytes{0};
  };
  struct Peer {
    std::string task;
    uint32_t number = 0;
    std::string address;
    bool in_cluster = false;
    bool is_ps = false;
    std::vector<std::shared_ptr<Link>> links;  // messages are sent on the first
    bool dialing = false;
    bool keep = false;  // KeepConnected has been called
    int failures = 0;   // failed attempts since the last success
    Status last_error;
    std::vector<Waiter> waiters;
    bool seen = false;         // has been connected at least once
    bool only_serves = false;  // waits in Join itself
    bool left = false;
    Status leave_status;
    uint64_t left_incarnation = 0;  // of the task when it left
    bool lost = false;
    Clock::time_point down_since;
    Clock::time_point wait_since;
    Clock::time_point waited_at;  // when the peer last had a waiter
    Clock::time_point wait_logged;
    std::shared_ptr<Counters> received = std::make_shared<Counters>();
  };
  struct Heard {
    std::atomic<Clock::rep> last;
    std::shared_ptr<Counters> received;  // of the peer
  };

  // The view has changed.
  void Changed() TB_REQUIRES(mu_);
  const std::shared_ptr<const ClusterView>& View() TB_REQUIRES(mu_);
  Peer& PeerOf(const std::string& task) TB_REQUIRES(mu_);
  void Keep(Peer* peer) TB_REQUIRES(mu_);
  // Asks for a connection, which Dial makes once mu_ has been released.
  void WantDial(Peer* peer) TB_REQUIRES(mu_);
  void Dial() TB_EXCLUDES(mu_);
  void DialLater(const std::string& task, std::chrono::milliseconds delay) TB_REQUIRES(mu_);
  void OnDialed(const std::string& task, const StatusOr<std::shared_ptr<Link>>& link);
  void Tick();
  // The end of Join after a request to stop: lets the tasks that work leave.
  void WaitForWorkingTasks() TB_REQUIRES(mu_);
  static std::string Describe(const Peer& peer);

  Transport* const transport_;
  Timer* const timer_;
  const std::string name_;  // of this task
  const bool in_session_;   // the cluster is one that a session has brought
  const MembershipOptions options_;

  Mutex mu_;
  CondVar changed_;
  Hello self_ TB_GUARDED_BY(mu_);
  bool is_ps_ TB_GUARDED_BY(mu_) = false;                       // this task
  uint64_t version_ TB_GUARDED_BY(mu_) = 1;                     // of the view
  std::shared_ptr<const ClusterView> view_ TB_GUARDED_BY(mu_);  // null or outdated until it is asked for
  std::vector<std::string> order_ TB_GUARDED_BY(mu_);           // of the other tasks: by job and index
  std::map<std::string, Peer> peers_ TB_GUARDED_BY(mu_);
  std::vector<Peer*> numbered_ TB_GUARDED_BY(mu_);  // the same, by number
  std::map<const Link*, std::shared_ptr<Heard>> heard_ TB_GUARDED_BY(mu_);
  std::vector<std::pair<std::string, Hello>> dials_ TB_GUARDED_BY(mu_);  // addresses to be dialed
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  bool only_serves_ TB_GUARDED_BY(mu_) = false;  // Join has been called
  Timer::Id tick_ TB_GUARDED_BY(mu_) = 0;
  std::set<Timer::Id> redials_ TB_GUARDED_BY(mu_);  // pending
  Clock::time_point next_heartbeat_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MEMBERSHIP_MEMBERSHIP_H_
