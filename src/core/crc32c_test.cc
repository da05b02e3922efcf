#include "core/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace tensorbraid {
namespace {

// From RFC 3720, appendix B.4.
TEST(Crc32c, KnownAnswers) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(Crc32c, PartsGiveTheChecksumOfTheWhole) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += static_cast<char>(i * 37);
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(Crc32c(text.substr(cut), Crc32c(text.substr(0, cut))), Crc32c(text)) << cut;
  }
}

TEST(Crc32c, UnmaskingUndoesMasking) {
  EXPECT_EQ(UnmaskCrc(MaskCrc(0xe3069283u)), 0xe3069283u);
  EXPECT_NE(MaskCrc(0u), 0u);
}

}  // namespace
}  // namespace tensorbraid
