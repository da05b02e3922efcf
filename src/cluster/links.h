// Who is connected: the links of one task with the other tasks of its cluster.
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

#include "core/mutex.h"
#include "core/timer.h"
#include "tensorbraid/cluster_spec.h"
#include "transport/transport.h"

namespace tensorbraid {

struct LinksOptions {
  std::chrono::milliseconds heartbeat_interval{1000};
  std::chrono::milliseconds heartbeat_timeout{10000};
  std::chrono::milliseconds lost_after{30000};
  std::chrono::milliseconds slow_wait{5000};
};

// Dials, keeps alive and watches. A task is connected by one link, whichever side made it; when both sides dial at the
// same moment there are two, each side sends on the one that came up first here, and both are listened to.
//
// A peer is watched by heartbeats; one that has been silent too long is taken down, so that whoever waits for it hears
// of it. Thread-safe.
class Links final : private LinkHandler {
 public:
  // Hears of links and of messages other than heartbeats and leaves; on transport threads, must not block.
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void OnMessage(const std::shared_ptr<Link>& link, Message message) = 0;
    // `why` names the task.
    virtual void OnLinkDown(const std::shared_ptr<Link>& link, const Status& why) = 0;
  };

  // `self` says who we are; its address is filled in by Listen. All pointers must outlive this object.
  Links(Transport* transport, Timer* timer, const ClusterSpec& cluster, Hello self, LinksOptions options,
        Observer* observer);
  ~Links() override;

  // Returns the port.
  StatusOr<int> Listen(const std::string& address);

  // The link to a task, or null when there is none now. Never dials.
  std::shared_ptr<Link> Find(const std::string& task);
  // Calls back with the link, at once if there is one, otherwise when it has been made; with an error when the task
  // cannot be reached within `timeout`, is another one than expected, or this object shuts down.
  using GetDone = std::function<void(StatusOr<std::shared_ptr<Link>>)>;
  void Get(const std::string& task, std::chrono::milliseconds timeout, GetDone done);
  // Blocks until the task is connected; logs what it waits for every slow_wait. DeadlineExceeded at the deadline.
  // `cancelled` is asked now and then; true gives Cancelled.
  StatusOr<std::shared_ptr<Link>> WaitFor(const std::string& task, std::chrono::steady_clock::time_point deadline,
                                          const std::function<bool()>& cancelled);
  // Dials, and dials again whenever the link is down, until shutdown.
  void KeepConnected(const std::string& task);

  // See Server::Join.
  Status Join();
  // Tells every connected task that this one leaves, and stops everything. OnLinkDown calls follow, the last before it
  // returns. Waiters get Cancelled.
  void Shutdown(const Status& why);

  const Hello& self() const { return self_; }
  std::string AddressOf(const std::string& task) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiter {
    GetDone done;
    Clock::time_point deadline;
  };
  struct Peer {
    std::string task;
    std::string address;
    bool in_cluster = false;
    bool is_ps = false;
    std::vector<std::shared_ptr<Link>> links;  // the first is sent on
    bool dialing = false;
    bool keep = false;
    int failures = 0;  // attempts since the last success
    Status last_error;
    std::vector<Waiter> waiters;
    bool seen = false;  // has ever been connected
    bool left = false;
    Status leave_status;
    bool lost = false;
    Clock::time_point down_since;
    Clock::time_point wait_since;
    Clock::time_point waited_at;  // when somebody was last seen waiting
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
  void Dial(Peer* peer) TB_REQUIRES(mu_);
  void DialLater(const std::string& task, std::chrono::milliseconds delay) TB_REQUIRES(mu_);
  void OnDialed(const std::string& task, const StatusOr<std::shared_ptr<Link>>& link);
  void Tick();
  static std::string Describe(const Peer& peer);

  Transport* const transport_;
  Timer* const timer_;
  Hello self_;
  const LinksOptions options_;
  Observer* const observer_;

  Mutex mu_;
  CondVar changed_;
  std::map<std::string, Peer> peers_ TB_GUARDED_BY(mu_);
  std::map<const Link*, std::shared_ptr<Heard>> heard_ TB_GUARDED_BY(mu_);
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  Timer::Id tick_ TB_GUARDED_BY(mu_) = 0;
  std::set<Timer::Id> redials_ TB_GUARDED_BY(mu_);  // pending
  Clock::time_point next_heartbeat_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_LINKS_H_
