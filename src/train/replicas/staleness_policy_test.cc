// Tests that a StalenessPolicy is read from the text of a flag.
#include <gtest/gtest.h>

#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

TEST(StalenessPolicy, ReadsTheFieldsOfAFlag) {
  const auto policy = StalenessPolicy::Parse(
      "max_age=8,gradient_decay=1,rate_decay=0.5,delay_compensation=0.04,max_lead=3,warm_up_steps=100,lost_after=2.5");
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ(policy->max_age, 8);
  EXPECT_EQ(policy->gradient_decay, 1);
  EXPECT_EQ(policy->rate_decay, 0.5);
  EXPECT_EQ(policy->delay_compensation, 0.04);
  EXPECT_EQ(policy->max_lead, 3);
  EXPECT_EQ(policy->warm_up_steps, 100);
  EXPECT_EQ(policy->lost_after, std::chrono::milliseconds(2500));
}

TEST(StalenessPolicy, TheNumberOfBatchesMayDependOnTheStep) {
  EXPECT_EQ(StalenessPolicy::Parse("batches_per_push=4")->batches_per_push, (std::map<int64_t, int>{{0, 4}}));
  EXPECT_EQ(StalenessPolicy::Parse("batches_per_push=0:1/1000:4")->batches_per_push,
            (std::map<int64_t, int>{{0, 1}, {1000, 4}}));
}

TEST(StalenessPolicy, AnEmptyTextIsTheDefaultPolicyWhichDoesNothing) {
  const auto policy = StalenessPolicy::Parse("");
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_FALSE(policy->max_age || policy->max_lead);
  EXPECT_EQ(policy->gradient_decay + policy->rate_decay + policy->delay_compensation, 0);
}

TEST(StalenessPolicy, RefusesInvalidTexts) {
  for (const char* text :
       {"max_ag=8", "max_age", "max_age=", "max_age=-1", "max_age=x", "max_lead=1.5", "gradient_decay=-1",
        "rate_decay=nan", "delay_compensation=inf", "batches_per_push=0", "batches_per_push=10:2",
        "max_age=1,,max_lead=1", "batches_per_push=0:1/0:2", "warm_up_steps=-3", "lost_after=0", "lost_after=1e300",
        "delay_compensation=0.1,batches_per_push=2"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(StalenessPolicy::Parse(text).status())) << text;
  }
  const Status misspelt = StalenessPolicy::Parse("max_ag=8").status();
  EXPECT_NE(std::string(misspelt.message()).find("did you mean 'max_age'?"), std::string::npos) << misspelt;
}

}  // namespace
}  // namespace tensorbraid
