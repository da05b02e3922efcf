#include "cluster/discovery/surroundings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/discovery/discovery_testutil.h"

namespace tensorbraid {
namespace {

using Addresses = std::vector<std::string>;

TEST(SurroundingsTest, AHostNameThatResolvesToThisMachineIsItsName) {
  EXPECT_EQ(ReachableHost(MakeSurroundings({}), ""), "alpha");
}

TEST(SurroundingsTest, TheEnginesNameGoesBeforeTheHostName) {
  Surroundings around = MakeSurroundings({});
  around.resolve = [](const std::string&) { return Addresses{"10.0.0.1"}; };
  EXPECT_EQ(ReachableHost(around, "node7"), "node7");
}

TEST(SurroundingsTest, TheVariableGoesBeforeAllNames) {
  EXPECT_EQ(ReachableHost(MakeSurroundings({{"TENSORBRAID_HOST", "alpha.example.com"}}), "node7"), "alpha.example.com");
}

TEST(SurroundingsTest, ANameThatOthersCannotUseIsReplacedByTheAddress) {
  Surroundings around = MakeSurroundings({});
  around.resolve = [](const std::string&) { return Addresses{"127.0.1.1"}; };  // as in Debian's /etc/hosts
  EXPECT_EQ(ReachableHost(around, ""), "10.0.0.1");
  around.resolve = [](const std::string&) { return Addresses{"10.0.0.9"}; };  // another machine
  EXPECT_EQ(ReachableHost(around, "node7"), "10.0.0.1");
  around.resolve = [](const std::string& host) -> StatusOr<Addresses> { return NotFound(host); };
  EXPECT_EQ(ReachableHost(around, "node7"), "10.0.0.1");
}

TEST(SurroundingsTest, OneOfSeveralAddressesOfANameIsEnough) {
  Surroundings around = MakeSurroundings({});
  around.addresses = {"2001:db8::7", "10.0.0.1"};
  around.resolve = [](const std::string&) { return Addresses{"10.0.0.9", "2001:db8::7"}; };
  EXPECT_EQ(ReachableHost(around, ""), "alpha");
}

TEST(SurroundingsTest, AMachineMayHaveIpv6Only) {
  Surroundings around = MakeSurroundings({}, "localhost");
  around.addresses = {"2001:db8::7"};
  EXPECT_EQ(ReachableHost(around, ""), "2001:db8::7");
}

TEST(SurroundingsTest, AMachineWithoutNetworkKeepsItsHostName) {
  Surroundings around = MakeSurroundings({});
  around.addresses.clear();
  EXPECT_EQ(ReachableHost(around, ""), "alpha");
}

TEST(SurroundingsTest, TheProcessSeesItsVariablesAndItsMachine) {
  ::setenv("TENSORBRAID_SURROUNDINGS_TEST", "a=b", 1);
  const Surroundings around = Surroundings::OfProcess();
  EXPECT_EQ(around.variables.at("TENSORBRAID_SURROUNDINGS_TEST"), "a=b");
  EXPECT_FALSE(around.host_name.empty());
  EXPECT_EQ(around.node, Surroundings::OfProcess().node);
  EXPECT_THAT(around.addresses, ::testing::Not(::testing::Contains("127.0.0.1")));
  EXPECT_THAT(*around.resolve("127.0.0.1"), ::testing::ElementsAre("127.0.0.1"));
}

}  // namespace
}  // namespace tensorbraid
