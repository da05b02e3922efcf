#include "planner/model/training_graph.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "executor/plan.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "planner/model/node_costs.h"
#include "planner/model/part_builder.h"
#include "planner/model/placed_step.h"
#include "planner/model/updates.h"

namespace tensorbraid::planner {
namespace {

constexpr char kWorkerTask[] = "/job:worker/replica:0/task:0";

// The bytes of the wire type for each byte of float32.
double WireShare(std::string_view wire) {
  if (wire == "float16" || wire == "bfloat16") return 0.5;
  if (wire == "int8") return 0.25 + 1.0 / 256;
  if (wire == "1bit") return 1.0 / 26;
  if (wire == "topk") return 1.0 / 50;
  return 1;
}

class ProgramBuilder {
 public:
  ProgramBuilder(const TrainingGraph& graph, const GraphOptions& options)
      : graph_(graph), options_(options), costs_(graph, options) {}

  StatusOr<StepProgram> Build() {
    const int64_t measured_batch = BatchOf(graph_);
    if (options_.batch > 0 && options_.batch != measured_batch && !graph_.measured.node_ns.empty()) {
      TF_RETURN_IF_ERROR(EstimateMeasuredBatch());
      if (measured_batch > 0) batch_ratio_ = static_cast<double>(options_.batch) / static_cast<double>(measured_batch);
    }
    TF_ASSIGN_OR_RETURN(auto parts, PlacedStep(graph_, options_));
    program_.servers = options_.placement == Placement::kEven ? 1 : options_.servers;
    program_.between_steps_ns = graph_.measured.between_steps_ns;
    program_.idle_ns = graph_.measured.idle_ns;
    program_.has_device = options_.worker_device != nullptr && options_.worker_device->is_gpu;
    program_.batch = static_cast<double>(options_.batch > 0 ? options_.batch : std::max<int64_t>(measured_batch, 1));
    TF_RETURN_IF_ERROR(AddTransfers(parts));
    for (auto& [task, part] : parts) {
      const int number = NumberOf(task);
      ResourceManager resources;
      KernelCache kernels;
      TF_ASSIGN_OR_RETURN(const auto plan, Plan::Create(std::move(part), &resources, &kernels));
      AddPart(number, *plan, &costs_, &parts_, &program_);
    }
    MarkUpdates(parts_.updates, &program_);
    AddSortOfRows();
    TF_RETURN_IF_ERROR(CheckKnown());
    if (options_.placement == Placement::kEven) return DividedOver(program_, options_.servers);
    return program_;
  }

 private:
  static int NumberOf(const std::string& task) {
    if (task == kWorkerTask) return 0;
    const auto name = DeviceName::Parse(task);
    return name.ok() ? 1 + name->task.value_or(0) : 1;
  }

  Status EstimateMeasuredBatch() {
    GraphOptions as_measured = options_;
    as_measured.batch = 0;
    TF_ASSIGN_OR_RETURN(const auto parts, PlacedStep(graph_, as_measured));
    std::map<std::string, double> estimates;
    for (const auto& [task, part] : parts) {
      for (const auto& node : ImplOf(*part).nodes()) estimates[node->name()] = NodeCosts::Estimate(*node).ns;
    }
    costs_.ScaleFrom(std::move(estimates));
    return OkStatus();
  }

  // For synchronous training, in which a worker sorts the rows of each gradient and adds equal ones
  // (train/optimizers/increasing_rows.h). This graph trains asynchronously, and lacks these nodes.
  void AddSortOfRows() {
    for (int update = 0; update < static_cast<int>(program_.activities.size()); ++update) {
      if (!program_.activities[update].by_rows) continue;
      // The indices, which are the smaller ones, and the values.
      std::vector<int> parts = SentFor(update);
      const auto bytes = [this](int i) { return program_.transfers[i].bytes; };
      if (parts.size() != 2) continue;
      std::ranges::sort(parts, {}, bytes);
      constexpr double kHashNs = 25, kCompareNs = 4;
      const double rows = std::max(1.0, bytes(parts[0]) / sizeof(int64_t));
      const double ns = rows * (kHashNs + kCompareNs * std::log2(rows)) + EstimatedNs({.bytes = 5 * bytes(parts[1])});
      for (Activity& a : program_.activities) {
        if (std::ranges::find(a.sends, parts[1]) != a.sends.end()) a.sort_ns += ns;
      }
    }
  }

  // The tensors from the worker on which an activity of a server depends.
  std::vector<int> SentFor(int activity) const {
    std::set<int> before = {activity};
    std::vector<int> found, left = {activity};
    while (!left.empty()) {
      const int current = left.back();
      left.pop_back();
      for (int i = 0; i < static_cast<int>(program_.activities.size()); ++i) {
        const Activity& a = program_.activities[i];
        if (a.task == program_.activities[activity].task && std::ranges::find(a.next, current) != a.next.end() &&
            before.insert(i).second) {
          left.push_back(i);
        }
      }
    }
    for (int i = 0; i < static_cast<int>(program_.transfers.size()); ++i) {
      const TensorTransfer& t = program_.transfers[i];
      const auto needed = [&](int next) { return before.contains(next); };
      if (t.from == 0 && t.bytes > 0 && std::ranges::any_of(t.next, needed)) found.push_back(i);
    }
    return found;
  }

  Status AddTransfers(const std::map<std::string, std::unique_ptr<Graph>>& parts) {
    for (const auto& [task, part] : parts) {
      for (const auto& node : ImplOf(*part).nodes()) {
        if (node->type() != "_Recv") continue;
        const auto* name = node->FindAttr("_tensor")->get<std::string>();
        parts_.transfers[node->attr<int64_t>("edge")] = static_cast<int>(program_.transfers.size());
        program_.transfers.push_back({.from = NumberOf(node->attr<std::string>("peer")),
                                      .to = NumberOf(task),
                                      .name = name == nullptr ? node->name() : *name});
      }
    }
    for (const auto& [task, part] : parts) {
      for (const auto& node : ImplOf(*part).nodes()) {
        if (node->type() != "_Send") continue;
        SetBytes(*node, &program_.transfers[parts_.transfers.at(node->attr<int64_t>("edge"))]);
      }
    }
    return OkStatus();
  }

  void SetBytes(const Node& send, TensorTransfer* transfer) {
    const auto known = send.attr<int64_t>("bytes");
    transfer->bytes = static_cast<double>(std::max<int64_t>(known, 0));
    if (known >= 0) return;
    transfer->announced = true;
    const auto measured = graph_.measured.tensor_bytes.find(transfer->name);
    const Node& from = *NodeOf(send.inputs()[0]);
    const double share = from.type() == "_WireEncode" ? WireShare(from.attr<std::string>("wire")) : 1;
    if (measured != graph_.measured.tensor_bytes.end()) {
      transfer->bytes = measured->second * share * batch_ratio_;
      return;
    }
    for (const std::string& name : {transfer->name, transfer->name.substr(0, transfer->name.rfind(':'))}) {
      const auto given = options_.shapes.find(name);
      if (given == options_.shapes.end() || given->second.num_elements() < 0) continue;
      transfer->bytes = static_cast<double>(given->second.num_elements()) * 4 * share;
      return;
    }
    unknown_.push_back(StrCat("'", transfer->name, "' ", send.input_type(0),
                              NodeOf(send.inputs()[0])->output_shape(send.inputs()[0].index())));
  }

  Status CheckKnown() const {
    std::vector<std::string> all = unknown_;
    for (const std::string& node : costs_.unknown()) all.push_back(StrCat("an input of '", node, "'"));
    if (all.empty()) return OkStatus();
    constexpr size_t kMost = 6;
    const size_t total = all.size();
    if (total > kMost) all.resize(kMost);
    std::vector<std::string> fed;
    for (const auto& feed : graph_.feeds) {
      if (feed.shape.num_elements() < 0) fed.push_back(StrCat("'", feed.tensor, "' ", feed.shape));
    }
    return InvalidArgument(
        "the plan needs shapes that the graph does not know before a step: ", StrJoin(all, ", "),
        total > kMost ? StrCat(" and ", total - kMost, " more") : "",
        fed.empty() ? std::string() : StrCat("; fed with unknown shapes are ", StrJoin(fed, ", ")),
        "; give --batch=N for the first dimension of what is fed, or --shape=NAME=DIM,DIM for one tensor, or let "
        "'tensorbraid plan -- PROGRAM' measure a step");
  }

  const TrainingGraph& graph_;
  const GraphOptions& options_;
  NodeCosts costs_;
  double batch_ratio_ = 1;
  StepProgram program_;
  StepParts parts_;
  std::vector<std::string> unknown_;
};

}  // namespace

StatusOr<StepProgram> ProgramOf(const TrainingGraph& graph, const GraphOptions& options) {
  return ProgramBuilder(graph, options).Build();
}

}  // namespace tensorbraid::planner
