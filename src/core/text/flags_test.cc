#include "tensorbraid/core/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Status Parse(Flags& flags, std::vector<const char*> args) {
  args.insert(args.begin(), "program");
  return flags.Parse(static_cast<int>(args.size()), args.data());
}

struct All {
  Flags flags{"Does something."};
  int& steps = flags.Define("train_steps", 2000, "stop at this global step");
  int64_t& seed = flags.Define<int64_t>("seed", 0, "of the shuffling");
  double& rate = flags.Define("learning_rate", 0.5, "of gradient descent");
  float& decay = flags.Define("decay", 0.25f, "per epoch");
  bool& json = flags.Define("json", false, "print a line of JSON");
  bool& color = flags.Define("color", true, "colours");
  std::string& dir = flags.Define("data_dir", "data", "where the data is");
  std::vector<std::string>& hosts = flags.Define<std::vector<std::string>>("hosts", {}, "addresses");
};

TEST(Flags, HaveTheirDefaultsIfTheCommandLineIsEmpty) {
  All a;
  ASSERT_TRUE(Parse(a.flags, {}).ok());
  EXPECT_EQ(a.steps, 2000);
  EXPECT_EQ(a.dir, "data");
  EXPECT_TRUE(a.color);
  EXPECT_FALSE(a.flags.WasGiven("train_steps"));
}

TEST(Flags, TakeValuesAfterEqualsAndAfterSpaceWithOneDashOrTwo) {
  All a;
  const Status status = Parse(a.flags, {"--train_steps=7", "--seed", "-9000000000", "-learning_rate", "1e-3",
                                        "-decay=.5", "--data_dir", "-seed", "--hosts=a:1,b:2"});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(a.steps, 7);
  EXPECT_EQ(a.seed, -9000000000);
  EXPECT_EQ(a.rate, 1e-3);
  EXPECT_EQ(a.decay, .5f);
  EXPECT_EQ(a.dir, "-seed") << "a value that looks like a flag stays as it is";
  EXPECT_THAT(a.hosts, ElementsAre("a:1", "b:2"));
  EXPECT_TRUE(a.flags.WasGiven("train_steps"));
}

TEST(Flags, BooleansMayBeBareOrNegatedOrHaveAValue) {
  for (const char* yes : {"--json", "--json=true", "--json=1", "-json", "--json=YES"}) {
    All a;
    ASSERT_TRUE(Parse(a.flags, {yes}).ok()) << yes;
    EXPECT_TRUE(a.json) << yes;
  }
  for (const char* no : {"--nocolor", "--color=false", "--color=0", "-nocolor", "--color=no"}) {
    All a;
    ASSERT_TRUE(Parse(a.flags, {no}).ok()) << no;
    EXPECT_FALSE(a.color) << no;
  }
}

TEST(Flags, TheLastOfSeveralValuesIsUsed) {
  All a;
  ASSERT_TRUE(Parse(a.flags, {"--train_steps=1", "--json", "--train_steps=2", "--nojson"}).ok());
  EXPECT_EQ(a.steps, 2);
  EXPECT_FALSE(a.json);
}

TEST(Flags, AnEmptyTextIsAValue) {
  All a;
  ASSERT_TRUE(Parse(a.flags, {"--data_dir="}).ok());
  EXPECT_EQ(a.dir, "");
}

TEST(Flags, ErrorForAnUnknownFlagNamesTheNearestKnownFlag) {
  All a;
  const Status status = Parse(a.flags, {"--train_step=7"});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("unknown flag --train_step"), HasSubstr("did you mean --train_steps")));
}

TEST(Flags, ErrorForAnUnknownFlagWithoutASimilarOnePointsToHelp) {
  All a;
  EXPECT_THAT(Parse(a.flags, {"--zzzzzzzz"}).message(), HasSubstr("--help"));
}

TEST(Flags, ArgumentThatIsNoFlagIsRefused) {
  All a;
  EXPECT_THAT(Parse(a.flags, {"--json", "true"}).message(), HasSubstr("unexpected argument 'true'"));
}

TEST(Flags, ErrorsNameTheFlagAndItsInvalidValue) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"--train_steps=many", "--train_steps takes a 32-bit integer, not 'many'"},
      {"--train_steps=3000000000", "32-bit"},
      {"--train_steps=1.5", "'1.5'"},
      {"--train_steps=", "''"},
      {"--seed=99999999999999999999", "64-bit"},
      {"--learning_rate=fast", "--learning_rate takes a number, not 'fast'"},
      {"--json=maybe", "--json takes true or false, not 'maybe'"},
      {"--train_steps", "train_steps"},  // without a value
  };
  for (const auto& [argument, message] : cases) {
    All a;
    const Status status = Parse(a.flags, {argument});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << argument;
    EXPECT_THAT(status.message(), HasSubstr(message));
    EXPECT_EQ(a.steps, 2000);
  }
}

TEST(Flags, ANumberBelowItsLeastValueIsRefused) {
  const auto parse = [](const char* arg) {
    All all;
    all.flags.AtLeast("train_steps", 1);
    all.flags.AtLeast("learning_rate", 0);
    return Parse(all.flags, {arg});
  };
  EXPECT_TRUE(parse("--train_steps=1").ok());
  EXPECT_TRUE(parse("--learning_rate=0").ok());
  EXPECT_EQ(parse("--train_steps=0"), InvalidArgument("--train_steps must be at least 1, not 0"));
  EXPECT_EQ(parse("--learning_rate=-0.5"), InvalidArgument("--learning_rate must be at least 0, not -0.5"));
  EXPECT_EQ(parse("--learning_rate=nan").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(parse("--train_steps=x"), InvalidArgument("--train_steps takes a 32-bit integer, not 'x'"));
}

TEST(FlagsDeathTest, AtLeastOfATextFlagEndsTheProgram) {
  All all;
  EXPECT_DEATH(all.flags.AtLeast("data_dir", 1), "'data_dir' is not a flag with a number");
  EXPECT_TRUE(Parse(all.flags, {}).ok());
}

TEST(Flags, HelpListsEachFlagWithItsDefault) {
  All a;
  ASSERT_TRUE(Parse(a.flags, {"--help"}).ok());
  EXPECT_TRUE(a.flags.help_requested());
  const std::string help = a.flags.Help();
  EXPECT_THAT(help,
              AllOf(HasSubstr("Does something."), HasSubstr("--train_steps"), HasSubstr("stop at this global step"),
                    HasSubstr("[2000]"), HasSubstr("[0.5]"), HasSubstr("--json"), HasSubstr("[data]")));
}

TEST(FlagsDeathTest, ParseOrExitEndsTheProgram) {
  All a;
  std::vector<const char*> args = {"program", "--train_stepz=1"};
  EXPECT_EXIT(a.flags.ParseOrExit(2, args.data()), ::testing::ExitedWithCode(2),
              "INVALID_ARGUMENT: unknown flag --train_stepz");
  args[1] = "--help";
  EXPECT_EXIT(a.flags.ParseOrExit(2, args.data()), ::testing::ExitedWithCode(0), "");
}

TEST(FlagsTest, FlagsThatAreNeverParsedAreReported) {
  ::testing::internal::CaptureStderr();
  { All a; }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("never parsed"));
  ::testing::internal::CaptureStderr();
  All a;
  a.flags.WasGiven("seed");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("before the flags are parsed"));
}

TEST(FlagsTest, ADefaultOfTypeLongLongMakesAnInt64) {
  Flags flags("Does something.");
  const int64_t& steps = flags.Define("steps", 5LL, "how many");
  const char* const args[] = {"program", "--steps=10000000000"};
  ASSERT_TRUE(flags.Parse(2, args).ok());
  EXPECT_EQ(steps, 10'000'000'000);
}

TEST(FlagsDeathTest, DefiningANameTwiceEndsTheProgram) {
  All a;
  EXPECT_DEATH(a.flags.Define("seed", 1, "again"), "'seed'");
}

}  // namespace
}  // namespace tensorbraid
