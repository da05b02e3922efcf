// The files that --sync has brought to a directory of a machine.
#ifndef TENSORBRAID_LAUNCH_BRING_SYNC_MANIFEST_H_
#define TENSORBRAID_LAUNCH_BRING_SYNC_MANIFEST_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tensorbraid {

// The name of the manifest in a directory of --sync. The names of other files of --sync begin with it.
inline constexpr char kManifestName[] = ".tensorbraid-sync";

// The content of a file, or the target of a link.
struct FileContent {
  enum class Kind { kFile, kLink };
  Kind kind = Kind::kFile;
  std::string value;  // the SHA-256 of a file, the text of a link; "" if it is not known
  bool operator==(const FileContent&) const = default;
};

// The brought files, with the contents that they had then. --sync touches a file of the machine only if it still has
// such a content: any other file was changed there or is not from --sync.
//
// The text is a line "tensorbraid-sync 2", then a line for each content: "f SHA-256 PATH" or "l TEXT PATH", or "? -
// PATH" if it is not known. In texts and paths, bytes that are not printable, blanks and '%' are written as %XX. Older
// versions wrote paths alone, so the contents of such files are not known.
class SyncManifest {
 public:
  // Reads any text. Lines of another form, and paths that lead out of the directory, are left out. No text makes a
  // manifest with more rights than it states.
  static SyncManifest Parse(std::string_view text);
  std::string ToText() const;

  void Add(const std::string& path, const FileContent& content);
  // Adds all files and contents of the other manifest.
  void AddAll(const SyncManifest& other);
  // Whether a file of this path was brought.
  bool Lists(const std::string& path) const { return contents_.contains(path); }
  // Whether it was brought with this content.
  bool Has(const std::string& path, const FileContent& content) const;
  // The contents with which each file was brought, by path.
  const std::map<std::string, std::vector<FileContent>>& contents() const { return contents_; }

 private:
  std::map<std::string, std::vector<FileContent>> contents_;
};

// The folders that a relative path goes through: "a/b/c" -> "a", "a/b".
std::vector<std::string> FoldersOf(const std::string& path);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_BRING_SYNC_MANIFEST_H_
