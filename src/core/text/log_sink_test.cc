#include "core/text/log_sink.h"

#include <gtest/gtest.h>

#include <vector>

namespace tensorbraid {
namespace {

class KeepingSink final : public LogSink {
 public:
  void Write(LogLevel level, std::string_view area, const std::string& message, const std::string& line) override {
    messages.push_back(std::string(area) + ": " + message);
    lines.push_back(line);
    if (level == LogLevel::kWarning) ++warnings;
  }
  void WriteRest() override { std::fprintf(stderr, "the rest\n"); }

  std::vector<std::string> messages, lines;
  int warnings = 0;
};

TEST(LogSink, GetsLinesInsteadOfStandardError) {
  auto* const sink = new KeepingSink;
  SetLogSink(sink);
  TB_LOG(Warning, "core") << "a " << 1;
  TB_LOG(Debug, "core") << "hidden by the level";
  SetLogSink(nullptr);
  EXPECT_EQ(sink->messages, (std::vector<std::string>{"core: a 1"}));
  EXPECT_EQ(sink->warnings, 1);
  ASSERT_EQ(sink->lines.size(), 1u);
  EXPECT_EQ(sink->lines[0].substr(0, 2), "W ");
  EXPECT_TRUE(sink->lines[0].ends_with(" core: a 1"));
  delete sink;
}

TEST(LogSinkDeathTest, AnAbortWritesWhatTheSinkKeeps) {
  static KeepingSink sink;
  EXPECT_DEATH(
      {
        SetLogSink(&sink);
        CheckFailed("file.cc", 1, "condition", "why");
      },
      "the rest\nE .* check: file.cc:1: condition: why");
}

}  // namespace
}  // namespace tensorbraid
