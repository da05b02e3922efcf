// Tests ClusterSpec, and the parsing of TF_CONFIG (tf_config.h).
#include "tensorbraid/cluster/cluster_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/spec/tf_config.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const ClusterSpec& Example() {
  static const auto* spec = new ClusterSpec({{"ps", {"ps0:2222"}}, {"worker", {"w0:2222", "w1:2222"}}});
  return *spec;
}

ClusterSpec Gaps() { return ClusterSpec::Sparse({{"worker", {{1, "w1:2222"}, {7, "w7:2222"}}}}); }

TEST(ClusterSpec, NumbersTheTasksOfAList) {
  EXPECT_THAT(Example().jobs(), ElementsAre("ps", "worker"));
  EXPECT_EQ(Example().num_tasks("worker"), 2);
  EXPECT_THAT(Example().task_indices("worker"), ElementsAre(0, 1));
  EXPECT_EQ(*Example().task_address("worker", 1), "w1:2222");
  EXPECT_EQ(Example().ToString(), R"({"ps":["ps0:2222"],"worker":["w0:2222","w1:2222"]})");
}

TEST(ClusterSpec, AcceptsABraceLiteralWithOneJob) {
  const ClusterSpec spec({{"worker", {"a:1", "b:2"}}});
  EXPECT_EQ(spec.num_tasks("worker"), 2);
}

TEST(ClusterSpec, KeepsGaps) {
  EXPECT_THAT(Gaps().task_indices("worker"), ElementsAre(1, 7));
  EXPECT_EQ(*Gaps().task_address("worker", 7), "w7:2222");
  EXPECT_EQ(Gaps().ToString(), R"({"worker":{"1":"w1:2222","7":"w7:2222"}})");
}

TEST(ClusterSpec, ErrorsAboutUnknownTasksNameTheKnownOnes) {
  EXPECT_THAT(Example().task_address("wroker", 0).status().message(),
              AllOf(HasSubstr("'wroker'"), HasSubstr("ps, worker"), HasSubstr("did you mean 'worker'")));
  EXPECT_THAT(Example().task_address("worker", 2).status().message(), HasSubstr("0 to 1"));
  EXPECT_THAT(Example().task_address("ps", -1).status().message(), HasSubstr("only 0"));
  EXPECT_THAT(Gaps().task_address("worker", 0).status().message(), HasSubstr("1, 7"));
  EXPECT_EQ(Example().num_tasks("chief"), 0);
  EXPECT_THAT(Example().task_indices("chief"), IsEmpty());
}

TEST(ClusterSpec, ValidateAcceptsGoodClusters) {
  EXPECT_TRUE(Example().Validate().ok());
  EXPECT_TRUE(Gaps().Validate().ok());
  EXPECT_TRUE(ClusterSpec({{"worker", {"localhost:0", "localhost:0"}}}).Validate().ok());
}

TEST(ClusterSpec, ValidateNamesWhatIsWrong) {
  // Each case is a cluster and a part of the error message.
  const std::vector<std::pair<ClusterSpec, const char*>> cases = {
      {ClusterSpec(), "empty"},
      {ClusterSpec({{"worker", {}}}), "empty"},
      {ClusterSpec({{"my worker", {"a:1"}}}), "'my worker'"},
      {ClusterSpec({{"worker", {"a:1", "b"}}}), "task worker/1: bad address 'b'"},
      {ClusterSpec({{"ps", {"a:1"}}, {"worker", {"b:1", "a:1"}}}), "ps/0 and worker/1"},
      {ClusterSpec({{"ps", {"a:1"}}, {"worker", {"a:01"}}}), "ps/0 and worker/0"},
      {ClusterSpec::Sparse({{"worker", {{-1, "a:1"}}}}), "negative"},
  };
  for (const auto& [spec, message] : cases) {
    const Status status = spec.Validate();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << spec.ToString();
    EXPECT_THAT(status.message(), HasSubstr(message));
  }
}

TEST(ClusterSpec, ClusterDefHasTensorFlowsBytes) {
  // ClusterDef{job: {name: "ps", tasks: {0: "a:1"}}}: field 1 with 13 bytes, which contain field 1, "ps", and a map
  // entry as field 2. The map entry contains its key even though that is 0.
  const std::string bytes = ClusterSpec({{"ps", {"a:1"}}}).ToClusterDef();
  EXPECT_EQ(bytes, std::string("\x0a\x0d\x0a\x02ps\x12\x07\x08\x00\x12\x03"
                               "a:1",
                               15));
}

TEST(ClusterSpec, ClusterDefRoundTripIsEqual) {
  for (const ClusterSpec& spec : {Example(), Gaps(), ClusterSpec()}) {
    auto back = ClusterSpec::FromClusterDef(spec.ToClusterDef());
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, spec);
  }
}

TEST(ClusterSpec, FromClusterDefRefusesBadBytes) {
  const std::string good = Example().ToClusterDef();
  EXPECT_FALSE(ClusterSpec::FromClusterDef(good.substr(0, good.size() - 3)).ok());
  EXPECT_FALSE(ClusterSpec::FromClusterDef("\xff\xff\xff").ok());
  const std::string ps = ClusterSpec({{"ps", {"a:1"}}}).ToClusterDef();
  EXPECT_THAT(ClusterSpec::FromClusterDef(ps + ps).status().message(), HasSubstr("'ps' appears twice"));
}

TEST(TfConfig, ReadsListsAndIndices) {
  auto config = ParseTfConfig(
      R"({"cluster": {"ps": ["a:1"], "worker": {"3": "b:2"}}, "task": {"type": "worker", "index": "3"}, "rpc_layer": 1})");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->cluster, ClusterSpec::Sparse({{"ps", {{0, "a:1"}}}, {"worker", {{3, "b:2"}}}}));
  EXPECT_EQ(config->task_type, "worker");
  EXPECT_EQ(config->task_index, 3);
}

TEST(TfConfig, ReadsBackWhatItWrote) {
  const TfConfig written{Gaps(), "worker", 7};
  auto read = ParseTfConfig(ToTfConfigJson(written));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->cluster, written.cluster);
  EXPECT_EQ(read->task_index, 7);
}

TEST(TfConfig, SaysWhereTheTextIsWrong) {
  // Each case is a text and a part of the error message.
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"{", "not JSON"},
      {"[]", "object"},
      {R"({"task": {}})", "no \"cluster\""},
      {R"({"cluster": []})", "cluster"},
      {R"({"cluster": {"ps": "a:1"}})", "job 'ps'"},
      {R"({"cluster": {"ps": [1]}})", "task 0"},
      {R"({"cluster": {"ps": {"x": "a:1"}}})", "'x'"},
      {R"({"cluster": {"ps": {"-1": "a:1"}}})", "'-1'"},
      {R"({"cluster": {"ps": {"0": "a:1", "00": "b:1"}}})", "twice"},
      {R"({"cluster": {}})", "\"task\""},
      {R"({"cluster": {}, "task": {"index": 0}})", "\"type\""},
      {R"({"cluster": {}, "task": {"type": "ps"}})", "\"index\""},
      {R"({"cluster": {}, "task": {"type": "ps", "index": 1.5}})", "\"index\""},
      {R"({"cluster": {}, "task": {"type": "ps", "index": 99999999999}})", "99999999999"},
  };
  for (const auto& [text, message] : cases) {
    const Status status = ParseTfConfig(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(status.message(), HasSubstr(message));
  }
}

}  // namespace
}  // namespace tensorbraid
