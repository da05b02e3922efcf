// Helpers for tests of the status reports of clusters that run in this process.
#ifndef TENSORBRAID_TESTS_STATUS_REPORT_TESTUTIL_H_
#define TENSORBRAID_TESTS_STATUS_REPORT_TESTUTIL_H_

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "cluster/protobuf/report.pb.h"
#include "cluster/server/task.h"

namespace tensorbraid {

// Asks `task` for the report of its cluster.
inline proto::ClusterReport ReportOf(Task& task, std::chrono::milliseconds timeout = std::chrono::seconds(10)) {
  std::promise<proto::ClusterReport> promise;
  task.status().Collect(timeout, [&promise](const proto::ClusterReport& report) { promise.set_value(report); });
  return promise.get_future().get();
}

inline const proto::TaskReport& TaskIn(const proto::ClusterReport& report, const std::string& name) {
  for (const auto& task : report.tasks()) {
    if (task.task() == name) return task;
  }
  static const auto& none = *new proto::TaskReport;
  ADD_FAILURE() << name << " is not in " << report.DebugString();
  return none;
}

// Asks `task` for reports until `holds` returns true for one. Returns that report.
template <typename Holds>
proto::ClusterReport AwaitReport(Task& task, const Holds& holds) {
  constexpr std::chrono::seconds kReportPatience{60};
  const auto give_up = std::chrono::steady_clock::now() + kReportPatience;
  while (true) {
    proto::ClusterReport report = ReportOf(task);
    if (holds(report)) return report;
    if (std::chrono::steady_clock::now() > give_up) {
      ADD_FAILURE() << "no report was as expected in time; the last one: " << report.DebugString();
      return report;
    }
    std::this_thread::yield();
  }
}

// Returns how many operations on `task` are waiting, in all running steps.
inline int NumWaits(const proto::ClusterReport& report, const std::string& task) {
  int waits = 0;
  for (const auto& step : TaskIn(report, task).running()) waits += step.waits_size();
  return waits;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_STATUS_REPORT_TESTUTIL_H_
