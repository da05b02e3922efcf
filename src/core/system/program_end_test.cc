#include "core/system/program_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;

std::vector<int>& Ended() {
  static auto* const ended = new std::vector<int>;
  return *ended;
}

TEST(ProgramEndTest, ExitCodeEndsEachThingOnce) {
  AtProgramEnd([] {
    Ended().push_back(1);
    AtProgramEnd([] { Ended().push_back(3); });
  });
  AtProgramEnd([] { Ended().push_back(2); });
  EXPECT_EQ(ExitCode(OkStatus()), 0);
  EXPECT_THAT(Ended(), ElementsAre(1, 2));
  EndProgram();
  EndProgram();
  EXPECT_THAT(Ended(), ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace tensorbraid
