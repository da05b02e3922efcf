#include "cli/launch/file_checksum.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "absl/strings/escaping.h"
#include "core/system/fd.h"
#include "core/text/strings.h"

namespace tensorbraid {

StatusOr<std::string> FileChecksum(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return absl::ErrnoToStatus(errno, StrCat("cannot read '", path, "'"));
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (context == nullptr || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) {
    return absl::InternalError("OpenSSL has no SHA-256");
  }
  std::vector<char> bytes(1 << 20);
  ssize_t got;
  while ((got = ::read(fd.get(), bytes.data(), bytes.size())) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::ErrnoToStatus(errno, StrCat("cannot read '", path, "'"));
    EVP_DigestUpdate(context.get(), bytes.data(), static_cast<size_t>(got));
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_DigestFinal_ex(context.get(), digest, &size);
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest), size});
}

}  // namespace tensorbraid
