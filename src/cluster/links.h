// The links of one task to the other tasks of its cluster.
#ifndef TENSORBRAID_CLUSTER_LINKS_H_
#define TENSORBRAID_CLUSTER_LINKS_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/mutex.h"
#include "core/still_wanted.h"
#include "core/timer.h"
#include "tensorbraid/cluster_spec.h"
#include "transport/transport.h"

namespace tensorbraid {

struct LinksOptions {
  std::chrono::milliseconds heartbeat_interval{1000};
  std::chrono::milliseconds heartbeat_timeout{10000};
  std::chrono::milliseconds lost_after{30000};
  std::chrono::milliseconds slow_wait{5000};
  // How long Join waits before it logs which tasks have never connected. The time doubles with each such line.
  std::chrono::milliseconds join_log_after{10000};
};

// Connects to other tasks, keeps the links alive and watches them. Two tasks usually have one link, whichever side
// dialed. If both dial at the same moment there are two: each side sends on the one that came up first on that side,
// and receives on both.
//
// Peers are watched by heartbeats. A link that has been silent for heartbeat_timeout is closed, so that everything that
// waits for the peer fails. Thread-safe.
class Links final : private LinkHandler {
 public:
  // Receives broken links, and messages other than Heartbeat and Leave. Called on transport threads; must not block.
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void OnMessage(const std::shared_ptr<Link>& link, Message message) = 0;
    // `why` names the task at the other end.
    virtual void OnLinkDown(const std::shared_ptr<Link>& link, const Status& why) = 0;
  };

  // `self` describes this task; Listen fills in its address. All pointers must outlive this object.
  Links(Transport* transport, Timer* timer, const ClusterSpec& cluster, Hello self, LinksOptions options,
        Observer* observer);
  ~Links() override;

  // Returns the port.
  StatusOr<int> Listen(const std::string& address);

  // Returns the link to a task, or null if the task is not connected. Never dials.
  std::shared_ptr<Link> Find(const std::string& task);
  // Calls back with the link to a task: at once if it is connected, otherwise after dialing. Fails if the task cannot
  // be reached within `timeout`, if another task answers at its address, or if this object shuts down.
  using GetDone = std::function<void(StatusOr<std::shared_ptr<Link>>)>;
  void Get(const std::string& task, std::chrono::milliseconds timeout, GetDone done);
  // Blocks until the task is connected, and logs the wait every slow_wait. DeadlineExceeded if the deadline passes
  // first, the error of `still_wanted` soon after it returns one.
  StatusOr<std::shared_ptr<Link>> WaitFor(const std::string& task, std::chrono::steady_clock::time_point deadline,
                                          const StillWanted& still_wanted);
  // Dials the task, and dials again whenever the link breaks, until shutdown or until the task leaves.
  void KeepConnected(const std::string& task);

  // See Server::Join.
  Status Join();
  // Sends Leave with `why` to every connected task, then closes all links and stops. Waiters get Cancelled. All calls
  // of OnLinkDown have returned when this returns.
  void Shutdown(const Status& why);

  // In the cluster of a session: Aborted if the task has ended its part in the session; otherwise OK.
  Status SessionEnded(const std::string& task);

  const Hello& self() const { return self_; }
  std::string AddressOf(const std::string& task) const;

 private:
  using Clock = MonotonicClock;
  struct Waiter {
    GetDone done;
    Clock::time_point deadline;
  };
  struct Peer {
    std::string task;
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
    bool lost = false;
    Clock::time_point down_since;
    Clock::time_point wait_since;
    Clock::time_point waited_at;  // when the peer last had a waiter
    Clock::time_point wait_logged;
  };
  struct Heard {
    std::atomic<Clock::rep> last;
  };

  Status OnHello(const Hello& from, Hello* answer) override;
  void OnLinkUp(const std::shared_ptr<Link>& link) override;
  void OnMessage(const std::shared_ptr<Link>& link, Message message) override;
  void OnLinkDown(const std::shared_ptr<Link>& link, const Status& why) override;

  Peer& PeerOf(const std::string& task) TB_REQUIRES(mu_);
  void Keep(Peer* peer) TB_REQUIRES(mu_);
  void Dial(Peer* peer) TB_REQUIRES(mu_);
  void DialLater(const std::string& task, std::chrono::milliseconds delay) TB_REQUIRES(mu_);
  void OnDialed(const std::string& task, const StatusOr<std::shared_ptr<Link>>& link);
  void Tick();
  // Whether the work of the cluster is over; see Server::Join.
  bool WorkIsOver() TB_REQUIRES(mu_);
  static std::string Describe(const Peer& peer);

  Transport* const transport_;
  Timer* const timer_;
  Hello self_;
  bool is_ps_ = false;  // this task
  const LinksOptions options_;
  Observer* const observer_;

  Mutex mu_;
  CondVar changed_;
  std::map<std::string, Peer> peers_ TB_GUARDED_BY(mu_);
  std::map<const Link*, std::shared_ptr<Heard>> heard_ TB_GUARDED_BY(mu_);
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  bool only_serves_ TB_GUARDED_BY(mu_) = false;  // Join has been called
  Timer::Id tick_ TB_GUARDED_BY(mu_) = 0;
  std::set<Timer::Id> redials_ TB_GUARDED_BY(mu_);  // pending
  Clock::time_point next_heartbeat_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_LINKS_H_
