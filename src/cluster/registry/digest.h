// SHA-256, of files and as a proof of a secret (HMAC).
#ifndef TENSORBRAID_CLUSTER_REGISTRY_DIGEST_H_
#define TENSORBRAID_CLUSTER_REGISTRY_DIGEST_H_

#include <string>
#include <string_view>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// All results have 64 hexadecimal digits. Thread-safe.

std::string Sha256(std::string_view text);
// Reads the whole file: about a second per gigabyte. The system's error if that is not possible.
StatusOr<std::string> Sha256OfFile(const std::string& path);
std::string HmacSha256(std::string_view key, std::string_view text);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_REGISTRY_DIGEST_H_
