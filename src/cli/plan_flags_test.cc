#include "cli/plan_flags.h"

#include <gtest/gtest.h>

#include "io/file.h"

namespace tensorbraid {
namespace {

TEST(PlanFlagsTest, CountsAreListsAndRanges) {
  EXPECT_EQ(*ParseCounts("--ps", "1,3", 100), (std::vector<int>{1, 3}));
  EXPECT_EQ(*ParseCounts("--ps", "1-8", 100), (std::vector<int>{1, 2, 4, 8}));
  EXPECT_EQ(*ParseCounts("--ps", "3-12", 100), (std::vector<int>{3, 4, 8, 12}));
  EXPECT_EQ(*ParseCounts("--ps", "5-5,100", 100), (std::vector<int>{5, 100}));
  for (const char* text : {"", "0", "2,1", "2-1", "x", "1-2-3", "1,,2", "1-101", "101", "5000000000"})
    EXPECT_FALSE(ParseCounts("--ps", text, 100).ok()) << text;
  EXPECT_EQ(ParseCounts("--ps", "101", 100).status().message(),
            "--ps: '101' is no list of rising numbers from 1 to 100, such as 1,2,4 or 1-8");
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
