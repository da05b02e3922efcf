#include "launch/agent/launcher_watch.h"

#include <gtest/gtest.h>

namespace tensorbraid {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

// With a clock that the test moves.
class LauncherWatchTest : public ::testing::Test {
 protected:
  bool Pass(LauncherWatch::Clock::duration time) {
    now_ += time;
    return watch_.TakePeriod();
  }
  LauncherWatch::Clock::time_point now_{};
  LauncherWatch watch_{[this] { return now_; }};
};

TEST_F(LauncherWatchTest, ALauncherThatSaysNothingIsSilentAfterTheTime) {
  watch_.Begin(seconds(5), seconds(120));
  EXPECT_FALSE(Pass(seconds(4)));
  EXPECT_TRUE(Pass(seconds(1)));
  for (int i = 0; i < 22; ++i) EXPECT_TRUE(Pass(seconds(5)));
  EXPECT_FALSE(watch_.is_silent());
  EXPECT_TRUE(Pass(seconds(5)));
  EXPECT_TRUE(watch_.is_silent());
}

TEST_F(LauncherWatchTest, TheTimeHoldsBeforeTheLauncherHasToldAny) {
  for (int i = 0; i < 23; ++i) Pass(seconds(5));
  EXPECT_FALSE(watch_.is_silent());
  Pass(seconds(5));
  EXPECT_TRUE(watch_.is_silent());
}

TEST_F(LauncherWatchTest, AWordAfterAShorterCutIsEnough) {
  watch_.Begin(seconds(5), seconds(120));
  for (int cut = 0; cut < 3; ++cut) {
    for (int i = 0; i < 22; ++i) Pass(seconds(5));
    watch_.Hear();  // is read before the end of the period is seen
    Pass(seconds(5));
    EXPECT_FALSE(watch_.is_silent());
  }
}

TEST_F(LauncherWatchTest, TimeInWhichTheAgentItselfWasStoppedIsOnePeriod) {
  watch_.Begin(seconds(5), seconds(120));
  for (int i = 0; i < 23; ++i) EXPECT_TRUE(Pass(hours(1)));
  EXPECT_FALSE(watch_.is_silent());
}

TEST_F(LauncherWatchTest, AShortTimeIsLongEnoughForAWord) {
  watch_.Begin(seconds(5), seconds(1));
  Pass(seconds(5));
  Pass(seconds(5));
  EXPECT_FALSE(watch_.is_silent());
}

TEST_F(LauncherWatchTest, WithoutATimeTheLauncherIsNeverSilent) {
  watch_.Begin(seconds(5), seconds(0));
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(Pass(seconds(5)));
  EXPECT_FALSE(watch_.is_silent());
  watch_.Begin(seconds(0), seconds(120));
  EXPECT_FALSE(Pass(hours(1)));
  EXPECT_FALSE(watch_.wake().has_value());
}

}  // namespace
}  // namespace tensorbraid
