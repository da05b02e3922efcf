#include "planner/model/part_builder.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "graph/model/node.h"
#include "graph/model/references.h"

namespace tensorbraid::planner {
namespace {

// The variables of a part: what each node's resource or reference input is.
class VariableUses {
 public:
  explicit VariableUses(std::map<std::string, int>* numbers) : numbers_(numbers) {}

  // The number of the variable that the node updates; -1: none.
  int UpdatedBy(const Node& node) {
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const int input = static_cast<int>(i);
      const Node& from = Origin(*NodeOf(node.inputs()[i]));
      const bool is_handle = from.type() == "VarHandleOp" || from.type() == "KvVarHandleOp";
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
  PartBuilder(int task, const Plan& plan, NodeCosts* costs, StepParts* parts, StepProgram* program)
      : task_(task),
        plan_(plan),
        costs_(costs),
        parts_(parts),
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

  int TransferOf(const Node& node) { return parts_->transfers.at(node.attr<int64_t>("edge")); }

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
    const int updated = task_ == 0 ? -1 : VariableUses(&parts_->variables).UpdatedBy(*p.node);
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
    if (updated >= 0) parts_->updates[current_] = {.variable = updated, .type = p.node->type()};
  }

  bool IsRecv(int i) const { return plan_.nodes()[i].node->type() == "_Recv"; }

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
  StepParts* const parts_;
  StepProgram* const program_;
  std::vector<std::vector<int>> producers_;
  std::vector<int> activity_of_;  // by node; -1: it costs nothing and waits for nothing
  int current_ = -1;              // the worker's activity that goes on
  std::set<int> after_;           // activities that the current one waits for
  std::set<int> arrivals_;        // transfers that the current one waits for
  std::set<int> seen_;            // _Recv nodes that an activity of the worker has waited for
};

}  // namespace

void AddPart(int task, const Plan& plan, NodeCosts* costs, StepParts* parts, StepProgram* program) {
  PartBuilder(task, plan, costs, parts, program).Build();
}

}  // namespace tensorbraid::planner
