#include "runtime/replicas/update_clock.h"

#include "gtest/gtest.h"

namespace tensorbraid {
namespace {

TEST(UpdateClock, TheAgeIsTheNumberOfUpdatesAcceptedSinceTheRead) {
  const auto clock = MakeRef<UpdateClock>("w");
  const int64_t read = clock->version();
  EXPECT_EQ(clock->Admit(read, /*max_age=*/-1)->age, 0);
  EXPECT_EQ(clock->Admit(read, /*max_age=*/-1)->age, 1);
  EXPECT_EQ(clock->version(), 2);
  EXPECT_EQ(clock->Admit(clock->version(), /*max_age=*/-1)->age, 0);
}

TEST(UpdateClock, AnUpdateThatIsNotCompletedCountsForTheAgeButNotForTheVersion) {
  const auto clock = MakeRef<UpdateClock>("w");
  const auto running = clock->Admit(0, /*max_age=*/-1);
  EXPECT_EQ(clock->version(), 0) << "a value that is read now may lack the update";
  EXPECT_EQ(clock->Admit(0, /*max_age=*/-1)->age, 1);
  running->update->Complete();
  running->update->Complete();
  EXPECT_EQ(clock->version(), 2);
}

TEST(UpdateClock, DropsGradientsThatAreOlderThanTheLimitAndDoesNotCountThem) {
  const auto clock = MakeRef<UpdateClock>("w");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(clock->Admit(clock->version(), /*max_age=*/0)->update);
  const auto dropped = clock->Admit(0, /*max_age=*/2);
  EXPECT_FALSE(dropped->update);
  EXPECT_EQ(dropped->age, 3);
  EXPECT_EQ(clock->version(), 3);
  EXPECT_TRUE(clock->Admit(0, /*max_age=*/3)->update);
}

TEST(UpdateClock, CountsTheAgesOfAllGradients) {
  const auto clock = MakeRef<UpdateClock>("w");
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(clock->Admit(0, /*max_age=*/2).ok());  // ages 0, 1, 2 and 3
  const UpdateClock::Ages ages = clock->ages();
  EXPECT_EQ(ages.accepted, 3);
  EXPECT_EQ(ages.dropped, 1);
  EXPECT_EQ(ages.sum, 3);
  EXPECT_EQ(ages.max, 2);
}

TEST(UpdateClock, RefusesAVersionThatTheVariableNeverHad) {
  const auto clock = MakeRef<UpdateClock>("w");
  EXPECT_TRUE(absl::IsFailedPrecondition(clock->Admit(1, /*max_age=*/-1).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(clock->Admit(-1, /*max_age=*/-1).status()));
}

}  // namespace
}  // namespace tensorbraid
