// Receives the calls of clients over gRPC, whatever unary method they call. (The streams of links have methods of their
// own, see stream.h.)
#ifndef TENSORBRAID_TRANSPORT_GRPC_CALL_SERVER_H_
#define TENSORBRAID_TRANSPORT_GRPC_CALL_SERVER_H_

#include <grpcpp/generic/async_generic_service.h>

#include "core/threads/live_count.h"
#include "transport/calls.h"
#include "transport/grpc/call_limits.h"
#include "transport/grpc/caller_check.h"
#include "transport/grpc/channel.h"

namespace tensorbraid {

// Passes each call to a handler, on the thread of the completion queue that its connection belongs to. A call that
// `check` refuses, or that is over the limits, fails before its request is read. Thread-safe.
class CallServer {
 public:
  // `calls` counts the unfinished calls. `handler`, `check` and `calls` must outlive all calls.
  CallServer(CallHandler* handler, const CallerCheck* check, std::shared_ptr<CallLimits> limits, LiveCount* calls)
      : handler_(handler), check_(check), limits_(std::move(limits)), calls_(calls) {}

  // Call before the server is built.
  void Register(grpc::ServerBuilder* builder) { builder->RegisterAsyncGenericService(&service_); }
  // Accepts all calls that arrive on connections of `queue`, one after another: each call that begins requests the next
  // one. Call once for each queue.
  void AcceptFrom(grpc::ServerCompletionQueue* queue);

 private:
  class GrpcCall;
  CallHandler* const handler_;
  const CallerCheck* const check_;
  const std::shared_ptr<CallLimits> limits_;
  LiveCount* const calls_;
  grpc::AsyncGenericService service_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_CALL_SERVER_H_
