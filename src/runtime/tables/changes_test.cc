#include "runtime/tables/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<uint32_t> Taken(const Changes& changes) {
  std::vector<uint32_t> rows;
  changes.ForEachTaken([&](uint32_t row) { rows.push_back(row); });
  return rows;
}

TEST(Changes, ASaveTakesWhatHasChangedSinceTheOneBefore) {
  Changes changes(1);
  for (const uint32_t row : {70u, 3u, 64u, 3u}) changes.Changed(row);
  ASSERT_TRUE(changes.TakeSince(1, 2));
  EXPECT_THAT(Taken(changes), ElementsAre(3, 64, 70));
  changes.Changed(5);
  ASSERT_TRUE(changes.TakeSince(2, 3)) << "the save before was completed";
  EXPECT_THAT(Taken(changes), ElementsAre(5));
  ASSERT_TRUE(changes.TakeSince(3, 4));
  EXPECT_THAT(Taken(changes), IsEmpty());
}

TEST(Changes, WhatAFailedSaveHasTakenComesBack) {
  Changes changes(1);
  changes.Changed(1);
  changes.Deleted(9, 90);
  ASSERT_TRUE(changes.TakeSince(1, 2));
  changes.Changed(2);
  ASSERT_TRUE(changes.TakeSince(1, 3)) << "save 2 has failed";
  EXPECT_THAT(Taken(changes), ElementsAre(1, 2));
  EXPECT_THAT(changes.taken_deleted(), ElementsAre(90));
  EXPECT_FALSE(changes.TakeSince(2, 4)) << "save 2 was never completed";
  ASSERT_TRUE(changes.TakeSince(3, 4));
  EXPECT_THAT(Taken(changes), IsEmpty());
  EXPECT_THAT(changes.taken_deleted(), IsEmpty());
}

TEST(Changes, AFullSaveThatFailsKeepsTheChangesOfTheChain) {
  Changes changes(1);
  changes.Changed(1);
  changes.TakeAll(1, 2);
  changes.Changed(4);  // is not in the full checkpoint
  changes.Changed(5);
  Changes completed = changes;
  ASSERT_TRUE(completed.TakeSince(2, 3));
  EXPECT_THAT(Taken(completed), ElementsAre(4, 5));
  ASSERT_TRUE(changes.TakeSince(1, 3));
  EXPECT_THAT(Taken(changes), ElementsAre(1, 4, 5));
}

TEST(Changes, AnUnknownPredecessorIsRefused) {
  Changes changes(0);
  changes.Changed(1);
  EXPECT_FALSE(changes.TakeSince(0, 2));
  EXPECT_FALSE(changes.TakeSince(7, 2));
  changes.TakeAll(0, 8);
  EXPECT_FALSE(changes.TakeSince(7, 9));
  EXPECT_TRUE(changes.TakeSince(8, 9));
  changes.TakeAll(5, 10);  // of another chain
  EXPECT_FALSE(changes.TakeSince(8, 11));
}

TEST(Changes, ADeletedRowIsNotChangedAndItsNumberCanBeUsedAgain) {
  Changes changes(1);
  changes.Changed(4);
  changes.Changed(5);
  changes.Deleted(4, 40);
  ASSERT_TRUE(changes.TakeSince(1, 2));
  EXPECT_THAT(Taken(changes), ElementsAre(5));
  EXPECT_THAT(changes.taken_deleted(), ElementsAre(40));
  changes.Deleted(5, 50);
  changes.Changed(5);  // another key
  ASSERT_TRUE(changes.TakeSince(1, 3));
  EXPECT_THAT(Taken(changes), ElementsAre(5));
  EXPECT_THAT(changes.taken_deleted(), ElementsAre(40, 50));
  changes.Changed(0);
  changes.Changed(1);
  ASSERT_TRUE(changes.TakeSince(3, 4));
  EXPECT_THAT(Taken(changes), ElementsAre(0, 1));
}

}  // namespace
}  // namespace tensorbraid
