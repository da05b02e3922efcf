// How many bytes of BulkTensors a link may have on the way. Too few leave a long path idle while the sender waits for
// acknowledgements; too many fill the memory of a slow receiver.
#ifndef TENSORBRAID_TRANSPORT_GRPC_BULK_WINDOW_H_
#define TENSORBRAID_TRANSPORT_GRPC_BULK_WINDOW_H_

#include <chrono>
#include <cstddef>

namespace tensorbraid {

// The receiver acknowledges what it has received every time that this many bytes have arrived.
inline constexpr size_t kBulkAckBytes = 2 << 20;
inline constexpr size_t kMinBulkWindow = 8 << 20;
inline constexpr size_t kMaxBulkWindow = 256 << 20;

// The window of a path with this round trip: the bytes that are on the way at 25 Gbit/s, plus twice the bytes between
// two acknowledgements, within the bounds above.
size_t BulkWindow(std::chrono::nanoseconds round_trip);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_BULK_WINDOW_H_
