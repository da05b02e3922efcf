// The baseline for our gRPC transport: two processes exchange plain messages over one gRPC stream with our channel
// settings. Like ours, their threads poll for a while before they sleep. Sending does not copy; the receiver copies the
// data into a buffer, or adds it to the buffer.
#ifndef TENSORBRAID_CLI_BENCH_RAW_GRPC_H_
#define TENSORBRAID_CLI_BENCH_RAW_GRPC_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid::bench {

// Must be called first in main(). RawGrpc::Start runs this program again with a hidden argument; in that process this
// function serves and does not return.
void MaybeServeRawGrpc(int argc, char** argv);

// A connection to a server in another process, which ends with this object. Not thread-safe; calls block.
class RawGrpc {
 public:
  static StatusOr<std::unique_ptr<RawGrpc>> Start();
  virtual ~RawGrpc() = default;
  // Milliseconds from sending the first byte until the receiver has copied the last one; for a push, until its
  // confirmation has arrived.
  virtual StatusOr<double> Push(size_t bytes, size_t message_bytes, bool add_on_receive) = 0;
  virtual StatusOr<double> Pull(size_t bytes, size_t message_bytes) = 0;
  // Microseconds per exchange of messages of this size, the mean of `count` exchanges.
  virtual StatusOr<double> PingPong(size_t message_bytes, int count) = 0;
};

// The message sizes that a baseline tries. The result for the best one is reported.
inline constexpr size_t kRawGrpcMessageBytes[] = {256 << 10, 1 << 20, 4 << 20};

struct RawGrpcResult {
  double min_ms = 0;
  double median_ms = 0;
  double gb_s = 0;  // 1e9 bytes per second, of the fastest run
  size_t message_bytes = 0;
};
// The result with the best message size. Each size is measured `repeats` times.
StatusOr<RawGrpcResult> RawGrpcPush(size_t bytes, int repeats, bool add_on_receive);
StatusOr<RawGrpcResult> RawGrpcPull(size_t bytes, int repeats);

double Median(std::vector<double> values);

// Starts this program again with `argument` and a file descriptor, and returns the number that the child writes there
// (see ReportToParent). Blocks until then. The child is killed when this process ends.
StatusOr<int> StartChild(const char* argument, int* pid);
void ReportToParent(const char* fd, int number);
void StopChild(int pid);

}  // namespace tensorbraid::bench

#endif  // TENSORBRAID_CLI_BENCH_RAW_GRPC_H_
