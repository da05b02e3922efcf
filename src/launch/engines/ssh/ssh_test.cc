#include "launch/engines/ssh/ssh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

std::string Describe(const StatusOr<std::vector<AgentNode>>& nodes) {
  if (!nodes.ok()) return std::string(nodes.status().message());
  std::string text;
  for (const AgentNode& node : *nodes) text += StrCat(node.name, "=", node.slots, " ");
  return text;
}

TEST(ParseHostsTest, ReadsNamesUsersAddressesAndSlots) {
  EXPECT_EQ(Describe(ParseHosts("alpha")), "alpha=0 ");
  EXPECT_EQ(Describe(ParseHosts("alpha:4,me@beta,10.0.0.7:12")), "alpha=4 me@beta=0 10.0.0.7=12 ");
  EXPECT_EQ(Describe(ParseHosts("[fe80::1]:2,me@[::1]")), "fe80::1=2 me@::1=0 ");
}

TEST(ParseHostsTest, NamesWhatIsWrong) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"", "a name is missing"},
      {"alpha,,beta", "a name is missing"},
      {"alpha:", "the number of tasks ''"},
      {"alpha:0", "from 1 on"},
      {"alpha:two", "'two'"},
      {"fe80::1", "in brackets"},
      {"[::1", "']' is missing"},
      {"-oProxyCommand=x", "is no name"},
      {":3", "is no name"},
      {"[::1]4", "unexpected '4'"},
      {"alpha:4x", "'4x'"},
  };
  for (const auto& [text, message] : cases) EXPECT_THAT(Describe(ParseHosts(text)), HasSubstr(message)) << text;
}

TEST(ReadHostFileTest, ReadsOurFormAndThatOfMpirun) {
  TempDir dir;
  dir.Write("hosts", "# machines\nalpha:4\n\n  beta\tslots=2 max_slots=8  # the old one\ngamma\n");
  EXPECT_EQ(Describe(ReadHostFile(dir.path() + "/hosts")), "alpha=4 beta=2 gamma=0 ");
  dir.Write("hosts", "alpha\nbeta cores=2\n");
  EXPECT_THAT(Describe(ReadHostFile(dir.path() + "/hosts")), HasSubstr("hosts:2: 'cores=2' is not understood"));
  dir.Write("hosts", "# none\n");
  EXPECT_THAT(Describe(ReadHostFile(dir.path() + "/hosts")), HasSubstr("names no machine"));
}

TEST(ShellWordTest, SurvivesAShell) {
  EXPECT_EQ(ShellWord("--hosts=a,b:2"), "--hosts=a,b:2");
  EXPECT_EQ(ShellWord("a b"), "'a b'");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("it's $HOME"), "'it'\\''s $HOME'");
}

TEST(NewSshEngineTest, RefusesAMachineThatIsGivenTwice) {
  const auto engine = NewSshEngine({.nodes = {{"alpha", "", 1}, {"alpha", "", 2}},
                                    .ssh = {"echo", "hostname", "x", "#"},
                                    .remote_program = "",
                                    .version = "",
                                    .directory = "",
                                    .checked_files = {}});
  EXPECT_THAT(engine.status().message(), HasSubstr("'alpha' is given twice"));
}

}  // namespace
}  // namespace tensorbraid
