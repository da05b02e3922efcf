#include "core/strings.h"
#include "gtest/gtest.h"
#include "runtime/mutex_resource.h"

namespace tensorbraid {
namespace {

// What came of asking for a mutex.
struct Asked {
  bool answered = false;
  Status status;
  RefPtr<HeldMutex> hold;
};

void Ask(MutexResource& mutex, Asked* asked, CancellationManager* cancellation = nullptr) {
  mutex.Lock(cancellation, [asked](StatusOr<RefPtr<HeldMutex>> hold) {
    asked->answered = true;
    asked->status = hold.status();
    if (hold.ok()) asked->hold = *std::move(hold);
  });
}

TEST(MutexResource, SecondWaitsUntilTheFirstReleases) {
  const auto mutex = MakeRef<MutexResource>("m");
  Asked first, second;
  Ask(*mutex, &first);
  Ask(*mutex, &second);
  ASSERT_TRUE(first.hold);
  EXPECT_FALSE(second.answered);
  first.hold->Release();
  EXPECT_TRUE(second.hold);
}

TEST(MutexResource, GoneHoldIsGivenBackOnce) {
  const auto mutex = MakeRef<MutexResource>("m");
  Asked first, second, third;
  Ask(*mutex, &first);
  Ask(*mutex, &second);
  Ask(*mutex, &third);
  first.hold->Release();
  ASSERT_TRUE(second.hold);
  first.hold = nullptr;  // released already: the second keeps the third out
  EXPECT_FALSE(third.answered);
  second.hold = nullptr;
  EXPECT_TRUE(third.hold);
}

TEST(MutexResource, CancelledStepWaitsNoLonger) {
  const auto mutex = MakeRef<MutexResource>("m");
  CancellationManager cancellation;
  Asked first, second, third;
  Ask(*mutex, &first);
  Ask(*mutex, &second, &cancellation);
  cancellation.Cancel(Cancelled("the step ends"));
  EXPECT_TRUE(absl::IsCancelled(second.status));
  first.hold = nullptr;
  Ask(*mutex, &third);
  EXPECT_TRUE(third.hold);
}

}  // namespace
}  // namespace tensorbraid
