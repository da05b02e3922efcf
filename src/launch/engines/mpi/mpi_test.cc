#include "launch/engines/mpi/mpi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(NodesOfBatchSystemTest, CountsTheLinesOfEachMachine) {
  TempDir dir;
  dir.Write("nodes", "alpha\nalpha\nbeta\nalpha\n");
  for (const char* variable : {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE"}) {
    const auto nodes = NodesOfBatchSystem({{variable, dir.path() + "/nodes"}});
    ASSERT_TRUE(nodes.ok()) << nodes.status();
    ASSERT_EQ(nodes->size(), 2u);
    EXPECT_EQ((*nodes)[0].name, "alpha");
    EXPECT_EQ((*nodes)[0].slots, 3);
    EXPECT_EQ((*nodes)[1].name, "beta");
    EXPECT_EQ((*nodes)[1].slots, 1);
  }
}

TEST(NodesOfBatchSystemTest, SaysWhatIsMissing) {
  EXPECT_THAT(NodesOfBatchSystem({}).status().message(), HasSubstr("give --hosts=alpha:4,beta or --hostfile=FILE"));
  EXPECT_THAT(NodesOfBatchSystem({{"PBS_NODEFILE", "/nowhere/nodes"}}).status().message(), HasSubstr("PBS_NODEFILE: "));
}

TEST(UseMpirunTest, StartsOneProcessOnEachMachine) {
  AgentEngineOptions options{
      .nodes = {{"alpha", "", 2}, {"beta", "", 0}}, .command = nullptr, .version = "", .directory = ""};
  ASSERT_TRUE(UseMpirun({"mpirun", "-x", "A"}, "/bin/tensorbraid", &options).ok());
  EXPECT_EQ(options.nodes[1].host, "beta");
  EXPECT_THAT(options.command(options.nodes[1]),
              ElementsAre("mpirun", "-x", "A", "-host", "beta", "-n", "1", "-bind-to", "none", "sh", "-c",
                          HasSubstr("agent --node=beta")));
  EXPECT_GT(options.alive.count(), 0);
  options.nodes.push_back({"alpha", "", 1});
  EXPECT_THAT(UseMpirun({"mpirun"}, "", &options).message(), HasSubstr("'alpha' is given twice"));
}

}  // namespace
}  // namespace tensorbraid
