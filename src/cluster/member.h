// What a process is in one cluster: a task with a name, an incarnation and links to the others, the worker and the
// master of that name. A process is a member of the cluster that it was started in, and of every cluster that a session
// has brought to it (session_clusters.h).
#ifndef TENSORBRAID_CLUSTER_MEMBER_H_
#define TENSORBRAID_CLUSTER_MEMBER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/exchange.h"
#include "cluster/links.h"
#include "cluster/master.h"
#include "cluster/worker.h"
#include "core/thread_pool.h"
#include "core/timer.h"
#include "tensorbraid/cluster_spec.h"

namespace tensorbraid {

// What all clusters share that a process is a member of.
struct Machine {
  ResourceManager* resources = nullptr;
  ThreadPool* pool = nullptr;
  Timer* timer = nullptr;  // null without a network
  std::vector<DeviceInfo> devices;
};

uint64_t NewIncarnation();
// `device_count` CPUs, one if it says nothing. InvalidArgument for counts that no machine has.
StatusOr<std::vector<DeviceInfo>> DevicesOfMachine(const std::map<std::string, int>& device_count);

struct MemberOptions {
  std::string job = "localhost";
  int index = 0;
  LinksOptions links = {};
  ExchangeOptions exchange = {};
  // Of a session's cluster: what Hello says of it.
  uint64_t cluster_id = 0;
  std::string cluster_def = {};
  std::string cluster_master = {};
  // Called on a transport's thread when the last link with the task that holds the session has gone.
  std::function<void()> on_master_gone = nullptr;
  // Whether what runs keeps the member alive, as it must where the machine goes on when the member ends.
  bool outlives_steps = false;
};

// Thread-safe.
class Member final : public Links::Observer {
 public:
  // Without a transport: a cluster of one. Transport and machine must outlive the member.
  static std::shared_ptr<Member> Create(const Machine& machine, const ClusterSpec& cluster,
                                        const MemberOptions& options, Transport* transport);
  // As above; the transport goes with the member.
  static std::shared_ptr<Member> Create(const Machine& machine, const ClusterSpec& cluster,
                                        const MemberOptions& options, std::unique_ptr<Transport> transport);
  // REQUIRES: has been stopped, or nobody has linked with it.
  ~Member() override;

  // Fails what runs, and leaves the cluster: see Server::Stop. Idempotent. Not to be called on a transport's thread.
  void Stop(const Status& why);

  Master& master() { return *master_; }
  Links* links() { return links_.get(); }
  const std::string& name() const { return name_; }  // "/job:worker/replica:0/task:1"

 private:
  explicit Member(const MemberOptions& options);
  void OnMessage(const std::shared_ptr<Link>& link, Message message) override;
  void OnLinkDown(const std::shared_ptr<Link>& link, const Status& why) override;

  const MemberOptions options_;
  const std::string name_;
  const uint64_t incarnation_;
  std::unique_ptr<Transport> transport_;  // null when it is somebody else's
  std::unique_ptr<Links> links_;          // null in a cluster of one
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<Master> master_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MEMBER_H_
