#include "executor/send_order.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tensorbraid {
namespace {

// Values of needed_at_ that are no places in the order.
constexpr int kNever = std::numeric_limits<int>::max();  // no _Send in the order so far needs the node
constexpr int kCounting = kNever - 1;                    // WorkFor has counted the node

class SendOrder {
 public:
  explicit SendOrder(const Plan& plan)
      : plan_(plan), producers_(plan.nodes().size()), needed_at_(producers_.size(), kNever) {
    for (int i = 0; i < size(); ++i) {
      const Plan::PlanNode& p = plan.nodes()[i];
      for (int e = p.data_begin; e < p.data_end; ++e) producers_[plan.data_edges()[e].node].push_back(i);
      for (int e = p.control_begin; e < p.control_end; ++e) producers_[plan.control_edges()[e]].push_back(i);
    }
    FindDepths();
  }

  std::vector<int> Ranks() {
    // The _Send nodes that have no place in the order yet, the shallowest last.
    std::vector<int> left;
    for (int i = size() - 1; i >= 0; --i) {
      if (IsSend(i)) left.push_back(i);
    }
    if (left.empty()) return {};
    std::stable_sort(left.begin(), left.end(), [&](int a, int b) { return depth_[a] > depth_[b]; });
    for (int place = 0; !left.empty(); ++place) {
      const auto next = NextSend(left);
      Need(*next, place, [](int) { return true; });
      left.erase(next);
    }

    std::vector<int> nodes(producers_.size());
    for (int i = 0; i < size(); ++i) nodes[i] = i;
    const auto key = [&](int i) { return std::tuple(!IsTransfer(i), needed_at_[i], -depth_[i], i); };
    std::sort(nodes.begin(), nodes.end(), [&](int a, int b) { return key(a) < key(b); });
    std::vector<int> ranks(nodes.size());
    for (int rank = 0; rank < size(); ++rank) ranks[nodes[rank]] = rank;
    return ranks;
  }

 private:
  int size() const { return static_cast<int>(producers_.size()); }
  bool IsSend(int i) const { return plan_.nodes()[i].node->type() == "_Send"; }
  bool IsTransfer(int i) const { return IsSend(i) || plan_.nodes()[i].node->type() == "_Recv"; }

  // The depth of a node is the number of edges on the longest path to it. Nodes are numbered like those of the graph:
  // each after the nodes that it waits for.
  void FindDepths() {
    depth_.assign(producers_.size(), 0);
    for (int i = 0; i < size(); ++i) {
      for (const int from : producers_[i]) depth_[i] = std::max(depth_[i], depth_[from] + 1);
    }
  }

  // Returns the _Send node that comes next. Only the shallowest kCandidates are candidates, and counting the nodes
  // that a candidate needs stops at the lowest count so far. The nodes of the chosen candidate are never counted again.
  // So the time is linear, unless the shallowest candidate needs many nodes and is not chosen for long.
  std::vector<int>::iterator NextSend(std::vector<int>& left) {
    constexpr std::ptrdiff_t kCandidates = 16;
    auto best = left.end() - 1;
    int64_t lowest = std::numeric_limits<int64_t>::max();
    for (auto i = left.end(); i != left.begin() && left.end() - i < kCandidates;) {
      --i;
      const int64_t work = WorkFor(*i, lowest);
      if (work >= lowest) continue;
      lowest = work;
      best = i;
    }
    return best;
  }

  // The number of nodes that `send` needs and no earlier _Send does, plus the number of their inputs. May stop counting
  // at `enough`.
  int64_t WorkFor(int send, int64_t enough) {
    int64_t work = 0;
    const std::vector<int> found = Need(send, kCounting, [&](int node) {
      work += 1 + static_cast<int64_t>(producers_[node].size());
      return work < enough;
    });
    for (const int i : found) needed_at_[i] = kNever;
    return work;
  }

  // Sets needed_at_ to `place` for `send` and for the nodes that it needs and no earlier _Send does. Stops at the first
  // node for which go_on(node) is false. Returns the nodes that were found.
  template <typename GoOn>
  std::vector<int> Need(int send, int place, const GoOn& go_on) {
    std::vector<int> found = {send};
    needed_at_[send] = place;
    for (size_t i = 0; i < found.size() && go_on(found[i]); ++i) {
      for (const int from : producers_[found[i]]) {
        if (needed_at_[from] != kNever) continue;
        needed_at_[from] = place;
        found.push_back(from);
      }
    }
    return found;
  }

  const Plan& plan_;
  std::vector<std::vector<int>> producers_;
  std::vector<int> needed_at_;  // the place in the order of the first _Send that needs the node
  std::vector<int> depth_;
};

}  // namespace

std::vector<int> RankBySends(const Plan& plan) { return SendOrder(plan).Ranks(); }

}  // namespace tensorbraid
