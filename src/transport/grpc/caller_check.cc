#include "transport/grpc/caller_check.h"

#include <grpc/grpc_security_constants.h>

#include <utility>

#include "core/text/host_port.h"
#include "core/text/strings.h"
#include "transport/address.h"

namespace tensorbraid {
namespace {

constexpr char kTokenKey[] = "authorization";
constexpr std::string_view kScheme = "Bearer ";

std::string_view AsView(grpc::string_ref text) { return {text.data(), text.size()}; }

// "127.0.0.1:41234" for gRPC's "ipv4:127.0.0.1:41234", "[::1]:41234" for "ipv6:%5B::1%5D:41234".
std::string AddressOf(std::string_view peer) {
  const size_t scheme = peer.find(':');
  std::string address;
  for (std::string_view rest = scheme == std::string_view::npos ? peer : peer.substr(scheme + 1); !rest.empty();) {
    const bool open = rest.starts_with("%5B"), close = rest.starts_with("%5D");
    address += open ? '[' : close ? ']' : rest[0];
    rest.remove_prefix(open || close ? 3 : 1);
  }
  return address;
}

bool HasClientCertificate(const grpc::ServerContextBase& context) {
  const auto auth = context.auth_context();
  if (auth == nullptr) return false;
  // The subject in the form of RFC 2253: "CN=laptop,OU=Tensorbraid client,O=Tensorbraid".
  const std::string unit = StrCat("OU=", kClientUnit);
  for (const grpc::string_ref& property : auth->FindPropertyValues(GRPC_X509_SUBJECT_PROPERTY_NAME)) {
    for (const std::string& part : StrSplit(AsView(property), ',')) {
      if (part == unit) return true;
    }
  }
  return false;
}

}  // namespace

StatusOr<std::unique_ptr<CallerCheck>> CallerCheck::Create(const std::string& tasks, const std::string& clients) {
  auto check = std::make_unique<CallerCheck>();
  if (tasks.empty() && !clients.empty()) {
    return InvalidArgument("--token_file is missing: with --client_token_file alone, tasks could not reach each other");
  }
  if (!tasks.empty()) {
    TF_ASSIGN_OR_RETURN(check->tasks_, TokenFile::Open("--token_file", tasks));
  }
  if (!clients.empty()) {
    TF_ASSIGN_OR_RETURN(check->clients_, TokenFile::Open("--client_token_file", clients));
  }
  return check;
}

StatusOr<Caller> CallerCheck::Check(const grpc::ServerContextBase& context) const {
  Caller caller{.role = HasClientCertificate(context) ? Role::kClient : Role::kTask,
                .is_local = false,
                .address = AddressOf(context.peer())};
  const auto where = ParseHostPort(caller.address);
  caller.is_local = where.ok() && IsLoopbackHost(where->host);
  if (tasks_ == nullptr) return caller;
  bool is_task = false, is_client = false, has_any = false;
  const auto [begin, end] = context.client_metadata().equal_range(kTokenKey);
  for (auto it = begin; it != end; ++it) {
    const std::string_view value = AsView(it->second);
    if (!value.starts_with(kScheme)) continue;
    has_any = true;
    is_task = tasks_->Accepts(value.substr(kScheme.size())) || is_task;
    is_client = (clients_ != nullptr && clients_->Accepts(value.substr(kScheme.size()))) || is_client;
  }
  if (is_task) return caller;
  if (is_client) {
    caller.role = Role::kClient;
    return caller;
  }
  return absl::UnauthenticatedError(
      has_any ? "the server does not accept this token; give the current one with --token_file (a program: "
                "SessionOptions::token_file)"
              : "the server needs a token; give it with --token_file (a program: SessionOptions::token_file; "
                "TensorFlow's clients: 'tensorbraid proxy --token_file')");
}

StatusOr<std::shared_ptr<OwnToken>> OwnToken::Open(const std::string& path) {
  auto token = std::make_shared<OwnToken>();
  if (!path.empty()) {
    TF_ASSIGN_OR_RETURN(token->file_, TokenFile::Open("--token_file", path));
  }
  return token;
}

Status OwnToken::AddTo(const std::string& address, const TlsOptions& tls, grpc::ClientContext* context) const {
  if (file_ == nullptr) return OkStatus();
  const auto where = ParseHostPort(address);
  if (!tls.enabled() && !(where.ok() && IsLoopbackHost(where->host))) {
    return InvalidArgument("refuses to send the token of --token_file to ", address,
                           " without TLS, where others could ", "read it: give --tls_ca, --tls_cert and --tls_key too");
  }
  context->AddMetadata(kTokenKey, StrCat(kScheme, file_->token()));
  return OkStatus();
}

}  // namespace tensorbraid
