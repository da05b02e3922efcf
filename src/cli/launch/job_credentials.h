// Certificates and a token for one job.
#ifndef TENSORBRAID_CLI_LAUNCH_JOB_CREDENTIALS_H_
#define TENSORBRAID_CLI_LAUNCH_JOB_CREDENTIALS_H_

#include <map>
#include <string>

#include "cli/certificates.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// An authority whose key never leaves this process, and the token that tasks and clients of the job send. Thread-safe.
class JobCredentials {
 public:
  static StatusOr<JobCredentials> Make();
  // The files for the tasks of a machine, by the flag that names them: tls_cert, tls_key, tls_ca and token_file. The
  // certificate is for `host`, a name or an address, and for loopback.
  StatusOr<std::map<std::string, std::string>> FilesFor(const std::string& host) const;

 private:
  Certificate authority_;
  Validity validity_;
  std::string token_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_LAUNCH_JOB_CREDENTIALS_H_
