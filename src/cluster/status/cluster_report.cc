#include "cluster/status/cluster_report.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/protobuf/report.pb.h"
#include "cluster/status/report_source.h"
#include "core/text/device_name.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// A step that runs for longer is reported as blocked.
constexpr double kBlockedSeconds = 1;
// A worker is a straggler below this share of the median rate of the others.
constexpr double kStragglerShare = 0.5;

bool IsPs(std::string_view task) { return task.starts_with("ps/"); }

// Collects the reports of the tasks of one cluster, and calls `done` once with all of them. Thread-safe.
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
      if (done_ == nullptr || pending_ == 0) return;
      proto::TaskReport& task = *report_.mutable_tasks(i);
      proto::TaskAnswer answer;
      if (status.ok() && answer.ParseFromString(bytes)) {
        if (answer.has_whole_cluster()) {
          // The parameter server has answered for all tasks, so no other answer is awaited.
          answer.mutable_whole_cluster()->set_asked(report_.asked());
          report_ = std::move(*answer.mutable_whole_cluster());
          pending_ = 1;
        } else if (!report_.cluster().empty() && answer.session_clusters_size() > 0) {
          // So has the master of this session's cluster.
          report_ = std::move(*answer.mutable_session_clusters(0));
          pending_ = 1;
        } else {
          answer.mutable_task()->set_task(task.task());
          answer.mutable_task()->set_address(task.address());
          task = std::move(*answer.mutable_task());
          for (auto& cluster : *answer.mutable_session_clusters()) *report_.add_session_clusters() = std::move(cluster);
        }
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
      if (pending_ == 0) return;  // the session's master has answered for all tasks
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
    Summarize(&report_);  // once done_ is null, no other thread uses the report
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

// Whether a comes before b in order of job and index: "ps/2" comes before "ps/10".
bool ComesBefore(const proto::TaskReport& a, const proto::TaskReport& b) {
  const auto key = [](const std::string& task) {
    const size_t slash = task.rfind('/');
    if (slash == std::string::npos) return std::make_pair(task, 0);
    return std::make_pair(task.substr(0, slash), std::atoi(task.c_str() + slash + 1));
  };
  return key(a.task()) < key(b.task());
}

// The median of the rates, which are sorted, without number `left_out`. REQUIRES: there are two or more.
double MedianOfOthers(const std::vector<double>& rates, size_t left_out) {
  const auto other = [&](size_t i) { return rates[i < left_out ? i : i + 1]; };
  const size_t count = rates.size() - 1;
  return count % 2 == 1 ? other(count / 2) : (other(count / 2 - 1) + other(count / 2)) / 2;
}

void FindStragglers(proto::ClusterReport* report) {
  const auto is_compared = [](const proto::TaskReport& task) {
    return !IsPs(task.task()) && task.state() == "up" && task.steps() > 0;
  };
  std::vector<double> rates;
  for (const proto::TaskReport& task : report->tasks()) {
    if (is_compared(task)) rates.push_back(task.steps_per_second());
  }
  std::sort(rates.begin(), rates.end());  // once: a cluster may have hundreds of tasks
  for (proto::TaskReport& task : *report->mutable_tasks()) {
    if (!is_compared(task)) continue;
    const auto own = std::lower_bound(rates.begin(), rates.end(), task.steps_per_second()) - rates.begin();
    task.set_straggler(rates.size() > 1 &&
                       task.steps_per_second() < kStragglerShare * MedianOfOthers(rates, static_cast<size_t>(own)));
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
  // A wait for elements that another worker must put into a queue or an accumulator does not name that worker.
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

// The report of a cluster with the task of `source` alone, followed by the other tasks of its view, which have not been
// asked yet.
proto::ClusterReport BeginReport(const std::shared_ptr<ReportSource>& source, const ClusterView& view) {
  proto::ClusterReport report;
  report.set_asked(ShortTaskName(view.self));
  source->FillReport(report.add_tasks());
  report.mutable_tasks(0)->set_address(source->membership().connections().self().address);
  for (const auto& other : view.others) {
    proto::TaskReport* task = report.add_tasks();
    task->set_task(ShortTaskName(other->name));
    task->set_address(other->address);
    task->set_state(StateWithoutAnswer(other->state));
    if (other->state == TaskView::State::kLeft && !other->leave_status.ok()) {
      task->set_problem(std::string(other->leave_status.message()));
    }
  }
  return report;
}

std::string NoAnswerWithin(std::chrono::milliseconds timeout) {
  return StrCat("no answer within ", static_cast<double>(timeout.count()) / 1000, " s");
}

// The time that an asked task has for the clusters of sessions, so that its answer arrives within `timeout`.
std::chrono::milliseconds TimeoutOfAsked(std::chrono::milliseconds timeout) { return timeout * 3 / 4; }

// At a worker: the parameter server that was heard of last, which is asked for the report of all tasks, because it is
// connected with them. Null at a parameter server, or if none is connected.
std::shared_ptr<PeerConnection> WhoKnowsAll(Membership& membership, const ClusterView& view) {
  std::shared_ptr<PeerConnection> best;
  if (IsPs(ShortTaskName(view.self))) return best;
  const auto now = MonotonicClock::now();
  for (const auto& other : view.others) {
    auto connection = other->is_ps ? membership.connections().Find(other->name) : nullptr;
    if (connection != nullptr && (best == nullptr || connection->silence(now) < best->silence(now))) {
      best = std::move(connection);
    }
  }
  return best;
}

// Collects the report of the cluster in which this process was started.
void CollectOwnCluster(const std::shared_ptr<ReportSource>& source, Timer* timer, std::chrono::milliseconds timeout,
                       std::function<void(const proto::ClusterReport&)> done) {
  Membership& membership = source->membership();
  const auto view = membership.view();
  const auto knows_all = WhoKnowsAll(membership, *view);
  proto::ClusterReport report = BeginReport(source, *view);
  std::vector<std::pair<int, std::string>> asked;  // the number of the report, and the task
  for (size_t i = 0; i < view->others.size(); ++i) {
    const TaskView& other = *view->others[i];
    if (other.state == TaskView::State::kLeft) continue;
    const int number = static_cast<int>(i) + 1;
    // A connection that is made for one question would stay.
    if (knows_all != nullptr && other.state != TaskView::State::kConnected) {
      report.mutable_tasks(number)->set_problem(
          StrCat(ShortTaskName(knows_all->peer().task), ", which was asked about it, has not answered"));
      continue;
    }
    report.mutable_tasks(number)->set_problem(NoAnswerWithin(timeout));
    asked.emplace_back(number, other.name);
  }
  // The count includes one more answer, which arrives below, so that the collection does not end while tasks are still
  // asked.
  const auto collection = std::make_shared<Collection>(std::move(report), asked.size() + 1, timer, std::move(done));
  collection->StartTimer(timeout);
  const auto within_ms = static_cast<uint32_t>(TimeoutOfAsked(timeout).count());
  for (const auto& [i, name] : asked) {
    GetReport question = {.session_clusters_within_ms = within_ms};
    if (knows_all != nullptr && name == knows_all->peer().task) question = {.whole_cluster_within_ms = within_ms};
    membership.connections().Get(
        name, timeout, [collection, i = i, question](const StatusOr<std::shared_ptr<PeerConnection>>& connection) {
          if (!connection.ok()) return collection->Arrive(i, connection.status(), "");
          (*connection)->worker()->GetReport(question, [collection, i](const Status& status, const std::string& bytes) {
            collection->Arrive(i, status, bytes);
          });
        });
  }
  collection->EndOfAsking();
}

// Collects the report of a cluster that a session brought; see CollectSessionClusters.
void CollectSessionCluster(const std::shared_ptr<ReportSource>& source, Timer* timer, std::chrono::milliseconds timeout,
                           std::function<void(const proto::ClusterReport&)> done) {
  Membership& membership = source->membership();
  const auto view = membership.view();
  proto::ClusterReport report = BeginReport(source, *view);
  report.set_cluster(absl::StrCat(absl::Hex(source->cluster_id(), absl::kZeroPad16)));
  report.set_master(ShortTaskName(source->cluster_master()));
  std::vector<std::pair<int, std::shared_ptr<RemoteWorker>>> asked;
  for (size_t i = 0; i < view->others.size(); ++i) {
    const TaskView& other = *view->others[i];
    const int number = static_cast<int>(i) + 1;
    proto::TaskReport* const task = report.mutable_tasks(number);
    const Status error = membership.connections().LastError(other.name);
    if (other.state == TaskView::State::kConnected) {
      const auto connection = membership.connections().Find(other.name);
      task->set_problem(connection == nullptr ? "the connection was lost" : NoAnswerWithin(timeout));
      if (connection != nullptr) asked.emplace_back(number, connection->worker());
    } else if (!error.ok()) {
      task->set_problem(std::string(error.message()));
    } else if (other.state == TaskView::State::kNotSeen) {
      task->set_problem("the session has not used it yet");
    } else if (other.state == TaskView::State::kDisconnected) {
      task->set_problem("the connection was lost");
    }
  }
  const auto collection = std::make_shared<Collection>(std::move(report), asked.size() + 1, timer, std::move(done));
  collection->StartTimer(timeout);
  for (const auto& [i, worker] : asked) {
    const bool is_master = worker->task() == source->cluster_master();
    const auto within_ms = is_master ? static_cast<uint32_t>(TimeoutOfAsked(timeout).count()) : 0;
    worker->GetReport(
        {.session_clusters_within_ms = within_ms},
        [collection, i = i](const Status& status, const std::string& bytes) { collection->Arrive(i, status, bytes); });
  }
  collection->EndOfAsking();
}

// Collects the reports of several clusters. Thread-safe.
class SessionClusterReports {
 public:
  SessionClusterReports(size_t count, std::function<void(const std::vector<proto::ClusterReport>&)> done)
      : reports_(count), pending_(count), done_(std::move(done)) {}

  void Arrive(size_t i, const proto::ClusterReport& report) {
    std::vector<proto::ClusterReport> all;
    {
      MutexLock lock(mu_);
      reports_[i] = report;
      if (--pending_ > 0) return;
      all.swap(reports_);
    }
    done_(all);
  }

 private:
  Mutex mu_;
  std::vector<proto::ClusterReport> reports_ TB_GUARDED_BY(mu_);
  size_t pending_ TB_GUARDED_BY(mu_);
  const std::function<void(const std::vector<proto::ClusterReport>&)> done_;
};

// Waits for the report of a task's own cluster, and for those of sessions' clusters. Thread-safe.
class OwnAndSessionClusters {
 public:
  explicit OwnAndSessionClusters(std::function<void(const proto::ClusterReport&)> done) : done_(std::move(done)) {}

  void OwnDone(const proto::ClusterReport& report) {
    {
      MutexLock lock(mu_);
      own_ = report;
    }
    OneDone();
  }
  void SessionClustersDone(const std::vector<proto::ClusterReport>& reports) {
    {
      MutexLock lock(mu_);
      sessions_ = reports;
    }
    OneDone();
  }

 private:
  void OneDone() {
    proto::ClusterReport report;
    {
      MutexLock lock(mu_);
      if (--pending_ > 0) return;
      report.Swap(&own_);
      sessions_.insert(sessions_.end(), report.session_clusters().begin(), report.session_clusters().end());
      report.clear_session_clusters();
      // If a cluster has been reported by its master and by another task, the master's report is used, because the
      // master knows all tasks.
      std::map<std::string, const proto::ClusterReport*> by_number;
      for (const auto& cluster : sessions_) {
        const proto::ClusterReport*& kept = by_number[cluster.cluster()];
        if (kept == nullptr || kept->asked() != kept->master()) kept = &cluster;
      }
      for (const auto& [number, cluster] : by_number) *report.add_session_clusters() = *cluster;
    }
    std::stable_sort(report.mutable_session_clusters()->begin(), report.mutable_session_clusters()->end(),
                     [](const auto& a, const auto& b) { return a.master() < b.master(); });
    done_(report);
  }

  Mutex mu_;
  proto::ClusterReport own_ TB_GUARDED_BY(mu_);
  std::vector<proto::ClusterReport> sessions_ TB_GUARDED_BY(mu_);
  int pending_ TB_GUARDED_BY(mu_) = 2;
  const std::function<void(const proto::ClusterReport&)> done_;
};

}  // namespace

void Summarize(proto::ClusterReport* report) {
  std::sort(report->mutable_tasks()->begin(), report->mutable_tasks()->end(), ComesBefore);
  for (const proto::TaskReport& task : report->tasks()) {
    if (task.has_global_step()) report->set_global_step(task.global_step());
  }
  FindStragglers(report);
  FindBlockedSteps(report);
}

void CollectClusterReport(const std::shared_ptr<ReportSource>& task,
                          const std::vector<std::shared_ptr<ReportSource>>& sessions, Timer* timer,
                          std::chrono::milliseconds timeout, std::function<void(const proto::ClusterReport&)> done) {
  const auto both = std::make_shared<OwnAndSessionClusters>(std::move(done));
  CollectOwnCluster(task, timer, timeout, [both](const proto::ClusterReport& report) { both->OwnDone(report); });
  CollectSessionClusters(sessions, timer, timeout, [both](const std::vector<proto::ClusterReport>& clusters) {
    both->SessionClustersDone(clusters);
  });
}

void CollectSessionClusters(const std::vector<std::shared_ptr<ReportSource>>& sources, Timer* timer,
                            std::chrono::milliseconds timeout,
                            std::function<void(const std::vector<proto::ClusterReport>&)> done) {
  if (sources.empty()) return done({});
  const auto all = std::make_shared<SessionClusterReports>(sources.size(), std::move(done));
  for (size_t i = 0; i < sources.size(); ++i) {
    CollectSessionCluster(sources[i], timer, timeout,
                          [all, i](const proto::ClusterReport& report) { all->Arrive(i, report); });
  }
}

}  // namespace tensorbraid
