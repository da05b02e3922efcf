#include "cluster/status/status_server.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "cluster/protobuf/report.pb.h"
#include "cluster/status/http_server.h"
#include "cluster/status/metrics.h"
#include "core/system/clock.h"
#include "core/system/secret_file.h"
#include "core/text/host_port.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "core/threads/thread.h"
#include "transport/address.h"
#include "transport/grpc/bind_address.h"
#include "transport/grpc/own_user.h"
#include "transport/token_file.h"

namespace tensorbraid {
namespace {

constexpr std::chrono::milliseconds kMaxReportAge{500};
// How many requests may wait for a report at the same time. Most threads are left for probes, so that a supervisor does
// not kill a task because readers of its status wait.
constexpr int kMaxWaiting = HttpLimits().threads / 4;

constexpr char kHealthPath[] = "/healthz";
constexpr char kReadyPath[] = "/readyz";

// Loads the files of `tls` into a connection. Returns the flag whose file is wrong, or null.
const char* LoadFiles(const TlsOptions& tls, SSL* ssl) {
  if (SSL_use_certificate_chain_file(ssl, tls.cert.c_str()) != 1) return "--tls_cert";
  if (SSL_use_PrivateKey_file(ssl, tls.key.c_str(), SSL_FILETYPE_PEM) != 1) return "--tls_key";
  if (tls.ca.empty()) return nullptr;
  X509_STORE* const store = X509_STORE_new();
  if (store == nullptr || X509_STORE_load_file(store, tls.ca.c_str()) != 1) {
    X509_STORE_free(store);
    return "--tls_ca";
  }
  SSL_set0_verify_cert_store(ssl, store);
  SSL_set_verify(ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return nullptr;
}

using ContextPtr = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

// Null if OpenSSL fails.
ContextPtr NewContext(const TlsOptions* tls) {
  ContextPtr context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (context == nullptr) return context;
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  // A resumed session would not be verified again.
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
  const auto load = [](SSL* ssl, void* files) {
    const bool loaded = LoadFiles(*static_cast<const TlsOptions*>(files), ssl) == nullptr;
    ERR_clear_error();
    return loaded ? 1 : 0;
  };
  SSL_CTX_set_cert_cb(context.get(), load, const_cast<TlsOptions*>(tls));
  return context;
}

Status CheckFiles(const TlsOptions& tls) {
  if (tls.cert.empty() || tls.key.empty()) return InvalidArgument("--tls_cert or --tls_key is missing");
  TF_RETURN_IF_ERROR(CheckIsSecret("--tls_key", tls.key));
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(context == nullptr ? nullptr : SSL_new(context.get()), SSL_free);
  if (ssl == nullptr) return Internal("cannot use TLS");
  const char* const wrong = LoadFiles(tls, ssl.get());
  ERR_clear_error();
  return wrong == nullptr ? OkStatus() : InvalidArgument(wrong, ": the file cannot be used");
}

class ServerOfStatus final : public StatusServer {
 public:
  ServerOfStatus(const StatusServerOptions& options, Source source, Readiness readiness)
      : options_(options),
        source_(std::move(source)),
        readiness_(std::move(readiness)),
        reports_(std::make_shared<Reports>()) {}
  ~ServerOfStatus() override {
    if (server_ == nullptr) return;
    server_->stop();
    thread_.Join();
  }

  Status Listen() {
    for (const auto& [flag, path] : {std::pair("--token_file", options_.token_file),
                                     std::pair("--client_token_file", options_.client_token_file)}) {
      if (path.empty()) continue;
      TF_ASSIGN_OR_RETURN(tokens_.emplace_back(), TokenFile::Open(flag, path));
    }
    TF_ASSIGN_OR_RETURN(HostPort bind, BindAddress(options_.address, options_.bind_address));
    bind.port = options_.port;
    ContextPtr context(nullptr, SSL_CTX_free);
    if (options_.tls.enabled()) {
      TF_RETURN_IF_ERROR(CheckFiles(options_.tls));
      context = NewContext(&options_.tls);
      if (context == nullptr) return Internal("cannot use TLS");
    } else if (!options_.insecure) {
      TF_RETURN_IF_ERROR(CheckLoopback(bind, options_.address));
    }
    server_ =
        std::make_unique<HttpServer>(std::move(context), HttpLimits{.request = options_.request_time},
                                     /*checks_users=*/!options_.insecure && tokens_.empty() && options_.tls.ca.empty());
    server_->set_payload_max_length(1024);
    // The default would let several servers share the port.
    server_->set_socket_options([](int socket) {
      const int on = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    });
    Route(IsLoopbackHost(bind.host));
    const int port = server_->Bind(bind.host, bind.port);
    if (port < 0) {
      server_.reset();
      return Annotate(WhyBindFails(bind, bind.ToString()), "--metrics_port");
    }
    TF_ASSIGN_OR_RETURN(HostPort at, ParseHostPort(options_.address));
    at.port = port;
    url_ = StrCat(options_.tls.enabled() ? "https" : "http", "://", at.ToString(), "/");
    thread_ = Thread("tb-http", [this] {
      server_->listen_after_bind();
      ended_ = true;
    });
    // Until the server runs, stop() would have no effect.
    while (!server_->is_running() && !ended_) SleepFor(std::chrono::milliseconds(1));
    return OkStatus();
  }
  const std::string& url() const override { return url_; }

 private:
  // The last report. Shared with the callback of the source, which may come after the server has ended.
  struct Reports {
    Mutex mu;
    CondVar arrived;
    bool asking TB_GUARDED_BY(mu) = false;
    int waiting TB_GUARDED_BY(mu) = 0;  // requests
    std::shared_ptr<const proto::ClusterReport> last TB_GUARDED_BY(mu);
    MonotonicClock::time_point last_at TB_GUARDED_BY(mu);
  };

  // Returns the last report if it is at most half a second old. Otherwise asks for a new report and waits for it.
  // Simultaneous requests share the new report. Null if no report arrives, or if too many requests wait already.
  std::shared_ptr<const proto::ClusterReport> Report() {
    constexpr std::chrono::seconds kPatience{20};
    bool ask = false;
    {
      MutexLock lock(reports_->mu);
      if (reports_->last != nullptr && MonotonicClock::now() - reports_->last_at < kMaxReportAge) return reports_->last;
      reports_->last = nullptr;
      if (reports_->waiting == kMaxWaiting) return nullptr;
      ++reports_->waiting;
      ask = !std::exchange(reports_->asking, true);
    }
    if (ask) {
      source_([reports = reports_](const proto::ClusterReport& report) {
        MutexLock lock(reports->mu);
        reports->last = std::make_shared<const proto::ClusterReport>(report);
        reports->last_at = MonotonicClock::now();
        reports->asking = false;
        reports->arrived.NotifyAll();
      });
    }
    MutexLock lock(reports_->mu);
    reports_->arrived.WaitFor(reports_->mu, kPatience,
                              [this]() TB_REQUIRES(reports_->mu) { return reports_->last != nullptr; });
    --reports_->waiting;
    return reports_->last;
  }

  // Whether a request with this header may be answered.
  bool MayAsk(const std::string& authorization) {
    if (tokens_.empty()) return true;
    const std::string bearer = "Bearer ", basic = "Basic ";
    std::string token;
    if (authorization.starts_with(bearer)) {
      token = authorization.substr(bearer.size());
    } else if (authorization.starts_with(basic)) {
      std::string name_and_password;
      if (!absl::Base64Unescape(authorization.substr(basic.size()), &name_and_password)) return false;
      const size_t colon = name_and_password.find(':');
      if (colon != std::string::npos) token = name_and_password.substr(colon + 1);
    }
    return std::any_of(tokens_.begin(), tokens_.end(), [&](const auto& file) { return file->Accepts(token); });
  }

  void Route(bool loopback_only) {
    server_->set_pre_routing_handler(
        [this, loopback_only](const httplib::Request& request, httplib::Response& response) {
          response.set_header("Cache-Control", "no-store");
          response.set_header("X-Content-Type-Options", "nosniff");
          response.set_header("Content-Security-Policy", "default-src 'self' 'unsafe-inline'; frame-ancestors 'none'");
          // A foreign web page could let its own host name point to this machine, to read the report. Such requests
          // carry that host name.
          const std::string host = request.get_header_value("Host");
          const auto parsed = ParseHostPort(host.find(':') == std::string::npos ? host + ":80" : host);
          if (loopback_only && !host.empty() && (!parsed.ok() || !IsLoopbackHost(parsed->host))) {
            response.status = 403;
            response.set_content("this address is for this machine only\n", "text/plain");
            return httplib::Server::HandlerResponse::Handled;
          }
          const bool is_probe = request.path == kHealthPath || request.path == kReadyPath;
          if (!is_probe && HttpServer::IsForStranger()) {
            response.status = 403;
            response.set_content(StrCat(WhyRefused(), "\n"), "text/plain");
            return httplib::Server::HandlerResponse::Handled;
          }
          if (!is_probe && !MayAsk(request.get_header_value("Authorization"))) {
            response.status = 401;
            response.set_header("WWW-Authenticate", "Basic realm=\"the password is a token of the cluster\"");
            response.set_content("this cluster asks for a token: as a bearer token, or as a password\n", "text/plain");
            return httplib::Server::HandlerResponse::Handled;
          }
          return httplib::Server::HandlerResponse::Unhandled;
        });
    const auto serve = [this](const char* path, const char* type, std::string (*text)(const proto::ClusterReport&)) {
      server_->Get(path, [this, type, text](const httplib::Request&, httplib::Response& response) {
        const auto report = Report();
        if (report != nullptr) return response.set_content(text(*report), type);
        response.status = 503;
        response.set_content("the task does not answer, or too many requests wait for its answer\n", "text/plain");
      });
    };
    serve("/metrics", kMetricsContentType, MetricsText);
    serve("/report.json", "application/json", ReportJson);
    server_->Get("/", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(kStatusPage, "text/html; charset=utf-8");
    });
    server_->Get(kHealthPath, [](const httplib::Request&, httplib::Response& response) {
      response.set_content("ok\n", "text/plain");
    });
    server_->Get(kReadyPath, [this](const httplib::Request&, httplib::Response& response) {
      const Status status = readiness_();
      if (!status.ok()) response.status = 503;
      response.set_content(status.ok() ? "ready\n" : StrCat("not ready: ", status.message(), "\n"), "text/plain");
    });
  }

  const StatusServerOptions options_;
  const Source source_;
  const Readiness readiness_;
  const std::shared_ptr<Reports> reports_;
  std::vector<std::unique_ptr<TokenFile>> tokens_;
  std::unique_ptr<HttpServer> server_;
  std::string url_;
  std::atomic<bool> ended_{false};
  Thread thread_;
};

}  // namespace

StatusOr<std::unique_ptr<StatusServer>> StatusServer::Start(const StatusServerOptions& options, Source source,
                                                            Readiness readiness) {
  auto server = std::make_unique<ServerOfStatus>(options, std::move(source), std::move(readiness));
  TF_RETURN_IF_ERROR(server->Listen());
  return std::unique_ptr<StatusServer>(std::move(server));
}

}  // namespace tensorbraid
