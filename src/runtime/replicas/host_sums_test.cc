#include "runtime/replicas/host_sums.h"

#include <latch>
#include <optional>

#include "core/system/env_testutil.h"
#include "core/text/strings.h"
#include "gtest/gtest.h"

namespace tensorbraid {
namespace {

constexpr auto kDropped = static_cast<int64_t>(GradientOutcome::kDropped);
constexpr auto kCounted = static_cast<int64_t>(GradientOutcome::kCounted);
constexpr auto kRefused = static_cast<int64_t>(GradientOutcome::kRefused);

// The result of a call that may wait.
template <typename T>
struct Waited {
  std::optional<StatusOr<T>> result;
  std::function<void(StatusOr<T>)> done() {
    return [this](StatusOr<T> r) { result = std::move(r); };
  }
  bool waits() const { return !result; }
  const T& value() const { return **result; }
};
using Added = Waited<HostSums::Outcomes>;

struct Sums {
  explicit Sums(HostSums::Options options = {}) : sums(MakeRef<HostSums>("sums", options)) {}
  void Add(int64_t stamp, int64_t replica, Added* call, CancellationManager* cancellation = nullptr) {
    sums->Add(stamp, {replica}, {Tensor::Scalar(static_cast<float>(replica))}, {kDropped}, cancellation, call->done());
  }
  void Take(Waited<HostSums::Taken>* call) { sums->Take(nullptr, call->done()); }
  void Report(int64_t outcome) { EXPECT_TRUE(sums->Report({outcome}).ok()); }
  void Store(int64_t stamp) {
    EXPECT_TRUE(sums->Store(1, stamp, {Tensor::Scalar(static_cast<float>(stamp))}, false).ok());
  }
  // Lets sums of stamps after `after` wait for the worker, until *cancellation is cancelled.
  void Join(int64_t replica, int64_t after, CancellationManager* cancellation) {
    sums->Join(replica, after, cancellation, [](const Status&) {});
  }
  const RefPtr<HostSums> sums;
};

TEST(HostSums, AReadWaitsForALaterStamp) {
  Sums s;
  Waited<HostSums::Values> first, second;
  s.sums->Read(0, -1, nullptr, first.done());
  EXPECT_TRUE(first.waits());
  s.Store(7);
  EXPECT_EQ(first.value().stamp, 7);
  EXPECT_EQ(first.value().tensors[0].scalar<float>(), 7);
  s.sums->Read(0, 7, nullptr, second.done());
  s.Store(7);
  s.Store(6);
  EXPECT_TRUE(second.waits());
  s.Store(8);
  EXPECT_EQ(second.value().stamp, 8);
}

TEST(HostSums, ASumWaitsForTheWorkersThatHaveJoined) {
  Sums s;
  CancellationManager joined;
  s.Join(0, -1, &joined);
  s.Join(1, -1, &joined);
  Added zero, one;
  Waited<HostSums::Taken> taken;
  s.Take(&taken);
  s.Add(5, 1, &one);
  EXPECT_TRUE(taken.waits());
  s.Add(5, 0, &zero);
  ASSERT_FALSE(taken.waits());
  EXPECT_EQ(taken.value().stamp, 5);
  EXPECT_EQ(taken.value().replicas, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(taken.value().gradients[0][0].scalar<float>(), 0) << "in the order of the workers";
  EXPECT_TRUE(zero.waits() && one.waits());
  s.Report(kCounted);
  EXPECT_EQ(zero.value()[0], kCounted);
  EXPECT_EQ(one.value()[0], kCounted);
}

TEST(HostSums, ASumDoesNotWaitForAWorkerThatIsLost) {
  Sums s;
  CancellationManager joined, lost;
  s.Join(0, -1, &joined);
  s.Join(1, -1, &lost);
  Added zero;
  Waited<HostSums::Taken> taken;
  s.Take(&taken);
  s.Add(5, 0, &zero);
  EXPECT_TRUE(taken.waits());
  lost.Cancel(Cancelled("lost"));
  EXPECT_EQ(taken.value().replicas, (std::vector<int64_t>{0}));
}

TEST(HostSums, AWorkerIsNotAwaitedForStampsBeforeItJoined) {
  Sums s;
  CancellationManager joined;
  s.Join(0, -1, &joined);
  s.Join(1, 5, &joined);
  Added zero, later;
  Waited<HostSums::Taken> taken, second;
  s.Add(5, 0, &zero);
  s.Take(&taken);
  ASSERT_FALSE(taken.waits());
  s.Report(kCounted);
  s.Add(6, 0, &later);
  s.Take(&second);
  EXPECT_TRUE(second.waits());
}

TEST(HostSums, ASumDoesNotWaitForSpareWorkersAndLateGradientsLeaveAlone) {
  Sums s({.spares = 1});
  CancellationManager joined;
  for (int i = 0; i < 3; ++i) s.Join(i, -1, &joined);
  Added added[3];
  Waited<HostSums::Taken> first, second;
  s.Take(&first);
  s.Add(5, 0, &added[0]);
  EXPECT_TRUE(first.waits());
  s.Add(5, 2, &added[2]);
  EXPECT_EQ(first.value().replicas, (std::vector<int64_t>{0, 2}));
  s.Report(kCounted);
  s.Take(&second);
  EXPECT_TRUE(second.waits());
  s.Add(5, 1, &added[1]);
  EXPECT_EQ(second.value().replicas, (std::vector<int64_t>{1}));
}

TEST(HostSums, GradientsOfAnEarlierStampAreDropped) {
  Sums s;
  CancellationManager joined;
  s.Join(0, -1, &joined);
  s.Join(1, -1, &joined);
  Added waiting, late;
  s.Add(5, 0, &waiting);
  EXPECT_TRUE(waiting.waits());
  s.Store(6);
  EXPECT_EQ(waiting.value()[0], kDropped);
  s.Add(5, 1, &late);
  EXPECT_EQ(late.value()[0], kDropped);
}

TEST(HostSums, WhatWasTakenAndNotReportedIsTakenAgain) {
  Sums s;
  Added zero;
  Waited<HostSums::Taken> first, again;
  s.Add(5, 0, &zero);
  s.Take(&first);
  ASSERT_FALSE(first.waits());
  s.Take(&again);
  ASSERT_FALSE(again.waits());
  EXPECT_EQ(again.value().replicas, (std::vector<int64_t>{0}));
  s.Report(kCounted);
  EXPECT_EQ(zero.value()[0], kCounted);
}

TEST(HostSums, ARefusedSumIsGivenOutOneByOne) {
  Sums s;
  Added zero, one;
  s.Add(5, 0, &zero);
  s.Add(5, 1, &one);
  Waited<HostSums::Taken> both, first, second;
  s.Take(&both);
  EXPECT_EQ(both.value().replicas.size(), 2);
  s.Report(kRefused);
  s.Take(&first);
  EXPECT_EQ(first.value().replicas, (std::vector<int64_t>{0}));
  s.Report(kCounted);
  EXPECT_EQ(zero.value()[0], kCounted);
  EXPECT_TRUE(one.waits());
  s.Take(&second);
  EXPECT_EQ(second.value().replicas, (std::vector<int64_t>{1}));
  s.Report(kDropped);
  EXPECT_EQ(one.value()[0], kDropped);
}

TEST(HostSums, ACancelledGradientLeavesTheSum) {
  Sums s;
  CancellationManager joined, cancelled;
  s.Join(0, -1, &joined);
  s.Join(1, -1, &joined);
  Added zero, one, again;
  s.Add(5, 0, &zero, &cancelled);
  cancelled.Cancel(Cancelled("lost"));
  EXPECT_TRUE(absl::IsCancelled(zero.result->status()));
  Waited<HostSums::Taken> taken;
  s.Take(&taken);
  s.Add(5, 1, &one);
  EXPECT_TRUE(taken.waits()) << "for the worker whose gradient was cancelled";
  s.Add(5, 0, &again);
  EXPECT_EQ(taken.value().replicas, (std::vector<int64_t>{0, 1}));
}

TEST(HostSums, AfterCloseOnlyValuesThatAreHereCanBeRead) {
  Sums s;
  s.Store(5);
  Waited<HostSums::Values> waiting, here;
  s.sums->Read(0, 5, nullptr, waiting.done());
  Added added;
  s.Add(5, 0, &added);
  s.sums->Close(OutOfRange("the end"));
  EXPECT_TRUE(absl::IsOutOfRange(waiting.result->status()));
  EXPECT_TRUE(absl::IsOutOfRange(added.result->status()));
  Waited<HostSums::Taken> taken;
  s.sums->Take(nullptr, taken.done());
  EXPECT_TRUE(absl::IsOutOfRange(taken.result->status()));
  s.sums->Read(0, 4, nullptr, here.done());
  EXPECT_EQ(here.value().stamp, 5);
  EXPECT_TRUE(absl::IsOutOfRange(s.sums->Store(1, 6, {}, /*reopens=*/false).status()));
  EXPECT_TRUE(s.sums->Store(1, 6, {}, /*reopens=*/true).ok());
}

TEST(HostSums, ANewSessionFailsTheCallsOfTheOldOne) {
  Sums s;
  Waited<HostSums::Values> early;
  s.sums->Read(0, -1, nullptr, early.done());
  s.sums->Reset();
  EXPECT_TRUE(early.waits()) << "nothing was here before";
  s.Store(9);
  EXPECT_FALSE(early.waits());
  Waited<HostSums::Values> old;
  s.sums->Read(0, 9, nullptr, old.done());
  s.sums->Reset();
  EXPECT_TRUE(absl::IsUnavailable(old.result->status()));
  EXPECT_EQ(s.sums->Latest().stamp, -1);
}

struct StoppedClock {
  ManualClockEnv env;
  const ScopedEnv use{&env};
};

// Sums of asynchronous training, of which workers 0 and 1 have joined.
struct AsyncSums : StoppedClock, Sums {
  AsyncSums() : Sums({.async = true}) {
    for (int i = 0; i < 2; ++i) Join(i, -1, &joined);
  }
  // An exchange of a sum with the parameter servers.
  void Exchange(std::chrono::seconds time, int64_t stamp) {
    Waited<HostSums::Taken> taken;
    Take(&taken);
    ASSERT_FALSE(taken.waits());
    env.Advance(time);
    Store(stamp);
    Report(5);
  }
  CancellationManager joined;
};

TEST(AsyncHostSums, ASumWaitsForMissingWorkersAsLongAsTheLastExchangeTook) {
  AsyncSums s;
  Added first, second, of_another;
  s.Add(1, 0, &first);
  s.Exchange(std::chrono::seconds(3), 1);  // the first exchange does not wait
  EXPECT_EQ(first.value()[0], 5);
  s.Add(1, 0, &second);
  s.env.Advance(std::chrono::seconds(9));  // nobody has been ready to take it
  Waited<HostSums::Taken> taken;
  std::latch taken_by_timer(1);
  s.sums->Take(nullptr, [&](StatusOr<HostSums::Taken> result) {
    taken.done()(std::move(result));
    taken_by_timer.count_down();
  });
  s.env.Advance(std::chrono::seconds(2));
  s.Add(1, 7, &of_another);
  EXPECT_TRUE(taken.waits());
  s.env.Advance(std::chrono::seconds(1));
  taken_by_timer.wait();
  EXPECT_EQ(taken.value().replicas, (std::vector<int64_t>{0, 7}));
}

TEST(AsyncHostSums, ASumLeavesWhenNoWorkerIsMissing) {
  AsyncSums s;
  Added first, zero, one;
  s.Add(1, 0, &first);
  s.Exchange(std::chrono::seconds(3), 1);
  Waited<HostSums::Taken> taken;
  s.Take(&taken);
  s.Add(1, 1, &one);
  EXPECT_TRUE(taken.waits());
  s.Add(0, 0, &zero);  // its values are one exchange older
  EXPECT_EQ(taken.value().replicas, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(taken.value().stamp, 1);
}

TEST(AsyncHostSums, AnOldGradientLeavesAlone) {
  AsyncSums s;
  Added added[3];
  s.Add(1, 0, &added[0]);
  s.Exchange(std::chrono::seconds(3), 7);
  s.Add(5, 1, &added[1]);
  s.Add(7, 0, &added[2]);
  Waited<HostSums::Taken> old, later;
  s.Take(&old);
  EXPECT_EQ(old.value().replicas, (std::vector<int64_t>{1}));
  EXPECT_EQ(old.value().stamp, 5);
  s.env.Advance(std::chrono::seconds(3));
  s.Report(1);
  s.Take(&later);
  EXPECT_TRUE(later.waits()) << "for worker 1";
}

TEST(AsyncHostSums, WhatWasTakenAndNotReportedIsDropped) {
  AsyncSums s;
  Added zero;
  s.Add(5, 0, &zero);
  Waited<HostSums::Taken> first, again;
  s.Take(&first);
  ASSERT_FALSE(first.waits());
  s.Take(&again);
  EXPECT_TRUE(again.waits());
  EXPECT_EQ(zero.value()[0], kDropped);
}

TEST(AsyncHostSums, ValuesOfAnotherEpochAreLater) {
  AsyncSums s;
  EXPECT_TRUE(s.sums->Store(1, 9, {}, false).ok());
  Waited<HostSums::Values> same, other, reset;
  s.sums->Read(1, 9, nullptr, same.done());
  EXPECT_TRUE(same.waits());
  EXPECT_TRUE(s.sums->Store(2, 3, {}, false).ok());
  EXPECT_EQ(same.value().stamp, 3);
  s.sums->Read(1, 9, nullptr, other.done());
  EXPECT_EQ(other.value().epoch, 2);
  // After a reset, the own epoch is a new one.
  EXPECT_TRUE(s.sums->Store(0, 4, {}, false).ok());
  const int64_t own = s.sums->Latest().epoch;
  s.sums->Reset();
  EXPECT_TRUE(s.sums->Store(0, 0, {}, false).ok());
  s.sums->Read(own, 4, nullptr, reset.done());
  EXPECT_EQ(reset.value().stamp, 0);
}

}  // namespace
}  // namespace tensorbraid
