#include "transport/local/local_lane.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "core/memory/allocator.h"
#include "core/memory/buffer_group.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/link_messages.h"
#include "transport/local/lane_socket.h"
#include "transport/local/local_kind.h"
#include "transport/side_lane/side_lane_transport.h"
#include "transport/transport_test_util.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

// --- Ring.

class RingTest : public ::testing::Test {
 protected:
  static constexpr size_t kCapacity = 64;
  alignas(64) std::byte memory_[1024] = {};
  Ring writer_{memory_, kCapacity}, reader_{memory_, kCapacity};

  size_t Write(std::string_view text) { return writer_.Write(std::as_bytes(std::span(text))).value(); }
  std::string Read() {
    std::string text;
    reader_.Read(&text).value();
    return text;
  }
};

TEST_F(RingTest, BytesArriveInOrderAroundTheEnd) {
  ASSERT_LE(Ring::MemoryFor(kCapacity), sizeof memory_);
  std::string sent, received;
  for (size_t n = 1; n < 60; ++n) {
    const std::string text = Pattern(n, static_cast<uint32_t>(n));
    EXPECT_EQ(Write(text), n);
    sent += text;
    received += Read();
  }
  EXPECT_EQ(received, sent);
  EXPECT_EQ(Read(), "");
}

TEST_F(RingTest, AFullRingTakesNoMoreUntilItIsRead) {
  EXPECT_EQ(Write(std::string(100, 'a')), kCapacity);
  EXPECT_EQ(Write("b"), 0u);
  EXPECT_TRUE(writer_.is_half_full());
  EXPECT_FALSE(reader_.TakeWriterWaits());
  writer_.WaitForRoom();
  EXPECT_EQ(Read(), std::string(kCapacity, 'a'));
  EXPECT_TRUE(reader_.TakeWriterWaits());
  EXPECT_FALSE(reader_.TakeWriterWaits());
  EXPECT_EQ(Write("b"), 1u);
}

TEST_F(RingTest, CountersThatCannotBeTrueAreErrors) {
  Write("abc");
  std::memset(memory_, 0xff, 8);  // the number of written bytes
  std::string text;
  EXPECT_THAT(std::string(reader_.Read(&text).status().message()), HasSubstr("claims to have written"));
  std::memset(memory_ + 64, 0x7f, 8);  // the number of read bytes
  EXPECT_THAT(std::string(writer_.Write({}).status().message()), HasSubstr("claims to have read"));
}

TEST_F(RingTest, ASleepingReaderIsWokenByTheWriter) {
  std::string received;
  std::thread thread([&] {
    while (received.size() < 300) {
      received += Read();
      reader_.Sleep([&] { return received.size() >= 300; });
    }
  });
  std::string sent;
  while (sent.size() < 300) {
    if (Write("x") == 1) sent += "x";
    writer_.WakeReader();
  }
  thread.join();
  EXPECT_EQ(received, sent);
}

// --- LocalLane.

// Both ends of one lane, in this process. Each is the neighbour of the other: a task on the same machine.
class LocalLaneTest : public ::testing::Test {
 protected:
  LocalLaneTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    rings_ = LocalLane::NewRings(options_).value();
    auto theirs = SharedSegment::Map(Fd(fcntl(rings_->fd(), F_DUPFD_CLOEXEC, 0)), rings_->size(),
                                     SharedSegment::Others::kMayWrite);
    a_ = std::make_shared<LocalLane>(options_, rings_, /*connected=*/true, Fd(ends[0]));
    b_ = std::make_shared<LocalLane>(options_, *theirs, /*connected=*/false, Fd(ends[1]));
  }
  ~LocalLaneTest() override {
    if (a_ != nullptr) a_->End();
    if (b_ != nullptr) b_->End();
  }

  static BulkTensor Lendable(size_t bytes, RefPtr<Buffer>* buffer) {
    *buffer = SharedAllocator().Allocate(bytes);
    std::memset((*buffer)->data(), 'x', bytes);
    Payload payload;
    payload.owner = *buffer;
    payload.pieces = {{static_cast<const std::byte*>((*buffer)->data()), bytes}};
    return {{{1, 1}, 3}, BytesMeta(bytes), 0, payload};
  }
  // Returns the messages for `lane`. Also runs the reader of `other`, which then sends what it had queued because its
  // ring was full.
  std::vector<Message> Receive(LocalLane& lane, LocalLane& other) {
    std::vector<Message> messages;
    const auto keep = [&](Message m) { messages.push_back(std::move(m)); };
    bool any = true;
    while (any) {
      any = lane.Receive(keep).value();
      any |= other.Receive([](Message) { ADD_FAILURE() << "an unexpected message"; }).value();
    }
    return messages;
  }
  // Writes bytes to b's ring that break the protocol, and returns the error with which b receives them.
  Status Inject(const std::string& bytes) {
    Ring ring(rings_->data(), options_.ring_bytes);
    EXPECT_TRUE(ring.Write(std::as_bytes(std::span(bytes))).ok());
    return b_->Receive([](Message) { ADD_FAILURE() << "a message that was never sent"; }).status();
  }
  // The body of a kLent: the number of the loan and of its pieces; for each piece the segment, the offset and the size.
  static std::string Words(const std::vector<uint64_t>& words) {
    return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint64_t)};
  }
  // The kinds are those of FrameKind in local_lane.cc: 1 is kInline, 2 kLent, 3 kGiveBack, 4 kSegment.
  static std::string Frame(uint32_t kind, uint32_t header_bytes, uint64_t value, const std::string& body = "") {
    std::string frame(16, 0);
    std::memcpy(&frame[0], &kind, 4);
    std::memcpy(&frame[4], &header_bytes, 4);
    std::memcpy(&frame[8], &value, 8);
    return frame + body;
  }

  const LocalLaneOptions options_{.ring_bytes = 4 << 10, .inline_bytes = 100};
  std::shared_ptr<SharedSegment> rings_;
  std::shared_ptr<LocalLane> a_, b_;
};

TEST_F(LocalLaneTest, APayloadInSharedMemoryIsLentUntilItsLastUserDropsIt) {
  RefPtr<Buffer> buffer;
  ASSERT_TRUE(a_->Send(Lendable(1 << 20, &buffer), /*urgent=*/true).ok());
  std::vector<Message> got = Receive(*b_, *a_);
  ASSERT_EQ(got.size(), 1u);
  const Payload& payload = std::get<BulkTensor>(got[0]).payload;
  ASSERT_TRUE(payload.owner);
  EXPECT_FALSE(payload.owner->writable());
  EXPECT_EQ(payload.pieces[0][5], std::byte{'x'});
  EXPECT_FALSE(buffer->IsUnique());
  // It is the same memory. (The lender must not do this while the buffer is lent.)
  static_cast<char*>(buffer->data())[5] = 'y';
  EXPECT_EQ(payload.pieces[0][5], std::byte{'y'});
  got.clear();
  Receive(*a_, *b_);
  EXPECT_TRUE(buffer->IsUnique());
}

TEST_F(LocalLaneTest, PiecesInSharedMemoryStayWhereTheyAre) {
  RefPtr<Buffer> first = SharedAllocator().Allocate(5000), second = SharedAllocator().Allocate(300);
  std::memset(first->data(), 'a', 5000);
  std::memset(second->data(), 'b', 300);
  const std::string copied(70, 'c');
  Payload payload;
  payload.owner = MakeRef<BufferGroup>(std::vector<RefPtr<Buffer>>{first, second});
  const auto bytes_of = [](const Buffer& buffer) {
    return std::span(static_cast<const std::byte*>(buffer.data()), buffer.size());
  };
  const auto text = std::as_bytes(std::span(copied));
  payload.pieces = {text, bytes_of(*first).first(4999), text.first(1), text.subspan(1), bytes_of(*second)};
  ASSERT_TRUE(a_->Send(BulkTensor{{{1, 1}, 3}, BytesMeta(payload.size()), 0, payload}, /*urgent=*/true).ok());
  payload = {};
  std::vector<Message> got = Receive(*b_, *a_);
  ASSERT_EQ(got.size(), 1u);
  const Payload& arrived = std::get<BulkTensor>(got[0]).payload;
  EXPECT_FALSE(arrived.owner->writable());
  std::string received(arrived.size(), 0);
  arrived.CopyTo(received.data());
  EXPECT_TRUE(received == copied + std::string(4999, 'a') + copied + std::string(300, 'b'));
  ASSERT_EQ(arrived.pieces.size(), 4u);  // the two that were copied and follow each other are one
  // Tensors of the payload that begin at multiples of the alignment are aligned.
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arrived.pieces[2].data()) % kTensorAlignment, (70 + 4999) % kTensorAlignment);
  // They are the same memory. (The lender must not do this while the buffers are lent.)
  static_cast<char*>(first->data())[5] = 'x';
  static_cast<char*>(second->data())[6] = 'y';
  EXPECT_EQ(arrived.pieces[1][5], std::byte{'x'});
  EXPECT_EQ(arrived.pieces[3][6], std::byte{'y'});
  EXPECT_FALSE(first->IsUnique() || second->IsUnique());
  got.clear();
  Receive(*a_, *b_);
  EXPECT_TRUE(first->IsUnique() && second->IsUnique());
}

TEST_F(LocalLaneTest, OtherPayloadsAreCopiedToSharedMemoryOrIntoTheRing) {
  for (const size_t size : {size_t{0}, size_t{100}, size_t{101}, size_t{5000}, size_t{3} << 20}) {
    const std::string bytes = Pattern(size, 7);
    std::atomic<int> alive{0};
    ASSERT_TRUE(a_->Send(MakeBulk(1, bytes, &alive), /*urgent=*/true).ok());
    EXPECT_EQ(alive, 0);
    std::string received;
    EXPECT_TRUE(*b_->Receive([&](Message m) {
      const Payload& payload = std::get<BulkTensor>(m).payload;
      EXPECT_EQ(static_cast<bool>(payload.owner), size > options_.inline_bytes);
      received.resize(payload.size());
      payload.CopyTo(received.data());
    }));
    EXPECT_TRUE(received == bytes) << size;
  }
}

TEST_F(LocalLaneTest, MessagesLargerThanTheRingArrive) {
  const std::string graph = Pattern(1 << 20, 3);
  ASSERT_TRUE(a_->Send(Reply{1, OkStatus(), graph}, /*urgent=*/true).ok());
  ASSERT_TRUE(a_->Send(Heartbeat{}, /*urgent=*/true).ok());
  const std::vector<Message> got = Receive(*b_, *a_);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_TRUE(std::get<Reply>(got[0]).body == graph);
}

TEST_F(LocalLaneTest, WithoutSharedMemoryLeftATensorComesInParts) {
  // The allocator keeps freed blocks for blocks of the same size, despite its limit. No other test uses this size.
  const std::string bytes = Pattern(9 << 20, 5);
  const BulkTensor bulk = MakeBulk(1, bytes);
  SetAllocatorLimit(1);
  Payload payload = bulk.payload;
  EXPECT_FALSE(a_->Share(&payload));
  ASSERT_TRUE(a_->Send(bulk, /*urgent=*/true).ok());
  SetAllocatorLimit(int64_t{1} << 40);
  std::string received;
  for (bool any = true; any;) {
    any = *b_->Receive([&](Message m) {
      const auto& part = std::get<BulkTensor>(m);
      EXPECT_EQ(part.offset, received.size());
      received.resize(received.size() + part.payload.size());
      part.payload.CopyTo(received.data() + part.offset);
    });
    any |= *a_->Receive([](Message) {});
  }
  EXPECT_TRUE(received == bytes);
}

// The link is down, but b still uses a tensor that a has lent to it, for example in a queue.
TEST_F(LocalLaneTest, ALoanOutlivesTheLinkUntilTheNeighbourDropsIt) {
  RefPtr<Buffer> buffer;
  ASSERT_TRUE(a_->Send(Lendable(8000, &buffer), /*urgent=*/true).ok());
  std::vector<Message> got = Receive(*b_, *a_);
  a_->End();
  b_->End();
  a_.reset();
  b_.reset();
  EXPECT_FALSE(buffer->IsUnique());
  EXPECT_EQ(std::get<BulkTensor>(got[0]).payload.pieces[0][0], std::byte{'x'});
  got.clear();  // b drops the tensor, and closes its end of the socket
  const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
  while (!buffer->IsUnique() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_TRUE(buffer->IsUnique());
}

TEST_F(LocalLaneTest, AFrameOfAnUnknownKindIsRefused) {
  EXPECT_THAT(std::string(Inject(Frame(77, 0, 0)).message()), HasSubstr("unknown kind"));
}

TEST_F(LocalLaneTest, GivingBackWhatWasNotLentIsRefused) {
  EXPECT_THAT(std::string(Inject(Frame(3, 0, 1)).message()), HasSubstr("was not lent"));
}

TEST_F(LocalLaneTest, ALoanOfAnUnknownSegmentIsRefused) {
  EXPECT_THAT(std::string(Inject(Frame(2, 0, 100, Words({1, 1, 77, 0, 100}))).message()), HasSubstr("unknown segment"));
}

TEST_F(LocalLaneTest, ALoanWithAnImpossibleNumberOfPiecesIsRefused) {
  EXPECT_THAT(std::string(Inject(Frame(2, 0, 100, Words({1, 0}))).message()), HasSubstr("a payload of 0 pieces"));
}

TEST_F(LocalLaneTest, ALoanOfTooManyPiecesIsRefused) {
  EXPECT_THAT(std::string(Inject(Frame(2, 0, 100, Words({1, uint64_t{1} << 60}))).message()), HasSubstr("pieces"));
}

TEST_F(LocalLaneTest, ASegmentWithoutItsDescriptorIsRefused) { EXPECT_FALSE(Inject(Frame(4, 0, 1)).ok()); }

struct Range {
  uint64_t offset, bytes;
};
class LoanBeyondItsSegmentTest : public LocalLaneTest, public ::testing::WithParamInterface<Range> {};

TEST_P(LoanBeyondItsSegmentTest, TheLoanIsRefused) {
  RefPtr<Buffer> buffer;
  ASSERT_TRUE(a_->Send(Lendable(2 << 20, &buffer), /*urgent=*/true).ok());
  std::vector<Message> got = Receive(*b_, *a_);
  const uint64_t segment = SharedPlaceOf(*buffer, buffer->data()).segment->id();
  const std::string frame = Frame(2, 0, GetParam().bytes, Words({9, 1, segment, GetParam().offset, GetParam().bytes}));
  // Writes the frame behind the bytes that a_ has written, and then increases the counter of written bytes, with which
  // the memory of the ring begins.
  uint64_t written;
  std::memcpy(&written, rings_->data(), sizeof written);
  std::byte* const ring = rings_->data() + (Ring::MemoryFor(options_.ring_bytes) - options_.ring_bytes);
  for (size_t i = 0; i < frame.size(); ++i) ring[(written + i) % options_.ring_bytes] = std::byte(frame[i]);
  written += frame.size();
  std::memcpy(rings_->data(), &written, sizeof written);
  const Status s = b_->Receive([](Message) {}).status();
  EXPECT_THAT(std::string(s.message()), HasSubstr("of a segment of"));
}

INSTANTIATE_TEST_SUITE_P(, LoanBeyondItsSegmentTest,
                         ::testing::Values(Range{3 << 20, 1}, Range{0, 1 << 30}, Range{~uint64_t{0}, 2}));

TEST_F(LocalLaneTest, AnImpossiblyLargeHeaderIsRefused) {
  EXPECT_THAT(std::string(Inject(Frame(1, ~uint32_t{0}, 0)).message()), HasSubstr("with a header of"));
}

TEST_F(LocalLaneTest, AnImpossiblyLargePayloadIsRefused) {
  EXPECT_THAT(std::string(Inject(Frame(1, 5, uint64_t{1} << 40)).message()), HasSubstr("a payload of"));
}

// --- LocalKind.

TEST(LocalKindTest, ATaskWithoutLocalLanesIsReachedByTheBaseTransport) {
  const auto network = std::make_shared<InprocNetwork>();
  Recorder a_handler("a"), b_handler("b");
  const auto a = NewSideLaneTransport(NewInprocTransport(network), {NewLocalKind()}), b = NewInprocTransport(network);
  ASSERT_TRUE(a->Listen("localhost:0", &a_handler).ok());
  const int port = b->Listen("localhost:0", &b_handler).value();
  const auto link = ConnectAndWait(*a, StrCat("localhost:", port), HelloFrom("a")).value();
  EXPECT_FALSE(link->shares_memory());
  Payload payload = PayloadFrom(std::string(100000, 'x'));
  EXPECT_FALSE(link->Share(&payload));
  link->Send(MakeEager(1, "hello"));
  EXPECT_EQ(b_handler.WaitForControl(1).at(0).bytes, "hello");
  b_handler.WaitForLink()->Send(MakeBulk(1, Pattern(1 << 20, 1)));
  EXPECT_TRUE(a_handler.WaitForBulk(1).at(0) == Pattern(1 << 20, 1));
}

// Passes everything on to the base transport, but leads neighbours to a socket that does not exist, as a task in
// another container would.
class UnreachableSocket final : public Transport, private LinkAcceptor {
 public:
  explicit UnreachableSocket(std::unique_ptr<Transport> base) : base_(std::move(base)) {}
  ~UnreachableSocket() override { Shutdown(); }
  StatusOr<int> Listen(const std::string& address, LinkAcceptor* acceptor) override {
    acceptor_ = acceptor;
    return base_->Listen(address, this);
  }
  void Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
               ConnectDone done) override {
    base_->Connect(address, hello, timeout, std::move(done));
  }
  void Shutdown() override { base_->Shutdown(); }

 private:
  Status OnHello(const Hello& from, Hello* answer) override {
    TF_RETURN_IF_ERROR(acceptor_->OnHello(from, answer));
    EXPECT_EQ(answer->lanes.at(0).kind, "local");
    answer->lanes[0].word = "tensorbraid/elsewhere 7";
    return OkStatus();
  }
  std::shared_ptr<LinkHandler> OnLinkUp(const std::shared_ptr<Link>& link) override {
    return acceptor_->OnLinkUp(link);
  }

  const std::unique_ptr<Transport> base_;
  LinkAcceptor* acceptor_ = nullptr;
};

TEST(LocalKindTest, NeighboursThatCannotReachEachOthersSocketUseTheBaseTransport) {
  const auto network = std::make_shared<InprocNetwork>();
  Recorder a_handler("a"), b_handler("b");
  b_handler.on_up = [](const std::shared_ptr<Link>& link) { link->Send(MakeBulk(5, "early")); };
  const auto a = NewSideLaneTransport(NewInprocTransport(network), {NewLocalKind()});
  const auto b =
      NewSideLaneTransport(std::make_unique<UnreachableSocket>(NewInprocTransport(network)), {NewLocalKind()});
  ASSERT_TRUE(a->Listen("localhost:0", &a_handler).ok());
  const int port = b->Listen("localhost:0", &b_handler).value();
  const auto link = ConnectAndWait(*a, StrCat("localhost:", port), HelloFrom("a")).value();
  EXPECT_FALSE(link->shares_memory());
  EXPECT_EQ(a_handler.WaitForBulk(1).at(0), "early");
  link->Send(MakeEager(1, "hello"));
  EXPECT_EQ(b_handler.WaitForControl(1).at(0).bytes, "hello");
  a->Shutdown();
  EXPECT_FALSE(b_handler.WaitForDown().ok());
}

TEST(LocalKindTest, AnAnswerToAnOfferThatWasNeverMadeIsRefused) {
  const auto network = std::make_shared<InprocNetwork>();
  Recorder a_handler("a"), b_handler("b");
  const auto a = NewInprocTransport(network);
  const auto b = NewSideLaneTransport(NewInprocTransport(network), {NewLocalKind()});
  ASSERT_TRUE(a->Listen("localhost:0", &a_handler).ok());
  const int port = b->Listen("localhost:0", &b_handler).value();
  Hello hello = HelloFrom("a");
  hello.lanes = {{.kind = "local", .word = "tensorbraid/elsewhere 7", .is_answer = true}};
  EXPECT_TRUE(absl::IsInvalidArgument(ConnectAndWait(*a, StrCat("localhost:", port), hello).status()));
  EXPECT_EQ(b_handler.ups(), 0u);
}

// A task without side lanes closes a link over which it receives a message about a side lane.
TEST(LocalKindTest, AMessageAboutALaneThatWasNotOfferedClosesTheLink) {
  const auto network = std::make_shared<InprocNetwork>();
  Recorder a_handler("a"), b_handler("b");
  const auto a = NewInprocTransport(network), b = NewInprocTransport(network);
  ASSERT_TRUE(a->Listen("localhost:0", &a_handler).ok());
  const int port = b->Listen("localhost:0", &b_handler).value();
  const auto link = ConnectAndWait(*a, StrCat("localhost:", port), HelloFrom("a")).value();
  link->SendLaneMessage({.kind = LaneMessage::Kind::kReady});
  EXPECT_THAT(std::string(b_handler.WaitForDown().message()), HasSubstr("was not offered"));
  EXPECT_FALSE(a_handler.WaitForDown().ok());
}

TEST(LaneSocketTest, ADescriptorIsPassedToANeighbour) {
  std::string name;
  const Fd listening = ListenForNeighbours(&name).value();
  const Fd from = ConnectToNeighbour(name).value();
  const Fd to = AcceptNeighbour(listening).value();
  const auto segment = SharedSegment::Create(4096, SharedSegment::Others::kMayRead).value();
  ASSERT_TRUE(SendFd(from, {.a = 1, .b = 2, .c = 3}, segment->fd()).ok());
  FdMessage message;
  Fd fd = ReceiveFd(to, std::chrono::seconds(10), &message).value();
  EXPECT_EQ(message.c, 3u);
  EXPECT_TRUE(SharedSegment::Map(std::move(fd), 4096, SharedSegment::Others::kMayRead).ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(ReceiveFd(to, std::chrono::milliseconds(1), &message).status()));
  EXPECT_FALSE(ConnectToNeighbour("tensorbraid/nobody").ok());
}

TEST(LaneSocketTest, TasksOfOtherUsersAreNoNeighbours) {
  EXPECT_TRUE(IsOtherUser("machine/1", "machine/2"));
  EXPECT_FALSE(IsOtherUser("machine/1", "machine/1"));
  EXPECT_FALSE(IsOtherUser("machine/1", "other/2"));
  EXPECT_FALSE(IsOtherUser("machine/1", ""));
  EXPECT_FALSE(IsOtherUser("", "machine/2"));
}

TEST(LaneSocketTest, TheMachineHasAnIdentity) {
  EXPECT_NE(MachineAndUser(), "");
  EXPECT_EQ(MachineAndUser(), MachineAndUser());
}

}  // namespace
}  // namespace tensorbraid
