#include "transport/grpc/credentials.h"

#include <grpcpp/security/tls_credentials_options.h>

#include "core/system/secret_file.h"
#include "core/text/host_port.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "transport/grpc/settings.h"

namespace tensorbraid {
namespace {

using grpc::experimental::FileWatcherCertificateProvider;

constexpr unsigned kSecondsBetweenLooks = 1;

// Checks that a file can be read and contains a PEM block whose type ends with `block`.
Status CheckFile(const char* flag, const std::string& path, const char* block) {
  const auto text = ReadFile(path);
  if (!text.ok()) return Annotate(text.status(), flag);
  if (text->find("-----BEGIN ") != std::string::npos && text->find(StrCat(block, "-----")) != std::string::npos) {
    return OkStatus();
  }
  return InvalidArgument(flag, ": the file '", path, "' does not contain a ", block, " in PEM format");
}

Status CheckFiles(const TlsOptions& tls) {
  if (tls.cert.empty() != tls.key.empty()) {
    return InvalidArgument(tls.cert.empty() ? "--tls_cert" : "--tls_key",
                           " is missing: a certificate and its private key are used together");
  }
  if (!tls.cert.empty()) {
    TF_RETURN_IF_ERROR(CheckFile("--tls_cert", tls.cert, "CERTIFICATE"));
    TF_RETURN_IF_ERROR(CheckIsSecret("--tls_key", tls.key));
    TF_RETURN_IF_ERROR(CheckFile("--tls_key", tls.key, "PRIVATE KEY"));
  }
  return tls.ca.empty() ? OkStatus() : CheckFile("--tls_ca", tls.ca, "CERTIFICATE");
}

std::shared_ptr<FileWatcherCertificateProvider> NewProvider(const TlsOptions& tls) {
  return std::make_shared<FileWatcherCertificateProvider>(tls.key, tls.cert, tls.ca, kSecondsBetweenLooks);
}

void Watch(const TlsOptions& tls, grpc::experimental::TlsCredentialsOptions* options) {
  if (!tls.cert.empty()) options->watch_identity_key_cert_pairs();
  if (!tls.ca.empty()) options->watch_root_certs();
}

bool Contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Whether the other side has closed the connection. Which text gRPC gives depends on what it was doing then.
bool WasClosed(std::string_view text) {
  for (const char* closed : {"Socket closed", "Transport closed", "Connection reset", "Broken pipe"}) {
    if (Contains(text, closed)) return true;
  }
  return false;
}

}  // namespace

StatusOr<std::shared_ptr<grpc::ServerCredentials>> NewServerCredentials(const TlsOptions& tls) {
  if (!tls.enabled()) return grpc::InsecureServerCredentials();
  TF_RETURN_IF_ERROR(CheckFiles(tls));
  if (tls.cert.empty()) {
    return InvalidArgument("--tls_cert and --tls_key are missing: a server that uses TLS needs a certificate");
  }
  grpc::experimental::TlsServerCredentialsOptions options(NewProvider(tls));
  Watch(tls, &options);
  if (!tls.ca.empty()) {
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(options);
}

StatusOr<std::shared_ptr<grpc::ChannelCredentials>> NewChannelCredentials(const TlsOptions& tls) {
  if (!tls.enabled()) return grpc::InsecureChannelCredentials();
  TF_RETURN_IF_ERROR(CheckFiles(tls));
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(NewProvider(tls));
  Watch(tls, &options);
  return grpc::experimental::TlsCredentials(options);
}

std::shared_ptr<grpc::Channel> NewGrpcChannel(const std::string& address,
                                              const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  auto arguments = ClientChannelArguments();
  std::string target = address;
  if (const auto where = ParseHostPort(address); where.ok()) {
    // Avoids a look-up of the most usual name. The certificate must be for the name that the user wrote, nevertheless.
    if (where->host == "localhost") target = HostPort{"127.0.0.1", where->port}.ToString();
    arguments.SetSslTargetNameOverride(where->host);
  }
  return grpc::CreateCustomChannel(target, credentials, arguments);
}

bool IsConnectError(std::string_view text) {
  return text.starts_with(kConnectErrorPrefix) || text.starts_with("DNS resolution failed");
}

Status ConnectError(const std::string& what, const TlsOptions& tls, std::string_view text) {
  if (Contains(text, "certificate verify failed")) {
    return absl::UnauthenticatedError(
        StrCat(what, ": the server's certificate has expired, or it does not come from an authority in ",
               tls.ca.empty() ? "the system's list; --tls_ca names another list" : "--tls_ca=" + tls.ca));
  }
  if (Contains(text, "Hostname Verification Check failed")) {
    return absl::UnauthenticatedError(
        StrCat(what, ": the server's certificate is not for this host name; 'tensorbraid certs --hosts' must name it"));
  }
  if (Contains(text, "wrong version number")) {
    return absl::UnauthenticatedError(
        StrCat(what, ": the server does not use TLS; start it with --tls_cert and --tls_key"));
  }
  if (WasClosed(text)) {
    if (!tls.enabled()) {
      return Unavailable(what, ": the server closed the connection; if it uses TLS, this side needs --tls_ca, ",
                         "--tls_cert and --tls_key too; if its log says so, it has too many connections");
    }
    return Unavailable(what, ": the server closed the connection; it may not accept ",
                       tls.cert.empty() ? std::string("a client without --tls_cert and --tls_key")
                                        : StrCat("the certificate --tls_cert=", tls.cert,
                                                 ", which may have expired or come from another authority"));
  }
  return Unavailable(what, ": ", std::string(text));
}

}  // namespace tensorbraid
