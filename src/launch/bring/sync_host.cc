#include "launch/bring/sync_host.h"

#include <charconv>
#include <string_view>

#include "cluster/registry/digest.h"
#include "core/text/strings.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {
namespace {

constexpr std::string_view kMarkStart = ".tensorbraid-sync.mark-";
constexpr size_t kSha256Digits = 64;

// Prints texts that end with a zero byte. For each path, a text that begins with '=', followed for a link by its
// target. Then, for each file, a text with its checksum.
constexpr std::string_view kLook =
    "look() { depth=$1; shift; "
    "find \"$@\" $depth -printf '=%y %m %T@ %D:%i %p\\0%l\\0' 2>/dev/null; "
    "find \"$@\" $depth -type f -print0 2>/dev/null | xargs -0 -r sha256sum -z -- 2>/dev/null; :; }; ";

// Does what its arguments say, each of which is a letter, a checksum or '-', a blank and a path. The functions of sh:
// - is_real PATH: no folder of the path is a link.
// - is KIND SHA-256 PATH: the path is this file (f) or this link (l, by the checksum of its text).
// - edit COMMAND PATH: runs the command on the path. Makes a read-only folder writable for that time.
constexpr char kPrepare[] =
    "is_real() { p=.; r=${1#./}; while :; do case $r in "
    "*/*) p=$p/${r%%/*}; r=${r#*/}; if [ -L \"$p\" ]; then return 1; fi;; *) return 0;; esac; done; }; "
    "is() { case $1 in "
    "f) [ -f \"$3\" ] && [ ! -L \"$3\" ] && s=$(sha256sum < \"$3\") && [ \"${s%% *}\" = \"$2\" ];; "
    "l) [ -L \"$3\" ] && s=$(readlink -n -- \"$3\" | sha256sum) && [ \"${s%% *}\" = \"$2\" ];; esac; }; "
    "edit() { $1 \"$2\" 2>/dev/null && return 0; d=${2%/*}; [ ! -w \"$d\" ] && chmod u+w \"$d\" || return 1; "
    "$1 \"$2\"; e=$?; chmod u-w \"$d\"; return $e; }; "
    "fail() { printf '%s\\n' \"$1 $2\" >&2; exit 1; }; "
    "for text; do op=${text%\"${text#?}\"}; text=${text#?}; sum=${text%% *}; path=${text#* }; "
    "is_real \"$path\" || { case $op in f|l|t) continue;; *) fail \"$path\" 'goes through a link now';; esac; }; "
    "case $op in "
    "f|l) if is $op $sum \"$path\"; then edit 'rm -f' \"$path\" || fail \"$path\" 'cannot be removed'; fi;; "
    "e) if [ -d \"$path\" ] && [ ! -L \"$path\" ]; then "
    "edit rmdir \"$path\" || fail \"$path\" 'is a directory with other files now'; fi;; "
    "t) [ ! -d \"$path\" ] || edit rmdir \"$path\" 2>/dev/null || :;; "
    "F) is f $sum \"$path\" || fail \"$path\" 'has just been changed';; "
    "L) is l $sum \"$path\" || fail \"$path\" 'has just been changed';; "
    "n) if [ -e \"$path\" ] || [ -L \"$path\" ]; then fail \"$path\" 'has just been made'; fi;; "
    "esac; done";

std::string FromTop(const std::string& path) { return "./" + path; }

std::string WithEnds(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all.append(text).push_back('\0');
  return all;
}

// "f 644 1700000000.1234 65:77 ./path"
bool ParseFound(std::string_view text, std::string* path, FoundFile* found) {
  std::string_view words[4];
  for (std::string_view& word : words) {
    const size_t blank = text.find(' ');
    if (blank == std::string_view::npos) return false;
    word = text.substr(0, blank);
    text.remove_prefix(blank + 1);
  }
  if (words[0].size() != 1 || !text.starts_with("./")) return false;
  found->type = words[0][0];
  std::from_chars(words[1].data(), words[1].data() + words[1].size(), found->mode, 8);
  std::from_chars(words[2].data(), words[2].data() + words[2].size(), found->time_s);
  found->id = words[3];
  *path = text.substr(2);
  return true;
}

// The text between the output of `kLook` and the marks.
constexpr std::string_view kHostMarks = "marks";

}  // namespace

std::string MarkFile(const std::string& mark) { return StrCat(kMarkStart, mark); }

StatusOr<SyncManifest> SyncHost::Open() const {
  // The mark cannot be made in a directory without the right to write. Such a directory may still be up to date, so
  // this is no error.
  TF_ASSIGN_OR_RETURN(const std::string text,
                      shell_.Run(StrCat("mkdir -p ", ShellWord(directory_), " && cd ", ShellWord(directory_),
                                        " && { ( : > ", MarkFile(mark_), " ) 2>/dev/null || :; } && { [ ! -f ",
                                        kManifestName, " ] || cat ", kManifestName, "; }")));
  return SyncManifest::Parse(text);
}

StatusOr<FoundFiles> SyncHost::Look(const std::vector<std::string>& paths, const std::vector<std::string>& directories,
                                    const std::string& first, std::vector<std::string>* marks) const {
  std::vector<std::string> texts;
  for (const std::string& path : paths) texts.push_back(FromTop(path));
  for (const std::string& path : directories) texts.push_back(FromTop(path));
  const bool is_deep = !directories.empty();
  // The first two commands fail if the machine's find and sha256sum are not GNU's.
  const std::string script = StrCat(
      "export LC_ALL=C; cd ", ShellWord(directory_), " && find . -maxdepth 0 -printf '=%y %m %T@ %D:%i %p/\\0%l\\0'",
      " && sha256sum -z /dev/null > /dev/null && xargs -0 -r sh -c ",
      ShellWord(StrCat(kLook, "look ", is_deep ? "''" : "'-maxdepth 0'", " \"$@\"")), " sh && printf '", kHostMarks,
      "\\0' && for f in ", MarkFile(first), "*; do printf '%s\\0' \"$f\"; done && rm -f ", MarkFile(mark_));
  TF_ASSIGN_OR_RETURN(const std::string output, shell_.Run(script, WithEnds(texts)));
  FoundFiles found;
  const std::vector<std::string> answers = StrSplit(output, '\0');
  bool are_marks = false;
  for (size_t i = 0; i < answers.size(); ++i) {
    const std::string_view answer = answers[i];
    std::string path;
    FoundFile file;
    if (are_marks) {
      if (answer.starts_with(kMarkStart)) marks->emplace_back(answer.substr(kMarkStart.size()));
    } else if (answer == kHostMarks) {
      are_marks = true;
    } else if (answer.starts_with('=')) {
      if (!ParseFound(answer.substr(1), &path, &file) || ++i == answers.size()) {
        return absl::InternalError(StrCat("find printed '", answer, "'"));
      }
      if (file.type == 'l') file.content = {FileContent::Kind::kLink, answers[i]};
      if (!path.empty()) found[path] = std::move(file);
    } else if (answer.size() > kSha256Digits + 4) {  // "SHA-256  ./path"
      const auto of = found.find(std::string(answer.substr(kSha256Digits + 4)));
      if (of != found.end() && of->second.type == 'f') {
        of->second.content = {FileContent::Kind::kFile, std::string(answer.substr(0, kSha256Digits))};
      }
    }
  }
  if (!are_marks) return absl::InternalError("the list of files ends too early");
  return found;
}

Status SyncHost::Prepare(const SyncPlan& plan) const {
  std::vector<std::string> texts;
  const auto add = [&texts](const char* letter, const std::string& sum, const std::string& path) {
    texts.push_back(StrCat(letter, sum, " ", FromTop(path)));
  };
  const auto add_content = [&add](bool removes, const FileContent& content, const std::string& path) {
    if (content.kind == FileContent::Kind::kFile) return add(removes ? "f" : "F", content.value, path);
    add(removes ? "l" : "L", Sha256(content.value), path);
  };
  for (const auto& [path, content] : plan.remove) add_content(true, content, path);
  for (const std::string& path : plan.empty) add("e", "-", path);
  for (const std::string& path : plan.tidy) add("t", "-", path);
  for (const auto& [path, present] : plan.bring) {
    if (present.has_value()) {
      add_content(false, *present, path);
    } else {
      add("n", "-", path);
    }
  }
  TF_RETURN_IF_ERROR(WriteManifest(plan.during));
  const auto done = shell_.Run(
      StrCat("export LC_ALL=C; cd ", ShellWord(directory_), " && xargs -0 -r sh -c ", ShellWord(kPrepare), " sh"),
      WithEnds(texts));
  return done.status();
}

Status SyncHost::WriteManifest(const SyncManifest& manifest) const {
  const std::string text = manifest.ToText();
  const std::string next = StrCat(kManifestName, ".next-", mark_);
  // A text that has been cut does not take the place of the present one.
  return shell_
      .Run(StrCat("cd ", ShellWord(directory_), " && cat > ", next, " && [ \"$(wc -c < ", next, ")\" -eq ", text.size(),
                  " ] && mv -f ", next, " ", kManifestName),
           text)
      .status();
}

Status SyncHost::Close() const {
  return shell_.Run(StrCat("rm -f ", ShellWord(StrCat(directory_, "/", MarkFile(mark_))))).status();
}

}  // namespace tensorbraid
