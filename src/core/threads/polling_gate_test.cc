#include "core/threads/polling_gate.h"

#include <gtest/gtest.h>

namespace tensorbraid {
namespace {

using std::chrono::microseconds;
using Time = PollingGate::Clock::time_point;

// The time, and how long a yield takes.
Time now;
microseconds yield_takes;

class PollingGateTest : public testing::Test {
 protected:
  void SetUp() override {
    now = Time(std::chrono::hours(1));
    yield_takes = microseconds(0);
  }
  PollingGate gate_{[] { return now; }, [] { now += yield_takes; }};
};

TEST_F(PollingGateTest, ShortYieldsLeaveItOpen) {
  EXPECT_TRUE(gate_.IsOpen(now));
  for (const int us : {0, 50, 1000}) {
    yield_takes = microseconds(us);
    EXPECT_EQ(gate_.Yield(), now);
    EXPECT_TRUE(gate_.IsOpen(now)) << us;
  }
}

TEST_F(PollingGateTest, ALongYieldClosesItForTenMilliseconds) {
  yield_takes = microseconds(1001);
  const Time after = gate_.Yield();
  EXPECT_EQ(after, now);
  EXPECT_FALSE(gate_.IsOpen(after));
  EXPECT_FALSE(gate_.IsOpen(after + microseconds(9999)));
  EXPECT_TRUE(gate_.IsOpen(after + microseconds(10000)));
}

TEST_F(PollingGateTest, AnotherLongYieldClosesItAgain) {
  yield_takes = microseconds(4000);
  gate_.Yield();
  now += microseconds(10000);
  ASSERT_TRUE(gate_.IsOpen(now));
  gate_.Yield();
  EXPECT_FALSE(gate_.IsOpen(now + microseconds(9999)));
  yield_takes = microseconds(0);
  gate_.Yield();  // a short yield of a thread that polls already does not open it
  EXPECT_FALSE(gate_.IsOpen(now));
}

TEST_F(PollingGateTest, NoYieldClosesAGateThatStaysOpen) {
  gate_.StayOpen();
  yield_takes = microseconds(4000);
  gate_.Yield();
  EXPECT_TRUE(gate_.IsOpen(now));
}

}  // namespace
}  // namespace tensorbraid
