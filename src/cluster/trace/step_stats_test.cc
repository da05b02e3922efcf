#include "cluster/trace/step_stats.h"

#include <gtest/gtest.h>

#include <map>

#include "cluster/master/master_step.h"
#include "cluster/protobuf/config.pb.h"
#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

constexpr const char* kPsDevice = "/job:ps/replica:0/task:0/device:CPU:0";
constexpr const char* kWorkerDevice = "/job:worker/replica:0/task:0/device:CPU:0";

class StepStatsTest : public ::testing::Test {
 protected:
  StepStatsTest() {
    x_ = Placeholder(g_, kFloat32, {-1}, "x");
    {
      auto scope = g_.Device("/job:ps/task:0");
      exp_ = Exp(x_, "exp");
    }
    auto scope = g_.Device("/job:worker/task:0");
    log_ = Log(exp_, "log");
  }
  proto::RunMetadata Run(bool trace, bool graphs) {
    const auto deadline = MasterSession::Deadline::max();
    auto session = cluster_.task("worker", 0).master().NewSession(&g_, {});
    const RunSignature signature{.feeds = {x_}, .fetches = {log_}, .targets = {}};
    const auto compiled = session->Prepare(signature, deadline).value();
    const auto step = session->Start(compiled, {Tensor::Vector<float>({1, 2, 3})}, deadline, {.trace = trace}).value();
    EXPECT_TRUE(step->WaitUntil(deadline));
    EXPECT_TRUE(step->TakeResult().ok());
    proto::RunMetadata metadata;
    const auto partitions = graphs ? MasterSession::PartitionGraphs(*compiled).value() : std::vector<std::string>();
    EXPECT_TRUE(metadata.ParseFromString(EncodeRunMetadata(step->TakeTraces(), partitions)));
    return metadata;
  }

  TestCluster cluster_{1, 1};
  Graph g_;
  Output x_, exp_, log_;
};

TEST_F(StepStatsTest, EveryTaskReportsItsNodesAndReceivedTensors) {
  const proto::RunMetadata metadata = Run(/*trace=*/true, /*graphs=*/true);
  std::map<std::string, std::map<std::string, proto::NodeExecStats>> stats;
  for (const auto& device : metadata.step_stats().dev_stats()) {
    for (const auto& node : device.node_stats()) stats[device.device()][node.node_name()] = node;
  }
  ASSERT_TRUE(stats[kPsDevice].contains("exp"));
  ASSERT_TRUE(stats[kWorkerDevice].contains("log"));
  const auto& exp = stats[kPsDevice]["exp"];
  const auto& log = stats[kWorkerDevice]["log"];
  EXPECT_TRUE(exp.timeline_label().starts_with("exp = Exp(")) << exp.timeline_label();
  EXPECT_GT(exp.all_start_nanos(), 0);
  EXPECT_GE(exp.all_end_rel_nanos(), 0);
  EXPECT_GE(log.all_start_nanos(), exp.all_start_nanos() + exp.all_end_rel_nanos());
  ASSERT_EQ(exp.output_size(), 1);
  EXPECT_EQ(exp.output(0).tensor_description().allocation_description().requested_bytes(), 12);  // 3 floats
  EXPECT_EQ(exp.output(0).tensor_description().shape().dim(0).size(), 3);
  ASSERT_TRUE(stats[kWorkerDevice].contains("RecvTensor"));
  const std::string label = stats[kWorkerDevice]["RecvTensor"].timeline_label();
  EXPECT_TRUE(label.ends_with(StrCat(" exp:0 from /job:ps/replica:0/task:0 to ", std::string(kWorkerDevice)))) << label;
  EXPECT_EQ(metadata.partition_graphs_size(), 2);
}

TEST_F(StepStatsTest, AnUntracedStepHasNoMetadata) {
  EXPECT_EQ(Run(/*trace=*/false, /*graphs=*/false).ByteSizeLong(), 0u);
}

TEST_F(StepStatsTest, UnreadableStepStatsAreSkipped) {
  proto::RunMetadata metadata;
  ASSERT_TRUE(metadata.ParseFromString(EncodeRunMetadata({std::string("\x0a\xff\xff", 3)}, {})));
  EXPECT_EQ(metadata.step_stats().dev_stats_size(), 0);
}

}  // namespace
}  // namespace tensorbraid
