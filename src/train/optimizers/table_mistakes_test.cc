// Tests what growing tables do with gradients that are not finite, and without their handles' resources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/text/strings.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A training in which the gradient of a row is its factor. Rows begin with 0.
struct Factors {
  explicit Factors(bool skip, int64_t filter_freq = 0) {
    const EmbeddingVariable table(
        g, 1, {.name = "ids", .initializer = Zeros(), .filter_freq = filter_freq, .skip_not_finite = skip});
    keys = Placeholder(g, kInt64, {-1});
    factors = Placeholder(g, kFloat32, {-1, 1});
    rows = nn::EmbeddingLookup(table, keys);
    train = AdagradOptimizer(1, {.initial_accumulator_value = 3})
                .Minimize(ReduceSum(rows * factors), {.global_step = GetOrCreateGlobalStep(g)});
    init = GlobalVariablesInitializer(g);
    destroy = NodeBuilder(g, "DestroyResourceOp").Input(table.parts()[0].handle()).Finish();
    EXPECT_TRUE(g.status().ok()) << g.status();
    session = Session::Create(g).value();
    EXPECT_TRUE(session->Run({init}).ok());
  }
  Status Step(const std::vector<int64_t>& of, const std::vector<float>& by) {
    const Tensor values = Tensor::Of<float>({static_cast<int64_t>(by.size()), 1}, by);
    return session->Run({train}, {{keys, Tensor::Vector(of)}, {factors, values}}).status();
  }
  StatusOr<std::vector<float>> Lookup(const std::vector<int64_t>& of) {
    TF_ASSIGN_OR_RETURN(const auto got, session->Run({rows}, {{keys, Tensor::Vector(of)}}));
    return std::vector<float>(got[0].data<float>().begin(), got[0].data<float>().end());
  }

  Graph g;
  Output keys, factors, rows;
  Operation train, init, destroy;
  std::unique_ptr<Session> session;
};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(TableMistakesTest, AGradientThatIsNotFiniteChangesNothing) {
  Factors t(/*skip=*/false);
  ASSERT_TRUE(t.Step({1}, {1}).ok());
  const Status refused = t.Step({1, 77}, {1, kNan});
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("the gradient of key 77 of growing table 'ids' has a number that is nan in global step 1"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("skip_not_finite"));
  EXPECT_THAT(*t.Lookup({1, 77}), ElementsAre(-0.5f, 0));
}

TEST(TableMistakesTest, KeysOfAnotherDTypeAreRefusedWithTheCure) {
  for (const auto& [dtype, cure] : {std::pair(kFloat32, "cast them to int64"), {kString, "StringToHashBucketFast"}}) {
    for (const bool sparse : {false, true}) {
      Graph g;
      const EmbeddingVariable table(g, 1, {.name = "ids", .partitioner = FixedSizePartitioner(2)});
      const Output keys = Placeholder(g, dtype, {-1});
      if (sparse) {
        nn::SafeEmbeddingLookupSparse(
            table,
            {.indices = Placeholder(g, kInt64, {-1, 2}), .values = keys, .dense_shape = Placeholder(g, kInt64, {2})});
      } else {
        nn::EmbeddingLookup(table, keys);
      }
      const std::string message(g.status().message());
      EXPECT_THAT(message, HasSubstr(StrCat("the keys of growing table 'ids' are ", dtype, ", but must be int64")));
      EXPECT_THAT(message, HasSubstr(cure));
    }
  }
}

TEST(TableMistakesTest, ATableCanLeaveOutSuchRows) {
  for (const int64_t filter_freq : {0, 1}) {
    Factors t(/*skip=*/true, filter_freq);
    ASSERT_TRUE(t.Step({77, 1, 78, 2}, {kNan, 1, std::numeric_limits<float>::infinity(), 1}).ok());
    EXPECT_THAT(*t.Lookup({1, 2, 77, 78}), ElementsAre(-0.5f, -0.5f, 0, 0));
    ASSERT_TRUE(t.Step({77}, {kNan}).ok());
    ASSERT_TRUE(t.Step({77}, {1}).ok());
    EXPECT_THAT(*t.Lookup({77}), ElementsAre(-0.5f));
  }
}

TEST(TableMistakesTest, ADestroyedTableHasNoRowsAndNoSlots) {
  Factors t(/*skip=*/false);
  ASSERT_TRUE(t.Step({1}, {1}).ok());
  ASSERT_TRUE(t.session->Run({t.destroy}).ok());
  for (const Status& status : {t.Lookup({1}).status(), t.Step({1}, {1})}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("uninitialized value ids"));
  }
  EXPECT_TRUE(t.session->Run({t.destroy}).ok()) << "the op ignores what does not exist";
  ASSERT_TRUE(t.session->Run({t.init}).ok());
  EXPECT_THAT(*t.Lookup({1}), ElementsAre(0));
  ASSERT_TRUE(t.Step({1}, {1}).ok());
  EXPECT_THAT(*t.Lookup({1}), ElementsAre(-0.5f)) << "the slot begins anew";
}

}  // namespace
}  // namespace tensorbraid
