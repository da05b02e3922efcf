#include "core/text/strings.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tensorbraid {
namespace {

TEST(StrCatTest, JoinsTextOfAllKinds) {
  const std::string text = "b";
  const char* none = nullptr;
  EXPECT_EQ(StrCat("a", text, std::string_view("cd").substr(0, 1), none, std::string("d"), absl::string_view("e")),
            "abcde");
  EXPECT_EQ(StrCat(std::string_view("a\0b", 3)), std::string("a\0b", 3));
  EXPECT_EQ(StrCat(), "");
}

TEST(StrCatTest, WritesNumbersAsAbseilDoes) {
  enum Unscoped { kMillions = 12345678 };
  EXPECT_EQ(StrCat(std::numeric_limits<int64_t>::min(), " ", std::numeric_limits<uint64_t>::max(), " ", int8_t{-5}, " ",
                   uint8_t{200}, " ", true, " ", kMillions),
            "-9223372036854775808 18446744073709551615 -5 200 1 12345678");
  for (const double v : {0.0, -0.5, 1.0 / 3, 1e6, 12345678.0, 1e-9, -std::numeric_limits<double>::infinity(),
                         std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(StrCat(v), absl::StrCat(v));
    EXPECT_EQ(StrCat(static_cast<float>(v)), absl::StrCat(static_cast<float>(v)));
  }
  EXPECT_EQ(StrCat(absl::Hex(255, absl::kZeroPad4)), "00ff");
}

TEST(StrCatTest, WritesShapesAndDTypes) {
  EXPECT_EQ(StrCat(Shape({2, 3}), " of ", DType::kFloat32),
            StrCat(Shape({2, 3}).ToString(), " of ", DTypeName(DType::kFloat32)));
}

TEST(StrCatTest, MakesErrorsOfAllCodes) {
  const Status status = NotFound("no variable ", std::string("w"), " of shape ", Shape({2}));
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "no variable w of shape [2]");
  EXPECT_EQ(OutOfRange(3).code(), absl::StatusCode::kOutOfRange);
}

TEST(NearestWordTest, FindsALikelyTypingMistakeOnly) {
  EXPECT_EQ(NearestWord("lerning_rate", {"loss", "learning_rate"}), "learning_rate");
  EXPECT_EQ(NearestWord("momentum", {"loss", "learning_rate"}), "");
}

}  // namespace
}  // namespace tensorbraid
