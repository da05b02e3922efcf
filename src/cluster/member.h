// A process as a task of one cluster: its name, incarnation, links to the other tasks, worker and master. A process is
// a member of the cluster that it was started in, and of every cluster that a session brings to it
// (session_clusters.h).
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

// The resources of a process that all its members share.
struct Machine {
  const DeviceSet* device_set = nullptr;
  ResourceManager* resources = nullptr;
  ThreadPool* pool = nullptr;
  Timer* timer = nullptr;           // null without a network
  std::vector<DeviceInfo> devices;  // of `device_set`, in the same order
};

uint64_t NewIncarnation();
// Describes devices as other tasks see them, each with a new incarnation.
std::vector<DeviceInfo> DescribeDevices(const DeviceSet& devices);

struct MemberOptions {
  std::string job = "localhost";
  int index = 0;
  LinksOptions links = {};
  ExchangeOptions exchange = {};
  // For a cluster that a session brings: the fields of the same names in Hello.
  uint64_t cluster_id = 0;
  std::string cluster_def = {};
  std::string cluster_master = {};
  // Called on a transport thread when the last link to the task that holds the session is down.
  std::function<void()> on_master_gone = nullptr;
  // Whether running steps keep the member alive. Must be true if the machine goes on after the member has ended.
  bool outlives_steps = false;
};

// Thread-safe.
class Member final : public Links::Observer {
 public:
  // A null transport makes a cluster of one. The transport, and what `machine` points to, must outlive the member.
  static std::shared_ptr<Member> Create(const Machine& machine, const ClusterSpec& cluster,
                                        const MemberOptions& options, Transport* transport);
  // As above, but the member owns the transport.
  static std::shared_ptr<Member> Create(const Machine& machine, const ClusterSpec& cluster,
                                        const MemberOptions& options, std::unique_ptr<Transport> transport);
  // REQUIRES: Stop has returned, or no link was ever up.
  ~Member() override;

  // Fails running steps and leaves the cluster; see Server::Stop. Idempotent. Must not be called on a transport thread.
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
  std::unique_ptr<Transport> transport_;  // null if the caller of Create owns it
  std::unique_ptr<Links> links_;          // null in a cluster of one
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<Master> master_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MEMBER_H_
