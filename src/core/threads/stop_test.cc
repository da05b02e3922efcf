#include "core/threads/stop.h"

#include <gtest/gtest.h>

#include <optional>

namespace tensorbraid {
namespace {

class StopTest : public testing::Test {
 protected:
  void TearDown() override { WithdrawStopRequest(); }
};

TEST_F(StopTest, ARequestWakesEachListenerOnce) {
  int first = 0, second = 0, gone = 0;
  const OnStopRequest one([&] { ++first; });
  std::optional<OnStopRequest> other(std::in_place, [&] { ++gone; });
  other.reset();
  EXPECT_FALSE(StopRequested());
  RequestStop("a test");
  EXPECT_TRUE(StopRequested());
  const OnStopRequest late([&] { ++second; });
  RequestStop("a test");
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(gone, 0);
}

}  // namespace
}  // namespace tensorbraid
