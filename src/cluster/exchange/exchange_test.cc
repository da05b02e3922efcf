// Tests how two tasks exchange the tensors of a step; exchange.h describes the protocol.
#include "cluster/exchange/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "cluster/exchange/tensor_codec.h"
#include "core/text/strings.h"
#include "core/values/joined_tensors.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;

// A link that stores the messages sent on it, so that the test can deliver them in any order.
class PipeLink final : public Link {
 public:
  PipeLink(const std::string& peer, uint64_t incarnation) {
    hello_.task = peer;
    hello_.incarnation = incarnation;
  }
  const Hello& peer() const override { return hello_; }
  void Send(Message message) override { sent.push_back(std::move(message)); }
  void Close(Status why) override { closed = std::move(why); }
  std::vector<Message> sent;
  Status closed;  // OK while it is open

 private:
  Hello hello_;
};

template <typename M>
int Count(const PipeLink& link) {
  int n = 0;
  for (const Message& m : link.sent) n += std::holds_alternative<M>(m);
  return n;
}

// Numbers tasks by their place in the list, and has one link for all of them.
class OneLink final : public PeerLinks {
 public:
  explicit OneLink(std::shared_ptr<PeerConnection> connection) : connection_(std::move(connection)) {}
  StatusOr<uint32_t> NumberOf(const std::string& task) override {
    const std::vector<std::string> tasks = {"consumer", "producer", "another"};
    return static_cast<uint32_t>(std::find(tasks.begin(), tasks.end(), task) - tasks.begin());
  }
  void GetConnection(uint32_t, ConnectionDone done) override { done(connection_); }

 private:
  const std::shared_ptr<PeerConnection> connection_;
};

std::shared_ptr<PeerConnection> ConnectionOf(const std::shared_ptr<PipeLink>& link) {
  return std::make_shared<PeerConnection>(link, std::make_shared<Traffic>());
}

constexpr uint32_t kConsumer = 0, kProducer = 1, kAnother = 2;

class ExchangeTest : public testing::Test {
 protected:
  static constexpr StepId kStep{7, 1};
  static constexpr ExchangeOptions kOptions{.eager_limit = 64, .eager_budget = 128};

  // The master of the steps is the producer.
  ExchangeTest() {
    producer_.OnLinkUp(to_consumer_->peer());
    consumer_.OnLinkUp(to_producer_->peer());
  }

  std::shared_ptr<PipeLink> to_consumer_ = std::make_shared<PipeLink>("consumer", 8);
  std::shared_ptr<PipeLink> to_producer_ = std::make_shared<PipeLink>("producer", kStep.master);
  std::shared_ptr<PeerConnection> consumer_peer_ = ConnectionOf(to_consumer_);
  std::shared_ptr<PeerConnection> producer_peer_ = ConnectionOf(to_producer_);
  OneLink consumer_link_{consumer_peer_}, producer_link_{producer_peer_};
  Exchange producer_{kOptions, kStep.master, &consumer_link_};
  Exchange consumer_{kOptions, 8, &producer_link_};

  // Delivers everything until nothing is left to deliver.
  void Deliver() {
    while (!to_consumer_->sent.empty() || !to_producer_->sent.empty()) {
      for (Message& m : std::exchange(to_consumer_->sent, {})) Deliver(consumer_, producer_peer_, m);
      for (Message& m : std::exchange(to_producer_->sent, {})) Deliver(producer_, consumer_peer_, m);
    }
  }
  static void Deliver(Exchange& to, const std::shared_ptr<PeerConnection>& from, const Message& message) {
    std::visit(
        [&](const auto& m) {
          if constexpr (requires { to.On(from, m); }) to.On(from, m);
        },
        message);
  }
  static Tensor Floats(int n, float value) { return Tensor::Of<float>({n}, std::vector<float>(n, value)); }
};

TEST_F(ExchangeTest, AKernelThatFailsEndsTheWaitForOtherTasks) {
  const auto step = consumer_.Begin(kStep);
  Status got;
  step->Recv({.number = 3, .peer = kProducer}, {}, [&](const StatusOr<Tensor>& t) { got = t.status(); });
  step->cancellation().Cancel(Internal("a kernel failed"));
  EXPECT_EQ(got.code(), StatusCode::kInternal) << got;
  EXPECT_EQ(step->status().code(), StatusCode::kInternal);
}

TEST_F(ExchangeTest, ASmallTensorIsPushedAndKeptUntilItsRecv) {
  producer_.Begin(kStep)->Send({.number = 3, .peer = kConsumer}, {}, Floats(4, 1.5f));
  EXPECT_EQ(Count<EagerTensor>(*to_consumer_), 1);
  Deliver();  // the consumer does not know the step yet
  Tensor got;
  consumer_.Begin(kStep)->Recv({.number = 3, .peer = kProducer}, {}, [&](StatusOr<Tensor> t) { got = *t; });
  EXPECT_EQ(got.ToString(), "float32[4] [1.5 1.5 1.5 1.5]");
}

TEST_F(ExchangeTest, ALargeTensorWaitsForItsGrantAndIsSentOnce) {
  int arrived = 0;
  auto recv = [&](StatusOr<Tensor> t) {
    ASSERT_TRUE(t.ok()) << t.status();
    EXPECT_EQ(t->num_elements(), 1000);
    ++arrived;
  };
  // Announced first: nothing is sent before the Recv is posted.
  producer_.Begin(kStep)->Send({.number = 0, .peer = kConsumer}, {}, Floats(1000, 1));
  Deliver();
  EXPECT_EQ(Count<BulkTensor>(*to_consumer_), 0);
  consumer_.Begin(kStep)->Recv({.number = 0, .peer = kProducer}, {}, recv);
  Deliver();
  EXPECT_EQ(arrived, 1);
  // Granted first, because the size is known: no announcement is needed.
  consumer_.Begin(kStep)->Recv({.number = 1, .peer = kProducer, .bytes_hint = 4000}, {}, recv);
  Deliver();
  producer_.Begin(kStep)->Send({.number = 1, .peer = kConsumer}, {}, Floats(1000, 2));
  EXPECT_EQ(Count<AnnounceTensor>(*to_consumer_), 0);
  EXPECT_EQ(Count<BulkTensor>(*to_consumer_), 1);
  Deliver();
  EXPECT_EQ(arrived, 2);
}

TEST_F(ExchangeTest, ATensorThatWaitsForItsGrantIsEncodedOnce) {
  // The tensor changes after Send, which never happens elsewhere, so that a second encoding would be seen.
  Tensor words = Tensor::Of<std::string>({2}, {std::string(1000, 'a'), "b"});
  producer_.Begin(kStep)->Send({.number = 0, .peer = kConsumer}, {}, words);
  words.inplace_data<std::string>()[1] = "changed";
  Deliver();
  Tensor got;
  consumer_.Begin(kStep)->Recv({.number = 0, .peer = kProducer}, {}, [&](StatusOr<Tensor> t) { got = *t; });
  Deliver();
  ASSERT_EQ(got.num_elements(), 2);
  EXPECT_EQ(got.data<std::string>()[1], "b");
}

TEST_F(ExchangeTest, BeyondTheEagerBudgetSmallTensorsAreAnnouncedAndCreditComesBack) {
  auto step = producer_.Begin(kStep);
  // Each tensor has 64 bytes. The budget is 128 bytes.
  for (uint32_t i = 0; i < 4; ++i) step->Send({.number = i, .peer = kConsumer}, {}, Floats(16, 1));
  EXPECT_EQ(Count<EagerTensor>(*to_consumer_), 2);
  EXPECT_EQ(Count<AnnounceTensor>(*to_consumer_), 2);
  Deliver();
  int arrived = 0;
  auto consumer = consumer_.Begin(kStep);
  for (uint32_t i = 0; i < 4; ++i) {
    consumer->Recv({.number = i, .peer = kProducer}, {}, [&](StatusOr<Tensor> t) { arrived += t.ok(); });
  }
  Deliver();
  EXPECT_EQ(arrived, 4);
  step->Send({.number = 9, .peer = kConsumer}, {}, Floats(16, 1));
  EXPECT_EQ(Count<EagerTensor>(*to_consumer_), 1);  // the budget is available again
}

TEST_F(ExchangeTest, ASecondRecvOfATensorIsRefusedAndTheFirstGoesOn) {
  Status first = Internal("not called"), second;
  auto step = consumer_.Begin(kStep);
  step->Recv({.number = 0, .peer = kProducer}, {}, [&](StatusOr<Tensor> t) { first = t.status(); });
  step->Recv({.number = 0, .peer = kProducer}, {}, [&](StatusOr<Tensor> t) { second = t.status(); });
  EXPECT_EQ(second.code(), StatusCode::kInvalidArgument);
  producer_.Begin(kStep)->Send({.number = 0, .peer = kConsumer}, {}, Floats(4, 1));
  Deliver();
  EXPECT_TRUE(first.ok()) << first;
}

TEST_F(ExchangeTest, TensorsAfterTheEndAreDroppedAndTheirCreditReturned) {
  auto step = producer_.Begin(kStep);
  consumer_.Begin(kStep);
  consumer_.End(kStep);
  step->Send({.number = 0, .peer = kConsumer}, {}, Floats(16, 1));
  step->Send({.number = 1, .peer = kConsumer}, {}, Floats(16, 1));
  Deliver();
  EXPECT_EQ(consumer_.Find(kStep), nullptr);
  auto next = producer_.Begin({7, 2});
  next->Send({.number = 0, .peer = kConsumer}, {}, Floats(16, 1));
  EXPECT_EQ(Count<EagerTensor>(*to_consumer_), 1);
}

TEST_F(ExchangeTest, ABrokenLinkFailsTheStepsThatUseItAndNoOthers) {
  Status failed, waiting;
  auto step = consumer_.Begin(kStep);
  step->Recv({.number = 0, .peer = kProducer}, {}, [&](StatusOr<Tensor> t) { failed = t.status(); });
  auto other = consumer_.Begin({7, 2});
  other->Recv({.number = 0, .peer = kAnother}, {}, [&](StatusOr<Tensor> t) { waiting = t.status(); });
  consumer_.OnLinkDown(to_producer_->peer(), Unavailable("producer is gone"));
  EXPECT_EQ(failed.code(), StatusCode::kUnavailable);
  EXPECT_TRUE(step->cancellation().IsCancelled());
  EXPECT_TRUE(waiting.ok());
  // A Recv from the lost peer that is posted later fails too, instead of waiting forever.
  other->Recv({.number = 1, .peer = kProducer}, {}, [&](StatusOr<Tensor> t) { waiting = t.status(); });
  EXPECT_EQ(waiting.code(), StatusCode::kUnavailable);
  consumer_.End({7, 2});
}

TEST_F(ExchangeTest, BulkBytesWithoutAGrantAreIgnored) {
  consumer_.Begin(kStep);
  BulkTensor bulk{.key = {.step = kStep, .edge = 5},
                  .meta = {.dtype = kFloat32, .shape = {int64_t{1} << 40}, .bytes = uint64_t{1} << 42},
                  .offset = 0,
                  .payload = {}};
  consumer_.On(producer_peer_, bulk);  // allocates nothing
}

TEST_F(ExchangeTest, TensorsOfAMasterThatIsNotConnectedMakeNoStep) {
  const auto eager = [](uint64_t master) {
    EagerTensor m{.key = {.step = {master, 1}, .edge = 0}, .meta = {}, .payload = {}};
    EXPECT_TRUE(EncodeTensor(Tensor::Scalar(1.0f), &m.meta, &m.payload).ok());
    return m;
  };
  consumer_.On(producer_peer_, eager(99));
  consumer_.On(producer_peer_, GrantTensor{.key = {.step = {99, 1}}});
  consumer_.On(producer_peer_, AnnounceTensor{.key = {.step = {99, 1}}, .meta = {}});
  EXPECT_EQ(consumer_.num_steps(), 0u);
  consumer_.On(producer_peer_, eager(kStep.master));
  EXPECT_EQ(consumer_.num_steps(), 1u);
  // Once the master has gone, late tensors make no step again.
  const auto other = std::make_shared<PipeLink>("another", 9);
  consumer_.OnLinkUp(other->peer());
  consumer_.OnLinkDown(to_producer_->peer(), Unavailable("producer is gone"));
  consumer_.EndAllOf(kStep.master, Unavailable("producer is gone"));
  auto late = eager(kStep.master);
  late.key.step.counter = 2;
  consumer_.On(ConnectionOf(other), late);
  EXPECT_EQ(consumer_.num_steps(), 0u);
}

TEST_F(ExchangeTest, APeerThatIgnoresItsEagerBudgetLosesItsLink) {
  const EagerTensor first{.key = {.step = kStep, .edge = 0},
                          .meta = {.dtype = kUint8, .shape = {1}, .bytes = Exchange::kMaxEagerBudget},
                          .payload = {}};
  EagerTensor second = first;
  second.key.edge = 1;
  second.meta.bytes = 1;
  consumer_.On(producer_peer_, first);
  EXPECT_TRUE(to_producer_->closed.ok()) << to_producer_->closed;
  consumer_.On(producer_peer_, second);
  EXPECT_EQ(to_producer_->closed.code(), StatusCode::kResourceExhausted);
}

TEST_F(ExchangeTest, TheNumberOfStepsThatNeverBeginIsBounded) {
  for (size_t i = 0; i <= Exchange::kMaxEarlySteps; ++i) {
    EXPECT_TRUE(to_producer_->closed.ok()) << i;
    consumer_.On(producer_peer_, GrantTensor{.key = {.step = {kStep.master, i}}});
  }
  EXPECT_EQ(to_producer_->closed.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(consumer_.num_steps(), Exchange::kMaxEarlySteps);
  // A step that has begun no longer counts.
  consumer_.Begin({kStep.master, 0});
  consumer_.On(producer_peer_, GrantTensor{.key = {.step = {kStep.master, Exchange::kMaxEarlySteps}}});
  EXPECT_EQ(consumer_.num_steps(), Exchange::kMaxEarlySteps + 1);
}

TEST_F(ExchangeTest, TheNumberOfEarlyTensorsOfAStepIsBounded) {
  const auto step = consumer_.Begin(kStep);
  for (uint32_t i = 0; i <= StepExchange::kMaxEarlyTensors; ++i) {
    ASSERT_TRUE(step->status().ok()) << i;
    consumer_.On(producer_peer_, GrantTensor{.key = {.step = kStep, .edge = i}});
  }
  EXPECT_EQ(step->status().code(), StatusCode::kResourceExhausted);
}

// The thread of the bulk channel copies a part while another thread ends the step. Sanitizers see a copy into freed
// memory.
TEST_F(ExchangeTest, AStepMayEndWhileAPartIsCopied) {
  constexpr int64_t kBytes = 16 << 20;
  const std::string bytes(kBytes, 'x');
  for (uint64_t i = 0; i < 20; ++i) {
    const StepId id{kStep.master, i};
    consumer_.Begin(id)->Recv({.number = 0, .peer = kProducer, .bytes_hint = kBytes}, {}, [](StatusOr<Tensor>) {});
    BulkTensor bulk{.key = {.step = id}, .meta = {.dtype = kUint8, .shape = {kBytes}, .bytes = kBytes}, .payload = {}};
    bulk.payload.pieces = {std::as_bytes(std::span(bytes))};
    std::atomic<bool> started = false;
    std::thread channel([&] {
      started = true;
      consumer_.On(producer_peer_, bulk);
    });
    while (!started) std::this_thread::yield();
    for (uint64_t spin = 0; spin < i; ++spin) std::this_thread::yield();
    consumer_.End(id);
    channel.join();
  }
  EXPECT_EQ(consumer_.num_steps(), 0u);
}

TEST(TensorCodecTest, MetadataThatDoesNotFitTheBytesIsRefused) {
  Payload payload;
  TensorMeta meta;
  ASSERT_TRUE(EncodeTensor(Tensor::Vector<std::string>({"ab", ""}), &meta, &payload).ok());
  EXPECT_EQ(DecodeTensor(meta, payload)->ToString(), "string[2] [\"ab\" \"\"]");
  TensorMeta more = meta;
  more.shape = Shape({100});
  EXPECT_FALSE(DecodeTensor(more, payload).ok());
  TensorMeta huge = meta;
  huge.shape = Shape({int64_t{1} << 40});
  EXPECT_FALSE(DecodeTensor(huge, payload).ok());
  EXPECT_FALSE(CheckMeta({.dtype = kFloat32, .shape = {3}, .bytes = 13}).ok());
  EXPECT_FALSE(CheckMeta({.dtype = DType::kResource, .shape = {}, .bytes = 8}).ok());
  EXPECT_FALSE(EncodeTensor(Tensor(DType::kResource, {}), &meta, &payload).ok());
}

TEST(TensorCodecTest, JoinedTensorsMayComeInPiecesOfAnySize) {
  const Tensor joined = MakeVariantTensor(MakeRef<JoinedTensors>(
      std::vector<Tensor>{Tensor::Vector<float>({1, 2, 3}), Tensor::Scalar(int64_t{4}), Tensor::Vector<float>({})}));
  TensorMeta meta;
  Payload payload;
  ASSERT_TRUE(EncodeTensor(joined, &meta, &payload).ok());
  EXPECT_EQ(meta.dtype, DType::kVariant);
  EXPECT_EQ(meta.bytes, payload.size());
  for (const size_t size : {size_t{1}, size_t{5}, size_t{8}, size_t{100}, payload.size()}) {
    Payload cut;  // without an owner, as a network delivers it
    for (size_t at = 0; at < payload.size(); at += size) {
      const Payload part = payload.Part(at, std::min(size, payload.size() - at));
      cut.pieces.insert(cut.pieces.end(), part.pieces.begin(), part.pieces.end());
    }
    const StatusOr<Tensor> decoded = DecodeTensor(meta, cut);
    ASSERT_TRUE(decoded.ok()) << decoded.status() << " in pieces of " << size;
    const StatusOr<JoinedTensors*> tensors = VariantAs<JoinedTensors>(*decoded);
    ASSERT_TRUE(tensors.ok()) << tensors.status();
    ASSERT_EQ((*tensors)->size(), 3u);
    EXPECT_EQ((*tensors)->Take(0)->data<float>()[2], 3.0f);
    EXPECT_EQ((*tensors)->Take(1)->scalar<int64_t>(), 4);
    EXPECT_EQ((*tensors)->Take(2)->shape(), Shape({0}));
  }
}

TEST_F(ExchangeTest, IterationsOfOneEdgeAreDifferentTensors) {
  auto producer = producer_.Begin(kStep);
  auto consumer = consumer_.Begin(kStep);
  for (const uint64_t i : {1, 0}) {
    producer->Send({.number = 0, .peer = kConsumer}, {.frame = 7, .iteration = i}, Floats(4, static_cast<float>(i)));
  }
  Deliver();
  for (const uint64_t i : {0, 1}) {
    float got = -1;
    consumer->Recv({.number = 0, .peer = kProducer}, {.frame = 7, .iteration = i},
                   [&](StatusOr<Tensor> t) { got = t->data<float>()[0]; });
    EXPECT_EQ(got, static_cast<float>(i));
  }
}

TEST_F(ExchangeTest, ADeadTensorArrivesDeadOnALargeEdge) {
  auto producer = producer_.Begin(kStep);
  auto consumer = consumer_.Begin(kStep);
  for (const bool recv_first : {true, false}) {
    const StepEdge to{.number = recv_first, .peer = kConsumer, .bytes_hint = 1 << 20};
    const StepEdge from{.number = recv_first, .peer = kProducer, .bytes_hint = 1 << 20};
    bool dead = false;
    const auto recv = [&] { consumer->Recv(from, {}, [&](StatusOr<Tensor> t) { dead = t.ok() && !t->is_valid(); }); };
    if (recv_first) recv();
    producer->Send(to, {}, Tensor());
    Deliver();
    if (!recv_first) recv();
    Deliver();
    EXPECT_TRUE(dead);
  }
}

}  // namespace
}  // namespace tensorbraid
