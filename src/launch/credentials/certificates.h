// Certificates for the connections of a cluster, in PEM format.
#ifndef TENSORBRAID_LAUNCH_CREDENTIALS_CERTIFICATES_H_
#define TENSORBRAID_LAUNCH_CREDENTIALS_CERTIFICATES_H_

#include <string>
#include <vector>

#include "core/system/clock.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct Certificate {
  std::string certificate;
  std::string key;  // the private key
};

// A private key, and the request for a certificate of it (PKCS #10), which tells the public key and is signed by the
// private one. Only the request has to travel to the authority.
struct CertificateRequest {
  std::string request;
  std::string key;
};

struct Validity {
  WallClock::time_point begin;
  WallClock::time_point end;
};

// Makes an authority: a certificate that signs itself and other certificates.
StatusOr<Certificate> MakeAuthority(const Validity& validity);

// The purpose of a certificate. Servers recognise a client's certificate by its organizational unit (kClientUnit in
// transport/caller.h). The owner of such a certificate may run sessions, but cannot be a server or connect as a task.
enum class CertificateUse { kTask, kClient };

// Makes a certificate for a task's host or for a client, signed by `authority`. It is valid for each of `names`, which
// are host names and IP addresses; the first is also its common name. "*.pods.example" stands for every host directly
// beneath pods.example. It does not outlive the authority. InvalidArgument for another kind of name, or if the key of
// `authority` does not belong to its certificate.
StatusOr<Certificate> MakeCertificate(const Certificate& authority, const std::vector<std::string>& names,
                                      const Validity& validity, CertificateUse use = CertificateUse::kTask);

// Makes a key, and the request for its certificate.
StatusOr<CertificateRequest> MakeCertificateRequest();
// As MakeCertificate, for the key of a request, which says nothing else: the names and the purpose are those given
// here. InvalidArgument also if `request` is none, if it is not signed by its own key, or if that is not a key as
// MakeCertificateRequest makes them.
StatusOr<std::string> SignCertificate(const Certificate& authority, const std::string& request,
                                      const std::vector<std::string>& names, const Validity& validity,
                                      CertificateUse use = CertificateUse::kTask);
// InvalidArgument unless the certificate is of this private key, and signed by the authority of this certificate.
Status CheckCertificate(const Certificate& certificate, const std::string& authority);

struct CertsOptions {
  std::string directory;
  std::vector<std::string> hosts;         // machines that run tasks
  std::vector<std::string> clients = {};  // machines or persons that only run sessions
  int days = 365;  // how long the certificates of hosts and clients are valid; the authority's is valid for ten years
};
// Writes HOST.pem and HOST-key.pem for each host and each client to the directory ("wildcard" replaces a "*"). Each
// certificate is for the name HOST and for loopback, and is signed by the authority ca.pem of the directory, whose key
// is ca-key.pem. The authority's two files are made if neither exists. Keys have mode 0600. If the directory has
// HOST-request.pem, the certificate is for its key, and no HOST-key.pem is written. Returns the paths of the new files.
// AlreadyExists, before anything is written, if a host or client already has one of the files.
StatusOr<std::vector<std::string>> WriteCertificates(const CertsOptions& options);

// Writes HOST-key.pem, with mode 0600, and HOST-request.pem for each of the names to the directory. Returns the paths.
// AlreadyExists, before anything is written, if one of the files exists.
StatusOr<std::vector<std::string>> WriteRequests(const std::string& directory, const std::vector<std::string>& names);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_CREDENTIALS_CERTIFICATES_H_
