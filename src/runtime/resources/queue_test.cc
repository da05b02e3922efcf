#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "core/testing/memory_limit.h"
#include "executor/evaluate.h"
#include "runtime/resources/queue_resource.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/data_flow.h"

namespace tensorbraid {
namespace {

using Tuple = QueueResource::Tuple;
using ::testing::HasSubstr;

RefPtr<QueueResource> MakeQueue(int64_t capacity, std::vector<Shape> shapes = {Shape()}) {
  QueueOptions options;
  options.types = {kInt32};
  options.shapes = std::move(shapes);
  options.capacity = capacity;
  return MakeRef<QueueResource>("q", options);
}

// The results of an enqueue and a dequeue; empty while the call waits.
struct Put {
  std::optional<Status> status;
  QueueResource::Done done() {
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

void Close(QueueResource& q, bool cancel_pending = false) {
  q.Close(cancel_pending, nullptr, [](const Status& s) { EXPECT_TRUE(s.ok()) << s; });
}

std::vector<int32_t> Values(const Got& got) {
  const auto data = (**got.result)[0].data<int32_t>();
  return {data.begin(), data.end()};
}

TEST(QueueTest, ElementsComeOutInTheOrderTheyWentIn) {
  auto q = MakeQueue(/*capacity=*/-1);
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

TEST(QueueTest, DequeuesWaitForElementsAndAreServedInOrder) {
  auto q = MakeQueue(/*capacity=*/-1);
  Got first, second;
  q->Dequeue(nullptr, first.done());
  q->Dequeue(nullptr, second.done());
  EXPECT_FALSE(first.result.has_value());
  Put put;
  q->Enqueue(One(7), nullptr, put.done());
  EXPECT_EQ(first.value(), 7);
  EXPECT_FALSE(second.result.has_value());
  Close(*q);
  EXPECT_EQ(second.code(), absl::StatusCode::kOutOfRange);
}

TEST(QueueTest, AnEnqueueWaitsForRoom) {
  auto q = MakeQueue(/*capacity=*/1);
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

TEST(QueueTest, ClosingWaitsForEarlierEnqueuesAndRefusesLaterOnes) {
  auto q = MakeQueue(/*capacity=*/1);
  Put in, waiting, closing, late;
  q->Enqueue(One(1), nullptr, in.done());
  q->Enqueue(One(2), nullptr, waiting.done());
  q->Close(/*cancel_pending=*/false, nullptr, closing.done());
  q->Enqueue(One(3), nullptr, late.done());
  EXPECT_FALSE(q->is_closed());
  EXPECT_FALSE(closing.status.has_value());
  EXPECT_FALSE(late.status.has_value());
  Got a, b, c;
  q->Dequeue(nullptr, a.done());
  EXPECT_TRUE(waiting.status->ok());
  EXPECT_TRUE(closing.status->ok());
  EXPECT_TRUE(q->is_closed());
  EXPECT_EQ(late.status->code(), absl::StatusCode::kCancelled);
  q->Dequeue(nullptr, b.done());
  q->Dequeue(nullptr, c.done());
  EXPECT_EQ(a.value(), 1);
  EXPECT_EQ(b.value(), 2);
  EXPECT_EQ(c.code(), absl::StatusCode::kOutOfRange);
}

TEST(QueueTest, ClosingTwiceIsCancelledUnlessItCancelsPendingEnqueues) {
  auto q = MakeQueue(/*capacity=*/1);
  Close(*q);
  Put again;
  q->Close(/*cancel_pending=*/false, nullptr, again.done());
  EXPECT_EQ(again.status->code(), absl::StatusCode::kCancelled);
  Close(*q, /*cancel_pending=*/true);
}

TEST(QueueTest, ACancelledCloseLeavesTheQueueOpen) {
  auto q = MakeQueue(/*capacity=*/1);
  CancellationManager step;
  Put in, waiting, closing;
  q->Enqueue(One(1), nullptr, in.done());
  q->Enqueue(One(2), nullptr, waiting.done());
  q->Close(/*cancel_pending=*/false, &step, closing.done());
  step.Cancel(absl::CancelledError("stop"));
  EXPECT_EQ(closing.status->code(), absl::StatusCode::kCancelled);
  Got got;
  q->Dequeue(nullptr, got.done());
  EXPECT_TRUE(waiting.status->ok());
  EXPECT_FALSE(q->is_closed());
}

TEST(QueueTest, ClosingCanCancelWaitingEnqueues) {
  auto q = MakeQueue(/*capacity=*/1);
  Put in, waiting, closing;
  q->Enqueue(One(1), nullptr, in.done());
  q->Enqueue(One(2), nullptr, waiting.done());
  q->Close(/*cancel_pending=*/false, nullptr, closing.done());
  Close(*q, /*cancel_pending=*/true);
  EXPECT_EQ(waiting.status->code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(closing.status->code(), absl::StatusCode::kCancelled);
  Got a, b;
  q->Dequeue(nullptr, a.done());
  q->Dequeue(nullptr, b.done());
  EXPECT_EQ(a.value(), 1);
  EXPECT_EQ(b.code(), absl::StatusCode::kOutOfRange);
}

TEST(QueueTest, ACancelledDequeueLosesNoElement) {
  auto q = MakeQueue(/*capacity=*/-1);
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
  auto q = MakeQueue(/*capacity=*/1);
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

TEST(QueueTest, OneCancellationEndsSeveralWaits) {
  // Cancelling the first dequeue serves the second, which must not wait for the running cancellation.
  auto q = MakeQueue(/*capacity=*/-1, {Shape()});
  CancellationManager step;
  Got many, one;
  Put put;
  q->Enqueue(One(1), nullptr, put.done());
  q->DequeueMany(2, /*up_to=*/false, &step, many.done());
  q->Dequeue(&step, one.done());
  step.Cancel(absl::CancelledError("stop"));
  EXPECT_EQ(many.code(), absl::StatusCode::kCancelled);
  ASSERT_TRUE(one.result.has_value());
}

TEST(QueueTest, AStepThatIsCancelledAlreadyDoesNotWait) {
  auto q = MakeQueue(/*capacity=*/-1);
  CancellationManager step;
  step.Cancel(absl::CancelledError("stop"));
  Got got;
  q->Dequeue(&step, got.done());
  EXPECT_EQ(got.code(), absl::StatusCode::kCancelled);
}

TEST(QueueTest, DequeueManyTakesElementsAsTheyArrive) {
  auto q = MakeQueue(/*capacity=*/2, {Shape({2})});
  Put put, more;
  q->EnqueueMany({Tensor::Of<int32_t>({2, 2}, {1, 2, 3, 4})}, nullptr, put.done());
  EXPECT_TRUE(put.status->ok());
  Got three, none;
  q->DequeueMany(3, /*up_to=*/false, nullptr, three.done());  // more than the capacity
  EXPECT_FALSE(three.result.has_value());
  EXPECT_EQ(q->size(), 0);
  q->Enqueue({Tensor::Vector<int32_t>({5, 6})}, nullptr, more.done());
  EXPECT_EQ((**three.result)[0].shape(), Shape({3, 2}));
  EXPECT_EQ(Values(three), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  q->DequeueMany(0, /*up_to=*/false, nullptr, none.done());
  EXPECT_EQ((**none.result)[0].shape(), Shape({0, 2}));
}

TEST(QueueTest, ABatchLargerThanTheCapacityIsEnqueuedAsThereIsRoom) {
  auto q = MakeQueue(/*capacity=*/2);
  Put put;
  q->EnqueueMany({Tensor::Vector<int32_t>({1, 2, 3, 4, 5})}, nullptr, put.done());
  EXPECT_FALSE(put.status.has_value());
  Got got;
  q->DequeueMany(4, /*up_to=*/false, nullptr, got.done());
  EXPECT_EQ(Values(got), (std::vector<int32_t>{1, 2, 3, 4}));
  EXPECT_TRUE(put.status->ok());
  EXPECT_EQ(q->size(), 1);
}

TEST(QueueTest, AFailedDequeueManyPutsItsElementsBackInOrder) {
  auto q = MakeQueue(/*capacity=*/-1);
  Put put;
  q->EnqueueMany({Tensor::Vector<int32_t>({1, 2})}, nullptr, put.done());
  Got many, up_to;
  q->DequeueMany(3, /*up_to=*/false, nullptr, many.done());
  Close(*q);
  EXPECT_EQ(many.code(), absl::StatusCode::kOutOfRange);
  q->DequeueMany(3, /*up_to=*/true, nullptr, up_to.done());
  EXPECT_EQ(Values(up_to), (std::vector<int32_t>{1, 2}));
}

TEST(QueueTest, DequeueManyNeedsShapes) {
  auto q = MakeQueue(/*capacity=*/-1, {});
  Got got;
  q->DequeueMany(1, /*up_to=*/false, nullptr, got.done());
  EXPECT_EQ(got.code(), absl::StatusCode::kInvalidArgument);
}

TEST(QueueTest, PaddingFillsUpToTheLargestElement) {
  QueueOptions options;
  options.kind = QueueOptions::Kind::kPadding;
  options.types = {kInt32, kString};
  options.shapes = {Shape({-1, 2}), Shape({-1})};
  auto q = MakeRef<QueueResource>("q", options);
  Put a, b, wrong;
  q->Enqueue({Tensor::Of<int32_t>({1, 2}, {1, 2}), Tensor::Vector<std::string>({"a", "b"})}, nullptr, a.done());
  q->Enqueue({Tensor::Of<int32_t>({2, 2}, {3, 4, 5, 6}), Tensor::Vector<std::string>({"c"})}, nullptr, b.done());
  q->Enqueue({Tensor::Of<int32_t>({1, 3}, {1, 2, 3}), Tensor::Vector<std::string>({"c"})}, nullptr, wrong.done());
  EXPECT_EQ(wrong.status->code(), absl::StatusCode::kInvalidArgument);
  Got got;
  q->DequeueMany(2, /*up_to=*/false, nullptr, got.done());
  EXPECT_EQ(Values(got), (std::vector<int32_t>{1, 2, 0, 0, 3, 4, 5, 6}));
  EXPECT_EQ((**got.result)[1].ToString(), Tensor::Of<std::string>({2, 2}, {"a", "b", "c", ""}).ToString());
}

TEST(QueueTest, ThePriorityQueueReturnsTheSmallestFirst) {
  QueueOptions options;
  options.kind = QueueOptions::Kind::kPriority;
  options.types = {kInt64, kInt32};
  options.shapes = {Shape(), Shape()};
  auto q = MakeRef<QueueResource>("q", options);
  Put put;
  q->EnqueueMany({Tensor::Vector<int64_t>({3, -1, 2}), Tensor::Vector<int32_t>({30, 10, 20})}, nullptr, put.done());
  Got got;
  q->DequeueMany(3, /*up_to=*/false, nullptr, got.done());
  EXPECT_EQ((**got.result)[1].ToString(), Tensor::Vector<int32_t>({10, 20, 30}).ToString());
}

TEST(QueueTest, DequeueManyOfAPriorityQueueWaitsForAllElements) {
  QueueOptions options;
  options.kind = QueueOptions::Kind::kPriority;
  options.types = {kInt64};
  options.shapes = {Shape()};
  auto q = MakeRef<QueueResource>("q", options);
  Got got;
  q->DequeueMany(3, /*up_to=*/false, nullptr, got.done());
  for (int64_t priority : {5, 3, 4}) {
    EXPECT_FALSE(got.result.has_value());
    q->Enqueue({Tensor::Scalar(priority)}, nullptr, [](const Status& s) { EXPECT_TRUE(s.ok()) << s; });
  }
  ASSERT_TRUE(got.result.has_value());
  EXPECT_EQ((**got.result)[0].ToString(), Tensor::Vector<int64_t>({3, 4, 5}).ToString());
}

TEST(QueueTest, AShuffleQueueKeepsMinAfterDequeueUntilClosed) {
  QueueOptions options;
  options.kind = QueueOptions::Kind::kRandomShuffle;
  options.types = {kInt32};
  options.shapes = {Shape()};
  options.min_after_dequeue = 2;
  options.random = [n = uint32_t{0}]() mutable { return n++; };
  auto q = MakeRef<QueueResource>("q", options);
  Put put;
  q->EnqueueMany({Tensor::Vector<int32_t>({0, 1, 2, 3})}, nullptr, put.done());
  Got two, third, rest;
  q->DequeueMany(2, /*up_to=*/false, nullptr, two.done());
  // Each dequeue moves the last element to the free slot: 3 to the slot of 0, then 2 to the slot of 1.
  EXPECT_EQ(Values(two), (std::vector<int32_t>{0, 1}));
  q->Dequeue(nullptr, third.done());
  EXPECT_FALSE(third.result.has_value());
  Close(*q);
  EXPECT_EQ(third.value(), 3);
  q->Dequeue(nullptr, rest.done());
  EXPECT_EQ(rest.value(), 2);
}

TEST(QueueTest, InvalidOptionsAreRefused) {
  const auto refused = [](const std::function<void(QueueOptions*)>& change) {
    QueueOptions options;
    options.types = {kInt32};
    change(&options);
    return absl::IsInvalidArgument(QueueResource::CheckOptions(options));
  };
  using Kind = QueueOptions::Kind;
  EXPECT_FALSE(refused([](QueueOptions*) {}));
  EXPECT_TRUE(refused([](QueueOptions* o) { o->shapes = {Shape({-1})}; }));
  EXPECT_TRUE(refused([](QueueOptions* o) { o->shapes = {Shape(), Shape()}; }));
  EXPECT_TRUE(refused([](QueueOptions* o) { o->kind = Kind::kPadding; }));
  EXPECT_TRUE(
      refused([](QueueOptions* o) { *o = {.kind = Kind::kPadding, .types = {kInt32}, .shapes = {Shape::Unknown()}}; }));
  EXPECT_TRUE(refused([](QueueOptions* o) { *o = {.kind = Kind::kRandomShuffle, .capacity = 0}; }));
  EXPECT_TRUE(refused([](QueueOptions* o) { *o = {.kind = Kind::kRandomShuffle, .min_after_dequeue = -1}; }));
}

TEST(QueueTest, UpToTakesTheRestOfAClosedQueue) {
  auto q = MakeQueue(/*capacity=*/-1);
  Put put;
  q->Enqueue(One(1), nullptr, put.done());
  Close(*q);
  Got many, up_to;
  q->DequeueMany(2, /*up_to=*/false, nullptr, many.done());
  EXPECT_EQ(many.code(), absl::StatusCode::kOutOfRange);
  q->DequeueMany(2, /*up_to=*/true, nullptr, up_to.done());
  EXPECT_EQ((**up_to.result)[0].shape(), Shape({1}));
}

TEST(QueueTest, ElementsOfAnotherShapeOrTypeAreRefused) {
  auto q = MakeQueue(/*capacity=*/-1);
  Put shape, type;
  q->Enqueue({Tensor::Vector<int32_t>({1})}, nullptr, shape.done());
  q->Enqueue({Tensor::Scalar(1.0F)}, nullptr, type.done());
  EXPECT_EQ(shape.status->code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(type.status->code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(q->size(), 0);
}

TEST(QueueTest, ConcurrentCallsLoseNoElement) {
  auto q = MakeQueue(/*capacity=*/3);
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
  FIFOQueue queue(g, {kInt64, kString}, {.shapes = {Shape(), Shape()}, .shared_name = "tokens", .name = "tokens"});
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

TEST(QueueTest, WorksWithReferenceHandles) {
  Graph g;
  const Output queue = NodeBuilder(g, "FIFOQueue")
                           .Attr("component_types", std::vector<DType>{kInt32})
                           .Attr("shared_name", "numbers")
                           .Output();
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
  EXPECT_EQ(handle.ToString(), Tensor::Vector<std::string>({"localhost", "numbers"}).ToString());
}

TEST(QueueTest, WithoutASharedNameEachKernelHasItsOwnQueue) {
  Graph g;
  const Output queue = NodeBuilder(g, "FIFOQueueV2").Attr("component_types", std::vector<DType>{kInt32}).Output();
  const Operation enqueue =
      NodeBuilder(g, "QueueEnqueueV2").Input(queue).InputList({Const(g, Tensor::Scalar<int32_t>(5))}).Finish();
  const Output size = NodeBuilder(g, "QueueSizeV2").Input(queue).Output();
  ASSERT_TRUE(g.status().ok()) << g.status();
  ResourceManager resources;  // each Evaluate creates new kernels
  ASSERT_TRUE(Evaluate({}, {}, {.targets = {enqueue}, .resources = &resources}).ok());
  EXPECT_EQ((*Evaluate({size}, {}, {.resources = &resources}))[0].scalar<int32_t>(), 0);
  EXPECT_TRUE(resources.Names("").empty());
}

TEST(QueueTest, ARowThatDoesNotFitInMemoryFailsItsEnqueue) {
  constexpr int64_t kBytes = int64_t{64} << 20;
  auto q = MakeQueue(/*capacity=*/-1, {Shape({kBytes / 4})});
  const MemoryLimit limit(3 * kBytes);  // for the two rows of the batch and at most one copy of a row
  Put put;
  q->EnqueueMany({Tensor(kInt32, {2, kBytes / 4})}, nullptr, put.done());
  ASSERT_TRUE(put.status.has_value());
  EXPECT_TRUE(absl::IsResourceExhausted(*put.status)) << *put.status;
  EXPECT_LE(q->size(), 1);
}

}  // namespace
}  // namespace tensorbraid
