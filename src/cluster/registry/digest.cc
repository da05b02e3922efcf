#include "cluster/registry/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <memory>
#include <vector>

#include "absl/strings/escaping.h"
#include "core/system/env.h"
#include "core/text/logging.h"

namespace tensorbraid {
namespace {

using DigestContext = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

DigestContext NewSha256() {
  DigestContext context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  TB_CHECK(context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
  return context;
}

std::string Hex(const unsigned char* bytes, unsigned size) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes), size});
}

std::string Finish(const DigestContext& context) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  TB_CHECK(EVP_DigestFinal_ex(context.get(), digest, &size) == 1);
  return Hex(digest, size);
}

}  // namespace

std::string Sha256(std::string_view text) {
  const DigestContext context = NewSha256();
  TB_CHECK(EVP_DigestUpdate(context.get(), text.data(), text.size()) == 1);
  return Finish(context);
}

StatusOr<std::string> Sha256OfFile(const std::string& path) {
  TF_ASSIGN_OR_RETURN(const auto file, Env::Default().OpenSequential(path));
  const DigestContext context = NewSha256();
  std::vector<char> bytes(1 << 18);
  while (true) {
    TF_ASSIGN_OR_RETURN(const size_t count, file->Read(bytes.size(), bytes.data()));
    if (count == 0) return Finish(context);
    TB_CHECK(EVP_DigestUpdate(context.get(), bytes.data(), count) == 1);
  }
}

std::string HmacSha256(std::string_view key, std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  TB_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size) != nullptr);
  return Hex(digest, size);
}

}  // namespace tensorbraid
