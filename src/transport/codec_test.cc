#include "transport/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "transport/transport_test_util.h"

namespace tensorbraid {
namespace {

std::span<const std::byte> HeaderOf(const std::string& packet) {
  return std::as_bytes(std::span(packet)).subspan(kPacketPrefixBytes);
}

StatusOr<Message> RoundTrip(const Message& message) {
  std::string packet;
  TF_RETURN_IF_ERROR(AppendPacket(message, &packet));
  TF_ASSIGN_OR_RETURN(const PacketPrefix prefix, ReadPacketPrefix(packet.data()));
  const Payload* payload = PayloadOf(message);
  EXPECT_EQ(prefix.header_bytes, packet.size() - kPacketPrefixBytes);
  EXPECT_EQ(prefix.payload_bytes, payload == nullptr ? 0 : payload->size());
  return DecodeMessage(HeaderOf(packet), payload == nullptr ? Payload{} : *payload);
}

Status OddStatus() {
  Status status = absl::DataLossError("not \xff UTF-8");
  status.SetPayload("type", absl::Cord("value"));
  return status;
}

const TensorKey kKey{{0xfedcba9876543210, 7}, 4000000000u, ~uint64_t{0}, 3};

// One message of each type, in the order of the alternatives of Message.
std::vector<Message> OneOfEach() {
  const TensorMeta meta{.dtype = kFloat32, .shape = {2, 0, 3}, .bytes = 0};
  return {Heartbeat{},
          Leave{OddStatus()},
          GraphPart{1, std::string("p\0art", 5)},
          RegisterGraph{1, {2, 3}, 4, std::string("par\0tition", 10)},
          DeregisterGraph{{2, 3}, 4},
          CloseSession{{2, 3}},
          ResetContainers{1, {"", "c"}},
          Reply{1, OddStatus(), "body"},
          RunGraph{{1, 2}, {3, 4}, 5},
          StepDone{{1, 2}, OkStatus()},
          AbortStep{{1, 2}, absl::CancelledError("no longer wanted")},
          EndStep{{1, 2}},
          MakeEager(3, "abc"),
          AnnounceTensor{kKey, meta},
          GrantTensor{kKey},
          MakeBulk(3, "abcdef"),
          EagerCredit{~uint64_t{0}},
          GetReport{5, 6},
          WorkOver{OddStatus()}};
}

template <typename T>
T AsSent(const T& message) {
  auto back = RoundTrip(message);
  EXPECT_TRUE(back.ok()) << back.status();
  return std::get<T>(*back);
}

TEST(CodecTest, EveryTypeOfMessageKeepsItsType) {
  const auto messages = OneOfEach();
  ASSERT_EQ(messages.size(), std::variant_size_v<MessageVariant>);
  for (size_t i = 0; i < messages.size(); ++i) {
    ASSERT_EQ(messages[i].index(), i);
    auto back = RoundTrip(messages[i]);
    ASSERT_TRUE(back.ok()) << i << ": " << back.status();
    EXPECT_EQ(back->index(), i);
  }
}

// Encodes a message of link_messages.h, and returns it as the link at the other end decodes it.
template <typename T>
T AsSentByALink(const T& message) {
  std::string packet;
  AppendPacket(message, &packet);
  const auto header = std::as_bytes(std::span(packet)).subspan(kPacketPrefixBytes);
  EXPECT_FALSE(DecodeMessage(header, {}).ok()) << "a handler would get it";
  EXPECT_FALSE(DecodeLinkMessage(header, PayloadFrom("x")).ok());
  return std::get<T>(DecodeLinkMessage(header, {}).value());
}

TEST(CodecTest, TheMessagesBetweenLinksAreDecodedForLinksOnly) {
  const auto ping = AsSentByALink(Ping{.number = 3, .is_answer = true});
  EXPECT_EQ(ping.number, 3u);
  EXPECT_TRUE(ping.is_answer);
  EXPECT_EQ(AsSentByALink(BulkAck{~uint64_t{0}}).received_bytes, ~uint64_t{0});
  const auto lane = AsSentByALink(
      LaneMessage{.kind = LaneMessage::Kind::kGivenUp, .text = std::string("a\0b", 3), .bulk_tensors = 7});
  EXPECT_EQ(lane.kind, LaneMessage::Kind::kGivenUp);
  EXPECT_EQ(lane.text, std::string("a\0b", 3));
  EXPECT_EQ(lane.bulk_tensors, 7u);
}

TEST(CodecTest, LinksAlsoDecodeTheMessagesOfTheCluster) {
  std::string packet;
  ASSERT_TRUE(AppendPacket(Heartbeat{.only_serves = true}, &packet).ok());
  const auto header = std::as_bytes(std::span(packet)).subspan(kPacketPrefixBytes);
  const auto message = DecodeLinkMessage(header, {});
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_TRUE(std::get<Heartbeat>(std::get<Message>(*message)).only_serves);
}

TEST(CodecTest, FieldsSurviveARoundTrip) {
  EXPECT_FALSE(AsSent(Heartbeat{}).only_serves);
  EXPECT_TRUE(AsSent(Heartbeat{.only_serves = true}).only_serves);
  EXPECT_EQ(AsSent(Leave{OddStatus()}).status, OddStatus());
  EXPECT_EQ(AsSent(WorkOver{OddStatus()}).how, OddStatus());
  const auto graph = AsSent(RegisterGraph{1, {2, 3}, 4, std::string("par\0tition", 10), true, true});
  EXPECT_TRUE(graph.isolated_state);
  EXPECT_TRUE(graph.limited_files);
  EXPECT_EQ(graph.request, 1u);
  EXPECT_EQ(graph.session, (SessionId{2, 3}));
  EXPECT_EQ(graph.handle, 4u);
  EXPECT_EQ(graph.partition, std::string("par\0tition", 10));
  const auto graph_part = AsSent(GraphPart{1, std::string("p\0art", 5)});
  EXPECT_EQ(graph_part.request, 1u);
  EXPECT_EQ(graph_part.bytes, std::string("p\0art", 5));
  const auto deregister = AsSent(DeregisterGraph{{2, 3}, 4});
  EXPECT_EQ(deregister.session, (SessionId{2, 3}));
  EXPECT_EQ(deregister.handle, 4u);
  EXPECT_EQ(AsSent(CloseSession{{2, 3}}).session, (SessionId{2, 3}));
  EXPECT_EQ(AsSent(GetReport{~uint64_t{0}}).request, ~uint64_t{0});
  EXPECT_EQ(AsSent(GetReport{1, 2000, 3000}).session_clusters_within_ms, 2000u);
  EXPECT_EQ(AsSent(GetReport{1, 2000, 3000}).whole_cluster_within_ms, 3000u);
  const auto reset = AsSent(ResetContainers{7, {"", "c"}});
  EXPECT_EQ(reset.request, 7u);
  EXPECT_EQ(reset.containers, (std::vector<std::string>{"", "c"}));
  const auto reply = AsSent(Reply{1, OddStatus(), "body"});
  EXPECT_EQ(reply.request, 1u);
  EXPECT_EQ(reply.status, OddStatus());
  EXPECT_EQ(reply.body, "body");
  const auto run = AsSent(RunGraph{{1, 2}, {3, 4}, 5, true});
  EXPECT_TRUE(run.trace);
  EXPECT_EQ(run.step, (StepId{1, 2}));
  EXPECT_EQ(run.session, (SessionId{3, 4}));
  EXPECT_EQ(run.handle, 5u);
  EXPECT_TRUE(AsSent(StepDone{{1, 2}, OkStatus()}).status.ok());
  EXPECT_EQ(AsSent(StepDone{{1, 2}, OkStatus(), "st\xffts"}).stats, "st\xffts");
  EXPECT_EQ(AsSent(StepDone{{1, 2}, OddStatus()}).step, (StepId{1, 2}));
  EXPECT_EQ(AsSent(AbortStep{{1, 2}, OddStatus()}).reason, OddStatus());
  EXPECT_EQ(AsSent(EndStep{{1, 2}}).step, (StepId{1, 2}));
  EXPECT_EQ(AsSent(GrantTensor{kKey}).key, kKey);
  EXPECT_EQ(AsSent(EagerCredit{~uint64_t{0}}).consumed_bytes, ~uint64_t{0});
  const auto announce =
      AsSent(AnnounceTensor{kKey, {.dtype = DType::kString, .shape = {1 << 20, 7}, .bytes = uint64_t{1} << 40}});
  EXPECT_EQ(announce.key, kKey);
  EXPECT_EQ(announce.meta.dtype, DType::kString);
  EXPECT_EQ(announce.meta.shape, Shape({1 << 20, 7}));
  EXPECT_EQ(announce.meta.bytes, uint64_t{1} << 40);
  const auto dead = AsSent(EagerTensor{kKey, {.shape = {}, .dead = true}, {}});
  EXPECT_TRUE(dead.meta.dead);
  BulkTensor part = MakeBulk(1, "cdef");
  part.meta = BytesMeta(6);
  part.offset = 2;
  const auto bulk = AsSent(part);
  EXPECT_EQ(bulk.offset, 2u);
  EXPECT_EQ(bulk.payload.pieces[0].data(), part.payload.pieces[0].data());  // the same bytes, not a copy
}

TEST(CodecTest, HandshakesSurviveARoundTrip) {
  std::string packet;
  Hello hello = HelloFrom("a", "b");
  hello.lanes = {{.kind = "local", .word = std::string("a\0b", 3)}, {.kind = "ucx", .word = "", .is_answer = true}};
  AppendPacket(Handshake{5, 1, hello}, &packet);
  auto handshake = DecodeHandshake(HeaderOf(packet));
  ASSERT_TRUE(handshake.ok());
  EXPECT_EQ(handshake->link_id, 5u);
  EXPECT_EQ(handshake->channel, 1u);
  EXPECT_EQ(handshake->hello.task, "a");
  EXPECT_EQ(handshake->hello.expected_task, "b");
  EXPECT_EQ(handshake->hello.protocol_version, Hello::kProtocolVersion);
  EXPECT_EQ(handshake->hello.devices, HelloFrom("a", "b").devices);
  EXPECT_EQ(handshake->hello.cluster, 7u);
  EXPECT_EQ(handshake->hello.cluster_def, "def");
  EXPECT_EQ(handshake->hello.cluster_master, "master");
  ASSERT_EQ(handshake->hello.lanes.size(), 2u);
  EXPECT_EQ(handshake->hello.lanes[0].kind, "local");
  EXPECT_EQ(handshake->hello.lanes[0].word, std::string("a\0b", 3));
  EXPECT_FALSE(handshake->hello.lanes[0].is_answer);
  EXPECT_TRUE(handshake->hello.lanes[1].is_answer);
  packet.clear();
  AppendPacket(HandshakeAnswer{OddStatus(), HelloFrom("c")}, &packet);
  auto answer = DecodeHandshakeAnswer(HeaderOf(packet));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->status, OddStatus());
  EXPECT_EQ(answer->hello.task, "c");
}

TEST(CodecTest, InvalidTensorsAreRefused) {
  const auto code = [](const Message& m) { return RoundTrip(m).status().code(); };
  const auto meta_code = [&](TensorMeta meta) { return code(AnnounceTensor{kKey, std::move(meta)}); };
  constexpr auto kBad = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(meta_code({.dtype = static_cast<DType>(99), .shape = {}}), kBad);
  EXPECT_EQ(meta_code({.dtype = static_cast<DType>(-1), .shape = {}}), kBad);
  EXPECT_EQ(meta_code({.dtype = DType::kInvalid, .shape = {}}), kBad);
  EXPECT_EQ(meta_code({.dtype = RefType(kFloat32), .shape = {}}), kBad);
  EXPECT_EQ(meta_code({.dtype = kFloat32, .shape = {-1}}), kBad);
  EXPECT_EQ(meta_code({.dtype = kFloat32, .shape = {int64_t{1} << 40, int64_t{1} << 40}}), kBad);
  EXPECT_EQ(meta_code({.dtype = DType::kString, .shape = {1}, .bytes = kMaxTensorBytes + 1}), kBad);
  EXPECT_EQ(meta_code({.dtype = kFloat32, .shape = {2}, .bytes = 12}), kBad);
  EXPECT_EQ(meta_code({.dtype = kFloat32, .shape = {}, .bytes = 4, .dead = true}), kBad);
  EXPECT_EQ(meta_code({.dtype = kFloat32, .shape = Shape(std::vector<int64_t>(255, 1)), .bytes = 4}), kBad);
  EXPECT_EQ(meta_code({.dtype = kFloat32, .shape = {3}, .bytes = 12}), absl::StatusCode::kOk);

  EagerTensor eager = MakeEager(1, "abc");
  eager.meta = BytesMeta(4);
  EXPECT_EQ(code(eager), kBad);
  BulkTensor bulk = MakeBulk(1, "abc");
  bulk.offset = 1;
  EXPECT_EQ(code(bulk), kBad);
  bulk.offset = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(code(bulk), kBad);
  bulk = MakeBulk(1, "");
  bulk.meta = BytesMeta(4);
  EXPECT_EQ(code(bulk), kBad);
  std::string packet;
  ASSERT_TRUE(AppendPacket(Heartbeat{}, &packet).ok());
  EXPECT_EQ(DecodeMessage(HeaderOf(packet), PayloadFrom("x")).status().code(), kBad);
  EXPECT_EQ(DecodeMessage({}, {}).status().code(), kBad);
}

TEST(CodecTest, PacketLengthsBeyondTheLimitsAreRefused) {
  EXPECT_FALSE(ReadPacketPrefix("\xff\xff\xff\xff\0\0\0\0\0\0\0\0").ok());
  EXPECT_FALSE(ReadPacketPrefix("\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff").ok());
  EXPECT_TRUE(ReadPacketPrefix("\1\0\0\0\1\0\0\0\0\0\0\0").ok());
}

// Any bytes either decode or are refused with InvalidArgument. (Sanitizers find invalid accesses to memory.) A message
// that decodes can be encoded again.
TEST(CodecTest, MutatedPacketsNeverCrash) {
  const uint32_t seed = TestSeed();
  const SeedReport report(seed);
  std::mt19937 random(seed);
  const auto upto = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n)(random); };
  std::vector<std::string> corpus;
  for (const Message& m : OneOfEach()) {
    std::string packet;
    ASSERT_TRUE(AppendPacket(m, &packet).ok());
    corpus.push_back(packet.substr(kPacketPrefixBytes));
  }
  std::string handshake;
  AppendPacket(Handshake{5, 1, HelloFrom("a", "b")}, &handshake);
  corpus.push_back(handshake.substr(kPacketPrefixBytes));
  int accepted = 0;
  for (int round = 0; round < 100000; ++round) {
    std::string bytes = corpus[upto(corpus.size() - 1)];
    for (size_t n = upto(4); n > 0 && !bytes.empty(); --n) {
      switch (upto(3)) {
        case 0:
          bytes[upto(bytes.size() - 1)] = static_cast<char>(upto(255));
          break;
        case 1:
          bytes.resize(upto(bytes.size()));
          break;
        case 2:
          bytes.insert(upto(bytes.size()), std::string(upto(10), static_cast<char>(upto(255))));
          break;
        default:
          bytes += corpus[upto(corpus.size() - 1)];
      }
    }
    const auto span = std::as_bytes(std::span(bytes));
    auto message = DecodeMessage(span, upto(1) == 0 ? Payload{} : PayloadFrom("abc"));
    if (message.ok()) {
      ++accepted;
      ASSERT_TRUE(RoundTrip(*message).ok());
    } else {
      ASSERT_EQ(message.status().code(), absl::StatusCode::kInvalidArgument);
    }
    DecodeHandshake(span).status().IgnoreError();
    DecodeHandshakeAnswer(span).status().IgnoreError();
  }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace tensorbraid
