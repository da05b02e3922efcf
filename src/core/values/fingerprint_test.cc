#include "core/values/fingerprint.h"

#include <gtest/gtest.h>

#include <string>

namespace tensorbraid {
namespace {

// The test vector of the SipHash paper: key 00 01 .. 0f, message 00 01 .. 0e.
TEST(Fingerprint, SipHashMatchesThePaper) {
  std::string message;
  for (char c = 0; c < 15; ++c) message += c;
  EXPECT_EQ(SipHash(0x0706050403020100, 0x0f0e0d0c0b0a0908, message), 0xa129ca6149be45e5u);
}

TEST(Fingerprint, EveryByteChangesTheHash) {
  for (size_t size = 1; size < 70; ++size) {
    const std::string text(size, 'a');
    for (size_t i = 0; i < size; ++i) {
      std::string other = text;
      other[i] = 'b';
      EXPECT_NE(Fingerprint64(text), Fingerprint64(other));
      EXPECT_NE(Hash64(text), Hash64(other));
      EXPECT_NE(SipHash(1, 2, text), SipHash(1, 2, other));
    }
  }
}

}  // namespace
}  // namespace tensorbraid
