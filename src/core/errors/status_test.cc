// Tests errors that carry data for programs, beside their message.
#include "tensorbraid/core/status.h"

#include <absl/strings/cord.h>
#include <gtest/gtest.h>

#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace tensorbraid {
namespace {

// Its payloads, with their names, are too long for the Status itself.
std::string PayloadName(int i) { return "type.example/that is longer than a short string " + std::to_string(i); }
Status ErrorWithPayloads() {
  Status status = Unavailable("worker/0 is gone");
  for (int i = 0; i < 4; ++i) {
    status.SetPayload(PayloadName(i), absl::Cord(std::string(300, static_cast<char>('a' + i))));
  }
  return status;
}

TEST(Status, AnnotatingAnErrorKeepsItsPayloads) {
  const Status annotated = Annotate(ErrorWithPayloads(), "ps/0");
  EXPECT_EQ(annotated.message(), "ps/0: worker/0 is gone");
  EXPECT_EQ(annotated.GetPayload(PayloadName(3)), absl::Cord(std::string(300, 'd')));
}

// Under ThreadSanitizer, this also checks that cmake/tsan_suppressions.txt covers what it takes for a race in Abseil.
TEST(Status, ThreadsThatShareAnErrorMayDropItInAnyOrder) {
  for (int round = 0; round < 300; ++round) {
    Status error = ErrorWithPayloads();
    std::vector<std::thread> threads;
    std::latch all_run(3);
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([mine = error, &all_run]() mutable {
        all_run.arrive_and_wait();
        EXPECT_NE(mine.ToString().find(PayloadName(2)), std::string::npos);
        mine.SetPayload("type.example/mine", absl::Cord("changes no other thread's error"));
        mine = absl::OkStatus();
      });
    }
    error = absl::OkStatus();
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace tensorbraid
