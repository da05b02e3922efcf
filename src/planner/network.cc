#include "planner/network.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tensorbraid::planner {
namespace {

constexpr double kPartBytes = 64 << 10;
// A connection sends so much of a transfer before it is the turn of the next one, as the gRPC transport does.
constexpr double kTurnBytes = 1 << 20;
// A transfer of many parts is simulated with larger ones: this many are enough to overlap its stages, and for
// connections to share a link.
constexpr double kMostParts = 64;

double NsFor(double bytes, double bytes_per_s) { return bytes_per_s > 0 ? bytes / bytes_per_s * 1e9 : 0; }

}  // namespace

struct Network::Transfer {
  int from, to;
  double left;               // bytes that the sender has not begun to handle
  double part;               // bytes of a part
  double turn = kTurnBytes;  // bytes until it is the turn of another transfer
  int on_the_way = 0;
  bool bulk = false;
  bool first = true;
  WayCosts costs;
  std::function<void()> arrived;
};

int Network::AddLink(const LinkSpeed& speed) {
  links_.push_back({.speed = speed});
  return static_cast<int>(links_.size()) - 1;
}

int Network::AddTask(SharedCores* cores, int link, bool is_server) {
  tasks_.push_back({cores, link, is_server});
  return static_cast<int>(tasks_.size()) - 1;
}

Network::Connection& Network::ConnectionOf(int from, int to) {
  auto& connection = connections_[{from, to}];
  if (connection == nullptr) connection = std::make_unique<Connection>(events_, tasks_[from].cores, tasks_[to].cores);
  return *connection;
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
  if (!transfer->bulk) return SendPart(transfer, transfer->left);
  Connection& connection = ConnectionOf(from, to);
  connection.waiting.push_back(std::move(transfer));
  // As many parts as fill the path, and some that wait at the link.
  const double speed = links_[tasks_[from].link].speed.out_bytes_per_s;
  constexpr double kMostOnTheWay = 1e6;
  const double on_path = speed > 0 ? std::ceil(costs.latency_ns * speed / 1e9 / kPartBytes) : kMostOnTheWay;
  connection.most_on_the_way = 4 + static_cast<int>(std::min(kMostOnTheWay, on_path));
  SendParts(&connection);
}

void Network::SendParts(Connection* connection) {
  while (!connection->waiting.empty() && connection->on_the_way < connection->most_on_the_way) {
    const auto transfer = std::move(connection->waiting.front());
    connection->waiting.pop_front();
    const double bytes = std::min(transfer->left, transfer->part);
    ++connection->on_the_way;
    transfer->turn -= bytes;
    if (transfer->left > bytes && transfer->turn > 0) {
      connection->waiting.push_front(transfer);
    } else if (transfer->left > bytes) {
      transfer->turn = kTurnBytes;
      connection->waiting.push_back(transfer);
    }
    SendPart(transfer, bytes);
  }
}

void Network::SendPart(const std::shared_ptr<Transfer>& transfer, double bytes) {
  const int from = transfer->from, to = transfer->to;
  const bool first = std::exchange(transfer->first, false);
  const double message_ns = first ? transfer->costs.message_ns : 0;
  transfer->left -= bytes;
  ++transfer->on_the_way;
  Connection* const connection = &ConnectionOf(from, to);
  SerialJobs* const sender = transfer->bulk ? &connection->bulk_sender : &connection->sender;
  SerialJobs* const receiver = transfer->bulk ? &connection->bulk_receiver : &connection->receiver;
  auto received = [this, transfer, connection] {
    const bool last = --transfer->on_the_way == 0 && transfer->left <= 0;
    if (transfer->bulk) {
      --connection->on_the_way;
      SendParts(connection);
    }
    if (last) transfer->arrived();
  };
  auto crossed = [this, transfer, receiver, to, first, bytes, message_ns, received = std::move(received)]() mutable {
    receiver->Run(message_ns + bytes * transfer->costs.receive_byte_ns, 1, std::move(received));
    if (first) receiver->Run(tasks_[to].AfterNs(transfer->costs), 1, [] {});
  };
  auto handled = [this, transfer, from, to, bytes, crossed = std::move(crossed)]() mutable {
    Cross(tasks_[from].link, tasks_[to].link, bytes, transfer->costs.latency_ns, std::move(crossed));
  };
  sender->Run(message_ns + bytes * transfer->costs.send_byte_ns, 1, std::move(handled));
  if (first) sender->Run(tasks_[from].AfterNs(transfer->costs), 1, [] {});
}

double Network::Link::Pass(double* free_ns, double now_ns, double bytes, double bytes_per_s) const {
  *free_ns = std::max(*free_ns, now_ns - NsFor(speed.burst_bytes, bytes_per_s)) + NsFor(bytes, bytes_per_s);
  return std::max(*free_ns, now_ns);
}

void Network::Cross(int from_link, int to_link, double bytes, double latency_ns, std::function<void()> arrived) {
  const double now = events_->now_ns();
  Link& from = links_[from_link];
  if (from_link == to_link) {
    from.loopback_free_ns = std::max(from.loopback_free_ns, now) + NsFor(bytes, from.speed.loopback_bytes_per_s);
    return events_->At(from.loopback_free_ns + latency_ns, std::move(arrived));
  }
  const double start = std::max(from.out_free_ns, now);
  const double sent = from.Pass(&from.out_free_ns, now, bytes, from.speed.out_bytes_per_s);
  from.bytes_out += bytes;
  events_->At(start + latency_ns, [this, to_link, bytes, sent, latency_ns, arrived = std::move(arrived)]() mutable {
    Link& to = links_[to_link];
    const double received = to.Pass(&to.in_free_ns, events_->now_ns(), bytes, to.speed.in_bytes_per_s);
    to.bytes_in += bytes;
    events_->At(std::max(received, sent + latency_ns), std::move(arrived));
  });
}

}  // namespace tensorbraid::planner
