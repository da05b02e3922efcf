// The network between simulated tasks: links with a bandwidth in each direction, and what messages cost the tasks.
#ifndef TENSORBRAID_PLANNER_SIMULATION_NETWORK_H_
#define TENSORBRAID_PLANNER_SIMULATION_NETWORK_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "planner/simulation/shared_cores.h"

namespace tensorbraid::planner {

// What a message costs on one kind of way between two tasks.
struct WayCosts {
  double latency_ns = 0;  // until the first byte arrives, without the costs below
  double message_ns = 0;  // of one core, at the sender and again at the receiver, for each message
  // What the thread that handled a message does afterwards, on one core of a server or of a worker, such as freeing
  // memory. The message does not wait for it; the next one does.
  double server_after_ns = 0, worker_after_ns = 0;
  // The delay until the receiving thread runs, if it sleeps and a core is idle. It sleeps if the last message on the
  // same way came more than 100 us before (docs/design/0016).
  double wake_ns = 0;
  double send_byte_ns = 0;     // of one core of the sender, for each byte
  double receive_byte_ns = 0;  // of one core of the receiver
  // A tensor above the eager limit is mapped by the receiver: it crosses no link, and needs no grant.
  bool shares_memory = false;
};

// A connection of a machine to the network. 0 bytes per second: no limit.
struct LinkSpeed {
  double out_bytes_per_s = 0;
  double in_bytes_per_s = 0;
  // Between tasks behind the same link, whose messages do not leave the machine.
  double loopback_bytes_per_s = 0;
  // What each direction passes at once after a pause. A link that a token bucket limits, as Linux' tc or a cloud does,
  // has as many as the bucket holds.
  double burst_bytes = 0;
};

// Transfers between tasks. A transfer is divided into parts: the sender handles a part, the part crosses the sender's
// and the receiver's link, the receiver handles it. The stages of different parts overlap. The connections that use a
// link share it equally, however many transfers each has. So parts are small: of a bulk message 64 KiB, if it has no
// more than 4 MiB; of others what the link carries in a millisecond, and at most 64 KiB. The bulk transfers of a
// connection take turns of 1 MiB, as in the gRPC transport (docs/design/0001); its other messages leave in order. The
// first byte of a part may arrive while its last byte is still being sent, so one transfer of b bytes over two idle
// links takes latency + b / bandwidth. Used by one thread.
class Network {
 public:
  explicit Network(EventQueue* events) : events_(events) {}
  Network(const Network&) = delete;

  // Returns the number of a new link or task.
  int AddLink(const LinkSpeed& speed);
  int AddTask(SharedCores* cores, int link, bool is_server = false);

  // Sends a message; calls `arrived` when the receiver has it. The messages from one task to another are handled by one
  // thread at each end, and the bulk messages by a second one.
  void Send(int from, int to, double bytes, bool bulk, const WayCosts& costs, std::function<void()> arrived);

  // The bytes that have crossed a link so far, and the number of messages that were sent, including those on their way.
  double bytes_out(int link) const { return links_[link].bytes_out; }
  double bytes_in(int link) const { return links_[link].bytes_in; }
  int64_t messages() const { return messages_; }
  const LinkSpeed& speed(int link) const { return links_[link].speed; }

 private:
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  struct Link {
    LinkSpeed speed;
    double out_free_ns = kNever, in_free_ns = kNever, loopback_free_ns = kNever;
    double bytes_out = 0, bytes_in = 0;

    // Lets bytes pass in one direction, and returns when the last one has passed. `free_ns` is when the direction is
    // free; with a bucket that is not empty it lies in the past.
    double Pass(double* free_ns, double now_ns, double bytes, double bytes_per_s) const;
  };
  struct Task {
    SharedCores* cores;
    int link;
    bool is_server;
    double AfterNs(const WayCosts& costs) const { return is_server ? costs.server_after_ns : costs.worker_after_ns; }
  };
  struct Transfer;
  // Messages from one task to another that share a thread at each end and a connection: their parts leave in order.
  struct Stream {
    Stream(EventQueue* events, SharedCores* from, SharedCores* to) : sender(events, from), receiver(events, to) {}
    SerialJobs sender, receiver;
    std::deque<std::shared_ptr<Transfer>> waiting;
    // Parts that the sender has begun to handle, and the receiver has not handled. A smaller message is a share of one.
    double on_the_way = 0, most_on_the_way = 0;
    // When the receiver's thread had its last message, and until when it is being woken.
    double last_ns = kNever, wakes_until_ns = kNever;
  };
  struct Connection {
    Connection(EventQueue* events, SharedCores* from, SharedCores* to)
        : control(events, from, to), bulk(events, from, to) {}
    Stream control, bulk;
  };
  // Of the connection from one task to another, in bytes per second; 0: no limit.
  double SpeedBetween(int from, int to) const;
  void SendParts(Stream* stream);
  void SendPart(Stream* stream, const std::shared_ptr<Transfer>& transfer, double bytes);
  // How long a message that has arrived waits for the receiver's thread.
  double WaitForThread(const Task& to, const WayCosts& costs, Stream* stream) const;
  void Cross(int from_link, int to_link, double bytes, double latency_ns, std::function<void()> arrived);
  Connection& ConnectionOf(int from, int to);

  EventQueue* const events_;
  std::vector<Link> links_;
  std::vector<Task> tasks_;
  std::map<std::pair<int, int>, std::unique_ptr<Connection>> connections_;
  int64_t messages_ = 0;
};

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_SIMULATION_NETWORK_H_
