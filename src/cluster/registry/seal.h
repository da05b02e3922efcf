// Proves to the other side of a registry that a message comes from a process of the same job and was not changed. The
// secret itself is never sent.
#ifndef TENSORBRAID_CLUSTER_REGISTRY_SEAL_H_
#define TENSORBRAID_CLUSTER_REGISTRY_SEAL_H_

#include <memory>
#include <string>
#include <string_view>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Thread-safe.
class Seal {
 public:
  virtual ~Seal() = default;
  // Where the secret comes from, for logs: "the token file 'job.token'".
  virtual std::string source() const = 0;
  // A proof for `text`, to be sent with it.
  virtual StatusOr<std::string> Prove(std::string_view text) = 0;
  // Unauthenticated unless `proof` was made for `text` by a process that knows the secret. The message says what to
  // check.
  virtual Status Check(std::string_view text, std::string_view proof) = 0;
};

// The secret is a token of a file, in the form of transport/token_file.h: the proof is an HMAC-SHA256 with it. If the
// file has several tokens, each of them is accepted and the first proves. Errors as in TokenFile::Open.
StatusOr<std::unique_ptr<Seal>> NewTokenSeal(const std::string& token_file);

// The proof is a credential of MUNGE (https://dun.github.io/munge), the service by which the nodes of a Slurm cluster
// trust each other: it says which user made it. Processes of the same user accept each other. A credential is accepted
// once, and for five minutes. FailedPrecondition, with what to install or start, if this node does not run MUNGE. Prove
// and Check ask the local service, which takes about a millisecond.
StatusOr<std::unique_ptr<Seal>> NewMungeSeal();

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_REGISTRY_SEAL_H_
