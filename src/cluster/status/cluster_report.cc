#include "cluster/status/cluster_report.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/protobuf/report.pb.h"
#include "cluster/server/member.h"
#include "core/device_name.h"
#include "core/strings.h"
#include "core/timer.h"

namespace tensorbraid {
namespace {

// A step that runs for longer is reported as blocked.
constexpr double kBlockedSeconds = 1;
// A worker is a straggler below this share of the median rate of the others.
constexpr double kStragglerShare = 0.5;

bool IsPs(std::string_view task) { return task.starts_with("ps/"); }

// The reports that have arrived. Thread-safe.
class Collection final : public std::enable_shared_from_this<Collection> {
 public:
  Collection(proto::ClusterReport report, size_t pending, Timer* timer,
             std::function<void(const proto::ClusterReport&)> done)
      : timer_(timer), report_(std::move(report)), pending_(pending), done_(std::move(done)) {}

  void StartTimer(std::chrono::milliseconds timeout) {
    const Timer::Id id = timer_->RunAfter(timeout, [self = shared_from_this()] { self->Finish(); });
    MutexLock lock(mu_);
    timer_id_ = id;
  }

  // Task number `i` has answered with `bytes`, or will not answer.
  void Arrive(int i, const Status& status, const std::string& bytes) {
    bool complete = false;
    {
      MutexLock lock(mu_);
      if (done_ == nullptr) return;
      proto::TaskReport& task = *report_.mutable_tasks(i);
      proto::TaskReport answer;
      if (status.ok() && answer.ParseFromString(bytes)) {
        answer.set_task(task.task());
        answer.set_address(task.address());
        task = std::move(answer);
      } else {
        task.set_problem(status.ok() ? "its report cannot be read" : std::string(status.message()));
      }
      complete = --pending_ == 0;
    }
    if (complete) Finish();
  }

  // All tasks have been asked.
  void EndOfAsking() {
    bool complete = false;
    {
      MutexLock lock(mu_);
      complete = --pending_ == 0;
    }
    if (complete) Finish();
  }

  void Finish() {
    std::function<void(const proto::ClusterReport&)> done;
    Timer::Id timer_id = 0;
    {
      MutexLock lock(mu_);
      done.swap(done_);
      timer_id = timer_id_;
    }
    if (done == nullptr) return;
    timer_->Cancel(timer_id);
    Summarize(&report_);  // nobody else uses the report once done_ is null
    done(report_);
  }

 private:
  Timer* const timer_;
  Mutex mu_;
  proto::ClusterReport report_;  // guarded by mu_ until done_ is null
  size_t pending_ TB_GUARDED_BY(mu_);
  Timer::Id timer_id_ TB_GUARDED_BY(mu_) = 0;
  std::function<void(const proto::ClusterReport&)> done_ TB_GUARDED_BY(mu_);  // null once it has been called
};

const char* StateWithoutAnswer(TaskView::State state) {
  switch (state) {
    case TaskView::State::kNotSeen:
      return "not connected";
    case TaskView::State::kLeft:
      return "left";
    case TaskView::State::kLost:
      return "lost";
    case TaskView::State::kConnected:
    case TaskView::State::kDisconnected:
      break;
  }
  return "no answer";
}

// Whether a comes before b by job and index: "ps/2" before "ps/10".
bool ComesBefore(const proto::TaskReport& a, const proto::TaskReport& b) {
  const auto key = [](const std::string& task) {
    const size_t slash = task.rfind('/');
    if (slash == std::string::npos) return std::make_pair(task, 0);
    return std::make_pair(task.substr(0, slash), std::atoi(task.c_str() + slash + 1));
  };
  return key(a.task()) < key(b.task());
}

double MedianRate(std::vector<double> rates) {
  std::sort(rates.begin(), rates.end());
  const size_t middle = rates.size() / 2;
  return rates.size() % 2 == 1 ? rates[middle] : (rates[middle - 1] + rates[middle]) / 2;
}

void FindStragglers(proto::ClusterReport* report) {
  for (proto::TaskReport& task : *report->mutable_tasks()) {
    if (IsPs(task.task()) || task.state() != "up" || task.steps() == 0) continue;
    std::vector<double> others;
    for (const proto::TaskReport& other : report->tasks()) {
      if (&other != &task && !IsPs(other.task()) && other.state() == "up" && other.steps() > 0) {
        others.push_back(other.steps_per_second());
      }
    }
    task.set_straggler(!others.empty() && task.steps_per_second() < kStragglerShare * MedianRate(others));
  }
}

// Sets the cause of a step, if it waits for one of the tasks that do not answer.
void FindCause(const std::vector<std::string>& silent, proto::BlockedStepReport* step) {
  std::vector<std::string> causes;
  const auto add_if_silent = [&](const std::string& task) {
    if (std::find(silent.begin(), silent.end(), task) == silent.end()) return;
    if (std::find(causes.begin(), causes.end(), task) == causes.end()) causes.push_back(task);
  };
  for (const std::string& task : step->unfinished_tasks()) add_if_silent(task);
  for (const auto& wait : step->waits()) add_if_silent(wait.peer());
  const bool certain = !causes.empty();
  // What another worker must put into a queue or an accumulator names no task.
  const bool may_be_any = std::any_of(step->waits().begin(), step->waits().end(),
                                      [](const proto::WaitReport& wait) { return wait.peer().empty(); });
  if (!certain && may_be_any) causes = silent;
  step->clear_cause();
  step->clear_cause_tasks();
  if (causes.empty()) return;
  for (const std::string& task : causes) step->add_cause_tasks(task);
  const std::string all = StrJoin(causes, ", ");
  const char* const verb = causes.size() == 1 ? "does" : "do";
  step->set_cause(certain ? StrCat(all, " ", verb, " not answer")
                          : StrCat("perhaps ", all, ", which ", verb, " not answer"));
}

void FindBlockedSteps(proto::ClusterReport* report) {
  std::map<std::pair<std::string, double>, proto::BlockedStepReport> steps;
  std::vector<std::string> silent;
  for (const proto::TaskReport& task : report->tasks()) {
    if (task.state() == "no answer" || task.state() == "lost") silent.push_back(task.task());
    for (const proto::StepReport& step : task.running()) {
      if (step.seconds() < kBlockedSeconds) continue;
      auto& blocked = steps[{step.master(), step.number()}];
      blocked.set_master(step.master());
      blocked.set_number(step.number());
      blocked.set_seconds(step.seconds());
      *blocked.mutable_unfinished_tasks() = step.unfinished_tasks();
    }
  }
  for (const proto::TaskReport& task : report->tasks()) {
    for (const proto::StepReport& step : task.running()) {
      const auto blocked = steps.find({step.master(), step.number()});
      if (blocked == steps.end()) continue;
      for (const auto& wait : step.waits()) *blocked->second.add_waits() = wait;
    }
  }
  std::vector<proto::BlockedStepReport> sorted;
  for (auto& [key, step] : steps) {
    FindCause(silent, &step);
    sorted.push_back(std::move(step));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.seconds() > b.seconds(); });
  report->clear_blocked();
  for (auto& step : sorted) *report->add_blocked() = std::move(step);
}

}  // namespace

void Summarize(proto::ClusterReport* report) {
  std::sort(report->mutable_tasks()->begin(), report->mutable_tasks()->end(), ComesBefore);
  for (const proto::TaskReport& task : report->tasks()) {
    if (task.has_global_step()) report->set_global_step(task.global_step());
  }
  FindStragglers(report);
  FindBlockedSteps(report);
}

void CollectClusterReport(const std::shared_ptr<Member>& member, Timer* timer, std::chrono::milliseconds timeout,
                          std::function<void(const proto::ClusterReport&)> done) {
  Membership& membership = member->membership();
  const auto view = membership.view();
  proto::ClusterReport report;
  report.set_asked(ShortTaskName(view->self));
  member->FillReport(report.add_tasks());
  report.mutable_tasks(0)->set_address(membership.own_address());
  std::vector<std::pair<int, std::string>> asked;  // the number of the report, and the task
  for (const TaskView& other : view->others) {
    proto::TaskReport* task = report.add_tasks();
    task->set_task(ShortTaskName(other.name));
    task->set_address(other.address);
    task->set_state(StateWithoutAnswer(other.state));
    if (other.state == TaskView::State::kLeft) {
      task->set_problem(other.leave_status.ok() ? "" : std::string(other.leave_status.message()));
      continue;
    }
    task->set_problem(StrCat("no answer within ", static_cast<double>(timeout.count()) / 1000, " s"));
    asked.emplace_back(report.tasks_size() - 1, other.name);
  }
  // Counts one more, which ends below, so that the collection does not end while tasks are still asked.
  const auto collection = std::make_shared<Collection>(std::move(report), asked.size() + 1, timer, std::move(done));
  collection->StartTimer(timeout);
  for (const auto& [i, name] : asked) {
    membership.Get(name, timeout,
                   [collection, i = i, name = name,
                    weak = std::weak_ptr<Member>(member)](const StatusOr<std::shared_ptr<Link>>& link) {
                     const auto alive = weak.lock();
                     if (!link.ok()) return collection->Arrive(i, link.status(), "");
                     const auto worker = alive == nullptr ? nullptr : alive->remote_workers().Find(name);
                     if (worker == nullptr) return collection->Arrive(i, Unavailable("the connection was lost"), "");
                     worker->GetReport([collection, i](const Status& status, const std::string& bytes) {
                       collection->Arrive(i, status, bytes);
                     });
                   });
  }
  collection->EndOfAsking();
}

}  // namespace tensorbraid
