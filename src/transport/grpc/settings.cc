#include "transport/grpc/settings.h"

#include <grpc/support/log.h>
#include <malloc.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "absl/synchronization/mutex.h"
#include "core/text/logging.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// Messages of links that are not graphs are smaller than this.
constexpr int64_t kOtherBytes = int64_t{16} << 20;

// Channel arguments of both ends.
struct IntArg {
  const char* name;
  int value;
};
constexpr IntArg kCommonArgs[] = {
    {GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1},     // no limit
    {GRPC_ARG_HTTP2_MAX_FRAME_SIZE, 16777215},  // the largest that HTTP/2 allows
    {GRPC_ARG_ENABLE_CHANNELZ, 0},
    // gRPC sets its flow-control window from its estimate of bandwidth and delay; without that, a connection carries no
    // more than about a megabyte per round trip. The window may grow to a hundred megabytes, and a receiver that copies
    // more slowly than its socket fills would then hold so much memory all the time. BulkTensors have a window of their
    // own (bulk_window.h).
    {GRPC_ARG_HTTP2_BDP_PROBE, 1},
    {GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 4 << 20},
};

// gRPC reads this variable when its first object is made. The resolver of its own asks DNS servers also for names that
// /etc/hosts has, since there might be an IPv6 address, and uses none before all have answered. So a machine without
// DNS was never reached. The system's resolver does as /etc/nsswitch.conf says.
[[maybe_unused]] const int kSystemResolver = ::setenv("GRPC_DNS_RESOLVER", "native", /*overwrite=*/0);

}  // namespace

grpc::ChannelArguments ClientChannelArguments() {
  grpc::ChannelArguments args;
  for (const IntArg& arg : kCommonArgs) args.SetInt(arg.name, arg.value);
  args.SetInt(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, -1);  // no limit
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // else both channels would share a connection
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);             // retrying would keep copies of what is sent
  args.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  // This is how long an attempt to connect may take, with the handshake of TLS and over a long path.
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 10'000);
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  return args;
}

void ConfigureServer(const ServerLimits& limits, std::chrono::milliseconds handshake_timeout,
                     grpc::ServerBuilder* builder) {
  for (const IntArg& arg : kCommonArgs) builder->AddChannelArgument(arg.name, arg.value);
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder->AddChannelArgument("grpc.server_handshake_timeout_ms", static_cast<int>(handshake_timeout.count()));
  // If a message is larger than this, gRPC ends its call before it stores the message. CallLimits refuses messages that
  // are smaller than this, but still too large, with a better explanation.
  const auto most =
      std::min<int64_t>(2 * std::max(limits.max_message_bytes, limits.max_graph_bytes) + kOtherBytes, INT_MAX);
  builder->AddChannelArgument(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, static_cast<int>(most));
  // Calls beyond this number wait on the client's side. The number is larger than the limit at which CallLimits refuses
  // calls, so it is reached only by clients that open streams without sending a request.
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 2 * limits.max_requests + 16);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, static_cast<int>(limits.idle_timeout.count()));
  // The other machine may fail without closing its connections. Keepalive pings notice that.
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 300'000);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 60'000);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
}

void InitGrpc() {
  static const bool done = [] {
    setenv("GRPC_POLL_STRATEGY", "poll", /*overwrite=*/0);
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);  // setting the first stops the automatic growth of this one, up to 32 MiB
#endif
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    if (std::getenv("GRPC_VERBOSITY") != nullptr) return true;
    gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);
    gpr_set_log_function([](gpr_log_func_args* args) {
      if (LogEnabled(LogLevel::kDebug, "grpc")) WriteLog(LogLevel::kDebug, "grpc", args->message);
    });
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace tensorbraid
