// What --sync has brought to a directory of a machine.
#ifndef TENSORBRAID_LAUNCH_BRING_SYNC_MANIFEST_H_
#define TENSORBRAID_LAUNCH_BRING_SYNC_MANIFEST_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tensorbraid {

// In each directory that was brought, the manifest; and the beginning of the names of other files of --sync.
inline constexpr char kManifestName[] = ".tensorbraid-sync";

// What is in a file, or where a link leads to.
struct FileContent {
  enum class Kind { kFile, kLink };
  Kind kind = Kind::kFile;
  std::string value;  // the SHA-256 of a file, the text of a link; "" if it is not known
  bool operator==(const FileContent&) const = default;
};

// The files that were brought, with the contents that they then had. A file of the machine is one of them if it still
// has such a content; otherwise somebody has changed it, or put it there, and it is not touched.
//
// The text is a line "tensorbraid-sync 2", then a line for each content: "f SHA-256 PATH" or "l TEXT PATH", or "? -
// PATH" if it is not known. In texts and paths, bytes that are not printable, blanks and '%' are written as %XX. Older
// versions wrote paths alone, so of such files no content is known.
class SyncManifest {
 public:
  // Reads any text. Lines of another form, and paths that lead out of the directory, are left out. No text makes a
  // manifest with more rights than it states.
  static SyncManifest Parse(std::string_view text);
  std::string ToText() const;

  void Add(const std::string& path, const FileContent& content);
  // All that the other one has.
  void AddAll(const SyncManifest& other);
  // A file of this path was brought.
  bool Lists(const std::string& path) const { return contents_.contains(path); }
  // It was brought with this content.
  bool Has(const std::string& path, const FileContent& content) const;
  // By path.
  const std::map<std::string, std::vector<FileContent>>& contents() const { return contents_; }

 private:
  std::map<std::string, std::vector<FileContent>> contents_;
};

// The folders that a relative path goes through: "a/b/c" -> "a", "a/b".
std::vector<std::string> FoldersOf(const std::string& path);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_BRING_SYNC_MANIFEST_H_
