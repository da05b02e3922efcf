// The baseline for everything that we send over gRPC: two processes, one gRPC stream with our channel settings, plain
// messages, nothing else. Sending does not copy; the receiver copies (or adds) into one buffer.
#ifndef TENSORBRAID_CLI_RAW_GRPC_H_
#define TENSORBRAID_CLI_RAW_GRPC_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "tensorbraid/status.h"

namespace tensorbraid::bench {

// To be called first in main(): in the process that RawGrpc::Start starts (this program once more, with a hidden
// argument) it serves and does not return.
void MaybeServeRawGrpc(int argc, char** argv);

// A connection to a server in a process of its own, which ends with this object. Not thread-safe; calls block.
class RawGrpc {
 public:
  static StatusOr<std::unique_ptr<RawGrpc>> Start();
  virtual ~RawGrpc() = default;
  // Milliseconds from the first byte sent until the receiver has copied the last (and, for push, said so).
  virtual StatusOr<double> Push(size_t bytes, size_t message_bytes, bool add_on_receive) = 0;
  virtual StatusOr<double> Pull(size_t bytes, size_t message_bytes) = 0;
  // Microseconds of one exchange of messages of this size, the mean of `count`.
  virtual StatusOr<double> PingPong(size_t message_bytes, int count) = 0;
};

// The message sizes of which a baseline takes the best.
inline constexpr size_t kRawGrpcMessageBytes[] = {256 << 10, 1 << 20, 4 << 20};

struct RawGrpcResult {
  double min_ms = 0;
  double median_ms = 0;
  double gb_s = 0;  // 1e9 bytes per second, of the fastest run
  size_t message_bytes = 0;
};
// The best of the message sizes, each measured `repeats` times.
StatusOr<RawGrpcResult> RawGrpcPush(size_t bytes, int repeats, bool add_on_receive);
StatusOr<RawGrpcResult> RawGrpcPull(size_t bytes, int repeats);

double Median(std::vector<double> values);

// Starts this program again with `argument` and a file descriptor, waits for the number that it writes there (see
// ReportToParent) and gives that number. The child is killed when this process ends.
StatusOr<int> StartChild(const char* argument, int* pid);
void ReportToParent(const char* fd, int number);
void StopChild(int pid);

}  // namespace tensorbraid::bench

#endif  // TENSORBRAID_CLI_RAW_GRPC_H_
