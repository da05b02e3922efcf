#include "planner/network.h"

#include <algorithm>
#include <cmath>

namespace tensorbraid::planner {
namespace {

constexpr double kPartBytes = 1 << 20;
// A transfer of many parts is simulated with larger ones: this many are enough to overlap its stages.
constexpr double kMostParts = 64;

double NsFor(double bytes, double bytes_per_s) { return bytes_per_s > 0 ? bytes / bytes_per_s * 1e9 : 0; }

}  // namespace

struct Network::Transfer {
  int from, to;
  double left;  // bytes that the sender has not begun to handle
  double part;  // bytes of a part
  int on_the_way = 0;
  int most_on_the_way = 1;
  bool bulk = false;
  bool first = true;
  WayCosts costs;
  std::function<void()> arrived;
};

int Network::AddLink(const LinkSpeed& speed) {
  links_.push_back({.speed = speed});
  return static_cast<int>(links_.size()) - 1;
}

int Network::AddTask(SharedCores* cores, int link) {
  tasks_.push_back({cores, link});
  return static_cast<int>(tasks_.size()) - 1;
}

Network::BulkThreads& Network::ThreadsOf(int from, int to) {
  auto& threads = bulk_[{from, to}];
  if (threads == nullptr) threads = std::make_unique<BulkThreads>(events_, tasks_[from].cores, tasks_[to].cores);
  return *threads;
}

void Network::Send(int from, int to, double bytes, bool bulk, const WayCosts& costs, std::function<void()> arrived) {
  auto transfer = std::make_shared<Transfer>();
  transfer->from = from;
  transfer->to = to;
  transfer->left = bulk && costs.shares_memory ? 0 : std::max(bytes, 0.0);
  transfer->part = std::max(kPartBytes, transfer->left / kMostParts);
  transfer->bulk = bulk && !costs.shares_memory;
  transfer->costs = costs;
  transfer->arrived = std::move(arrived);
  // As many parts as fill the path, and some that wait at the link.
  const double speed = links_[tasks_[from].link].speed.out_bytes_per_s;
  transfer->most_on_the_way = 4 + static_cast<int>(std::ceil(costs.latency_ns * speed / 1e9 / transfer->part));
  SendParts(transfer);
}

void Network::SendParts(const std::shared_ptr<Transfer>& transfer) {
  Transfer& t = *transfer;
  while ((t.first || t.left > 0) && t.on_the_way < t.most_on_the_way) {
    const double bytes = std::min(t.left, t.part);
    const double message_ns = t.first ? t.costs.message_ns : 0;
    t.first = false;
    t.left -= bytes;
    ++t.on_the_way;
    auto received = [this, transfer] {
      --transfer->on_the_way;
      if (transfer->left > 0) return SendParts(transfer);
      if (transfer->on_the_way == 0) transfer->arrived();
    };
    auto crossed = [this, transfer, bytes, message_ns, received = std::move(received)]() mutable {
      const double ns = message_ns + bytes * transfer->costs.receive_byte_ns;
      if (transfer->bulk) {
        ThreadsOf(transfer->from, transfer->to).receiver.Run(ns, 1, std::move(received));
      } else {
        tasks_[transfer->to].cores->Run(ns, 1, std::move(received));
      }
    };
    auto handled = [this, transfer, bytes, crossed = std::move(crossed)]() mutable {
      Cross(tasks_[transfer->from].link, tasks_[transfer->to].link, bytes, transfer->costs.latency_ns,
            std::move(crossed));
    };
    const double ns = message_ns + bytes * t.costs.send_byte_ns;
    if (t.bulk) {
      ThreadsOf(t.from, t.to).sender.Run(ns, 1, std::move(handled));
    } else {
      tasks_[t.from].cores->Run(ns, 1, std::move(handled));
    }
  }
}

void Network::Cross(int from_link, int to_link, double bytes, double latency_ns, std::function<void()> arrived) {
  const double now = events_->now_ns();
  Link& from = links_[from_link];
  if (from_link == to_link) {
    from.loopback_free_ns = std::max(from.loopback_free_ns, now) + NsFor(bytes, from.speed.loopback_bytes_per_s);
    return events_->At(from.loopback_free_ns + latency_ns, std::move(arrived));
  }
  const double start = std::max(from.out_free_ns, now);
  from.out_free_ns = start + NsFor(bytes, from.speed.out_bytes_per_s);
  from.bytes_out += bytes;
  const double sent = from.out_free_ns;
  events_->At(start + latency_ns, [this, to_link, bytes, sent, latency_ns, arrived = std::move(arrived)]() mutable {
    Link& to = links_[to_link];
    to.in_free_ns = std::max(to.in_free_ns, events_->now_ns()) + NsFor(bytes, to.speed.in_bytes_per_s);
    to.bytes_in += bytes;
    events_->At(std::max(to.in_free_ns, sent + latency_ns), std::move(arrived));
  });
}

}  // namespace tensorbraid::planner
