#include "launch/credentials/job_credentials.h"

#include <openssl/rand.h>

#include <array>
#include <chrono>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"

namespace tensorbraid {
namespace {

std::vector<std::string> NamesOf(const std::string& host) {
  std::vector<std::string> names = {host};
  for (const char* loopback : {"localhost", "127.0.0.1", "::1"}) {
    if (host != loopback) names.emplace_back(loopback);
  }
  return names;
}

}  // namespace

StatusOr<JobCredentials> JobCredentials::Make() {
  JobCredentials made;
  // From an hour ago, for machines whose clocks are slow. A job that trains for longer than a year has to be started
  // again.
  const auto begin = WallClock::now() - std::chrono::hours(1);
  made.validity_ = {begin, begin + std::chrono::hours(24 * 366)};
  TF_ASSIGN_OR_RETURN(made.authority_, MakeAuthority(made.validity_));
  std::array<unsigned char, 32> random;
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) {
    return absl::InternalError("OpenSSL has no random numbers for a token");
  }
  made.token_ = absl::BytesToHexString({reinterpret_cast<const char*>(random.data()), random.size()});
  return made;
}

StatusOr<std::string> JobCredentials::CertificateFor(const std::string& host, const std::string& request) const {
  return SignCertificate(authority_, request, NamesOf(host), validity_);
}

StatusOr<std::map<std::string, std::string>> JobCredentials::FilesFor(const std::string& host) const {
  TF_ASSIGN_OR_RETURN(const Certificate made, MakeCertificate(authority_, NamesOf(host), validity_));
  return std::map<std::string, std::string>{{"tls_cert", made.certificate},
                                            {"tls_key", made.key},
                                            {"tls_ca", authority_.certificate},
                                            {"token_file", token_ + "\n"}};
}

}  // namespace tensorbraid
