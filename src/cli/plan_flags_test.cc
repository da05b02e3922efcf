#include "cli/plan_flags.h"

#include <gtest/gtest.h>

#include "io/file.h"

namespace tensorbraid {
namespace {

TEST(PlanFlagsTest, CountsAreListsAndRanges) {
  EXPECT_EQ(*ParseCounts("1,3"), (std::vector<int>{1, 3}));
  EXPECT_EQ(*ParseCounts("1-8"), (std::vector<int>{1, 2, 4, 8}));
  EXPECT_EQ(*ParseCounts("3-12"), (std::vector<int>{3, 4, 8, 12}));
  EXPECT_EQ(*ParseCounts("5-5,50"), (std::vector<int>{5, 50}));
  for (const char* text : {"", "0", "2,1", "2-1", "x", "1-2-3", "1,,2", "1-2000000000", "1500000000"})
    EXPECT_FALSE(ParseCounts(text).ok()) << text;
}

TEST(PlanFlagsTest, BandwidthsHaveUnits) {
  EXPECT_EQ(*ParseBandwidth("10gbit"), 1.25e9);
  EXPECT_EQ(*ParseBandwidth("100mbit"), 12.5e6);
  EXPECT_EQ(*ParseBandwidth("1.5GB"), 1.5e9);
  for (const char* text : {"", "10", "gbit", "-1gbit", "0gbit", "infgbit", "nangbit", "10Gb"})
    EXPECT_FALSE(ParseBandwidth(text).ok()) << text;
}

TEST(PlanFlagsTest, ShapesNameTheirTensor) {
  const auto shape = ParseShapeFlag("in/images:0=100,784");
  ASSERT_TRUE(shape.ok());
  EXPECT_EQ(shape->first, "in/images:0");
  EXPECT_EQ(shape->second, Shape({100, 784}));
  EXPECT_EQ(ParseShapeFlag("rate=")->second, Shape({}));
  for (const char* text : {"", "images", "=1", "x=a", "x=1,"}) EXPECT_FALSE(ParseShapeFlag(text).ok()) << text;
}

TEST(PlanFlagsTest, TheSpeedOfLinksIsTheMedianOfThePairs) {
  const std::string path = testing::TempDir() + "/allpairs.json";
  ASSERT_TRUE(WriteFile(path,
                        "{\"bench\":\"allpairs\",\"from\":\"ps/0\",\"to\":\"ps/1\",\"gb_s\":1.0}\n"
                        "{\"bench\":\"allpairs\",\"from\":\"ps/1\",\"to\":\"ps/0\",\"gb_s\":3.0}\n"
                        "{\"bench\":\"allpairs\",\"from\":\"ps/1\",\"to\":\"ps/2\",\"gb_s\":2.0}\n"
                        "{\"bench\":\"allpairs\",\"from\":\"all\",\"to\":\"all\",\"gb_s\":9.0}\n")
                  .ok());
  EXPECT_EQ(*ReadAllPairs(path), 2e9);
  for (const char* wrong :
       {"hello", "", "[1]", "{\"bench\":1,\"from\":2}", "{\"bench\":\"allpairs\",\"from\":\"ps/0\",\"gb_s\":\"1\"}"}) {
    ASSERT_TRUE(WriteFile(path, wrong).ok());
    EXPECT_FALSE(ReadAllPairs(path).ok()) << wrong;
  }
}

}  // namespace
}  // namespace tensorbraid
