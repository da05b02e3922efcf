#include "cluster/discovery/moves_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/system/env.h"
#include "core/threads/mutex.h"
#include "io/file.h"
#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MovesFileTest : public ::testing::Test {
 protected:
  // As the launcher does it: readers see the old file or the new one.
  void Write(const std::string& text) {
    ASSERT_TRUE(WriteFile(path_ + ".new", text).ok());
    ASSERT_TRUE(Env::Default().RenameFile(path_ + ".new", path_).ok());
  }
  TempDir dir_;
  const std::string path_ = dir_.path() + "/moves";
};

// The last moves that a watch has told.
class ToldMoves {
 public:
  ClusterWatch::Changed Callback() {
    return [this](const AddressMoves& moves) {
      MutexLock lock(mu_);
      moves_ = moves;
      ++calls_;
      told_.NotifyAll();
    };
  }
  void Await(const AddressMoves& moves) {
    MutexLock lock(mu_);
    EXPECT_TRUE(told_.WaitFor(mu_, std::chrono::minutes(1), [&]() TB_REQUIRES(mu_) { return moves_ == moves; }));
  }
  int calls() {
    MutexLock lock(mu_);
    return calls_;
  }

 private:
  Mutex mu_;
  CondVar told_;
  AddressMoves moves_ TB_GUARDED_BY(mu_);
  int calls_ TB_GUARDED_BY(mu_) = 0;
};

TEST_F(MovesFileTest, AWatchTellsTheMovesOfBeforeAndThoseThatFollow) {
  Write(R"({"alpha:1":"gamma:3"})");
  ToldMoves told;
  const auto watch = MovesFile(path_).Start(told.Callback());
  told.Await({{"alpha:1", "gamma:3"}});
  Write("nonsense");
  Write(R"({"alpha:1":"delta:4","gamma:3":"delta:4"})");
  told.Await({{"alpha:1", "delta:4"}, {"gamma:3", "delta:4"}});
  EXPECT_EQ(told.calls(), 2);
}

TEST_F(MovesFileTest, AFileThatComesLaterCounts) {
  ToldMoves told;
  const auto watch = MovesFile(path_).Start(told.Callback());
  Write(R"({"alpha:1":"gamma:3"})");
  told.Await({{"alpha:1", "gamma:3"}});
  EXPECT_EQ(told.calls(), 1);
}

TEST_F(MovesFileTest, TheEnvironmentNamesTheFile) {
  EXPECT_EQ(MovesFile::FromEnvironment(), nullptr);
  ::setenv(MovesFile::kVariable, path_.c_str(), 1);
  EXPECT_NE(MovesFile::FromEnvironment(), nullptr);
  ::unsetenv(MovesFile::kVariable);
}

TEST(MovesTest, TheTextIsReadBack) {
  const AddressMoves moves = {{"alpha:1", "gamma:3"}, {"[::1]:2", "beta:5"}};
  EXPECT_EQ(*ParseMoves(MovesToJson(moves)), moves);
  EXPECT_EQ(*ParseMoves(MovesToJson({})), AddressMoves());
  for (const char* text : {"", "[]", "{\"alpha:1\":2}", "{\"alpha\":\"beta:1\"}", "{\"alpha:1\":\"beta\"}"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseMoves(text).status())) << text;
  }
}

TEST(MovesTest, AClusterFollowsWhateverItsJobsAreCalled) {
  const auto cluster = ClusterSpec::Sparse({{"chief", {{0, "alpha:1"}}}, {"worker", {{3, "beta:2"}, {4, "beta:3"}}}});
  const ClusterSpec now = AfterMoves(cluster, {{"alpha:1", "gamma:9"}, {"beta:3", "gamma:8"}, {"delta:1", "beta:7"}});
  EXPECT_EQ(now.ToString(),
            ClusterSpec::Sparse({{"chief", {{0, "gamma:9"}}}, {"worker", {{3, "beta:2"}, {4, "gamma:8"}}}}).ToString());
}

}  // namespace
}  // namespace tensorbraid
