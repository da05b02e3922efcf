#include "cluster/discovery/node_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(NodeListTest, ListsOfNamesAndRangesAreExpanded) {
  EXPECT_THAT(*ExpandNodeList("alpha"), ElementsAre("alpha"));
  EXPECT_THAT(*ExpandNodeList("alpha,beta-2"), ElementsAre("alpha", "beta-2"));
  EXPECT_THAT(*ExpandNodeList("node[1-3,7],gpu4"), ElementsAre("node1", "node2", "node3", "node7", "gpu4"));
  EXPECT_THAT(*ExpandNodeList("n[08-10]"), ElementsAre("n08", "n09", "n10"));
  EXPECT_THAT(*ExpandNodeList("r[1-2]n[3-4]x"), ElementsAre("r1n3x", "r1n4x", "r2n3x", "r2n4x"));
  EXPECT_EQ(ExpandNodeList("n[00001-20000]")->back(), "n20000");
}

TEST(NodeListTest, WrongListsAreErrorsThatQuoteTheList) {
  for (const char* list : {"", "a,", ",a", "n[1-", "n1]", "n[[1]]", "n[]", "n[2-1]", "n[a-b]", "n[1-2-3]",
                           "n[1-999999]", "n[1-999999999999999]"}) {
    const auto nodes = ExpandNodeList(list);
    EXPECT_EQ(nodes.status().code(), absl::StatusCode::kInvalidArgument) << list;
    EXPECT_THAT(std::string(nodes.status().message()), HasSubstr(std::string("'") + list + "'"));
  }
}

}  // namespace
}  // namespace tensorbraid
