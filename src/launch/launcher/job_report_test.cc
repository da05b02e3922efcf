#include "launch/launcher/job_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "cluster/protobuf/report.pb.h"
#include "cluster/status/report_text.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A job of 100 s on machines with 64 cores.
proto::TaskReport Server(double working_s) {
  proto::TaskReport report;
  report.set_state("up");
  report.set_up_seconds(100);
  report.set_working_seconds(working_s);
  report.set_cores(64);
  return report;
}
proto::TaskReport Worker(double steps, double within_s, double working_s) {
  proto::TaskReport report = Server(working_s);
  report.set_steps(steps);
  report.set_stepping_seconds(100);
  report.set_step_seconds(within_s);
  return report;
}
void Receive(proto::TaskReport* report, const std::string& from, double bytes) {
  auto* received = report->add_received();
  received->set_from(from);
  received->set_tensor_bytes(bytes);
}
TaskRuns Runs(const std::string& name, const proto::TaskReport& report, const std::string& machine = "") {
  return {.name = name, .machine = machine, .end = "", .reports = {ReportToText(report)}, .restarts = 0};
}
JobReport SummaryOf(const std::vector<TaskRuns>& runs) { return SummarizeJob(runs, 100); }

TEST(JobReportTest, SharesAreOfTheTimeFromTheFirstStepToTheLast) {
  const JobReport job = SummaryOf({Runs("ps/0", Server(25)), Runs("worker/0", Worker(1000, 80, 50))});
  EXPECT_DOUBLE_EQ(job.tasks[0].shares()->working, 0.25);
  EXPECT_DOUBLE_EQ(job.tasks[1].steps_per_s(), 10);
  EXPECT_DOUBLE_EQ(job.tasks[1].shares()->working, 0.5);
  EXPECT_NEAR(job.tasks[1].shares()->waiting, 0.3, 1e-9);
  EXPECT_NEAR(job.tasks[1].shares()->outside, 0.2, 1e-9);
  EXPECT_THAT(ToText(job), ::testing::ContainsRegex("worker/0 +1000 +10.0 +50 % +30 % +20 % "));
}

TEST(JobReportTest, NumbersThatCannotBeCountAsNone) {
  std::vector<TaskRuns> runs = {Runs("worker/0", Worker(1000, 80, 50))};
  for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1.0}) {
    proto::TaskReport report = Worker(1000, wrong, wrong);
    Receive(&report, "ps/0", wrong);
    runs.push_back(Runs("worker/1", report));
  }
  const JobReport job = SummaryOf(runs);
  for (size_t i = 1; i < job.tasks.size(); ++i) {
    EXPECT_FALSE(job.tasks[i].shares().has_value());
    EXPECT_EQ(job.tasks[i].working_s, 0);
    EXPECT_EQ(job.tasks[i].received_bytes, 0);
  }
}

TEST(JobReportTest, WhatOthersReceivedIsWhatATaskSent) {
  proto::TaskReport server = Server(1), first = Worker(10, 0, 0), second = Worker(10, 0, 0);
  Receive(&server, "worker/0", 1000);
  Receive(&first, "ps/0", 300);
  Receive(&second, "ps/0", 500);
  const JobReport job = SummaryOf({Runs("ps/0", server), Runs("worker/0", first), Runs("worker/1", second)});
  EXPECT_EQ(job.tasks[0].sent_bytes, 800);
  EXPECT_EQ(job.tasks[0].received_bytes, 1000);
  EXPECT_EQ(job.tasks[1].sent_bytes, 1000);
}

TEST(JobReportTest, TheRunsOfATaskAreAddedUp) {
  TaskRuns runs = Runs("worker/0", Worker(100, 50, 10), "alpha");
  runs.reports.push_back("");  // it was lost
  runs.reports.push_back(ReportToText(Worker(200, 50, 10)));
  runs.reports.emplace_back("\xff not a report");
  runs.restarts = 3;
  runs.end = "exited with 3";
  const JobReport job = SummaryOf({runs});
  EXPECT_EQ(job.tasks[0].steps, 300);
  EXPECT_THAT(ToText(job), AllOf(HasSubstr("alpha"), HasSubstr("exited with 3")));
  const auto json = nlohmann::json::parse(ToJson(job, "worker/0 exited with 3", 3));
  EXPECT_EQ(json["tasks"][0]["restarts"], 3);
  EXPECT_EQ(json["tasks"][0]["steps"], 300);
  EXPECT_EQ(json["exit_code"], 3);
}

TEST(JobReportTest, WithoutStepsThereIsNothingToShow) {
  EXPECT_FALSE(SummaryOf({{.name = "worker/0", .machine = "", .end = "", .reports = {""}, .restarts = 0}}).any());
  EXPECT_FALSE(SummaryOf({Runs("ps/0", Server(1))}).any());
  EXPECT_TRUE(SummaryOf({Runs("worker/0", Worker(1, 0, 0))}).any());
}

TEST(JobReportTest, AHealthyOrAShortJobGetsNoAdvice) {
  EXPECT_EQ(AdviceFor(SummaryOf({Runs("ps/0", Server(20)), Runs("worker/0", Worker(1000, 99, 90))})), "");
  EXPECT_EQ(AdviceFor(SummaryOf({Runs("ps/0", Server(95)), Runs("worker/0", Worker(10, 99, 1))})), "") << "10 steps";
}

TEST(JobReportTest, ASlowWorkerOfSynchronousTrainingIsNamed) {
  // All make the same number of steps, but worker/2 works while the others wait.
  const std::string advice =
      AdviceFor(SummaryOf({Runs("ps/0", Server(10)), Runs("worker/0", Worker(1000, 99, 50)),
                           Runs("worker/1", Worker(1000, 99, 52)), Runs("worker/2", Worker(1000, 99, 90))}));
  EXPECT_THAT(advice, AllOf(HasSubstr("worker/2 computes 76 % longer"), HasSubstr("wait 48 %"), HasSubstr("spare")));
}

TEST(JobReportTest, ASlowWorkerOfAsynchronousTrainingIsNamed) {
  const std::string advice = AdviceFor(SummaryOf(
      {Runs("ps/0", Server(10)), Runs("worker/0", Worker(1000, 99, 90)), Runs("worker/1", Worker(500, 99, 90))}));
  EXPECT_THAT(advice, AllOf(HasSubstr("worker/1 makes 50 % fewer steps"), Not(HasSubstr("spare"))));
}

TEST(JobReportTest, TheFirstWorkerMayBeSlower) {
  // It evaluates.
  EXPECT_EQ(AdviceFor(SummaryOf({Runs("ps/0", Server(10)), Runs("worker/0", Worker(500, 99, 90)),
                                 Runs("worker/1", Worker(1000, 99, 90))})),
            "");
}

TEST(JobReportTest, AMachineWithoutFreeCoresIsNamed) {
  std::vector<TaskRuns> runs;
  for (const char* name : {"ps/0", "worker/0", "worker/1"}) {
    proto::TaskReport report = name[0] == 'p' ? Server(90) : Worker(1000, 99, 40);
    report.set_cores(2);
    report.set_cpu_seconds(65);
    runs.push_back(Runs(name, report));
  }
  EXPECT_THAT(AdviceFor(SummaryOf(runs)), HasSubstr("the 3 tasks on this machine use 98 % of its 2 cores"));
}

TEST(JobReportTest, WorkersThatWaitForTheirProgramAreToldSo) {
  const std::string advice = AdviceFor(SummaryOf({Runs("ps/0", Server(10)), Runs("worker/0", Worker(1000, 40, 20))}));
  EXPECT_THAT(advice, HasSubstr("spend 60 % of their time between steps"));
}

TEST(JobReportTest, AServerThatWorksAllTheTimeNeedsHelp) {
  const std::string advice = AdviceFor(SummaryOf({Runs("ps/0", Server(90)), Runs("worker/0", Worker(1000, 99, 20))}));
  EXPECT_THAT(advice, AllOf(HasSubstr("ps/0 works 90 % of it"), HasSubstr("--ps=2")));
}

TEST(JobReportTest, AFullLinkIsSuspectedOnlyBetweenMachines) {
  proto::TaskReport server = Server(10), worker = Worker(1000, 99, 20);
  Receive(&server, "worker/0", 6e9);
  Receive(&worker, "ps/0", 6e9);
  EXPECT_THAT(AdviceFor(SummaryOf({Runs("ps/0", server, "alpha"), Runs("worker/0", worker, "beta")})),
              AllOf(HasSubstr("moves 120 MB/s"), HasSubstr("--wire")));
  EXPECT_EQ(AdviceFor(SummaryOf({Runs("ps/0", server), Runs("worker/0", worker)})), "");
  // Steps that move little wait for something else.
  EXPECT_EQ(AdviceFor(SummaryOf({Runs("ps/0", Server(10), "alpha"), Runs("worker/0", Worker(1000, 99, 20), "beta")})),
            "");
}

}  // namespace
}  // namespace tensorbraid
