#include "transport/grpc/bulk_window.h"

#include <algorithm>

namespace tensorbraid {

size_t BulkWindow(std::chrono::nanoseconds round_trip) {
  constexpr double kBytesPerSecond = 25e9 / 8;
  const double wanted = std::chrono::duration<double>(round_trip).count() * kBytesPerSecond + 2 * kBulkAckBytes;
  return static_cast<size_t>(std::clamp<double>(wanted, kMinBulkWindow, kMaxBulkWindow));
}

}  // namespace tensorbraid
