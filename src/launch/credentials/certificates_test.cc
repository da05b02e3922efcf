#include "launch/credentials/certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <memory>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;
using X509Ptr = std::unique_ptr<X509, decltype(&X509_free)>;

X509Ptr Read(const std::string& path) {
  const std::string text = ReadFile(path).value();
  BIO* bio = BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
  X509Ptr certificate(PEM_read_bio_X509(bio, nullptr, nullptr, nullptr), X509_free);
  BIO_free(bio);
  return certificate;
}

int ModeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return static_cast<int>(info.st_mode & 0777);
}

TEST(Certificates, EachHostHasAKeyAndACertificateForItsNameAndLoopback) {
  TempDir dir;
  const auto written = WriteCertificates({.directory = dir.path() + "/new", .hosts = {"alpha.example", "10.0.0.7"}});
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->size(), 6);
  const std::string at = dir.path() + "/new/";
  for (const char* key : {"ca-key.pem", "alpha.example-key.pem", "10.0.0.7-key.pem"}) {
    EXPECT_EQ(ModeOf(at + key), 0600) << key;
  }
  const auto authority = Read(at + "ca.pem"), alpha = Read(at + "alpha.example.pem"), ip = Read(at + "10.0.0.7.pem");
  ASSERT_TRUE(authority != nullptr && alpha != nullptr && ip != nullptr);
  for (X509* host : {alpha.get(), ip.get()}) {
    EXPECT_EQ(X509_verify(host, X509_get0_pubkey(authority.get())), 1);
    EXPECT_EQ(X509_check_ca(host), 0);
    EXPECT_EQ(X509_check_host(host, "localhost", 0, 0, nullptr), 1);
    EXPECT_EQ(X509_check_ip_asc(host, "127.0.0.1", 0), 1);
    EXPECT_EQ(X509_check_ip_asc(host, "::1", 0), 1);
    EXPECT_EQ(X509_check_host(host, "beta.example", 0, 0, nullptr), 0);
  }
  EXPECT_EQ(X509_check_host(alpha.get(), "alpha.example", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_ip_asc(ip.get(), "10.0.0.7", 0), 1);
  EXPECT_EQ(X509_check_ca(authority.get()), 1);
}

TEST(Certificates, AWildcardIsForAllHostsDirectlyBeneathTheName) {
  TempDir dir;
  ASSERT_TRUE(WriteCertificates({.directory = dir.path(), .hosts = {"*.train.svc"}}).ok());
  EXPECT_EQ(ModeOf(dir.path() + "/wildcard.train.svc-key.pem"), 0600);
  const auto certificate = Read(dir.path() + "/wildcard.train.svc.pem");
  ASSERT_NE(certificate, nullptr);
  for (const char* host : {"ps-0.train.svc", "worker-12.train.svc", "localhost"}) {
    EXPECT_EQ(X509_check_host(certificate.get(), host, 0, 0, nullptr), 1) << host;
  }
  for (const char* host : {"train.svc", "a.ps-0.train.svc", "ps-0.other.svc"}) {
    EXPECT_EQ(X509_check_host(certificate.get(), host, 0, 0, nullptr), 0) << host;
  }
}

TEST(Certificates, AreValidForTheRequestedDaysButNotLongerThanTheAuthority) {
  const auto now = WallClock::now();
  using days = std::chrono::duration<int, std::ratio<86400>>;
  const Certificate authority = MakeAuthority({now, now + days(10)}).value();
  TempDir dir;
  const auto days_left = [&](int asked) {
    const auto made = MakeCertificate(authority, {"alpha"}, {now, now + days(asked)});
    EXPECT_TRUE(made.ok()) << made.status();
    TB_CHECK_OK(WriteFile(dir.path() + "/a.pem", made->certificate));
    const auto read = Read(dir.path() + "/a.pem");
    int left = 0, seconds = 0;
    EXPECT_EQ(ASN1_TIME_diff(&left, &seconds, X509_get0_notBefore(read.get()), X509_get0_notAfter(read.get())), 1);
    return left;
  };
  EXPECT_EQ(days_left(3), 3);
  EXPECT_EQ(days_left(30), 10);
}

TEST(Certificates, NothingIsOverwrittenAndTheAuthorityStays) {
  TempDir dir;
  ASSERT_TRUE(WriteCertificates({.directory = dir.path(), .hosts = {"alpha"}}).ok());
  const std::string authority = *ReadFile(dir.path() + "/ca.pem"), alpha = *ReadFile(dir.path() + "/alpha.pem");
  const auto again = WriteCertificates({.directory = dir.path(), .hosts = {"beta", "alpha"}});
  EXPECT_TRUE(absl::IsAlreadyExists(again.status())) << again.status();
  EXPECT_THAT(std::string(again.status().message()), HasSubstr(dir.path() + "/alpha.pem"));
  EXPECT_FALSE(FileExists(dir.path() + "/beta.pem"));
  const auto added = WriteCertificates({.directory = dir.path(), .hosts = {"beta"}});
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_EQ(added->size(), 2);
  EXPECT_EQ(*ReadFile(dir.path() + "/ca.pem"), authority);
  EXPECT_EQ(*ReadFile(dir.path() + "/alpha.pem"), alpha);
}

TEST(Certificates, WrongNamesAndAnIncompleteAuthorityAreRefused) {
  TempDir dir;
  for (const char* name : {"", "alpha,DNS:evil", "../alpha", "alpha:2222", "ca", "-x", "a b", "*", "*.", "*.svc",
                           "*.svc.", "*.*.svc", "a.*.svc", "*.-a.svc"}) {
    const Status refused = WriteCertificates({.directory = dir.path(), .hosts = {name}}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << name << ": " << refused;
  }
  EXPECT_FALSE(FileExists(dir.path() + "/ca.pem"));
  const Certificate one = MakeAuthority({WallClock::now(), WallClock::now()}).value();
  TB_CHECK_OK(WriteFile(dir.path() + "/ca.pem", one.certificate));
  EXPECT_TRUE(absl::IsFailedPrecondition(WriteCertificates({.directory = dir.path(), .hosts = {"alpha"}}).status()));
  const Certificate other = MakeAuthority({WallClock::now(), WallClock::now()}).value();
  TB_CHECK_OK(WriteFile(dir.path() + "/ca-key.pem", other.key));
  EXPECT_TRUE(absl::IsInvalidArgument(WriteCertificates({.directory = dir.path(), .hosts = {"alpha"}}).status()));
}

TEST(Certificates, ACertificateOfAClientIsNotForServers) {
  TempDir dir;
  const CertsOptions options{.directory = dir.path(), .hosts = {"alpha"}, .clients = {"laptop"}};
  ASSERT_TRUE(WriteCertificates(options).ok());
  const auto expect = [&](const std::string& name, const std::string& subject, bool is_server) {
    const auto certificate = Read(dir.path() + "/" + name);
    ASSERT_NE(certificate, nullptr);
    char text[256];
    EXPECT_EQ(std::string(X509_NAME_oneline(X509_get_subject_name(certificate.get()), text, sizeof text)), subject);
    EXPECT_EQ(X509_check_purpose(certificate.get(), X509_PURPOSE_SSL_SERVER, 0), is_server);
    EXPECT_EQ(X509_check_purpose(certificate.get(), X509_PURPOSE_SSL_CLIENT, 0), true);
  };
  expect("alpha.pem", "/O=Tensorbraid/CN=alpha", true);
  expect("laptop.pem", "/O=Tensorbraid/OU=Tensorbraid client/CN=laptop", false);
  const auto twice = WriteCertificates({.directory = dir.path() + "/new", .hosts = {"a"}, .clients = {"a"}});
  EXPECT_TRUE(absl::IsInvalidArgument(twice.status())) << twice.status();
}

TEST(Certificates, TheKeyOfARequestGetsACertificateForTheNamesThatTheAuthorityChooses) {
  const auto now = WallClock::now();
  const Validity validity{now, now + std::chrono::hours(1)};
  const Certificate authority = MakeAuthority(validity).value();
  const auto made = MakeCertificateRequest();
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT(made->request, ::testing::Not(HasSubstr("PRIVATE KEY")));
  const auto certificate = SignCertificate(authority, made->request, {"alpha"}, validity);
  ASSERT_TRUE(certificate.ok()) << certificate.status();
  EXPECT_EQ(CheckCertificate({*certificate, made->key}, authority.certificate), OkStatus());
  TempDir dir;
  TB_CHECK_OK(WriteFile(dir.path() + "/a.pem", *certificate));
  EXPECT_EQ(X509_check_host(Read(dir.path() + "/a.pem").get(), "alpha", 0, 0, nullptr), 1);
  // Another key, and another authority of the same name.
  const std::string other_key = MakeCertificateRequest().value().key;
  EXPECT_TRUE(absl::IsInvalidArgument(CheckCertificate({*certificate, other_key}, authority.certificate)));
  const Certificate other = MakeAuthority(validity).value();
  EXPECT_TRUE(absl::IsInvalidArgument(CheckCertificate({*certificate, made->key}, other.certificate)));
}

TEST(Certificates, AKeyThatStaysOnItsHostIsCertifiedByItsRequest) {
  TempDir host, authority;
  const auto requested = WriteRequests(host.path(), {"alpha"});
  ASSERT_TRUE(requested.ok()) << requested.status();
  EXPECT_EQ(ModeOf(host.path() + "/alpha-key.pem"), 0600);
  EXPECT_TRUE(absl::IsAlreadyExists(WriteRequests(host.path(), {"beta", "alpha"}).status()));
  EXPECT_FALSE(FileExists(host.path() + "/beta-key.pem"));
  TB_CHECK_OK(WriteFile(authority.path() + "/alpha-request.pem", *ReadFile(host.path() + "/alpha-request.pem")));
  const CertsOptions options{.directory = authority.path(), .hosts = {"alpha"}};
  const auto written = WriteCertificates(options);
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_FALSE(FileExists(authority.path() + "/alpha-key.pem"));
  EXPECT_EQ(CheckCertificate({*ReadFile(authority.path() + "/alpha.pem"), *ReadFile(host.path() + "/alpha-key.pem")},
                             *ReadFile(authority.path() + "/ca.pem")),
            OkStatus());
  EXPECT_TRUE(absl::IsAlreadyExists(WriteCertificates(options).status()));
  TB_CHECK_OK(WriteFile(authority.path() + "/beta-request.pem", "nonsense"));
  const Status refused = WriteCertificates({.directory = authority.path(), .hosts = {"beta"}}).status();
  EXPECT_THAT(std::string(refused.message()), HasSubstr("beta-request.pem: the request"));
}

std::string RequestOf(EVP_PKEY* key, EVP_PKEY* signer) {
  X509_REQ* request = X509_REQ_new();
  X509_REQ_set_pubkey(request, key);
  X509_REQ_sign(request, signer, EVP_sha256());
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509_REQ(bio, request);
  char* data = nullptr;
  const auto size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  X509_REQ_free(request);
  return text;
}

TEST(Certificates, RequestsThatAreWrongAreRefused) {
  const auto now = WallClock::now();
  const Validity validity{now, now + std::chrono::hours(1)};
  const Certificate authority = MakeAuthority(validity).value();
  const auto sign = [&](const std::string& request) {
    return SignCertificate(authority, request, {"alpha"}, validity).status();
  };
  EVP_PKEY *own = EVP_EC_gen("P-256"), *other = EVP_EC_gen("P-256"), *weak = EVP_EC_gen("P-192");
  EXPECT_EQ(sign(RequestOf(own, own)), OkStatus());
  // Who sends a request must have its key.
  EXPECT_THAT(std::string(sign(RequestOf(own, other)).message()), HasSubstr("signature is wrong"));
  EXPECT_THAT(std::string(sign(RequestOf(weak, weak)).message()), HasSubstr("another kind of key"));
  for (const std::string& text : {std::string(), std::string("nonsense"), authority.certificate}) {
    EXPECT_TRUE(absl::IsInvalidArgument(sign(text))) << text;
  }
  for (EVP_PKEY* key : {own, other, weak}) EVP_PKEY_free(key);
}

}  // namespace
}  // namespace tensorbraid
