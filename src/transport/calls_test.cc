#include "transport/calls.h"

#include <gtest/gtest.h>

#include "absl/status/status.h"

namespace tensorbraid {
namespace {

// A message of any size that uses little memory: its pieces are all the same buffer.
MessageParts Parts(size_t mebibytes, size_t more) {
  static const std::vector<std::byte> once(1 << 20);
  Payload payload;
  for (size_t i = 0; i < mebibytes; ++i) payload.pieces.push_back(once);
  payload.pieces.push_back({once.data(), more});
  return {OwnedPayload("head"), std::move(payload)};
}

TEST(CallsTest, MessagesBeyondTheLimitOfProtobufAreRefused) {
  EXPECT_TRUE(CheckCallSize({}, "an answer").ok());
  // 2047 MiB, 1 MiB less 5 bytes, and the 4 bytes of "head" are 2 GiB less 1 byte, which is the limit.
  EXPECT_TRUE(CheckCallSize(Parts(2047, (1 << 20) - 5), "an answer").ok());
  const Status status = CheckCallSize(Parts(2047, (1 << 20) - 4), "an answer");
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_TRUE(absl::IsResourceExhausted(CheckCallSize(Parts(8192, 0), "an answer")));
}

}  // namespace
}  // namespace tensorbraid
