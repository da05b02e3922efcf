// The certificate files of one side of a connection. TLS encrypts the connection, and each side proves its identity.
#ifndef TENSORBRAID_TRANSPORT_TLS_OPTIONS_H_
#define TENSORBRAID_TRANSPORT_TLS_OPTIONS_H_

#include <string>

namespace tensorbraid {

// Files in PEM format; `tensorbraid certs` makes them. They are read again when they change. New connections then use
// the new contents, and existing connections stay open. If all names are empty, connections are not encrypted.
struct TlsOptions {
  // The certificate of this process, followed by intermediate ones if it has any. A server must have one. A client
  // needs one if the server has a `ca`.
  std::string cert = "";
  // The private key of `cert`.
  std::string key = "";
  // Certificates of the authorities that the other side's certificate must come from. A server with a `ca` accepts only
  // clients that have such a certificate; without it, any client. A client without a `ca` uses the authorities that the
  // system trusts.
  std::string ca = "";

  bool enabled() const { return !cert.empty() || !key.empty() || !ca.empty(); }
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_TLS_OPTIONS_H_
