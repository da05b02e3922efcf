#include "cluster/discovery/rank_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> TaskNames(const std::vector<std::string>& nodes, int ps) {
  std::vector<std::string> names;
  for (const TaskName& task : TasksOfRanks(nodes, ps)) names.push_back(task.job + "/" + std::to_string(task.index));
  return names;
}

TEST(RankTasksTest, ParameterServersAreSpreadOverTheNodes) {
  EXPECT_THAT(TaskNames({"a", "a", "b", "b"}, 2), ::testing::ElementsAre("ps/0", "worker/0", "ps/1", "worker/1"));
  // Ranks that alternate between nodes.
  EXPECT_THAT(TaskNames({"a", "b", "a", "b"}, 2), ::testing::ElementsAre("ps/0", "ps/1", "worker/0", "worker/1"));
}

TEST(RankTasksTest, MoreParameterServersThanNodesTakeTheSecondRankOfEachNode) {
  EXPECT_THAT(TaskNames({"a", "a", "a", "b", "b", "b"}, 3),
              ::testing::ElementsAre("ps/0", "ps/2", "worker/0", "ps/1", "worker/1", "worker/2"));
}

TEST(RankTasksTest, WithoutParameterServersAllRanksAreWorkers) {
  EXPECT_THAT(TaskNames({"a", "b"}, 0), ::testing::ElementsAre("worker/0", "worker/1"));
}

TEST(RankTasksTest, AJobOfSeveralRanksHasOneParameterServerByDefault) {
  EXPECT_EQ(*NumParameterServers(1, -1, -1), 0);
  EXPECT_EQ(*NumParameterServers(2, -1, -1), 1);
  EXPECT_EQ(*NumParameterServers(500, -1, -1), 1);
}

TEST(RankTasksTest, VariablesSetTheNumberOfParameterServers) {
  EXPECT_EQ(*NumParameterServers(8, 3, -1), 3);
  EXPECT_EQ(*NumParameterServers(8, -1, 6), 2);
  EXPECT_EQ(*NumParameterServers(8, -1, 8), 0);
  EXPECT_EQ(*NumParameterServers(8, 2, 6), 2);
}

TEST(RankTasksTest, AJobThatIsTooSmallIsAnErrorThatNamesTheVariable) {
  const auto message = [](int size, int ps, int workers) {
    return std::string(NumParameterServers(size, ps, workers).status().message());
  };
  EXPECT_THAT(message(4, 4, -1), AllOf(HasSubstr("TENSORBRAID_PS=4"), HasSubstr("only 4"), HasSubstr("start 5")));
  EXPECT_THAT(message(1, 1, -1), AllOf(HasSubstr("TENSORBRAID_PS=1"), HasSubstr("only 1 process;")));
  EXPECT_THAT(message(4, -1, 5), AllOf(HasSubstr("TENSORBRAID_WORKERS=5"), HasSubstr("only 4")));
  EXPECT_THAT(message(4, 1, 2), AllOf(HasSubstr("TENSORBRAID_PS=1"), HasSubstr("TENSORBRAID_WORKERS=2")));
  EXPECT_THAT(message(4, -1, 0), HasSubstr("TENSORBRAID_WORKERS=0"));
}

}  // namespace
}  // namespace tensorbraid
