#include "launch/processes/line_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class LineSplitterTest : public ::testing::Test {
 protected:
  std::vector<std::string> lines_;
  LineSplitter splitter_{[this](std::string_view line) { lines_.emplace_back(line); }};
};

TEST_F(LineSplitterTest, JoinsPiecesAndSplitsLines) {
  for (const char* piece : {"a", "b\nc\n\n", "", "d"}) splitter_.Add(piece);
  EXPECT_THAT(lines_, ElementsAre("ab", "c", ""));
  splitter_.Finish();
  EXPECT_THAT(lines_, ElementsAre("ab", "c", "", "d"));
  splitter_.Finish();
  EXPECT_THAT(lines_, SizeIs(4));
}

TEST_F(LineSplitterTest, PassesAnEndlessLineOnInPieces) {
  for (int i = 0; i < 5; ++i) splitter_.Add(std::string(LineSplitter::kMaxLine / 2, 'x'));
  EXPECT_THAT(lines_, ElementsAre(SizeIs(LineSplitter::kMaxLine), SizeIs(LineSplitter::kMaxLine)));
  splitter_.Finish();
  EXPECT_THAT(lines_.back(), SizeIs(LineSplitter::kMaxLine / 2));
}

}  // namespace
}  // namespace tensorbraid
