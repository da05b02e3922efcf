#include "core/errors/interruption.h"

#include <gtest/gtest.h>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

TEST(InterruptionTest, TheWaitAndItsReasonCanBeToldApart) {
  const Status error = Interrupted("queue 'tokens'", "the step was cancelled while it waited");
  EXPECT_EQ(ToString(error), "CANCELLED: queue 'tokens': the step was cancelled while it waited");
  EXPECT_EQ(WithoutReason(error), "queue 'tokens'");
  EXPECT_EQ(WithoutReason(Annotate(error, "Dequeue 'next'")), "Dequeue 'next': queue 'tokens'");
}

TEST(InterruptionTest, AnErrorThatEndsAStepIsTheReasonOfTheOperationsThatReturnIt) {
  const Status late = AsReason(DeadlineExceeded("the step is late"));
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(WithoutReason(late), "the step is late");
  EXPECT_EQ(WithoutReason(Annotate(late, "_Recv 'x'")), "_Recv 'x'");
}

TEST(InterruptionTest, TheWordsOfAnotherErrorAreNotTakenForAReason) {
  const Status error = InvalidArgument("Assert 'a': the step was cancelled: no");
  EXPECT_EQ(WithoutReason(error), "Assert 'a': the step was cancelled: no");
}

}  // namespace
}  // namespace tensorbraid
