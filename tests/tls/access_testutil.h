// A fixture for tests of access to a server: certificates, and peers that are tasks and clients.
#ifndef TENSORBRAID_TESTS_TLS_ACCESS_TESTUTIL_H_
#define TENSORBRAID_TESTS_TLS_ACCESS_TESTUTIL_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "core/system/env.h"
#include "core/text/logging.h"
#include "io/file.h"
#include "io/file_testutil.h"
#include "launch/credentials/certificates.h"
#include "transport/grpc/call_client.h"
#include "transport/grpc/grpc_transport.h"
#include "transport/transport_test_util.h"

namespace tensorbraid {

using ::testing::HasSubstr;

inline Validity Valid() { return {WallClock::now() - std::chrono::hours(1), WallClock::now() + std::chrono::hours(1)}; }
inline Validity Expired() {
  return {WallClock::now() - std::chrono::hours(3), WallClock::now() - std::chrono::hours(1)};
}

inline const std::vector<std::string>& Loopback() {
  static const auto& names = *new std::vector<std::string>{"localhost", "127.0.0.1"};
  return names;
}

// A task that answers every call of a client.
class Peer : public CallHandler {
 public:
  Peer(const std::string& task, const TlsOptions& tls) : Peer(task, GrpcOptions{.tls = tls}) {}
  Peer(const std::string& task, const GrpcOptions& options)
      : handler(task), name(task), transport(NewGrpcTransport(options)) {
    transport->ServeCalls(this);
    const auto port = transport->Listen("localhost:0", &handler);
    EXPECT_TRUE(port.ok()) << port.status();
    address = StrCat("localhost:", port.value_or(0));
  }
  void OnCall(std::shared_ptr<Call> call) override { call->Answer({OwnedPayload("answer")}); }
  Status Connect(const std::string& to) { return ConnectAndWait(*transport, to, HelloFrom(name)).status(); }

  Recorder handler;
  const std::string name;
  std::unique_ptr<Transport> transport;
  std::string address;
};

// Calls a method of the server at `address`, as a client.
inline Status Ask(const std::string& address, const TlsOptions& tls,
                  std::chrono::milliseconds patience = std::chrono::seconds(20), const std::string& token_file = "") {
  auto client = NewGrpcCallClient(address, patience, tls, token_file);
  if (!client.ok()) return client.status();
  return (*client)->Ask("/a.Service/Method", {OwnedPayload("request")}, CallClient::Deadline::max()).status;
}

// The error of a client that the server at `address` turns away again and again, once it says `part`. On a busy machine
// a client with little patience has not heard from the server.
inline Status AskUntilTold(const std::string& part, const std::string& address, const TlsOptions& tls) {
  for (std::chrono::milliseconds patience(300);; patience *= 3) {
    const Status refused = Ask(address, tls, patience);
    if (absl::StrContains(refused.message(), part) || patience > kTestPatience) return refused;
  }
}

class AccessTest : public ::testing::Test {
 protected:
  // Writes a file of this user alone, so that a reader never sees only a part of it. Returns its path.
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = directory_.path() + "/" + name, part = path + ".part";
    TB_CHECK_OK(WriteFile(part, text));
    std::filesystem::permissions(part, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    TB_CHECK_OK(Env::Default().RenameFile(part, path));
    return path;
  }
  // Writes the files of a new certificate, which the authority `from` has signed. Its owner trusts the authority
  // `trusted`.
  TlsOptions Files(const std::string& name, const Certificate& from, const Certificate& trusted,
                   const std::vector<std::string>& names = Loopback(), const Validity& validity = Valid(),
                   CertificateUse use = CertificateUse::kTask) {
    const Certificate made = MakeCertificate(from, names, validity, use).value();
    return {.cert = Write(name + ".pem", made.certificate),
            .key = Write(name + "-key.pem", made.key),
            .ca = Write(name + "-ca.pem", trusted.certificate)};
  }
  // Neither a task nor a client with these files reaches `server`; both get an error with this code and this text. A
  // client tries again after Unavailable, so only the task is tested then.
  void ExpectRefused(const Peer& server, const TlsOptions& tls, absl::StatusCode code, const std::string& text) {
    Peer task("refused", tls);
    const Status link = task.Connect(server.address);
    EXPECT_EQ(link.code(), code) << link;
    EXPECT_THAT(std::string(link.message()), HasSubstr(text));
    EXPECT_THAT(std::string(link.message()), HasSubstr(server.address));
    if (code == absl::StatusCode::kUnavailable) return;
    const Status call = Ask(server.address, tls);
    EXPECT_EQ(call.code(), code) << call;
    EXPECT_THAT(std::string(call.message()), HasSubstr(text));
    EXPECT_THAT(std::string(call.message()), HasSubstr(server.address));
  }
  void ExpectAccepted(const Peer& server, const TlsOptions& tls) {
    Peer task("accepted", tls);
    const Status link = task.Connect(server.address);
    EXPECT_TRUE(link.ok()) << link;
    const Status call = Ask(server.address, tls);
    EXPECT_TRUE(call.ok()) << call;
  }

  TempDir directory_;
  const Certificate authority_ = MakeAuthority(Valid()).value();
  const Certificate other_authority_ = MakeAuthority(Valid()).value();
  const TlsOptions good_ = Files("good", authority_, authority_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_TLS_ACCESS_TESTUTIL_H_
