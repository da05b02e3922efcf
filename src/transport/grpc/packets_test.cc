#include "transport/grpc/packets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "transport/codec.h"
#include "transport/grpc/bulk_window.h"
#include "transport/transport_test_util.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr size_t kPart = 10;

BulkTensor Bulk(uint64_t step, uint32_t edge, size_t bytes) {
  BulkTensor tensor = MakeBulk(edge, std::string(bytes, 'x'));
  tensor.key.step = {1, step};
  return tensor;
}

// The step and edge of the tensors in the next gRPC message.
std::vector<std::pair<uint64_t, uint32_t>> NextTensors(Outbox& outbox) {
  std::vector<std::pair<uint64_t, uint32_t>> keys;
  grpc::ByteBuffer bytes;
  if (!outbox.Next(&bytes)) return keys;
  PacketReader reader(bytes);
  std::span<const std::byte> header;
  Payload payload;
  while (reader.Next(&header, &payload).value_or(false)) {
    const auto message = DecodeMessage(header, std::move(payload));
    EXPECT_TRUE(message.ok()) << message.status();
    const TensorKey& key = std::get<BulkTensor>(*message).key;
    keys.emplace_back(key.step.counter, key.edge);
    payload = {};
  }
  return keys;
}

TEST(OutboxTest, TensorsWithLowerEdgesGoFirstWithinAStep) {
  Outbox outbox(kPart);
  outbox.AddBulk(Bulk(1, 5, 2 * kPart));
  EXPECT_THAT(NextTensors(outbox), ElementsAre(Pair(1, 5)));
  outbox.AddBulk(Bulk(1, 7, kPart));
  outbox.AddBulk(Bulk(1, 2, kPart));
  outbox.AddBulk(Bulk(2, 1, kPart));  // of a later step
  EXPECT_THAT(NextTensors(outbox), ElementsAre(Pair(1, 2)));
  EXPECT_THAT(NextTensors(outbox), ElementsAre(Pair(1, 5)));
  EXPECT_THAT(NextTensors(outbox), ElementsAre(Pair(1, 7)));
  EXPECT_THAT(NextTensors(outbox), ElementsAre(Pair(2, 1)));
  EXPECT_THAT(NextTensors(outbox), ElementsAre());
}

TEST(OutboxTest, BulkTensorsWaitForRoomInTheWindow) {
  Outbox outbox(kPart);
  outbox.set_bulk_window(2 * kPart);
  outbox.AddBulk(Bulk(1, 1, 4 * kPart));
  EXPECT_EQ(NextTensors(outbox).size(), 1u);
  EXPECT_EQ(NextTensors(outbox).size(), 1u);
  EXPECT_EQ(NextTensors(outbox).size(), 0u);
  outbox.AddPackets("other packets do not wait", nullptr);
  grpc::ByteBuffer bytes;
  EXPECT_TRUE(outbox.Next(&bytes));
  outbox.Acknowledged(kPart);
  EXPECT_EQ(NextTensors(outbox).size(), 1u);
  EXPECT_EQ(NextTensors(outbox).size(), 0u);
  outbox.set_bulk_window(3 * kPart);
  EXPECT_EQ(NextTensors(outbox).size(), 1u);
}

// A peer may send acknowledgements that cannot be true.
TEST(OutboxTest, WrongAcknowledgementsChangeNothing) {
  Outbox outbox(kPart);
  outbox.set_bulk_window(kPart);
  outbox.Acknowledged(1000);  // more than was sent
  outbox.AddBulk(Bulk(1, 1, 3 * kPart));
  EXPECT_EQ(NextTensors(outbox).size(), 1u);
  EXPECT_EQ(NextTensors(outbox).size(), 0u);
  outbox.Acknowledged(1000);
  outbox.Acknowledged(0);  // less than before
  EXPECT_EQ(NextTensors(outbox).size(), 1u);
  EXPECT_EQ(NextTensors(outbox).size(), 0u);
}

TEST(BulkWindowTest, LongPathsHaveLargerWindows) {
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  EXPECT_EQ(BulkWindow(microseconds(50)), kMinBulkWindow);
  EXPECT_EQ(BulkWindow(milliseconds(20)), 62'500'000u + 2 * kBulkAckBytes);  // 20 ms at 25 Gbit/s
  EXPECT_EQ(BulkWindow(milliseconds(300)), kMaxBulkWindow);
  EXPECT_EQ(BulkWindow(std::chrono::nanoseconds::max()), kMaxBulkWindow);
}

}  // namespace
}  // namespace tensorbraid
