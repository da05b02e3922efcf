#include "cluster/trace/chrome_trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cluster/protobuf/config.pb.h"
#include "cluster/testing/test_cluster.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

// The events with this phase. M names a process, X is the run of a node, and s and t are the two ends of an arrow.
nlohmann::json EventsOf(const std::string& trace, const char* phase) {
  auto events = nlohmann::json::array();
  const auto json = nlohmann::json::parse(trace);
  for (const auto& event : json.at("traceEvents")) {
    if (event.at("ph") == phase) events.push_back(event);
  }
  return events;
}

TEST(ChromeTrace, AStepOverTwoTasksShowsDevicesNodesAndArrows) {
  TestCluster cluster(1, 1);
  Graph g;
  Output x, y;
  {
    auto device = g.Device("/job:ps/task:0");
    x = Square(Placeholder(g, kFloat32, {2}, "fed"), "on_ps");
  }
  {
    auto device = g.Device("/job:worker/task:0");
    y = Exp(Exp(x, "first"), "second");
  }
  auto session = Session::Create(g, {.target = cluster.worker_target()}).value();
  RunMetadata metadata;
  const auto run =
      session->Run({y}, {{"fed:0", Tensor::Vector<float>({1, 2})}}, {.trace_level = TraceLevel::kFull}, &metadata);
  ASSERT_TRUE(run.ok()) << run.status();
  const auto trace = metadata.ToChromeTrace();
  ASSERT_TRUE(trace.ok()) << trace.status();
  std::map<int, std::string> devices;
  for (const auto& event : EventsOf(*trace, "M")) devices[event.at("pid")] = event.at("args").at("name");
  std::map<std::string, nlohmann::json> nodes;
  for (const auto& event : EventsOf(*trace, "X")) {
    EXPECT_GE(event.at("dur"), 1);
    nodes[event.at("args").at("name")] = event;
  }
  ASSERT_TRUE(nodes.contains("on_ps") && nodes.contains("second")) << *trace;
  EXPECT_EQ(devices[nodes["on_ps"].at("pid")], "/job:ps/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(devices[nodes["second"].at("pid")], "/job:worker/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(nodes["second"].at("args").at("op"), "Exp");
  EXPECT_EQ(nodes["second"].at("args").at("input0"), "first");
  EXPECT_TRUE(nodes.contains("RecvTensor"));
  EXPECT_EQ(EventsOf(*trace, "s").size(), EventsOf(*trace, "t").size());
  EXPECT_GE(EventsOf(*trace, "s").size(), 1u);
}

TEST(ChromeTrace, NodesThatOverlapAreInDifferentRowsAndNamesAreQuoted) {
  proto::RunMetadata metadata;
  auto* device = metadata.mutable_step_stats()->add_dev_stats();
  device->set_device("a \"device\"\n");
  // Each node runs for 10 us. The second overlaps the first; the third does not.
  for (const int64_t start : {10, 12, 25}) {
    auto* node = device->add_node_stats();
    node->set_node_name("n\\" + std::to_string(start));
    node->set_all_start_micros(start);
    node->set_all_end_rel_micros(10);
    node->set_timeline_label("no such form");
  }
  const auto trace = ChromeTrace(metadata.SerializeAsString());
  ASSERT_TRUE(trace.ok());
  const auto events = EventsOf(*trace, "X");
  EXPECT_EQ(events[0].at("tid"), 0);
  EXPECT_EQ(events[1].at("tid"), 1);
  EXPECT_EQ(events[2].at("tid"), 0);
  EXPECT_EQ(events[2].at("name"), "n\\25");
  EXPECT_EQ(EventsOf(*trace, "M")[0].at("args").at("name"), "a \"device\"\n");
}

TEST(ChromeTrace, CountsTheBytesOfTensorsUntilTheirLastUse) {
  proto::RunMetadata metadata;
  auto* device = metadata.mutable_step_stats()->add_dev_stats();
  const auto add = [&](const std::string& name, const std::string& label, int64_t start, int64_t bytes) {
    auto* node = device->add_node_stats();
    node->set_node_name(name);
    node->set_all_start_micros(start);
    node->set_all_end_rel_micros(5);
    node->set_timeline_label(label);
    auto* allocation = node->add_output()->mutable_tensor_description()->mutable_allocation_description();
    allocation->set_requested_bytes(bytes);
    allocation->set_allocator_name("cpu");
  };
  add("a", "a = Const()", 10, 100);
  add("b", "b = Exp(a)", 20, 40);
  add("c", "c = NoOp(^b)", 40, 0);  // a control dependency keeps no tensor
  const auto trace = ChromeTrace(metadata.SerializeAsString(), {.dataflow = false, .memory = true});
  ASSERT_TRUE(trace.ok());
  EXPECT_TRUE(EventsOf(*trace, "s").empty());
  std::map<int64_t, int64_t> bytes;
  for (const auto& event : EventsOf(*trace, "C")) bytes[event.at("ts")] = event.at("args").at("cpu");
  EXPECT_EQ(bytes, (std::map<int64_t, int64_t>{{10, 100}, {20, 140}, {25, 0}, {40, 0}, {45, 0}}));
}

TEST(ChromeTrace, BytesThatAreNotARunMetadataAreRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(ChromeTrace("\xff\xff").status()));
  EXPECT_TRUE(EventsOf(ChromeTrace("").value(), "X").empty());  // an empty message has no events
}

}  // namespace
}  // namespace tensorbraid
