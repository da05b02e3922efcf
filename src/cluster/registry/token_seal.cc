#include "cluster/registry/digest.h"
#include "cluster/registry/seal.h"
#include "core/text/strings.h"
#include "transport/token_file.h"

namespace tensorbraid {
namespace {

class TokenSeal final : public Seal {
 public:
  TokenSeal(std::string path, std::unique_ptr<TokenFile> file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string source() const override { return StrCat("the token file '", path_, "'"); }
  StatusOr<std::string> Prove(std::string_view text) override { return HmacSha256(file_->tokens().front(), text); }
  Status Check(std::string_view text, std::string_view proof) override {
    for (const std::string& token : file_->tokens()) {
      if (EqualInConstantTime(HmacSha256(token, text), proof)) return OkStatus();
    }
    return absl::UnauthenticatedError(
        StrCat("the other side has another secret than ", source(), "; all tasks need the same token"));
  }

 private:
  const std::string path_;
  const std::unique_ptr<TokenFile> file_;
};

}  // namespace

StatusOr<std::unique_ptr<Seal>> NewTokenSeal(const std::string& token_file) {
  TF_ASSIGN_OR_RETURN(auto file, TokenFile::Open("--token_file", token_file));
  return std::make_unique<TokenSeal>(token_file, std::move(file));
}

}  // namespace tensorbraid
