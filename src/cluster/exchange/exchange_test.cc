#include "cluster/exchange/exchange.h"

#include <gtest/gtest.h>

#include "cluster/exchange/tensor_codec.h"
#include "core/strings.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;

// A link that stores the messages sent on it, so that the test can deliver them in any order.
class PipeLink final : public Link {
 public:
  explicit PipeLink(const std::string& peer) { hello_.task = peer; }
  const Hello& peer() const override { return hello_; }
  void Send(Message message) override { sent.push_back(std::move(message)); }
  void Close(Status) override {}
  std::vector<Message> sent;

 private:
  Hello hello_;
};

template <typename M>
int Count(const PipeLink& link) {
  int n = 0;
  for (const Message& m : link.sent) n += std::holds_alternative<M>(m);
  return n;
}

class ExchangeTest : public testing::Test {
 protected:
  static constexpr StepId kStep{7, 1};
  Exchange producer_{{.eager_limit = 64, .eager_budget = 128},
                     [this](const std::string&, auto done) { done(std::shared_ptr<Link>(to_consumer_)); }};
  Exchange consumer_{{.eager_limit = 64, .eager_budget = 128},
                     [this](const std::string&, auto done) { done(std::shared_ptr<Link>(to_producer_)); }};
  std::shared_ptr<PipeLink> to_consumer_ = std::make_shared<PipeLink>("consumer");
  std::shared_ptr<PipeLink> to_producer_ = std::make_shared<PipeLink>("producer");

  // Delivers everything until nothing is left to deliver.
  void Deliver() {
    while (!to_consumer_->sent.empty() || !to_producer_->sent.empty()) {
      for (Message& m : std::exchange(to_consumer_->sent, {})) consumer_.OnMessage(to_producer_, m);
      for (Message& m : std::exchange(to_producer_->sent, {})) producer_.OnMessage(to_consumer_, m);
    }
  }
  static Tensor Floats(int n, float value) { return Tensor::Of<float>({n}, std::vector<float>(n, value)); }
};

TEST_F(ExchangeTest, AKernelThatFailsEndsTheWaitForOtherTasks) {
  const auto step = consumer_.Begin(kStep);
  Status got;
  step->Recv({.number = 3, .peer = "producer"}, {}, [&](const StatusOr<Tensor>& t) { got = t.status(); });
  step->cancellation().Cancel(Internal("a kernel failed"));
  EXPECT_EQ(got.code(), StatusCode::kInternal) << got;
  EXPECT_EQ(step->status().code(), StatusCode::kInternal);
}

TEST_F(ExchangeTest, ASmallTensorIsPushedAndKeptUntilItsRecv) {
  producer_.Begin(kStep)->Send({.number = 3, .peer = "consumer"}, {}, Floats(4, 1.5f));
  EXPECT_EQ(Count<EagerTensor>(*to_consumer_), 1);
  Deliver();  // the consumer does not know the step yet
  Tensor got;
  consumer_.Begin(kStep)->Recv({.number = 3, .peer = "producer"}, {}, [&](StatusOr<Tensor> t) { got = *t; });
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
  producer_.Begin(kStep)->Send({.number = 0, .peer = "consumer"}, {}, Floats(1000, 1));
  Deliver();
  EXPECT_EQ(Count<BulkTensor>(*to_consumer_), 0);
  consumer_.Begin(kStep)->Recv({.number = 0, .peer = "producer"}, {}, recv);
  Deliver();
  EXPECT_EQ(arrived, 1);
  // Granted first, because the size is known: no announcement is needed.
  consumer_.Begin(kStep)->Recv({.number = 1, .peer = "producer", .bytes_hint = 4000}, {}, recv);
  Deliver();
  producer_.Begin(kStep)->Send({.number = 1, .peer = "consumer"}, {}, Floats(1000, 2));
  EXPECT_EQ(Count<AnnounceTensor>(*to_consumer_), 0);
  EXPECT_EQ(Count<BulkTensor>(*to_consumer_), 1);
  Deliver();
  EXPECT_EQ(arrived, 2);
}

TEST_F(ExchangeTest, BeyondTheEagerBudgetSmallTensorsAreAnnouncedAndCreditComesBack) {
  auto step = producer_.Begin(kStep);
  for (uint32_t i = 0; i < 4; ++i) step->Send({.number = i, .peer = "consumer"}, {}, Floats(16, 1));  // 64 bytes each
  EXPECT_EQ(Count<EagerTensor>(*to_consumer_), 2);
  EXPECT_EQ(Count<AnnounceTensor>(*to_consumer_), 2);
  Deliver();
  int arrived = 0;
  auto consumer = consumer_.Begin(kStep);
  for (uint32_t i = 0; i < 4; ++i) {
    consumer->Recv({.number = i, .peer = "producer"}, {}, [&](StatusOr<Tensor> t) { arrived += t.ok(); });
  }
  Deliver();
  EXPECT_EQ(arrived, 4);
  step->Send({.number = 9, .peer = "consumer"}, {}, Floats(16, 1));
  EXPECT_EQ(Count<EagerTensor>(*to_consumer_), 1);  // the budget is available again
}

TEST_F(ExchangeTest, ASecondRecvOfATensorIsRefusedAndTheFirstGoesOn) {
  Status first = Internal("not called"), second;
  auto step = consumer_.Begin(kStep);
  step->Recv({.number = 0, .peer = "producer"}, {}, [&](StatusOr<Tensor> t) { first = t.status(); });
  step->Recv({.number = 0, .peer = "producer"}, {}, [&](StatusOr<Tensor> t) { second = t.status(); });
  EXPECT_EQ(second.code(), StatusCode::kInvalidArgument);
  producer_.Begin(kStep)->Send({.number = 0, .peer = "consumer"}, {}, Floats(4, 1));
  Deliver();
  EXPECT_TRUE(first.ok()) << first;
}

TEST_F(ExchangeTest, TensorsAfterTheEndAreDroppedAndTheirCreditReturned) {
  auto step = producer_.Begin(kStep);
  consumer_.Begin(kStep);
  consumer_.End(kStep);
  step->Send({.number = 0, .peer = "consumer"}, {}, Floats(16, 1));
  step->Send({.number = 1, .peer = "consumer"}, {}, Floats(16, 1));
  Deliver();
  EXPECT_EQ(consumer_.Find(kStep), nullptr);
  auto next = producer_.Begin({7, 2});
  next->Send({.number = 0, .peer = "consumer"}, {}, Floats(16, 1));
  EXPECT_EQ(Count<EagerTensor>(*to_consumer_), 1);
}

TEST_F(ExchangeTest, ABrokenLinkFailsTheStepsThatUseItAndNoOthers) {
  Status failed, waiting;
  auto step = consumer_.Begin(kStep);
  step->Recv({.number = 0, .peer = "producer"}, {}, [&](StatusOr<Tensor> t) { failed = t.status(); });
  auto other = consumer_.Begin({7, 2});
  other->Recv({.number = 0, .peer = "another"}, {}, [&](StatusOr<Tensor> t) { waiting = t.status(); });
  consumer_.OnLinkDown(*to_producer_, Unavailable("producer is gone"));
  EXPECT_EQ(failed.code(), StatusCode::kUnavailable);
  EXPECT_TRUE(step->cancellation().IsCancelled());
  EXPECT_TRUE(waiting.ok());
  // A Recv from the lost peer that is posted later fails too, instead of waiting forever.
  other->Recv({.number = 1, .peer = "producer"}, {}, [&](StatusOr<Tensor> t) { waiting = t.status(); });
  EXPECT_EQ(waiting.code(), StatusCode::kUnavailable);
  consumer_.End({7, 2});
}

TEST_F(ExchangeTest, BulkBytesWithoutAGrantAreIgnored) {
  consumer_.Begin(kStep);
  BulkTensor bulk{.key = {.step = kStep, .edge = 5},
                  .meta = {.dtype = kFloat32, .shape = {int64_t{1} << 40}, .bytes = uint64_t{1} << 42},
                  .offset = 0,
                  .payload = {}};
  EXPECT_TRUE(consumer_.OnMessage(to_producer_, Message(bulk)));  // and allocates nothing
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

TEST_F(ExchangeTest, IterationsOfOneEdgeAreDifferentTensors) {
  auto producer = producer_.Begin(kStep);
  auto consumer = consumer_.Begin(kStep);
  for (const uint64_t i : {1, 0}) {
    producer->Send({.number = 0, .peer = "consumer"}, {.frame = 7, .iteration = i}, Floats(4, static_cast<float>(i)));
  }
  Deliver();
  for (const uint64_t i : {0, 1}) {
    float got = -1;
    consumer->Recv({.number = 0, .peer = "producer"}, {.frame = 7, .iteration = i},
                   [&](StatusOr<Tensor> t) { got = t->data<float>()[0]; });
    EXPECT_EQ(got, static_cast<float>(i));
  }
}

TEST_F(ExchangeTest, ADeadTensorArrivesDeadOnALargeEdge) {
  auto producer = producer_.Begin(kStep);
  auto consumer = consumer_.Begin(kStep);
  for (const bool recv_first : {true, false}) {
    const StepEdge to{.number = recv_first, .peer = "consumer", .bytes_hint = 1 << 20};
    const StepEdge from{.number = recv_first, .peer = "producer", .bytes_hint = 1 << 20};
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
