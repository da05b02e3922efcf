// Finds and dials the connections to the other tasks, and keeps the callers that wait for a task.
#ifndef TENSORBRAID_CLUSTER_MEMBERSHIP_CONNECTIONS_H_
#define TENSORBRAID_CLUSTER_MEMBERSHIP_CONNECTIONS_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/membership/options.h"
#include "cluster/peer/peer_connection.h"
#include "cluster/peer/peer_links.h"
#include "cluster/peer/traffic.h"
#include "core/system/clock.h"
#include "core/system/timer.h"
#include "core/threads/mutex.h"
#include "core/threads/still_wanted.h"
#include "transport/transport.h"

namespace tensorbraid {

// "ps/0 (host:port)".
std::string DescribeTask(const std::string& task, const std::string& address);

// Two tasks usually have one link, whichever side dialed. If both dial at the same moment, they have two: each side
// sends on the link that came up first on its side, and receives on both. Thread-safe. No lock is held while a function
// of a link, of the transport or of a caller runs.
class Connections final : public PeerLinks {
 public:
  // `self` describes this task. Without a transport and a timer, no other task can be reached. Both must outlive this
  // object.
  Connections(Transport* transport, Timer* timer, Hello self, const MembershipOptions& options);

  // What this task says of itself to the others.
  Hello self();
  void set_own_address(const std::string& address);
  // From now on, the task can be reached at this address.
  void SetAddress(const std::string& task, const std::string& address);
  // The task is no longer in the cluster: closes its links, and fails calls that wait for it with NotFound.
  void Remove(const std::string& task);
  std::string AddressOf(const std::string& task);

  // Returns the connection to a task, or null if the task is not connected. Never dials.
  std::shared_ptr<PeerConnection> Find(const std::string& task);
  // Calls back with the connection to a task: at once if it is connected, otherwise after dialing. Fails if the task
  // cannot be reached within `timeout`, if another task answers at its address, or if this object shuts down.
  using GetDone = ConnectionDone;
  void Get(const std::string& task, std::chrono::milliseconds timeout, GetDone done);
  // As Get, for a task that is known by its number. Waits at most 5 s for the task, or heartbeat_timeout if that is
  // less.
  void GetConnection(uint32_t peer, ConnectionDone done) override;
  StatusOr<uint32_t> NumberOf(const std::string& task) override;
  // Blocks until the task is connected, and logs the wait every slow_wait. Returns DeadlineExceeded if the deadline
  // passes first, or the error of `still_wanted` soon after that function returns one.
  StatusOr<std::shared_ptr<PeerConnection>> WaitFor(const std::string& task,
                                                    std::chrono::steady_clock::time_point deadline,
                                                    const StillWanted& still_wanted);
  // Dials the task, and dials again whenever the link breaks, until shutdown or until the task leaves. Waits are logged
  // unless the caller does that itself.
  enum class Waits { kLogged, kSilent };
  void KeepConnected(const std::string& task, Waits waits = Waits::kLogged);
  // Why the last attempt to connect to the task failed. OK if it did not fail, or if there was none.
  Status LastError(const std::string& task);

  // All connections that are up, in the order in which they came up.
  std::vector<std::shared_ptr<PeerConnection>> All();
  // The counters of what a task has sent here.
  std::shared_ptr<Traffic> ReceivedFrom(const std::string& task);

  // --- Events.
  // Records a link that has come up. The caller must then close the links in `outdated` and call the waiters, without
  // holding a lock.
  struct Added {
    std::shared_ptr<PeerConnection> primary;                // on which this task sends
    std::vector<std::shared_ptr<PeerConnection>> outdated;  // to earlier incarnations; to be closed
    std::vector<GetDone> waiters;                           // to be called with `primary`
  };
  Added Add(const std::shared_ptr<PeerConnection>& connection);
  // Removes a link that is down. Returns whether its task is still connected by another link. If it is not, dials the
  // task again if KeepConnected has been called for it.
  bool Erase(const std::shared_ptr<PeerConnection>& connection);
  // The task has left, or has come back: a task that has left is not dialed again.
  void SetLeft(const std::string& task, bool left);
  // Fails overdue waiters, and logs long waits. Call it at least every 100 ms.
  void Tick();
  // Waiters get Cancelled, and nothing is dialed any more. Sends Leave with `why` on all links and closes them.
  void Shutdown(const Status& why);

 private:
  using Clock = MonotonicClock;
  struct Waiter {
    GetDone done;
    Clock::time_point deadline;
  };
  // When the current wait for a task began, when it was last asked for, and when the wait was last logged.
  struct Wait {
    Clock::time_point since, asked, logged;
  };
  enum class Keep { kNo, kSilently, kYes };
  struct Peer {
    std::string task;
    uint32_t number = 0;
    std::string address;  // empty if it cannot be reached
    std::vector<std::shared_ptr<PeerConnection>> links;
    bool dialing = false;
    bool left = false;
    Keep keep = Keep::kNo;
    Status last_error;
    std::vector<Waiter> waiters;
    Wait wait;
    std::shared_ptr<Traffic> received;  // null until it is asked for
  };

  Peer& PeerOf(const std::string& task) TB_REQUIRES(mu_);
  // The peer is needed, and is not connected: Tick looks at it.
  void Await(const Peer& peer) TB_REQUIRES(mu_) { awaited_.insert(peer.number); }
  // Moves overdue waiters to `overdue`, and logs a long wait. False if nothing is waited for any more.
  bool StillAwaited(Peer& peer, Clock::time_point now, std::vector<std::pair<GetDone, Status>>* overdue)
      TB_REQUIRES(mu_);
  // Asks for a connection, which Dial makes once mu_ has been released.
  void WantDial(Peer* peer) TB_REQUIRES(mu_);
  void Dial() TB_EXCLUDES(mu_);
  void DialLater(const std::string& task, std::chrono::milliseconds delay) TB_REQUIRES(mu_);
  void OnDialed(const std::string& task, const Status& result);

  Transport* const transport_;
  Timer* const timer_;
  const std::string name_;  // of this task
  const std::chrono::milliseconds step_wait_;
  const std::chrono::milliseconds slow_wait_;

  Mutex mu_;
  Hello self_ TB_GUARDED_BY(mu_);
  std::map<std::string, Peer> peers_ TB_GUARDED_BY(mu_);
  std::vector<Peer*> numbered_ TB_GUARDED_BY(mu_);  // the peer with each number
  // What runs again and again looks at these only, because a cluster may have many tasks that this one never meets.
  std::vector<std::shared_ptr<PeerConnection>> up_ TB_GUARDED_BY(mu_);
  std::set<uint32_t> awaited_ TB_GUARDED_BY(mu_);  // numbers of peers; some may be connected again
  std::vector<std::pair<std::string, Hello>> dials_ TB_GUARDED_BY(mu_);  // addresses to be dialed
  std::set<Timer::Id> redials_ TB_GUARDED_BY(mu_);                       // pending
  bool stopping_ TB_GUARDED_BY(mu_) = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MEMBERSHIP_CONNECTIONS_H_
