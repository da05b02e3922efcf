// Receives client calls over gRPC: any unary method except the lane methods of links.
#ifndef TENSORBRAID_TRANSPORT_GRPC_CALL_SERVER_H_
#define TENSORBRAID_TRANSPORT_GRPC_CALL_SERVER_H_

#include <grpcpp/generic/async_generic_service.h>

#include "transport/calls.h"
#include "transport/grpc/caller_check.h"
#include "transport/grpc/lane.h"

namespace tensorbraid {

// Passes each call to a handler, on the thread of the completion queue that its connection belongs to. A call that
// `check` refuses fails before its request is read. Thread-safe.
class CallServer {
 public:
  // `counter` counts the unfinished calls. All three must outlive them.
  CallServer(CallHandler* handler, const CallerCheck* check, StreamCounter* counter)
      : handler_(handler), check_(check), counter_(counter) {}

  // Call before the server is built.
  void Register(grpc::ServerBuilder* builder) { builder->RegisterAsyncGenericService(&service_); }
  // Accepts the next call that arrives on a connection of `queue`. Accepting it requests the call after it, and so on.
  void AcceptFrom(grpc::ServerCompletionQueue* queue);

 private:
  class GrpcCall;
  CallHandler* const handler_;
  const CallerCheck* const check_;
  StreamCounter* const counter_;
  grpc::AsyncGenericService service_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_CALL_SERVER_H_
