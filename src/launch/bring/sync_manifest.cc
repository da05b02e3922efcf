#include "launch/bring/sync_manifest.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

constexpr std::string_view kHead = "tensorbraid-sync 2";
constexpr std::string_view kHeadOfAny = "tensorbraid-sync ";

std::string Escaped(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    if (absl::ascii_isgraph(static_cast<unsigned char>(c)) && c != '%') {
      text += c;
    } else {
      text += absl::StrFormat("%%%02X", static_cast<unsigned char>(c));
    }
  }
  return text;
}

std::optional<std::string> Unescaped(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    unsigned value = 0;
    if (i + 2 >= text.size()) return std::nullopt;
    const char* const end = text.data() + i + 3;
    if (std::from_chars(text.data() + i + 1, end, value, 16).ptr != end) return std::nullopt;
    bytes += static_cast<char>(value);
    i += 2;
  }
  return bytes;
}

// A relative path that stays below the directory.
bool IsInside(const std::string& path) {
  const std::vector<std::string> parts = StrSplit(path, '/');
  return std::none_of(parts.begin(), parts.end(),
                      [](const std::string& part) { return part.empty() || part == "." || part == ".."; });
}

}  // namespace

SyncManifest SyncManifest::Parse(std::string_view text) {
  SyncManifest manifest;
  std::vector<std::string> lines = StrSplit(text, '\n');
  lines.pop_back();  // the last one has no end: it is empty, or was cut
  if (lines.empty()) return manifest;
  if (lines[0] != kHead) {
    if (lines[0].starts_with(kHeadOfAny)) return manifest;  // of a newer version
    for (const std::string& path : lines) {
      if (IsInside(path)) manifest.contents_[path];
    }
    return manifest;
  }
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> words = StrSplit(lines[i], ' ');
    if (words.size() != 3) continue;
    const auto value = Unescaped(words[1]), path = Unescaped(words[2]);
    if (!value.has_value() || !path.has_value() || !IsInside(*path)) continue;
    if (words[0] == "?") manifest.contents_[*path];
    if (words[0] == "f") manifest.Add(*path, {FileContent::Kind::kFile, *value});
    if (words[0] == "l") manifest.Add(*path, {FileContent::Kind::kLink, *value});
  }
  return manifest;
}

std::string SyncManifest::ToText() const {
  std::string text = StrCat(kHead, "\n");
  for (const auto& [path, contents] : contents_) {
    if (contents.empty()) text += StrCat("? - ", Escaped(path), "\n");
    for (const FileContent& content : contents) {
      const char* const kind = content.kind == FileContent::Kind::kFile ? "f " : "l ";
      text += StrCat(kind, Escaped(content.value), " ", Escaped(path), "\n");
    }
  }
  return text;
}

void SyncManifest::Add(const std::string& path, const FileContent& content) {
  std::vector<FileContent>& contents = contents_[path];
  if (std::find(contents.begin(), contents.end(), content) == contents.end()) contents.push_back(content);
}

void SyncManifest::AddAll(const SyncManifest& other) {
  for (const auto& [path, contents] : other.contents_) {
    contents_[path];
    for (const FileContent& content : contents) Add(path, content);
  }
}

bool SyncManifest::Has(const std::string& path, const FileContent& content) const {
  const auto found = contents_.find(path);
  if (found == contents_.end() || content.value.empty()) return false;
  return std::find(found->second.begin(), found->second.end(), content) != found->second.end();
}

std::vector<std::string> FoldersOf(const std::string& path) {
  std::vector<std::string> folders;
  for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    folders.push_back(path.substr(0, slash));
  }
  return folders;
}

}  // namespace tensorbraid
