#include "transport/ucx/ucx_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/memory/allocator.h"
#include "transport/codec.h"
#include "transport/transport_test_util.h"

namespace tensorbraid {
namespace {

constexpr uint64_t kSecret = 42;

std::string HeaderOf(UcxFramePrefix prefix, std::string_view rest = "") {
  std::string header(sizeof prefix, '\0');
  std::memcpy(header.data(), &prefix, sizeof prefix);
  return header.append(rest);
}

std::string Encoded(const Message& message) {
  std::string packet;
  EXPECT_TRUE(AppendPacket(message, &packet).ok());
  return packet.substr(kPacketPrefixBytes);
}

void Fill(UcxFrame* frame, std::string_view data) {
  ASSERT_NE(frame, nullptr);
  ASSERT_EQ(frame->size, data.size());
  frame->data = AllocateBuffer(data.size());
  std::memcpy(frame->data->data(), data.data(), data.size());
  frame->complete = true;
}

class UcxInboxTest : public ::testing::Test {
 protected:
  // Adds a frame of the control messages or, if `sequence` is 1, of the BulkTensors.
  StatusOr<UcxFrame*> Add(uint64_t number, std::string_view data, uint32_t sequence = 0) {
    return inbox_.Add(HeaderOf({.secret = kSecret,
                                .number = number,
                                .kind = UcxFrameKind::kWhole,
                                .sequence = sequence,
                                .header_bytes = data.size()}),
                      data.size());
  }
  UcxInbox inbox_{kSecret};
};

TEST_F(UcxInboxTest, FramesThatOvertakeOthersWaitForThem) {
  const std::string data = Encoded(Heartbeat{});
  UcxFrame* const second = Add(1, data).value();
  Fill(second, data);
  EXPECT_TRUE(inbox_.TakeComplete().empty());
  UcxFrame* const first = Add(0, data).value();
  EXPECT_TRUE(inbox_.TakeComplete().empty()) << "its data has not arrived";
  UcxFrame* const tensor = Add(0, data, 1).value();
  Fill(tensor, data);
  auto taken = inbox_.TakeComplete();
  ASSERT_EQ(taken.size(), 1u) << "the other sequence does not wait";
  EXPECT_EQ(taken[0].get(), tensor);
  Fill(first, data);
  taken = inbox_.TakeComplete();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].get(), first);
  EXPECT_EQ(taken[1].get(), second);
  EXPECT_TRUE(std::holds_alternative<Heartbeat>(taken[0]->Decode().value()));
}

TEST_F(UcxInboxTest, FramesOfStrangersAreDropped) {
  EXPECT_EQ(inbox_.Add("short", 5).value(), nullptr);
  EXPECT_EQ(inbox_.Add(HeaderOf({.secret = 41, .kind = UcxFrameKind::kProbe}), 0).value(), nullptr);
  EXPECT_FALSE(inbox_.probed());
  EXPECT_EQ(inbox_.Add(HeaderOf({.secret = kSecret, .kind = UcxFrameKind::kProbe}), 0).value(), nullptr);
  EXPECT_TRUE(inbox_.probed());
}

TEST_F(UcxInboxTest, FramesThatBreakTheRulesAreErrors) {
  EXPECT_FALSE(Add(0, "abc", 2).ok()) << "an unknown sequence";
  EXPECT_FALSE(Add(1 << 20, "abc").ok()) << "too far ahead";
  ASSERT_TRUE(Add(3, "abc").ok());
  EXPECT_FALSE(Add(3, "abc").ok()) << "a number twice";
  EXPECT_FALSE(inbox_.Add(HeaderOf({.secret = kSecret, .kind = static_cast<UcxFrameKind>(9)}), 0).ok());
  EXPECT_FALSE(inbox_.Add(HeaderOf({.secret = kSecret, .kind = UcxFrameKind::kWhole, .header_bytes = 4}), 3).ok());
  Fill(Add(0, "abc").value(), "abc");
  const auto taken = inbox_.TakeComplete();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_FALSE(taken[0]->Decode().ok()) << "not a message";
  EXPECT_FALSE(Add(0, "abc").ok()) << "a number that is over";
}

TEST_F(UcxInboxTest, ATensorUsesTheMemoryThatItsDataArrivedIn) {
  const std::string bytes = Pattern(4096, 1);
  UcxFrame* const frame =
      inbox_
          .Add(HeaderOf({.secret = kSecret, .kind = UcxFrameKind::kSplit, .sequence = 1}, Encoded(MakeBulk(1, bytes))),
               bytes.size())
          .value();
  Fill(frame, bytes);
  const void* const memory = frame->data->data();
  const auto taken = inbox_.TakeComplete();
  const auto message = taken.at(0)->Decode();
  ASSERT_TRUE(message.ok()) << message.status();
  const Payload& payload = std::get<BulkTensor>(*message).payload;
  ASSERT_TRUE(payload.owner);
  EXPECT_EQ(payload.owner->data(), memory);
  EXPECT_EQ(payload.size(), bytes.size());
}

}  // namespace
}  // namespace tensorbraid
