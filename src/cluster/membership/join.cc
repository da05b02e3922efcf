#include "cluster/membership/join.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster/membership/cluster_view.h"
#include "core/system/clock.h"
#include "core/text/device_name.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/stop.h"

namespace tensorbraid {
namespace {

using Clock = MonotonicClock;
using std::chrono::milliseconds;

constexpr milliseconds kMaxLogInterval{600'000};

// The tasks that have never been connected. Join waits until they have come and their work is over.
std::vector<std::string> NotSeen(const ClusterView& view) {
  std::vector<std::string> tasks;
  for (const auto& task : view.others) {
    if (!task->is_ps && task->state == TaskView::State::kNotSeen) {
      tasks.push_back(DescribeTask(task->name, task->address));
    }
  }
  return tasks;
}

// Waits until the tasks that work have left, and returns the view of that moment.
std::shared_ptr<const ClusterView> LetWorkingTasksLeave(Membership* membership, std::shared_ptr<const ClusterView> view,
                                                        milliseconds grace) {
  const std::vector<std::string> working = WorkingTasks(*view);
  if (working.empty()) return view;
  TB_LOG(Info, "cluster") << "stopping once " << StrJoin(working, ", ") << " have left, or after "
                          << grace.count() / 1000.0 << " s";
  const auto none = [](const ClusterView& now) { return WorkingTasks(now).empty(); };
  if (auto left = membership->AwaitView(Clock::now() + grace, none)) return left;
  view = membership->view();
  TB_LOG(Warning, "cluster") << "stopping, although " << StrJoin(WorkingTasks(*view), ", ") << " still work";
  return view;
}

}  // namespace

Status JoinCluster(Membership* membership) {
  const MembershipOptions options = membership->options();
  membership->OnlyServe();
  const OnStopRequest on_stop([membership] { membership->WakeWaiters(); });
  const auto view = membership->view();
  if (std::all_of(view->others.begin(), view->others.end(), [](const auto& task) { return task->is_ps; })) {
    TB_LOG(Info, "cluster") << "the cluster has only parameter servers, which wait for no task: "
                            << ShortTaskName(view->self) << " serves until it is stopped";
  }
  const auto started = Clock::now();
  milliseconds interval = options.join_log_after;
  const auto over = [](const ClusterView& view) { return StopRequested() || WorkIsOver(view); };
  std::shared_ptr<const ClusterView> end;
  while ((end = membership->AwaitView(Clock::now() + interval, over)) == nullptr) {
    const auto now = membership->view();
    const auto waited = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - started).count();
    if (WillHearOfTheEnd(*now)) {
      TB_LOG(Info, "cluster") << ShortTaskName(now->self) << " has served for " << waited
                              << " s, and does so until a parameter server says that the work is over";
    } else if (const auto missing = NotSeen(*now); !missing.empty()) {
      TB_LOG(Info, "cluster") << "still waiting for " << StrJoin(missing, ", ") << " after " << waited
                              << " s: not connected yet";
    }
    if (const auto working = WorkingTasks(*now); !working.empty()) {
      TB_LOG(Info, "cluster") << StrJoin(working, ", ") << (working.size() == 1 ? " still works" : " still work")
                              << " after " << waited << " s; this task serves until the work is over";
    }
    interval = std::min(2 * interval, std::max(kMaxLogInterval, options.join_log_after));
  }
  if (StopRequested()) end = LetWorkingTasksLeave(membership, std::move(end), options.stop_grace);
  return HowWorkEnded(*end);  // uses the view only: a membership that was shut down may be gone
}

}  // namespace tensorbraid
