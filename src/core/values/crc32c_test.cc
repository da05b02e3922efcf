#include "core/values/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace tensorbraid {
namespace {

// The second is the usual check value of CRC-32C. The last two are from RFC 3720, appendix B.4.
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

TEST(Crc32c, ALongTextHasTheSameChecksumAtOnceAndByteByByte) {
  std::string text(20000, '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 2654435761u >> 13);  // pseudorandom
  uint32_t by_bytes = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    by_bytes = Crc32c(std::string_view(text).substr(i, 1), by_bytes);
    if (i % 997 == 0) {
      ASSERT_EQ(Crc32c(std::string_view(text).substr(0, i + 1)), by_bytes) << i;
    }
  }
  EXPECT_EQ(Crc32c(text), by_bytes);
}

TEST(Crc32c, UnmaskingUndoesMasking) {
  EXPECT_EQ(UnmaskCrc(MaskCrc(0xe3069283u)), 0xe3069283u);
  EXPECT_NE(MaskCrc(0u), 0u);
}

}  // namespace
}  // namespace tensorbraid
