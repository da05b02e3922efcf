#include "transport/token_file.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/system/file_access.h"
#include "core/system/secret_file.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "io/file.h"

namespace tensorbraid {
namespace {

constexpr std::chrono::seconds kBetweenLooks{1};
constexpr size_t kLeastTokenBytes = 16, kMostTokenBytes = 1024;

StatusOr<std::vector<std::string>> ReadTokens(const std::string& flag, const std::string& path) {
  TF_RETURN_IF_ERROR(CheckIsSecret(flag, path));
  auto text = ReadFile(path);
  if (!text.ok()) return Annotate(text.status(), flag);
  std::vector<std::string> tokens;
  for (std::string& line : StrSplit(*text, '\n')) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    const bool printable = std::all_of(line.begin(), line.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (!printable || line.size() < kLeastTokenBytes || line.size() > kMostTokenBytes) {
      // The message does not show the line, which may be a secret.
      return InvalidArgument(flag, ": a line of the file '", path, "' is not a token: ", kLeastTokenBytes, " to ",
                             kMostTokenBytes, " printable characters without spaces; 'openssl rand -hex 32' makes one");
    }
    tokens.push_back(std::move(line));
  }
  if (tokens.empty()) {
    return InvalidArgument(flag, ": the file '", path, "' contains no token; 'openssl rand -hex 32' makes one");
  }
  return tokens;
}

}  // namespace

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  // Volatile, so that the compiler cannot end the loop early.
  volatile unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  }
  return difference == 0;
}

TokenFile::TokenFile(std::string flag, std::string path, std::vector<std::string> tokens)
    : flag_(std::move(flag)), path_(std::move(path)), tokens_(std::move(tokens)), looked_(MonotonicClock::now()) {}

StatusOr<std::unique_ptr<TokenFile>> TokenFile::Open(std::string flag, std::string path) {
  TF_ASSIGN_OR_RETURN(auto tokens, ReadTokens(flag, path));
  return std::unique_ptr<TokenFile>(new TokenFile(std::move(flag), std::move(path), std::move(tokens)));
}

std::string TokenFile::token() {
  MutexLock lock(mu_);
  Refresh();
  return tokens_.front();
}

std::vector<std::string> TokenFile::tokens() {
  MutexLock lock(mu_);
  Refresh();
  return tokens_;
}

bool TokenFile::Accepts(std::string_view token) {
  MutexLock lock(mu_);
  Refresh();
  bool found = false;
  for (const std::string& accepted : tokens_) found = EqualInConstantTime(token, accepted) || found;
  return found;
}

void TokenFile::Refresh() {
  const auto now = MonotonicClock::now();
  if (now - looked_ < kBetweenLooks) return;
  looked_ = now;
  const ScopedFileAccess unlimited(nullptr);  // the thread may be running a step whose files are limited
  auto tokens = ReadTokens(flag_, path_);
  if (tokens.ok()) {
    tokens_ = *std::move(tokens);
    warned_ = false;
  } else if (!std::exchange(warned_, true)) {
    TB_LOG(Warning, "transport") << "the last good tokens stay valid: " << tokens.status().message();
  }
}

}  // namespace tensorbraid
