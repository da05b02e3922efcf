#include "cli/slow_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;

// Collects lines, and lets a test wait for them.
class Lines {
 public:
  void Add(const std::string& line) {
    {
      MutexLock lock(mu_);
      lines_.push_back(line);
    }
    cv_.NotifyAll();
  }
  // Blocks until there are so many lines.
  std::vector<std::string> Await(size_t count) {
    MutexLock lock(mu_);
    cv_.Wait(mu_, [&]() TB_REQUIRES(mu_) { return lines_.size() >= count; });
    return lines_;
  }
  size_t size() {
    MutexLock lock(mu_);
    return lines_.size();
  }

 private:
  Mutex mu_;
  CondVar cv_;
  std::vector<std::string> lines_ TB_GUARDED_BY(mu_);
};

TEST(SlowWorkTest, WorkThatTakesLongIsNamedAgainAndAgain) {
  Lines lines;
  SlowWork work([&](const std::string& line) { lines.Add(line); },
                {.first = milliseconds(1), .others = milliseconds(1)});
  work.Begin("the first part");
  EXPECT_THAT(lines.Await(3), ::testing::Each(::testing::MatchesRegex("the first part: [0-9]+ s so far")));
  work.Begin("the second part");
  EXPECT_THAT(lines.Await(lines.size() + 2).back(), ::testing::StartsWith("the second part: "));
}

TEST(SlowWorkTest, WorkThatEndsSoonIsNotMentioned) {
  Lines lines;
  {
    SlowWork work([&](const std::string& line) { lines.Add(line); },
                  {.first = std::chrono::hours(1), .others = milliseconds(1)});
    for (int i = 0; i < 100; ++i) work.Begin("a part");
  }
  SlowWork([&](const std::string& line) { lines.Add(line); }, {.first = milliseconds(0), .others = milliseconds(0)});
  EXPECT_EQ(lines.size(), 0U);
}

}  // namespace
}  // namespace tensorbraid
