#include "pjrt/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pjrt/testing/test_plugins.h"

namespace tensorbraid::pjrt {
namespace {

using ::testing::HasSubstr;

TEST(TopologyTest, CompilesWithoutADevice) {
  const Plugin& plugin = *Plugin::Load(TB_FAKE_PLUGIN).value();
  for (const std::string& name : DescribedCards()) {
    const auto topology = Topology::Create(plugin, DescribeCard(name).value());
    ASSERT_TRUE(topology.ok()) << topology.status();
    const auto memory = (*topology)->Compile(kAdd, "the program 'add'");
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_EQ(memory->arguments, 32);
  }
}

TEST(TopologyTest, ErrorsNameThePluginAndTheProgram) {
  const Plugin& plugin = *Plugin::Load(TB_FAKE_PLUGIN).value();
  const auto topology = Topology::Create(plugin, DescribeCard("h100").value());
  ASSERT_TRUE(topology.ok()) << topology.status();
  const Status wrong = (*topology)->Compile("module @none {}", "the program 'none'").status();
  EXPECT_EQ(wrong.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(wrong.message(), HasSubstr("compiling the program 'none'"));
  EXPECT_THAT(wrong.message(), HasSubstr(TB_FAKE_PLUGIN));
  const Status empty = Topology::Create(plugin, {.name = "empty", .description = ""}).status();
  EXPECT_THAT(empty.message(), HasSubstr("the description of 'empty': no target_config"));
}

TEST(TopologyTest, CardsAreDescribed) {
  EXPECT_THAT(DescribedCards(), testing::ElementsAre("a100", "h100"));
  EXPECT_THAT(DescribeCard("h100")->description, HasSubstr("clock_rate_ghz: 1.98 "));
  const Status unknown = DescribeCard("tpu").status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(unknown.message(), HasSubstr("only of a100, h100"));
  EXPECT_EQ(DescribeCard("no/such.txtpb").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace tensorbraid::pjrt
