#include "cluster/trace/cost_graph.h"

#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "cluster/protobuf/config.pb.h"
#include "graph/format/graph.pb.h"

namespace tensorbraid {
namespace {

// Keyed by device and node name.
using StatsByNode = std::map<std::pair<std::string_view, std::string_view>, std::vector<const proto::NodeExecStats*>>;

void FillStats(const std::vector<const proto::NodeExecStats*>& runs, proto::CostGraphDef::Node* node) {
  int64_t micros = 0;
  for (const proto::NodeExecStats* run : runs) micros += run->op_end_rel_micros() - run->op_start_rel_micros();
  node->set_compute_cost(micros);
  for (const auto& output : runs.back()->output()) {
    constexpr int kMaxOutputs = 1 << 16;  // the slot comes from another task, so it may be anything
    if (output.slot() < 0 || output.slot() >= kMaxOutputs) continue;
    // -1: the output is no alias of an input.
    while (node->output_info_size() <= output.slot()) node->add_output_info()->set_alias_input_port(-1);
    const auto& description = output.tensor_description();
    auto* info = node->mutable_output_info(output.slot());
    info->set_size(description.allocation_description().requested_bytes());
    info->set_dtype(description.dtype());
    *info->mutable_shape() = description.shape();
  }
}

}  // namespace

void FillCostGraph(const proto::StepStats& stats, const std::vector<std::string>& partitions,
                   proto::CostGraphDef* out) {
  StatsByNode by_node;
  for (const auto& device : stats.dev_stats()) {
    for (const auto& node : device.node_stats()) by_node[{device.device(), node.node_name()}].push_back(&node);
  }
  for (const std::string& bytes : partitions) {
    proto::GraphDef graph;
    if (!graph.ParseFromString(bytes)) continue;
    absl::flat_hash_map<std::string_view, int32_t> ids;
    for (const auto& def : graph.node()) ids.emplace(def.name(), static_cast<int32_t>(out->node_size() + ids.size()));
    for (const auto& def : graph.node()) {
      auto* node = out->add_node();
      node->set_name(def.name());
      node->set_device(def.device());
      node->set_id(ids.at(def.name()));
      for (const std::string& text : def.input()) {
        std::string_view input = text;
        const bool is_control = input.starts_with('^');
        if (is_control) input.remove_prefix(1);
        const size_t colon = is_control ? std::string_view::npos : input.rfind(':');
        int32_t port = 0;
        if (colon != std::string_view::npos) {
          std::from_chars(input.data() + colon + 1, input.data() + input.size(), port);
        }
        const auto from = ids.find(input.substr(0, colon));
        if (from == ids.end()) continue;
        if (is_control) {
          node->add_control_input(from->second);
          continue;
        }
        auto* info = node->add_input_info();
        info->set_preceding_node(from->second);
        info->set_preceding_port(port);
      }
      const auto runs = by_node.find({def.device(), def.name()});
      if (runs != by_node.end()) FillStats(runs->second, node);
    }
  }
}

}  // namespace tensorbraid
