#include "planner/training_graph.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <queue>
#include <set>
#include <utility>

#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "executor/plan.h"
#include "graph/node.h"
#include "graph/references.h"
#include "planner/placed_step.h"
#include "runtime/kernel/cost.h"

namespace tensorbraid::planner {
namespace {

constexpr double kWideNs = 50'000;  // kernels that take longer divide their work among threads (docs/design/0006)
constexpr char kWorkerTask[] = "/job:worker/replica:0/task:0";

bool IsTransfer(const Node& node) { return node.type() == "_Send" || node.type() == "_Recv"; }

// The bytes of the wire type for each byte of float32.
double WireShare(std::string_view wire) {
  if (wire == "float16" || wire == "bfloat16") return 0.5;
  if (wire == "int8") return 0.25 + 1.0 / 256;
  if (wire == "1bit") return 1.0 / 26;
  if (wire == "topk") return 1.0 / 50;
  return 1;
}

// What each node of a step costs.
class NodeCosts {
 public:
  NodeCosts(const TrainingGraph& graph, const GraphOptions& options) : graph_(graph), options_(options) {}

  // For a plan with another batch than the measured one: the estimates for the measured batch.
  void ScaleFrom(std::map<std::string, double> estimates) { at_measured_batch_ = std::move(estimates); }

  struct Time {
    double ns = 0;
    double threads = 1;
  };
  Time Of(const Plan::PlanNode& p, bool on_worker) {
    const Node& node = *p.node;
    if (IsTransfer(node) || p.kind != Plan::Kind::kSync) return {};
    const DeviceSpeed* device = on_worker ? options_.worker_device : options_.server_device;
    const auto measured = graph_.measured.node_ns.find(node.name());
    if (device == nullptr && measured != graph_.measured.node_ns.end()) {
      double ns = measured->second;
      if (!at_measured_batch_.empty()) {
        const auto before = at_measured_batch_.find(node.name());
        const double now = Estimate(node).ns;
        if (before != at_measured_batch_.end() && before->second > 0 && now > 0) ns *= now / before->second;
      }
      return {ns, on_worker && ns > kWideNs ? graph_.measured.threads : 1};
    }
    const Estimated estimated = Estimate(node);
    // A _WireDecode is told the shape of its output, and the bytes that arrive are few.
    if (estimated.lacks_shape && node.type() != "_WireDecode") unknown_.insert(node.name());
    if (device == nullptr) return {estimated.ns, 1};
    if (estimated.ns == 0) return {};
    const double ns =
        std::max(estimated.cost.bytes / device->bytes_per_s, estimated.cost.flops / device->flops_per_s) * 1e9 +
        device->op_ns;
    if (device->is_gpu || estimated.ns < kWideNs || device->cores <= 1) return {ns, 1};
    return {ns / device->cores, device->cores};
  }

  struct Estimated {
    double ns = 0;
    Cost cost;
    bool lacks_shape = false;
  };
  static Estimated Estimate(const Node& node) {
    const auto device = DeviceName::Parse(node.device());
    const auto kernel = KernelRegistry::Global().Find(node, device.ok() && device->type ? *device->type : "CPU");
    if (!kernel.ok() || (*kernel)->cost == kNoCost) return {};
    const CostContext context(node);
    const Cost cost = (*kernel)->cost(context);
    return {EstimatedNs(cost), cost, context.lacks_input()};
  }

  // Nodes whose cost depends on a shape that is not known.
  const std::set<std::string>& unknown() const { return unknown_; }

 private:
  const TrainingGraph& graph_;
  const GraphOptions& options_;
  std::map<std::string, double> at_measured_batch_;
  std::set<std::string> unknown_;
};

// The variables of a part: what each node's resource or reference input is.
class VariableUses {
 public:
  explicit VariableUses(std::map<std::string, int>* numbers) : numbers_(numbers) {}

  // The number of the variable that the node updates; -1: none.
  int UpdatedBy(const Node& node) {
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const int input = static_cast<int>(i);
      const Node& from = Origin(*NodeOf(node.inputs()[i]));
      const bool is_handle = from.type() == "VarHandleOp";
      const bool is_reference = IsRef(node.declared_input_type(input)) && !ForwardsInput(node, input);
      if ((is_handle && node.num_outputs() == 0) || is_reference) {
        return numbers_->try_emplace(from.name(), static_cast<int>(numbers_->size())).first->second;
      }
    }
    return -1;
  }

 private:
  static const Node& Origin(const Node& node) {
    const Node* from = &node;
    while (from->type() == "Identity" && !from->inputs().empty()) from = NodeOf(from->inputs()[0]);
    return *from;
  }
  std::map<std::string, int>* const numbers_;
};

// Makes the activities of one task's part of a step.
class PartBuilder {
 public:
  PartBuilder(int task, const Plan& plan, NodeCosts* costs, std::map<std::string, int>* variables,
              std::map<int64_t, int>* transfers, StepProgram* program)
      : task_(task),
        plan_(plan),
        costs_(costs),
        variables_(variables),
        transfers_(transfers),
        program_(program),
        producers_(plan.nodes().size()),
        activity_of_(plan.nodes().size(), -1) {}

  void Build() {
    FindProducers();
    for (const int i : Order()) {
      const Node& node = *plan_.nodes()[i].node;
      if (node.type() == "_Send") {
        AddSend(i);
      } else if (node.type() != "_Recv") {
        AddNode(i);
      }
    }
  }

 private:
  void FindProducers() {
    const auto add = [&](int from, int to) {
      if (from < to) producers_[to].push_back(from);  // not along the back edge of a loop
    };
    for (int i = 0; i < static_cast<int>(plan_.nodes().size()); ++i) {
      const Plan::PlanNode& p = plan_.nodes()[i];
      for (int e = p.data_begin; e < p.data_end; ++e) add(i, plan_.data_edges()[e].node);
      for (int e = p.control_begin; e < p.control_end; ++e) add(i, plan_.control_edges()[e]);
    }
  }

  // The order in which one thread runs the nodes if all tensors have arrived: the ready node with the lowest rank
  // first.
  std::vector<int> Order() const {
    const int n = static_cast<int>(producers_.size());
    std::vector<std::vector<int>> consumers(n);
    std::vector<size_t> pending(n);
    const auto rank = [&](int i) { return plan_.ranks().empty() ? i : plan_.ranks()[i]; };
    std::priority_queue<std::pair<int, int>, std::vector<std::pair<int, int>>, std::greater<>> ready;
    for (int i = 0; i < n; ++i) {
      pending[i] = producers_[i].size();
      for (const int from : producers_[i]) consumers[from].push_back(i);
      if (pending[i] == 0) ready.emplace(rank(i), i);
    }
    std::vector<int> order;
    while (!ready.empty()) {
      const int i = ready.top().second;
      ready.pop();
      order.push_back(i);
      for (const int to : consumers[i]) {
        if (--pending[to] == 0) ready.emplace(rank(to), to);
      }
    }
    return order;
  }

  int TransferOf(const Node& node) { return transfers_->at(node.attr<int64_t>("edge")); }

  int AddActivity() {
    program_->activities.push_back({.task = task_});
    after_.clear();
    arrivals_.clear();
    return static_cast<int>(program_->activities.size()) - 1;
  }
  void Wait(std::vector<int>* next, int activity) {
    next->push_back(activity);
    ++program_->activities[activity].waits_for;
  }

  // Adds the node to an activity. On the worker, which runs its nodes one after the other, an activity goes on until a
  // node needs a tensor that the activity has not waited for, or a tensor can be sent. On a server each node is an
  // activity, since the nodes of different variables do not wait for each other.
  void AddNode(int i) {
    const Plan::PlanNode& p = plan_.nodes()[i];
    const NodeCosts::Time time = costs_->Of(p, task_ == 0);
    const int updated = task_ == 0 ? -1 : VariableUses(variables_).UpdatedBy(*p.node);
    bool waits = false;
    for (const int from : producers_[i]) waits = waits || activity_of_[from] >= 0 || IsRecv(from);
    // Constants and handles exist before the step.
    if (!waits && time.ns == 0 && updated < 0) return;
    bool starts = task_ != 0 || current_ < 0;
    for (const int from : producers_[i]) starts = starts || (IsRecv(from) && !seen_.contains(from));
    if (starts) current_ = AddActivity();
    Activity& a = program_->activities[current_];
    const double work = a.ns * a.threads + time.ns * time.threads;
    a.ns += time.ns;
    if (a.ns > 0) a.threads = work / a.ns;
    activity_of_[i] = current_;
    for (const int from : producers_[i]) {
      if (IsRecv(from)) {
        seen_.insert(from);
        const int transfer = TransferOf(*plan_.nodes()[from].node);
        if (arrivals_.insert(transfer).second) Wait(&program_->transfers[transfer].next, current_);
      } else if (activity_of_[from] >= 0 && activity_of_[from] != current_ &&
                 after_.insert(activity_of_[from]).second) {
        Wait(&program_->activities[activity_of_[from]].next, current_);
      }
    }
    if (task_ != 0) MarkUpdate(i, updated);
  }

  bool IsRecv(int i) const { return plan_.nodes()[i].node->type() == "_Recv"; }

  // On a server: whether the node is an update, or follows one, or gets a gradient.
  void MarkUpdate(int i, int updated) {
    const int activity = activity_of_[i];
    bool from_worker = false, after = false;
    double gradient_bytes = 0;
    for (const int from : producers_[i]) {
      if (IsRecv(from)) {
        const TensorTransfer& t = program_->transfers[TransferOf(*plan_.nodes()[from].node)];
        from_worker = from_worker || (t.from == 0 && !t.name.starts_with("^"));
        gradient_bytes += t.bytes;
        after = after || t.from != 0;  // a signal from another server
      } else if (activity_of_[from] >= 0) {
        from_worker = from_worker || from_worker_.contains(activity_of_[from]);
        after = after || program_->activities[activity_of_[from]].after_gradients;
        gradient_bytes += bytes_of_[activity_of_[from]];
      }
    }
    if (from_worker) from_worker_.insert(activity);
    bytes_of_[activity] = gradient_bytes;
    Activity& a = program_->activities[activity];
    a.variable = updated;
    a.after_gradients = after || updated >= 0;
    a.accumulates = updated >= 0 && from_worker && !after;
    // Reads the gradient and the sum, writes the sum.
    if (a.accumulates) a.accumulate_ns = EstimatedNs({.bytes = 3 * gradient_bytes});
  }

  void AddSend(int i) {
    const int transfer = TransferOf(*plan_.nodes()[i].node);
    std::set<int> from;
    for (const int p : producers_[i]) {
      if (activity_of_[p] >= 0) from.insert(activity_of_[p]);
    }
    int sender = from.empty() ? -1 : *from.begin();
    if (from.size() != 1 || HasRecv(i)) {
      // It waits for several activities, for tensors that it passes on, or for nothing.
      sender = AddActivity();
      for (const int before : from) Wait(&program_->activities[before].next, sender);
      for (const int p : producers_[i]) {
        if (IsRecv(p)) Wait(&program_->transfers[TransferOf(*plan_.nodes()[p].node)].next, sender);
      }
      for (const int before : from) {
        program_->activities[sender].after_gradients |= program_->activities[before].after_gradients;
      }
    }
    program_->activities[sender].sends.push_back(transfer);
    // What comes next must not delay the tensor.
    current_ = -1;
  }
  bool HasRecv(int i) const {
    return std::any_of(producers_[i].begin(), producers_[i].end(), [&](int p) { return IsRecv(p); });
  }

  const int task_;
  const Plan& plan_;
  NodeCosts* const costs_;
  std::map<std::string, int>* const variables_;
  std::map<int64_t, int>* const transfers_;  // by edge number
  StepProgram* const program_;
  std::vector<std::vector<int>> producers_;
  std::vector<int> activity_of_;  // by node; -1: it costs nothing and waits for nothing
  int current_ = -1;              // the worker's activity that goes on
  std::set<int> after_;           // activities that the current one waits for
  std::set<int> arrivals_;        // transfers that the current one waits for
  std::set<int> seen_;            // _Recv nodes that an activity of the worker has waited for
  std::set<int> from_worker_;     // activities that use a tensor of the worker
  std::map<int, double> bytes_of_;
};

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
    std::map<std::string, int> variables;
    for (auto& [task, part] : parts) {
      const int number = NumberOf(task);
      ResourceManager resources;
      KernelCache kernels;
      TF_ASSIGN_OR_RETURN(const auto plan, Plan::Create(std::move(part), &resources, &kernels));
      PartBuilder(number, *plan, &costs_, &variables, &transfers_, &program_).Build();
    }
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

  Status AddTransfers(const std::map<std::string, std::unique_ptr<Graph>>& parts) {
    for (const auto& [task, part] : parts) {
      for (const auto& node : ImplOf(*part).nodes()) {
        if (node->type() != "_Recv") continue;
        const auto* name = node->FindAttr("_tensor")->get<std::string>();
        transfers_[node->attr<int64_t>("edge")] = static_cast<int>(program_.transfers.size());
        program_.transfers.push_back({.from = NumberOf(node->attr<std::string>("peer")),
                                      .to = NumberOf(task),
                                      .name = name == nullptr ? node->name() : *name});
      }
    }
    for (const auto& [task, part] : parts) {
      for (const auto& node : ImplOf(*part).nodes()) {
        if (node->type() != "_Send") continue;
        SetBytes(*node, &program_.transfers[transfers_.at(node->attr<int64_t>("edge"))]);
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
  std::map<int64_t, int> transfers_;  // by edge number
  std::vector<std::string> unknown_;
};

}  // namespace

StatusOr<StepProgram> ProgramOf(const TrainingGraph& graph, const GraphOptions& options) {
  return ProgramBuilder(graph, options).Build();
}

}  // namespace tensorbraid::planner
