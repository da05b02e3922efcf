#include "transport/grpc/streams.h"

#include <grpc/support/log.h>
#include <malloc.h>

#include <cstdlib>

#include "absl/synchronization/mutex.h"
#include "core/logging.h"
#include "core/strings.h"

namespace tensorbraid {
namespace {

// Channel arguments of both ends.
struct IntArg {
  const char* name;
  int value;
};
constexpr IntArg kCommonArgs[] = {
    {GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, -1},
    {GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1},
    {GRPC_ARG_HTTP2_MAX_FRAME_SIZE, 16777215},
    {GRPC_ARG_ENABLE_CHANNELZ, 0},
    // A fixed flow-control window of 4 MiB. When gRPC sets the window from its estimate of bandwidth and delay, it
    // grows to tens of megabytes, and a receiver that copies more slowly than its socket fills keeps that memory for
    // good.
    {GRPC_ARG_HTTP2_BDP_PROBE, 0},
    {GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 4 << 20},
};

}  // namespace

WorkerService::WorkerService() {
  for (int i = 0; i < kNumLanes; ++i) {
    AddMethod(
        new grpc::internal::RpcServiceMethod(kLaneMethods[i], grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
    MarkMethodAsync(i);
  }
}

grpc::ChannelArguments ClientChannelArguments() {
  grpc::ChannelArguments args;
  for (const IntArg& arg : kCommonArgs) args.SetInt(arg.name, arg.value);
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // else both lanes would share a connection
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);             // retrying would keep copies of what is sent
  args.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  return args;
}

void ConfigureServer(grpc::ServerBuilder* builder) {
  for (const IntArg& arg : kCommonArgs) builder->AddChannelArgument(arg.name, arg.value);
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder->AddChannelArgument("grpc.server_handshake_timeout_ms", 10000);
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
