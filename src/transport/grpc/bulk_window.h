// How many bytes of BulkTensors a link may have on the way, so that a long path is not idle while the sender waits for
// the receiver, and the receiver need not keep much that it has not looked at yet.
#ifndef TENSORBRAID_TRANSPORT_GRPC_BULK_WINDOW_H_
#define TENSORBRAID_TRANSPORT_GRPC_BULK_WINDOW_H_

#include <chrono>
#include <cstddef>

namespace tensorbraid {

// The receiver acknowledges what it has received every time that this many bytes have arrived.
inline constexpr size_t kBulkAckBytes = 2 << 20;
inline constexpr size_t kMinBulkWindow = 8 << 20;
inline constexpr size_t kMaxBulkWindow = 256 << 20;

// The window of a path with this round trip: what the path holds at 25 Gbit/s, and twice the bytes between two
// acknowledgements, within the bounds above.
size_t BulkWindow(std::chrono::nanoseconds round_trip);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_BULK_WINDOW_H_
