#include "core/text/strings.h"
#include "gtest/gtest.h"
#include "runtime/resources/mutex_resource.h"

namespace tensorbraid {
namespace {

// The result of a call of Lock().
struct LockCall {
  bool done = false;
  Status status;
  RefPtr<HeldMutex> hold;
};

void Lock(MutexResource& mutex, LockCall* call, CancellationManager* cancellation = nullptr) {
  mutex.Lock(cancellation, [call](StatusOr<RefPtr<HeldMutex>> hold) {
    call->done = true;
    call->status = hold.status();
    if (hold.ok()) call->hold = *std::move(hold);
  });
}

TEST(MutexResource, ASecondLockWaitsUntilTheFirstIsReleased) {
  const auto mutex = MakeRef<MutexResource>("m");
  LockCall first, second;
  Lock(*mutex, &first);
  Lock(*mutex, &second);
  ASSERT_TRUE(first.hold);
  EXPECT_FALSE(second.done);
  first.hold->Release();
  EXPECT_TRUE(second.hold);
}

TEST(MutexResource, ADroppedHoldIsReleasedOnce) {
  const auto mutex = MakeRef<MutexResource>("m");
  LockCall first, second, third;
  Lock(*mutex, &first);
  Lock(*mutex, &second);
  Lock(*mutex, &third);
  first.hold->Release();
  ASSERT_TRUE(second.hold);
  first.hold = nullptr;  // already released: must not release the hold of the second
  EXPECT_FALSE(third.done);
  second.hold = nullptr;
  EXPECT_TRUE(third.hold);
}

TEST(MutexResource, ACancelledStepStopsWaiting) {
  const auto mutex = MakeRef<MutexResource>("m");
  CancellationManager cancellation;
  LockCall first, second, third;
  Lock(*mutex, &first);
  Lock(*mutex, &second, &cancellation);
  cancellation.Cancel(Cancelled("the step ends"));
  EXPECT_TRUE(absl::IsCancelled(second.status));
  first.hold = nullptr;
  Lock(*mutex, &third);
  EXPECT_TRUE(third.hold);
}

}  // namespace
}  // namespace tensorbraid
