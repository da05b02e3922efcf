#include "planner/simulation/network.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tensorbraid::planner {
namespace {

constexpr double kPartBytes = 64 << 10;
// TCP lets a connection have about a millisecond of its speed in the queue of the machine (its small queues), and at
// least two segments. So short messages of several connections, which leave at the same time, take turns in such parts.
constexpr double kShortPartNs = 1e6;
constexpr double kShortPartBytes = 2 * 1460;
// Parts of a connection that leave or wait at the link, beside those that fill the path.
constexpr double kWaitingParts = 4, kWaitingShortParts = 2;
// A connection sends so much of a transfer before it is the turn of the next one, as the gRPC transport does.
constexpr double kTurnBytes = 1 << 20;
// A transfer of many parts is simulated with larger ones: this many are enough to overlap its stages, and for
// connections to share a link.
constexpr double kMostParts = 64;

// A thread that receives polls for so long before it sleeps.
constexpr double kPollNs = 100e3;

double NsFor(double bytes, double bytes_per_s) { return bytes_per_s > 0 ? bytes / bytes_per_s * 1e9 : 0; }

}  // namespace

struct Network::Transfer {
  int from, to;
  double left;               // bytes that the sender has not begun to handle
  double part = kPartBytes;  // bytes of a part
  double turn = kTurnBytes;  // bytes until it is the turn of another transfer
  int on_the_way = 0;        // parts
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

double Network::SpeedBetween(int from, int to) const {
  const Link& a = links_[tasks_[from].link];
  const Link& b = links_[tasks_[to].link];
  if (&a == &b) return a.speed.loopback_bytes_per_s;
  const double out = a.speed.out_bytes_per_s, in = b.speed.in_bytes_per_s;
  return out > 0 && in > 0 ? std::min(out, in) : std::max(out, in);
}

void Network::Send(int from, int to, double bytes, bool bulk, const WayCosts& costs, std::function<void()> arrived) {
  ++messages_;
  if (bulk && costs.shares_memory) {
    bulk = false;
    bytes = 0;
  }
  auto transfer = std::make_shared<Transfer>();
  transfer->from = from;
  transfer->to = to;
  transfer->left = std::max(bytes, 0.0);
  const double speed = SpeedBetween(from, to);
  if (bulk) {
    transfer->part = std::max(kPartBytes, transfer->left / kMostParts);
  } else {
    if (speed > 0) transfer->part = std::clamp(speed * kShortPartNs / 1e9, kShortPartBytes, kPartBytes);
    transfer->turn = transfer->left;
  }
  transfer->costs = costs;
  transfer->arrived = std::move(arrived);
  Connection& connection = ConnectionOf(from, to);
  Stream& stream = bulk ? connection.bulk : connection.control;
  stream.most_on_the_way = std::numeric_limits<double>::infinity();
  if (speed > 0) {
    const double path = std::ceil(speed * costs.latency_ns / 1e9 / transfer->part);
    stream.most_on_the_way = path + (bulk ? kWaitingParts : kWaitingShortParts);
  }
  stream.waiting.push_back(std::move(transfer));
  SendParts(&stream);
}

void Network::SendParts(Stream* stream) {
  while (!stream->waiting.empty()) {
    const auto transfer = stream->waiting.front();
    const double bytes = std::min(transfer->left, transfer->part);
    if (stream->on_the_way + bytes / transfer->part > stream->most_on_the_way) return;
    stream->waiting.pop_front();
    transfer->turn -= bytes;
    if (transfer->left > bytes && transfer->turn > 0) {
      stream->waiting.push_front(transfer);
    } else if (transfer->left > bytes) {
      transfer->turn = kTurnBytes;
      stream->waiting.push_back(transfer);
    }
    SendPart(stream, transfer, bytes);
  }
}

void Network::SendPart(Stream* stream, const std::shared_ptr<Transfer>& transfer, double bytes) {
  const int from = transfer->from, to = transfer->to;
  const bool first = std::exchange(transfer->first, false);
  const double message_ns = first ? transfer->costs.message_ns : 0;
  transfer->left -= bytes;
  ++transfer->on_the_way;
  stream->on_the_way += bytes / transfer->part;
  auto received = [this, transfer, stream, bytes] {
    stream->on_the_way -= bytes / transfer->part;
    const bool last = --transfer->on_the_way == 0 && transfer->left <= 0;
    SendParts(stream);
    if (last) transfer->arrived();
  };
  auto handle = [this, transfer, stream, to, first, bytes, message_ns, received = std::move(received)]() mutable {
    stream->receiver.Run(message_ns + bytes * transfer->costs.receive_byte_ns, 1, std::move(received));
    if (first) stream->receiver.Run(tasks_[to].AfterNs(transfer->costs), 1, [] {});
  };
  auto crossed = [this, transfer, stream, to, handle = std::move(handle)]() mutable {
    const double wait_ns = WaitForThread(tasks_[to], transfer->costs, stream);
    if (wait_ns <= 0) return handle();
    events_->After(wait_ns, std::move(handle));
  };
  auto handled = [this, transfer, from, to, bytes, crossed = std::move(crossed)]() mutable {
    Cross(tasks_[from].link, tasks_[to].link, bytes, transfer->costs.latency_ns, std::move(crossed));
  };
  stream->sender.Run(message_ns + bytes * transfer->costs.send_byte_ns, 1, std::move(handled));
  if (first) stream->sender.Run(tasks_[from].AfterNs(transfer->costs), 1, [] {});
}

double Network::WaitForThread(const Task& to, const WayCosts& costs, Stream* stream) const {
  if (costs.wake_ns <= 0) return 0;
  const double now = events_->now_ns();
  if (now < stream->wakes_until_ns) return stream->wakes_until_ns - now;
  const bool sleeps = now > stream->last_ns + kPollNs;
  stream->last_ns = now;
  // Where all cores are busy, the thread waits for its turn as every other thread.
  if (!sleeps || !to.cores->HasIdleCore()) return 0;
  stream->wakes_until_ns = stream->last_ns = now + costs.wake_ns;
  return costs.wake_ns;
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
