// Calls of clients that come in over gRPC: any unary method that is not a lane of a link.
#ifndef TENSORBRAID_TRANSPORT_GRPC_CALL_SERVER_H_
#define TENSORBRAID_TRANSPORT_GRPC_CALL_SERVER_H_

#include <grpcpp/generic/async_generic_service.h>

#include "transport/calls.h"
#include "transport/grpc/lane.h"

namespace tensorbraid {

// Hands each call to a handler, from the thread of the queue that its connection belongs to. Thread-safe.
class CallServer {
 public:
  // `counter` counts the calls that are not over; both must outlive them.
  CallServer(CallHandler* handler, StreamCounter* counter) : handler_(handler), counter_(counter) {}

  // Before the server is built.
  void Register(grpc::ServerBuilder* builder) { builder->RegisterAsyncGenericService(&service_); }
  // Lets the next caller in whose connection is one of this queue's, and after him the next.
  void AcceptFrom(grpc::ServerCompletionQueue* queue);

 private:
  class GrpcCall;
  CallHandler* const handler_;
  StreamCounter* const counter_;
  grpc::AsyncGenericService service_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_CALL_SERVER_H_
