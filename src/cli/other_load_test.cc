#include "cli/other_load.h"

#include <gtest/gtest.h>

namespace tensorbraid {
namespace {

TEST(OtherLoadTest, BusyTimesAreThoseOfAllCores) {
  const auto times = ParseCoreTimes(
      "cpu  100 20 30 5000 40 5 6 7 9 0\n"
      "cpu0 50 10 15 2500 20 2 3 3 4 0\n"
      "cpu1 50 10 15 2500 20 3 3 4 5 0\n"
      "intr 12345\n",
      100);
  ASSERT_TRUE(times.has_value());
  EXPECT_EQ(times->cores, 2);
  EXPECT_NEAR(times->busy_s, 1.68, 1e-9) << "without the idle times, and guests count once";
  for (const char* wrong : {"", "cpu\n", "cpu 1 2 3\ncpu0 1 2 3\n", "intr 1\n", "cpu 1 2 3 4 5 6 7 8\n"}) {
    EXPECT_FALSE(ParseCoreTimes(wrong, 100).has_value()) << wrong;
  }
}

TEST(OtherLoadTest, AShareIsAShare) {
  const OtherLoad load;
  EXPECT_GE(load.Share(), 0);
  EXPECT_LE(load.Share(), 1);
}

}  // namespace
}  // namespace tensorbraid
