#include "checkpoint/coding.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace tensorbraid {
namespace {

const std::vector<int64_t> kNumbers = {std::numeric_limits<int64_t>::min(),
                                       -(int64_t{1} << 62),
                                       -70000,
                                       -8193,
                                       -8192,
                                       -65,
                                       -64,
                                       -1,
                                       0,
                                       1,
                                       63,
                                       64,
                                       255,
                                       256,
                                       8191,
                                       8192,
                                       int64_t{1} << 34,
                                       int64_t{1} << 62,
                                       std::numeric_limits<int64_t>::max()};

TEST(Coding, VarintsAreReadAsWritten) {
  std::string bytes;
  for (const int64_t n : kNumbers) PutVarint(static_cast<uint64_t>(n), &bytes);
  std::string_view rest = bytes;
  for (const int64_t n : kNumbers) {
    uint64_t read = 0;
    ASSERT_TRUE(GetVarint(&rest, &read));
    EXPECT_EQ(static_cast<int64_t>(read), n);
  }
  EXPECT_TRUE(rest.empty());
}

TEST(Coding, TruncatedAndTooLongVarintsAreRefused) {
  uint64_t value;
  for (const std::string& bytes :
       {std::string(), std::string("\x80"), std::string(10, '\x80'), std::string(9, '\xff') + "\x02"}) {
    std::string_view rest = bytes;
    EXPECT_FALSE(GetVarint(&rest, &value));
  }
  uint32_t narrow;
  std::string bytes;
  PutVarint(uint64_t{1} << 32, &bytes);
  std::string_view rest = bytes;
  EXPECT_FALSE(GetVarint32(&rest, &narrow));
}

TEST(Coding, OrderedEncodingsSortLikeTheirValues) {
  for (size_t i = 1; i < kNumbers.size(); ++i) {
    std::string smaller, larger;
    PutOrderedSigned(kNumbers[i - 1], &smaller);
    PutOrderedSigned(kNumbers[i], &larger);
    EXPECT_LT(smaller, larger) << kNumbers[i - 1] << " < " << kNumbers[i];
    if (kNumbers[i - 1] < 0) continue;
    smaller.clear();
    larger.clear();
    PutOrdered(static_cast<uint64_t>(kNumbers[i - 1]), &smaller);
    PutOrdered(static_cast<uint64_t>(kNumbers[i]), &larger);
    EXPECT_LT(smaller, larger);
  }
  const std::vector<std::string> texts = {
      "", std::string("\0", 1), std::string("\0a", 2), "a", std::string("a\0", 2), "aa", "b", "\xff"};
  for (size_t i = 1; i < texts.size(); ++i) {
    std::string smaller, larger;
    PutOrdered(std::string_view(texts[i - 1]), &smaller);
    PutOrdered(std::string_view(texts[i]), &larger);
    EXPECT_LT(smaller, larger);
  }
}

}  // namespace
}  // namespace tensorbraid
