// Certificates and a token for one job.
#ifndef TENSORBRAID_LAUNCH_CREDENTIALS_JOB_CREDENTIALS_H_
#define TENSORBRAID_LAUNCH_CREDENTIALS_JOB_CREDENTIALS_H_

#include <map>
#include <string>

#include "launch/credentials/certificates.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// An authority whose key never leaves this process, and a token. Thread-safe.
class JobCredentials {
 public:
  static StatusOr<JobCredentials> Make();
  // A certificate for the tasks of a machine, which has the key of this request. The certificate is for `host`, a name
  // or an address, and for loopback. The errors of SignCertificate.
  StatusOr<std::string> CertificateFor(const std::string& host, const std::string& request) const;
  const std::string& authority() const { return authority_.certificate; }
  // Where keys are made here and brought as files: those for the tasks of a machine, by the flag that names them:
  // tls_cert, tls_key, tls_ca and token_file. The certificate is as above.
  StatusOr<std::map<std::string, std::string>> FilesFor(const std::string& host) const;

 private:
  Certificate authority_;
  Validity validity_;
  std::string token_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_CREDENTIALS_JOB_CREDENTIALS_H_
