#include "cluster/membership/cluster_view.h"

#include <algorithm>
#include <utility>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

bool MatchesAny(const DeviceName& device, const std::vector<DeviceName>& filters) {
  return filters.empty() ||
         std::any_of(filters.begin(), filters.end(), [&](const DeviceName& f) { return f.Matches(device); });
}

// Calls `visit` for each device of `task` that matches one of `filters`.
template <typename Visit>
void ForDevicesOf(const ClusterView& view, const TaskView& task, const std::vector<DeviceName>& filters, Visit visit) {
  const bool is_known = task.incarnation != 0;
  DeviceName name = *DeviceName::Parse(task.name);
  for (const DeviceInfo& device : is_known ? task.devices : view.own_devices) {
    name.type = device.type;
    name.id = device.id;
    if (MatchesAny(name, filters)) visit(name, device, is_known);
  }
}

bool IsPs(const ClusterView& view) { return DeviceName::Parse(view.self)->job == "ps"; }

// What the other tasks do that are no parameter servers.
struct Work {
  int tasks = 0;
  int working = 0;    // neither serve only, nor have ended; a task that was not seen yet may still come to work
  int serving = 0;    // serve only, and have not ended
  bool done = false;  // a task that worked has ended
};

Work WorkOf(const ClusterView& view) {
  Work work;
  for (const auto& task : view.others) {
    if (task->is_ps) continue;
    ++work.tasks;
    if (!task->has_ended()) {
      ++(task->only_serves ? work.serving : work.working);
    } else if (!task->only_serves) {
      work.done = true;
    }
  }
  return work;
}

// The parameter server that has said that the work is over, or null.
const TaskView* SaysOver(const ClusterView& view) {
  for (const auto& task : view.others) {
    if (task->work_over.has_value()) return task.get();
  }
  return nullptr;
}

}  // namespace

std::vector<ClusterDevice> DevicesOf(const ClusterView& view, const std::vector<DeviceName>& filters) {
  std::vector<ClusterDevice> devices;
  DeviceName own = *DeviceName::Parse(view.self);
  for (const DeviceInfo& device : view.own_devices) {
    own.type = device.type;
    own.id = device.id;
    devices.push_back(
        {.name = own, .memory_limit = device.memory_limit, .incarnation = device.incarnation, .is_local = true});
  }
  for (const auto& task : view.others) {
    ForDevicesOf(view, *task, filters, [&](const DeviceName& name, const DeviceInfo& device, bool is_known) {
      devices.push_back(
          {.name = name, .memory_limit = device.memory_limit, .incarnation = is_known ? device.incarnation : 0});
    });
  }
  return devices;
}

std::vector<DeviceName> DeviceNamesOf(const ClusterView& view, const std::vector<DeviceName>& filters) {
  std::vector<DeviceName> names;
  for (ClusterDevice& device : DevicesOf(view, filters)) names.push_back(std::move(device.name));
  return names;
}

std::vector<std::string> TasksOf(const ClusterView& view, const std::vector<DeviceName>& filters) {
  std::vector<std::string> tasks;
  for (const auto& task : view.others) {
    bool matches = false;
    ForDevicesOf(view, *task, filters, [&](const DeviceName&, const DeviceInfo&, bool) { matches = true; });
    if (matches) tasks.push_back(task->name);
  }
  return tasks;
}

Status ReadyToWork(const ClusterView& view) {
  if (IsPs(view)) return OkStatus();
  std::vector<std::string> missing;
  for (const auto& task : view.others) {
    if (!task->is_ps || task->state == TaskView::State::kConnected) continue;
    const char* const why = task->state == TaskView::State::kNotSeen ? "not reached yet"
                            : task->state == TaskView::State::kLeft  ? "has left"
                                                                     : "connection lost";
    missing.push_back(StrCat(ShortTaskName(task->name), " (", why, ")"));
  }
  if (missing.empty()) return OkStatus();
  return Unavailable("waits for ", StrJoin(missing, ", "));
}

bool WorkIsOver(const ClusterView& view) {
  if (SaysOver(view) != nullptr) return true;
  const Work work = WorkOf(view);
  return work.tasks > 0 && work.working == 0 && (work.serving == 0 || work.done);
}

bool WillHearOfTheEnd(const ClusterView& view) {
  if (IsPs(view)) return false;
  return std::any_of(view.others.begin(), view.others.end(), [](const auto& task) {
    return task->is_ps && (task->state == TaskView::State::kConnected || task->state == TaskView::State::kNotSeen);
  });
}

bool WorkIsOverForServing(const ClusterView& view) {
  const Work work = WorkOf(view);
  // One of those that serve is the task that is told, and waits only for the others.
  return work.tasks > 1 && work.working == 0 && (work.serving <= 1 || work.done);
}

std::vector<std::string> WorkingTasks(const ClusterView& view) {
  std::vector<std::string> working;
  for (const auto& task : view.others) {
    if (task->is_ps || task->only_serves || task->state != TaskView::State::kConnected) continue;
    working.push_back(ShortTaskName(task->name));
  }
  return working;
}

Status HowWorkEnded(const ClusterView& view) {
  if (const TaskView* const ps = SaysOver(view)) return *ps->work_over;
  std::vector<std::string> bad;
  for (const auto& task : view.others) {
    if (task->is_ps) continue;
    if (task->state == TaskView::State::kLost) bad.push_back(StrCat(ShortTaskName(task->name), " is lost"));
    if (task->state == TaskView::State::kLeft && !task->leave_status.ok()) {
      bad.push_back(StrCat(ShortTaskName(task->name), " failed with ", ToString(task->leave_status)));
    }
  }
  if (bad.empty()) return OkStatus();
  return Unavailable("not all tasks ended well: ", StrJoin(bad, "; "));
}

}  // namespace tensorbraid
