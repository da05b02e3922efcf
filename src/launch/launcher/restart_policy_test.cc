#include "launch/launcher/restart_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

TEST(RestartPolicyTest, IsReadFromText) {
  EXPECT_EQ(ParseRestartPolicy("no")->max_restarts, 0);
  EXPECT_EQ(ParseRestartPolicy("on-failure")->max_restarts, -1);
  EXPECT_EQ(ParseRestartPolicy("on-failure:7")->max_restarts, 7);
  for (const char* wrong : {"", "always", "on-failure:", "on-failure:-1", "on-failure:two", "on-failure:1x"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseRestartPolicy(wrong).status())) << wrong;
  }
}

TaskFailure Failure(const std::string& job, int exit_code, int signal = 0) {
  return {.job = job, .end = {.process = {.exit_code = exit_code, .signal = signal}}};
}

TEST(ObstacleToRestartTest, AnEvaluatorNeedsNoParameterServer) {
  TaskFailure failure = Failure("evaluator", 1);
  failure.ended_server = "ps/0";
  failure.any_worker_unfinished = false;
  EXPECT_EQ(ObstacleToRestart({.max_restarts = 1}, failure), std::nullopt);
}

TEST(ObstacleToRestartTest, NothingStopsARestart) {
  const RestartPolicy policy{.max_restarts = 2};
  TaskFailure failure = Failure("worker", 1);
  failure.restarts = 1;
  EXPECT_EQ(ObstacleToRestart(policy, failure), std::nullopt);
  EXPECT_EQ(ObstacleToRestart(policy, Failure("worker", 0, SIGKILL)), std::nullopt);
  EXPECT_EQ(ObstacleToRestart(policy, Failure("ps", 1)), std::nullopt);
  TaskFailure lost = Failure("worker", 2);
  lost.end.lost = "no connection";  // its exit code means nothing
  EXPECT_EQ(ObstacleToRestart(policy, lost), std::nullopt);
  failure.restarts = 1000;
  EXPECT_EQ(ObstacleToRestart({.max_restarts = -1}, failure), std::nullopt);
}

TEST(ObstacleToRestartTest, SaysWhatStopsARestart) {
  const RestartPolicy policy{.max_restarts = 2};
  EXPECT_THAT(ObstacleToRestart({.max_restarts = 0}, Failure("worker", 1)), Optional(std::string()));
  EXPECT_THAT(ObstacleToRestart(policy, Failure("worker", 2)), Optional(HasSubstr("exit code 2 means an error")));

  TaskFailure failure = Failure("worker", 1);
  failure.restarts = 2;
  EXPECT_THAT(ObstacleToRestart(policy, failure), Optional(HasSubstr("started again 2 times, which is the limit")));

  TaskFailure lost = Failure("worker", 1);
  lost.end.lost = "no connection";
  lost.end.lost_for_good = true;
  EXPECT_THAT(ObstacleToRestart(policy, lost), Optional(HasSubstr("there is no other one (--spare_nodes)")));

  TaskFailure server = Failure("ps", 1);
  server.any_worker_unfinished = false;
  EXPECT_THAT(ObstacleToRestart(policy, server), Optional(HasSubstr("no worker is left")));
}

TEST(ObstacleToRestartTest, NoTaskIsStartedAgainAfterTheEndOfAParameterServer) {
  const RestartPolicy policy{.max_restarts = -1};
  for (const char* job : {"worker", "ps"}) {
    TaskFailure failure = Failure(job, 7);
    failure.ended_server = "ps/1";
    EXPECT_THAT(ObstacleToRestart(policy, failure), Optional(HasSubstr("ps/1 has ended with 0"))) << job;
    EXPECT_THAT(ObstacleToRestart({.max_restarts = 0}, failure), Optional(std::string())) << job;
  }
}

}  // namespace
}  // namespace tensorbraid
