#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "executor/evaluate.h"
#include "runtime/queue_resource.h"
#include "tensorbraid/array_ops.h"
#include "tensorbraid/data_flow_ops.h"

namespace tensorbraid {
namespace {

using Tuple = QueueResource::Tuple;
using ::testing::HasSubstr;

RefPtr<QueueResource> MakeQueue(int64_t capacity, std::vector<Shape> shapes = {Shape()}) {
  return MakeRef<QueueResource>("q", std::vector<DType>{kInt32}, std::move(shapes), capacity);
}

// The result of a call, empty while it waits.
struct Put {
  std::optional<Status> status;
  QueueResource::EnqueueDone done() {
    return [this](Status s) {
      EXPECT_FALSE(status.has_value()) << "called twice";
      status = std::move(s);
    };
  }
};
struct Got {
  std::optional<StatusOr<Tuple>> result;
  QueueResource::DequeueDone done() {
    return [this](StatusOr<Tuple> r) {
      EXPECT_FALSE(result.has_value()) << "called twice";
      result = std::move(r);
    };
  }
  int32_t value() const { return (**result)[0].scalar<int32_t>(); }
  absl::StatusCode code() const { return result->status().code(); }
};

Tuple One(int32_t v) { return {Tensor::Scalar(v)}; }

TEST(QueueTest, ElementsComeOutInTheOrderTheyWentIn) {
  auto q = MakeQueue(-1);
  for (int i = 0; i < 5; ++i) {
    Put put;
    q->Enqueue(One(i), nullptr, put.done());
    ASSERT_TRUE(put.status->ok());
  }
  EXPECT_EQ(q->size(), 5);
  for (int i = 0; i < 5; ++i) {
    Got got;
    q->Dequeue(nullptr, got.done());
    EXPECT_EQ(got.value(), i);
  }
}

TEST(QueueTest, ADequeueWaitsForAnElementAndThoseWaitingAreServedInOrder) {
  auto q = MakeQueue(-1);
  Got first, second;
  q->Dequeue(nullptr, first.done());
  q->Dequeue(nullptr, second.done());
  EXPECT_FALSE(first.result.has_value());
  Put put;
  q->Enqueue(One(7), nullptr, put.done());
  EXPECT_EQ(first.value(), 7);
  EXPECT_FALSE(second.result.has_value());
  q->Close(false);
  EXPECT_EQ(second.code(), absl::StatusCode::kOutOfRange);
}

TEST(QueueTest, AnEnqueueWaitsForRoom) {
  auto q = MakeQueue(1);
  Put first, second;
  q->Enqueue(One(1), nullptr, first.done());
  q->Enqueue(One(2), nullptr, second.done());
  EXPECT_TRUE(first.status->ok());
  EXPECT_FALSE(second.status.has_value());
  Got got;
  q->Dequeue(nullptr, got.done());
  EXPECT_EQ(got.value(), 1);
  EXPECT_TRUE(second.status->ok());
  EXPECT_EQ(q->size(), 1);
}

TEST(QueueTest, ClosingLetsWaitingEnqueuesInAndRefusesNewOnes) {
  auto q = MakeQueue(1);
  Put in, waiting, late;
  q->Enqueue(One(1), nullptr, in.done());
  q->Enqueue(One(2), nullptr, waiting.done());
  q->Close(false);
  EXPECT_TRUE(q->is_closed());
  EXPECT_FALSE(waiting.status.has_value());
  q->Enqueue(One(3), nullptr, late.done());
  EXPECT_EQ(late.status->code(), absl::StatusCode::kCancelled);
  Got a, b, c;
  q->Dequeue(nullptr, a.done());
  q->Dequeue(nullptr, b.done());
  q->Dequeue(nullptr, c.done());
  EXPECT_EQ(a.value(), 1);
  EXPECT_EQ(b.value(), 2);
  EXPECT_TRUE(waiting.status->ok());
  EXPECT_EQ(c.code(), absl::StatusCode::kOutOfRange);
}

TEST(QueueTest, ClosingCanCancelWaitingEnqueues) {
  auto q = MakeQueue(1);
  Put in, waiting;
  q->Enqueue(One(1), nullptr, in.done());
  q->Enqueue(One(2), nullptr, waiting.done());
  q->Close(true);
  EXPECT_EQ(waiting.status->code(), absl::StatusCode::kCancelled);
  Got a, b;
  q->Dequeue(nullptr, a.done());
  q->Dequeue(nullptr, b.done());
  EXPECT_EQ(a.value(), 1);
  EXPECT_EQ(b.code(), absl::StatusCode::kOutOfRange);
}

TEST(QueueTest, ACancelledDequeueLosesNoElement) {
  auto q = MakeQueue(-1);
  CancellationManager step, other;
  Got cancelled, waiting;
  q->Dequeue(&step, cancelled.done());
  q->Dequeue(&other, waiting.done());
  step.Cancel(absl::CancelledError("the client went away"));
  EXPECT_EQ(cancelled.code(), absl::StatusCode::kCancelled);
  Put put;
  q->Enqueue(One(7), nullptr, put.done());
  EXPECT_EQ(waiting.value(), 7);
}

TEST(QueueTest, ACancelledEnqueueIsNotInTheQueue) {
  auto q = MakeQueue(1);
  CancellationManager step;
  Put in, cancelled, next;
  q->Enqueue(One(1), nullptr, in.done());
  q->Enqueue(One(2), &step, cancelled.done());
  q->Enqueue(One(3), nullptr, next.done());
  step.Cancel(absl::CancelledError("stop"));
  EXPECT_EQ(cancelled.status->code(), absl::StatusCode::kCancelled);
  Got a, b;
  q->Dequeue(nullptr, a.done());
  q->Dequeue(nullptr, b.done());
  EXPECT_EQ(b.value(), 3);
}

TEST(QueueTest, OneCancellationEndsSeveralThatWait) {
  // Serving the second from the cancellation of the first must not wait for that cancellation.
  auto q = MakeQueue(-1, {Shape()});
  CancellationManager step;
  Got many, one;
  Put put;
  q->Enqueue(One(1), nullptr, put.done());
  q->DequeueMany(2, false, &step, many.done());
  q->Dequeue(&step, one.done());
  step.Cancel(absl::CancelledError("stop"));
  EXPECT_EQ(many.code(), absl::StatusCode::kCancelled);
  ASSERT_TRUE(one.result.has_value());
}

TEST(QueueTest, AStepThatIsCancelledAlreadyDoesNotWait) {
  auto q = MakeQueue(-1);
  CancellationManager step;
  step.Cancel(absl::CancelledError("stop"));
  Got got;
  q->Dequeue(&step, got.done());
  EXPECT_EQ(got.code(), absl::StatusCode::kCancelled);
}

TEST(QueueTest, ManyAreTakenAtOnceOrNone) {
  auto q = MakeQueue(-1, {Shape({2})});
  Put put;
  q->EnqueueMany({Tensor::Of<int32_t>({2, 2}, {1, 2, 3, 4})}, nullptr, put.done());
  EXPECT_TRUE(put.status->ok());
  Got three;
  q->DequeueMany(3, false, nullptr, three.done());
  EXPECT_FALSE(three.result.has_value());
  EXPECT_EQ(q->size(), 2);
  Put more;
  q->Enqueue({Tensor::Vector<int32_t>({5, 6})}, nullptr, more.done());
  const Tensor stacked = (**three.result)[0];
  EXPECT_EQ(stacked.shape(), Shape({3, 2}));
  EXPECT_EQ(stacked.data<int32_t>()[5], 6);
}

TEST(QueueTest, UpToTakesWhatIsLeftOfAClosedQueue) {
  auto q = MakeQueue(-1);
  Put put;
  q->Enqueue(One(1), nullptr, put.done());
  q->Close(false);
  Got many, up_to;
  q->DequeueMany(2, false, nullptr, many.done());
  EXPECT_EQ(many.code(), absl::StatusCode::kOutOfRange);
  q->DequeueMany(2, true, nullptr, up_to.done());
  EXPECT_EQ((**up_to.result)[0].shape(), Shape({1}));
}

TEST(QueueTest, WrongElementsAreRefused) {
  auto q = MakeQueue(-1);
  Put shape, type;
  q->Enqueue({Tensor::Vector<int32_t>({1})}, nullptr, shape.done());
  q->Enqueue({Tensor::Scalar(1.0F)}, nullptr, type.done());
  EXPECT_EQ(shape.status->code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(type.status->code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(q->size(), 0);
}

TEST(QueueTest, ManyThreadsLoseNothing) {
  auto q = MakeQueue(3);
  constexpr int kThreads = 4;
  constexpr int kEach = 500;
  std::atomic<int64_t> sum{0};
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        q->Enqueue(One(t * kEach + i), nullptr, [](Status s) { EXPECT_TRUE(s.ok()); });
        q->Dequeue(nullptr, [&](StatusOr<Tuple> r) {
          sum += (*r)[0].scalar<int32_t>();
          ++taken;
        });
      }
    });
  }
  for (auto& t : threads) t.join();
  constexpr int64_t kAll = kThreads * kEach;
  EXPECT_EQ(taken, kAll);
  EXPECT_EQ(sum, kAll * (kAll - 1) / 2);
}

TEST(QueueTest, WorksAsOpsOfAGraph) {
  Graph g;
  FIFOQueue queue(g, {kInt64, kString}, {.shapes = {Shape(), Shape()}, .name = "tokens"});
  const Operation enqueue =
      queue.EnqueueMany({Tensor::Vector<int64_t>({1, 2}), Tensor::Vector<std::string>({"a", "b"})});
  const auto dequeued = queue.Dequeue();
  const Output size = queue.Size();
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(queue.name(), "tokens");
  EXPECT_EQ(enqueue.name(), "tokens_EnqueueMany");
  EXPECT_EQ(dequeued[1].shape(), Shape());
  ResourceManager resources;
  ASSERT_TRUE(Evaluate({}, {}, {.targets = {enqueue}, .resources = &resources}).ok());
  auto got = Evaluate({dequeued[0], dequeued[1]}, {}, {.resources = &resources});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)[0].scalar<int64_t>(), 1);
  EXPECT_EQ((*got)[1].scalar<std::string>(), "a");
  EXPECT_EQ((*Evaluate({size}, {}, {.resources = &resources}))[0].scalar<int32_t>(), 1);
  ASSERT_TRUE(Evaluate({}, {}, {.targets = {queue.Close()}, .resources = &resources}).ok());
  EXPECT_EQ(Evaluate({}, {}, {.targets = {enqueue}, .resources = &resources}).status().code(),
            absl::StatusCode::kCancelled);
}

TEST(QueueTest, WorksByReferenceToo) {
  Graph g;
  const Output queue = NodeBuilder(g, "FIFOQueue").Attr("component_types", std::vector<DType>{kInt32}).Output();
  const Operation enqueue =
      NodeBuilder(g, "QueueEnqueue").Input(queue).InputList({Const(g, Tensor::Scalar<int32_t>(5))}).Finish();
  const Output dequeue =
      NodeBuilder(g, "QueueDequeue").Input(queue).Attr("component_types", std::vector<DType>{kInt32}).Output();
  ResourceManager resources;
  ASSERT_TRUE(g.status().ok()) << g.status();
  const Status put = Evaluate({}, {}, {.targets = {enqueue}, .resources = &resources}).status();
  ASSERT_TRUE(put.ok()) << put;
  EXPECT_EQ((*Evaluate({dequeue}, {}, {.resources = &resources}))[0].scalar<int32_t>(), 5);
  const Tensor handle = (*Evaluate({queue}, {}, {.resources = &resources}))[0];
  EXPECT_EQ(handle.ToString(), Tensor::Vector<std::string>({"localhost", "FIFOQueue"}).ToString());
}

}  // namespace
}  // namespace tensorbraid
