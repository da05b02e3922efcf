#include "launch/processes/output_queue.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>

#include "absl/strings/numbers.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string GapLine(size_t count) { return StrCat("gap of ", count, "\n"); }

// A pipe that is full after 4,096 bytes.
class OutputQueueTest : public ::testing::Test {
 protected:
  OutputQueueTest() {
    ::signal(SIGPIPE, SIG_IGN);
    std::array<int, 2> fds{};
    EXPECT_EQ(::pipe2(fds.data(), O_CLOEXEC), 0);
    read_ = Fd(fds[0]);
    write_ = Fd(fds[1]);
    ::fcntl(write_.get(), F_SETPIPE_SZ, 4096);
  }
  void Make(size_t most_bytes = OutputQueue::kMostBytes) { queue_.emplace(write_.get(), GapLine, most_bytes); }
  static std::string Line(int number) { return StrCat("line ", number, "\n"); }
  // Reads until the text ends with `end`.
  std::string ReadUntil(const std::string& end) {
    std::string text;
    std::array<char, 65536> bytes;
    while (!text.ends_with(end)) {
      const ssize_t got = ::read(read_.get(), bytes.data(), bytes.size());
      if (got <= 0) break;
      text.append(bytes.data(), static_cast<size_t>(got));
    }
    return text;
  }
  void AwaitEvent() {
    pollfd event = {queue_->event().get(), POLLIN, 0};
    EXPECT_EQ(::poll(&event, 1, 60000), 1);
  }

  Fd read_, write_;
  std::optional<OutputQueue> queue_;
};

TEST_F(OutputQueueTest, TakesLinesThatNobodyReadsYet) {
  Make();
  std::string all;
  for (int i = 0; i < 10000; ++i) {
    queue_->Add(Line(i));
    all += Line(i);
  }
  EXPECT_GE(queue_->unwritten(), all.size() - 2 * 4096);
  EXPECT_EQ(ReadUntil("line 9999\n"), all);
}

TEST_F(OutputQueueTest, LeavesOutTheOldestLinesAndCountsThem) {
  constexpr size_t kKept = 20000;
  Make(kKept);
  for (int i = 0; i < 100000; ++i) queue_->Add(Line(i));
  EXPECT_GE(queue_->unwritten(), kKept);
  EXPECT_LT(queue_->unwritten(), kKept + 2 * 4096);
  const std::string text = ReadUntil("line 99999\n");
  // Gaps are where lines are missing, and count them.
  int next = 0, gaps = 0;
  for (const std::string& line : StrSplit(text, '\n')) {
    int number = 0;
    if (line.starts_with("gap of ")) {
      ASSERT_TRUE(absl::SimpleAtoi(line.substr(7), &number)) << line;
      next += number;
      ++gaps;
    } else if (!line.empty()) {
      ASSERT_EQ(line, StrCat("line ", next++));
    }
  }
  EXPECT_GE(gaps, 1);
  EXPECT_EQ(next, 100000);
}

TEST_F(OutputQueueTest, NeverLeavesOutWhatMustArrive) {
  Make(10000);
  queue_->Add(std::string(8000, 'x') + "\n");  // fills the pipe
  pollfd written = {read_.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&written, 1, -1), 1);  // from now on the queue's thread waits for a reader
  for (int i = 0; i < 10000; ++i) {
    if (i % 1000 == 0) queue_->Add(StrCat("event ", i, "\n"), OutputQueue::Loss::kNever);
    queue_->Add(Line(i));
  }
  const std::string text = ReadUntil("line 9999\n");
  for (int i = 0; i < 10000; i += 1000) EXPECT_THAT(text, HasSubstr(StrCat("event ", i, "\n")));
  EXPECT_NE(text.find("gap of "), std::string::npos);
  EXPECT_EQ(text.find("line 5000\n"), std::string::npos);
}

TEST_F(OutputQueueTest, SaysThatTheReaderHasGone) {
  Make();
  read_.Close();
  queue_->Add("line\n");
  AwaitEvent();
  EXPECT_TRUE(queue_->is_closed());
  queue_->Add("line\n");
  EXPECT_EQ(queue_->unwritten(), 0u);
}

TEST_F(OutputQueueTest, ReportsProgress) {
  Make();
  for (int i = 0; i < 2000; ++i) queue_->Add(Line(i));
  std::string text;
  while (queue_->unwritten() > 0) {
    queue_->ReportProgress();
    std::array<char, 4096> bytes;
    const ssize_t got = ::read(read_.get(), bytes.data(), bytes.size());
    ASSERT_GT(got, 0);
    text.append(bytes.data(), static_cast<size_t>(got));
    AwaitEvent();
  }
  EXPECT_FALSE(queue_->is_closed());
  EXPECT_THAT(text, StartsWith("line 0\n"));
}

TEST_F(OutputQueueTest, WaitsForADescriptorThatDoesNotBlock) {
  ::fcntl(write_.get(), F_SETFL, O_NONBLOCK);
  Make();
  for (int i = 0; i < 5000; ++i) queue_->Add(Line(i));
  EXPECT_THAT(ReadUntil("line 4999\n"), HasSubstr("line 2500\n"));
}

TEST_F(OutputQueueTest, EndsWhileNobodyReads) {
  Make();
  for (int i = 0; i < 5000; ++i) queue_->Add(Line(i));
  queue_.reset();  // does not wait
}

TEST_F(OutputQueueTest, IsAsGoodAsNoneWithoutADescriptor) {
  queue_.emplace(-1, GapLine);
  queue_->Add("line\n");
  EXPECT_EQ(queue_->unwritten(), 0u);
  EXPECT_FALSE(queue_->is_closed());
}

}  // namespace
}  // namespace tensorbraid
