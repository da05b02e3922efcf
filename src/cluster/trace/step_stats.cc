#include "cluster/trace/step_stats.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "cluster/protobuf/config.pb.h"
#include "cluster/protobuf/proto_io.h"
#include "cluster/trace/cost_graph.h"
#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "graph/format/tensor_proto.h"

namespace tensorbraid {
namespace {

constexpr int64_t kNanosPerMicro = 1000;

// "name = Op(input, input)".
std::string Label(const Node& node) {
  std::vector<std::string> inputs;
  for (const Output& in : node.inputs()) {
    inputs.push_back(in.index() == 0 ? NodeOf(in)->name() : StrCat(NodeOf(in)->name(), ":", in.index()));
  }
  for (const Node* c : node.control_inputs()) inputs.push_back(StrCat("^", c->name()));
  return StrCat(node.name(), " = ", node.type(), "(", StrJoin(inputs, ", "), ")");
}

// "[8.0MB] [1.2Gb/s] weights:0 from /job:ps/replica:0/task:0 to /job:worker/replica:0/task:0/device:CPU:0".
std::string TransferLabel(const Node& node, uint64_t bytes, int64_t nanos) {
  const AttrValue* const name = node.FindAttr("_tensor");
  const std::string* const tensor = name == nullptr ? nullptr : name->get<std::string>();
  char amount[64];
  const double gigabits = nanos == 0 ? 0 : 8.0 * static_cast<double>(bytes) / static_cast<double>(nanos);
  if (bytes >= 100'000) {
    std::snprintf(amount, sizeof amount, "[%.1fMB] [%.2fGb/s] ", static_cast<double>(bytes) / (1 << 20), gigabits);
  } else {
    std::snprintf(amount, sizeof amount, "[%lluB] [%.2fGb/s] ", static_cast<unsigned long long>(bytes), gigabits);
  }
  return StrCat(std::string(amount), tensor == nullptr ? node.name() : *tensor, " from ",
                node.attr<std::string>("peer"), " to ", node.device());
}

// Work of the device itself, not of a thread of the host for it. Copies within host memory have no node.
bool IsInStream(const NodeRecord& record) { return !record.work.empty() || record.node->type() == "_Copy"; }

void Fill(const NodeRecord& record, proto::NodeExecStats* stats) {
  const Node& node = *record.node;
  const int64_t nanos = std::max<int64_t>(0, record.end_ns - record.start_ns);
  // Rounds start and end down separately, so that a node never seems to start before the nodes that it waited for
  // ended.
  const int64_t start = record.start_ns / kNanosPerMicro;
  const int64_t micros = std::max<int64_t>(0, record.end_ns / kNanosPerMicro - start);
  stats->set_all_start_micros(start);
  stats->set_op_end_rel_micros(micros);
  stats->set_all_end_rel_micros(micros);
  stats->set_scheduled_micros(start);
  stats->set_all_start_nanos(record.start_ns);
  stats->set_op_end_rel_nanos(nanos);
  stats->set_all_end_rel_nanos(nanos);
  stats->set_scheduled_nanos(record.start_ns);
  stats->set_thread_id(record.thread);
  uint64_t bytes = 0;
  for (const NodeRecord::Out& out : record.outputs) {
    bytes += out.bytes;
    auto* output = stats->add_output();
    output->set_slot(out.slot);
    auto* description = output->mutable_tensor_description();
    description->set_dtype(static_cast<int32_t>(out.dtype));
    ToProto(out.shape, description->mutable_shape());
    auto* allocation = description->mutable_allocation_description();
    allocation->set_requested_bytes(static_cast<int64_t>(out.bytes));
    allocation->set_allocated_bytes(static_cast<int64_t>(out.bytes));
    allocation->set_allocator_name("cpu");
    allocation->set_ptr(out.address);
  }
  if (node.type() == "_Recv" && !node.attr<std::string>("peer").empty()) {
    stats->set_node_name("RecvTensor");
    stats->set_timeline_label(ToUtf8(TransferLabel(node, bytes, nanos)));
    return;
  }
  if (!record.work.empty()) {
    stats->set_node_name(ToUtf8(record.work));
    stats->set_timeline_label(ToUtf8(StrCat(record.work, " for ", node.name())));
    return;
  }
  stats->set_node_name(ToUtf8(node.name()));
  stats->set_timeline_label(ToUtf8(Label(node)));
  if (bytes == 0) return;
  auto* memory = stats->add_memory();
  memory->set_allocator_name("cpu");
  memory->set_total_bytes(static_cast<int64_t>(bytes));
  memory->set_peak_bytes(static_cast<int64_t>(bytes));
}

}  // namespace

std::string EncodeStepStats(const std::vector<NodeRecord>& records) {
  std::map<std::string, std::vector<const NodeRecord*>> by_device;
  for (const NodeRecord& record : records) {
    by_device[IsInStream(record) ? record.node->device() + "/stream:all" : record.node->device()].push_back(&record);
  }
  proto::StepStats stats;
  for (auto& [device, of_device] : by_device) {
    std::stable_sort(of_device.begin(), of_device.end(),
                     [](const NodeRecord* a, const NodeRecord* b) { return a->start_ns < b->start_ns; });
    auto* out = stats.add_dev_stats();
    out->set_device(device);
    for (const NodeRecord* record : of_device) Fill(*record, out->add_node_stats());
  }
  return stats.SerializeAsString();
}

std::string EncodeRunMetadata(const std::vector<std::string>& step_stats, const std::vector<std::string>& graphs,
                              RunMetadataParts parts) {
  proto::StepStats all;
  for (const std::string& bytes : step_stats) {
    proto::StepStats stats;
    if (stats.ParseFromString(bytes)) all.MergeFrom(stats);
  }
  proto::RunMetadata metadata;
  if (parts.cost_graph) FillCostGraph(all, graphs, metadata.mutable_cost_graph());
  if (parts.step_stats && all.dev_stats_size() > 0) metadata.mutable_step_stats()->Swap(&all);
  for (size_t i = 0; parts.partition_graphs && i < graphs.size(); ++i) metadata.add_partition_graphs(graphs[i]);
  return metadata.SerializeAsString();
}

}  // namespace tensorbraid
