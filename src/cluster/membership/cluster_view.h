// What a task knows about the tasks of its cluster, at one moment.
#ifndef TENSORBRAID_CLUSTER_MEMBERSHIP_CLUSTER_VIEW_H_
#define TENSORBRAID_CLUSTER_MEMBERSHIP_CLUSTER_VIEW_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/text/device_name.h"
#include "tensorbraid/core/status.h"
#include "transport/messages.h"

namespace tensorbraid {

// A task as another task of its cluster sees it.
struct TaskView {
  enum class State {
    kNotSeen,       // has never been connected
    kConnected,     // a link with the task is up
    kDisconnected,  // was connected, but the link is down
    kLeft,          // has said that it stops; `leave_status` says why
    kLost,          // has been disconnected for MembershipOptions::lost_after
  };
  std::string name;     // "/job:worker/replica:0/task:1"
  std::string address;  // as in the ClusterSpec
  bool is_ps = false;
  State state = State::kNotSeen;
  bool only_serves = false;  // has no work of its own: it waits in Server::Join
  Status leave_status;
  std::optional<Status> work_over;  // what this parameter server has said with WorkOver
  uint64_t incarnation = 0;         // of the connected task, otherwise 0
  std::vector<DeviceInfo> devices;  // of the connected task, otherwise empty

  bool has_ended() const { return state == State::kLeft || state == State::kLost; }
};

// A snapshot of a Membership. It does not change; the next one has a higher version.
struct ClusterView {
  uint64_t version = 0;
  std::string self;                     // the name of the task whose view it is
  std::vector<DeviceInfo> own_devices;  // of this task
  // The other tasks, in order of job and index. Snapshots share the tasks that have not changed between them.
  std::vector<std::shared_ptr<const TaskView>> others;
};

struct ClusterDevice {
  DeviceName name;
  int64_t memory_limit = 0;
  uint64_t incarnation = 0;  // 0 if its task is not connected: the other fields are then assumptions
  bool is_local = false;
};

// The task's own devices, followed by those of other tasks that match one of `filters` (empty: all). A task that is not
// connected is assumed to have the same devices as this one.
std::vector<ClusterDevice> DevicesOf(const ClusterView& view, const std::vector<DeviceName>& filters = {});
std::vector<DeviceName> DeviceNamesOf(const ClusterView& view, const std::vector<DeviceName>& filters = {});
// The names of the other tasks that have, or may have, a device that matches one of `filters` (empty: all).
std::vector<std::string> TasksOf(const ClusterView& view, const std::vector<DeviceName>& filters);

// OK if the task can do its work: a parameter server always, any other task while it is connected with every parameter
// server of the cluster. Otherwise Unavailable; the message names those parameter servers, but no address.
Status ReadyToWork(const ClusterView& view);

// Whether the work of the cluster is over, so that a task which only serves may stop; see Server::Join. A parameter
// server has said so, or the task has seen it by itself.
bool WorkIsOver(const ClusterView& view);
// Whether this task, a worker, will be told that the work is over: a parameter server is connected, or has yet to
// start.
bool WillHearOfTheEnd(const ClusterView& view);
// Whether the work is over for the other tasks that only serve. This is what a parameter server tells them.
bool WorkIsOverForServing(const ClusterView& view);
// The connected tasks that still work: neither parameter servers nor tasks that only serve.
std::vector<std::string> WorkingTasks(const ClusterView& view);
// The result of Server::Join once the work is over.
Status HowWorkEnded(const ClusterView& view);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MEMBERSHIP_CLUSTER_VIEW_H_
