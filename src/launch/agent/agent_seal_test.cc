#include "launch/agent/agent_seal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

// The secret of the tests is a token; tests/engines/slurm uses MUNGE.
class AgentSealTest : public ::testing::Test {
 protected:
  AgentSeal SealOf(const std::string& token, const std::string& launch) {
    dir_.Write(token, token);
    return {NewTokenSeal(dir_.path() + "/" + token).value(), launch};
  }
  // The line without its newline.
  static std::string Closed(AgentSeal& seal, AgentSide sender, const std::string& line) {
    std::string closed = seal.Close(sender, line).value();
    closed.pop_back();
    return closed;
  }
  static Status Check(AgentSeal& seal, AgentSide sender, const std::string& line) {
    return seal.Check(sender, SplitLine(line));
  }

  TempDir dir_;
};

TEST_F(AgentSealTest, WhatIsClosedOpensAsItWas) {
  AgentSeal seal = SealOf("a-secret-of-the-test", "1");
  const std::string line = Closed(seal, AgentSide::kLauncher, "{\"do\": 1}\n");
  EXPECT_EQ(SplitLine(line).message, "{\"do\": 1}");
  EXPECT_EQ(Check(seal, AgentSide::kLauncher, line), OkStatus());
}

TEST_F(AgentSealTest, OthersAreRefused) {
  AgentSeal seal = SealOf("a-secret-of-the-test", "1");
  const std::string line = Closed(seal, AgentSide::kLauncher, "message\n");
  const auto expect_refused = [](const Status& status) {
    EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("a request")) << status;
  };
  expect_refused(Check(seal, AgentSide::kLauncher, "message"));
  expect_refused(Check(seal, AgentSide::kLauncher, "Message" + line.substr(7)));
  // What an agent has said is no request, and what was said in another launch is none of this one.
  expect_refused(Check(seal, AgentSide::kLauncher, Closed(seal, AgentSide::kAgent, "message\n")));
  AgentSeal later = SealOf("a-secret-of-the-test", "2");
  expect_refused(Check(later, AgentSide::kLauncher, line));
  AgentSeal stranger = SealOf("a-secret-of-strangers", "1");
  expect_refused(Check(seal, AgentSide::kLauncher, Closed(stranger, AgentSide::kLauncher, "message\n")));
}

}  // namespace
}  // namespace tensorbraid
