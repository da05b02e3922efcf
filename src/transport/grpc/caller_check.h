// Identifies the caller that opens a stream or sends a call. Refuses callers without a token if one is required.
//
// A caller sends a token in the metadata "authorization: Bearer TOKEN". It has the role of a task if its token is in
// the tasks' token file (or no token is required), and its certificate is not a client's. A certificate is a client's
// if its organizational unit is kClientUnit. Any other caller that is accepted has the role of a client.
#ifndef TENSORBRAID_TRANSPORT_GRPC_CALLER_CHECK_H_
#define TENSORBRAID_TRANSPORT_GRPC_CALLER_CHECK_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "tensorbraid/transport/tls_options.h"
#include "transport/caller.h"
#include "transport/token_file.h"

namespace tensorbraid {

// Thread-safe.
class CallerCheck {
 public:
  // Either file name may be empty. `tasks` has the tokens of tasks, `clients` those of clients. Errors as in
  // TokenFile::Open; InvalidArgument for `clients` without `tasks`.
  static StatusOr<std::unique_ptr<CallerCheck>> Create(const std::string& tasks, const std::string& clients);

  // Who opened the stream or sends the call. Unauthenticated if a token is required and the caller has none that is
  // accepted; the message says which flag the caller needs. `context` has received the caller's metadata.
  StatusOr<Caller> Check(const grpc::ServerContextBase& context) const;
  bool needs_token() const { return tasks_ != nullptr; }

 private:
  std::unique_ptr<TokenFile> tasks_;    // null: no token is required
  std::unique_ptr<TokenFile> clients_;  // may be null
};

// The token of a process that connects to others, and where it may be sent. Thread-safe.
class OwnToken {
 public:
  // Nothing is sent if `path` is empty. Errors as in TokenFile::Open.
  static StatusOr<std::shared_ptr<OwnToken>> Open(const std::string& path);
  // Adds the token to the metadata of a call to `address` ("host:port"). InvalidArgument if the token could be read on
  // the way: without TLS it is sent over loopback only.
  Status AddTo(const std::string& address, const TlsOptions& tls, grpc::ClientContext* context) const;

 private:
  std::unique_ptr<TokenFile> file_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_CALLER_CHECK_H_
