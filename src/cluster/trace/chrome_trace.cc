#include "cluster/trace/chrome_trace.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "absl/strings/str_format.h"
#include "cluster/protobuf/config.pb.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

std::string Quoted(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += absl::StrFormat("\\u%04x", static_cast<unsigned>(c));
    } else {
      json += c;
    }
  }
  return json + "\"";
}

// The parts of a label "name = Op(input, input)" (see EncodeStepStats). Labels of another form, such as the labels of
// transfers, have no parts.
struct LabelParts {
  explicit LabelParts(std::string_view label) {
    const size_t equals = label.find(" = ");
    const size_t open = equals == std::string_view::npos ? equals : label.find('(', equals);
    if (open == std::string_view::npos || !label.ends_with(')')) return;
    op = label.substr(equals + 3, open - equals - 3);
    std::string_view rest = label.substr(open + 1, label.size() - open - 2);
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(", "), rest.size());
      inputs.push_back(rest.substr(0, comma));
      rest.remove_prefix(std::min(comma + 2, rest.size()));
    }
  }
  std::string_view op;
  std::vector<std::string_view> inputs;
};

// "weights" for "weights:1" and "^weights".
std::string_view NodeOf(std::string_view input) {
  if (input.starts_with('^')) input.remove_prefix(1);
  return input.substr(0, input.rfind(':'));
}

// "weights:0" for "weights".
std::string TensorOf(std::string_view input) {
  const bool has_index = input.find(':') != std::string_view::npos;
  return has_index ? std::string(input) : StrCat(std::string(input), ":0");
}

// Writes events. The phase ("ph") of an event says what it is: M names a process, X is the run of a node, and s and t
// are the two ends of an arrow, and C is a value of a counter.
class TraceWriter {
 public:
  explicit TraceWriter(const TraceContents& contents) : contents_(contents) {}

  void AddDevice(const proto::DeviceStepStats& device) {
    const int pid = num_devices_++;
    Add(absl::StrFormat(R"({"name":"process_name","ph":"M","pid":%d,"args":{"name":%s}})", pid,
                        Quoted(device.device())));
    std::vector<int64_t> busy_until;  // of each row
    for (const auto& node : device.node_stats()) {
      const int64_t start = node.all_start_micros();
      // The viewer does not show events without a duration.
      const int64_t duration = std::max<int64_t>(1, node.all_end_rel_micros());
      size_t row = 0;
      while (row < busy_until.size() && busy_until[row] > start) ++row;
      if (row == busy_until.size()) busy_until.push_back(0);
      busy_until[row] = start + duration;
      AddNode(node, {.pid = pid, .row = static_cast<int>(row), .start = start, .end = start + duration});
    }
  }

  // Adds what is possible only when all nodes are known, and returns the trace.
  std::string Finish() && {
    if (contents_.dataflow) AddArrows();
    if (contents_.memory) AddMemory();
    return "{\"traceEvents\":[\n" + events_ + "\n]}\n";
  }

 private:
  struct Place {
    int pid;
    int row;
    int64_t start;
    int64_t end;
  };
  struct Memory {
    int pid;
    std::string allocator;
    int64_t bytes;
    int64_t start;
    int64_t end;  // of the last node that uses it
  };

  void AddArrows() {
    int id = 0;
    for (const auto& [input, user] : uses_) {
      const auto found = places_.find(NodeOf(input));
      if (found == places_.end()) continue;
      AddArrowEnd("s", id, found->second.pid, found->second.row, found->second.end);
      AddArrowEnd("t", id, user.pid, user.row, user.start);
      ++id;
    }
  }

  // Adds the counters of the bytes of each allocator.
  void AddMemory() {
    for (const auto& [input, user] : uses_) {
      if (input.starts_with('^')) continue;
      const auto found = memory_.find(TensorOf(input));
      if (found != memory_.end()) found->second.end = std::max(found->second.end, user.end);
    }
    std::map<std::tuple<int, std::string, int64_t>, int64_t> changes;  // by device, allocator and time
    for (const auto& [tensor, memory] : memory_) {
      changes[{memory.pid, memory.allocator, memory.start}] += memory.bytes;
      changes[{memory.pid, memory.allocator, memory.end}] -= memory.bytes;
    }
    std::map<std::pair<int, std::string>, int64_t> bytes;
    for (const auto& [when, change] : changes) {
      const auto& [pid, allocator, time] = when;
      Add(absl::StrFormat(R"({"name":%s,"cat":"Memory","ph":"C","pid":%d,"tid":0,"ts":%d,"args":{%s:%d}})",
                          Quoted(allocator), pid, time, Quoted(allocator), bytes[{pid, allocator}] += change));
    }
  }

  void AddNode(const proto::NodeExecStats& node, const Place& place) {
    const LabelParts label(node.timeline_label());
    const std::string_view op = label.op.empty() ? std::string_view(node.node_name()) : label.op;
    std::string args = StrCat("\"name\":", Quoted(node.node_name()), ",\"op\":", Quoted(op));
    if (label.op.empty()) args += StrCat(",\"label\":", Quoted(node.timeline_label()));
    for (size_t i = 0; i < label.inputs.size(); ++i) {
      args += StrCat(",\"input", i, "\":", Quoted(label.inputs[i]));
      uses_.emplace_back(label.inputs[i], place);
    }
    int64_t bytes = 0;
    for (const auto& output : node.output()) {
      const auto& allocation = output.tensor_description().allocation_description();
      bytes += allocation.requested_bytes();
      memory_.emplace(StrCat(node.node_name(), ":", output.slot()), Memory{.pid = place.pid,
                                                                           .allocator = allocation.allocator_name(),
                                                                           .bytes = allocation.requested_bytes(),
                                                                           .start = place.start,
                                                                           .end = place.end});
    }
    args += StrCat(",\"output_bytes\":", bytes, ",\"thread\":", node.thread_id());
    Add(absl::StrFormat(R"({"name":%s,"cat":"Op","ph":"X","pid":%d,"tid":%d,"ts":%d,"dur":%d,"args":{%s}})", Quoted(op),
                        place.pid, place.row, place.start, place.end - place.start, args));
    places_.emplace(node.node_name(), place);
  }
  void AddArrowEnd(const char* phase, int id, int pid, int row, int64_t time) {
    Add(absl::StrFormat(R"({"name":"tensor","cat":"DataFlow","ph":"%s","id":%d,"pid":%d,"tid":%d,"ts":%d})", phase, id,
                        pid, row, time));
  }
  void Add(const std::string& event) {
    if (!events_.empty()) events_ += ",\n";
    events_ += event;
  }

  const TraceContents contents_;
  int num_devices_ = 0;
  std::string events_;
  std::map<std::string, Place, std::less<>> places_;   // by node; for a node in a loop, the place of its first run
  std::map<std::string, Memory, std::less<>> memory_;  // by tensor, as places_
  std::vector<std::pair<std::string, Place>> uses_;    // by input
};

}  // namespace

StatusOr<std::string> ChromeTrace(std::string_view run_metadata, const TraceContents& contents) {
  proto::RunMetadata metadata;
  if (!metadata.ParseFromString(std::string(run_metadata))) {
    return InvalidArgument("the bytes are not a RunMetadata message");
  }
  TraceWriter writer(contents);
  for (const auto& device : metadata.step_stats().dev_stats()) writer.AddDevice(device);
  return std::move(writer).Finish();
}

}  // namespace tensorbraid
