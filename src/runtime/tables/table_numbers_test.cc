#include "runtime/tables/table_numbers.h"

#include <gtest/gtest.h>

namespace tensorbraid {
namespace {

using std::chrono::seconds;

TEST(LastMinuteTest, ForgetsWhatIsOlder) {
  LastMinute growth;
  const LastMinute::Time begin{seconds(1000)};
  EXPECT_EQ(growth.Sum(begin), 0);
  growth.Add(7, begin);
  growth.Add(3, begin + seconds(30));
  growth.Add(-1, begin + seconds(31));
  EXPECT_EQ(growth.Sum(begin + seconds(54)), 9);
  EXPECT_EQ(growth.Sum(begin + seconds(60)), 2);
  growth.Add(5, begin + seconds(60));  // in the place of the first part
  EXPECT_EQ(growth.Sum(begin + seconds(60)), 7);
  EXPECT_EQ(growth.Sum(begin + seconds(200)), 0);
}

}  // namespace
}  // namespace tensorbraid
