#include "cluster/client_service/session_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/protobuf/config.pb.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GraphOptionsTest : public ::testing::Test {
 protected:
  std::vector<std::string> Skipped() { return SessionOptionsFrom(config_).value().optimize.skipped_passes; }

  proto::ConfigProto config_;
  proto::OptimizerOptions& optimizer_ = *config_.mutable_graph_options()->mutable_optimizer_options();
  proto::RewriterConfig& rewrites_ = *config_.mutable_graph_options()->mutable_rewrite_options();
};

TEST_F(GraphOptionsTest, AllPassesRunByDefault) { EXPECT_THAT(Skipped(), IsEmpty()); }

TEST_F(GraphOptionsTest, TheLevelAndItsExceptionsChoosePasses) {
  optimizer_.set_opt_level(-1);  // L0: no optimizations
  EXPECT_THAT(Skipped(), ElementsAre("known_shapes", "constant_folding", "common_subexpressions"));
  optimizer_.set_do_constant_folding(true);
  EXPECT_THAT(Skipped(), ElementsAre("common_subexpressions"));
  optimizer_.set_do_common_subexpression_elimination(true);
  EXPECT_THAT(Skipped(), IsEmpty());
}

TEST_F(GraphOptionsTest, TogglesOfSingleRewritesTakePrecedence) {
  rewrites_.set_constant_folding(proto::RewriterConfig::OFF);
  EXPECT_THAT(Skipped(), ElementsAre("known_shapes", "constant_folding"));
  rewrites_.set_constant_folding(proto::RewriterConfig::ON);
  rewrites_.set_common_subgraph_elimination(proto::RewriterConfig::OFF);
  EXPECT_THAT(Skipped(), ElementsAre("common_subexpressions"));
  rewrites_.set_common_subgraph_elimination(proto::RewriterConfig::DEFAULT);
  rewrites_.set_dependency_optimization(proto::RewriterConfig::OFF);
  EXPECT_THAT(Skipped(), ElementsAre("remove_identities"));
}

TEST_F(GraphOptionsTest, WithoutTheMetaOptimizerNothingIsFoldedOrMergedOrFused) {
  rewrites_.set_disable_meta_optimizer(true);
  EXPECT_THAT(Skipped(), ElementsAre("known_shapes", "constant_folding", "common_subexpressions", "fuse_biases",
                                     "fuse_batch_norms"));
}

}  // namespace
}  // namespace tensorbraid
