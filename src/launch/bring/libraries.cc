#include "launch/bring/libraries.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <string_view>

#include "core/text/strings.h"
#include "launch/bring/remote_shell.h"
#include "launch/processes/run_command.h"
#include "launch/processes/write_all.h"

namespace tensorbraid {
namespace {

// A library that was brought may need another one.
constexpr int kRounds = 10;

using Libraries = std::map<std::string, std::string>;

std::vector<std::string> MissingIn(const Libraries& libraries) {
  std::vector<std::string> names;
  for (const auto& [name, path] : libraries) {
    if (path.empty()) names.push_back(name);
  }
  return names;
}

// Returns whether the machine needs the folder.
StatusOr<bool> BringTo(const RemoteShell& shell, const std::string& program, const std::string& folder,
                       const Libraries& here, std::vector<std::string>* brought) {
  // A machine without ldd is left alone.
  const std::string ldd = StrCat("ldd ", ShellWord(program), " 2>&1");
  const std::string if_there = "command -v ldd > /dev/null || exit 0; ";
  TF_ASSIGN_OR_RETURN(const std::string without, shell.Run(StrCat(if_there, ldd, " || true")));
  if (MissingIn(ParseLdd(without)).empty()) return false;
  for (int round = 0; round < kRounds; ++round) {
    TF_ASSIGN_OR_RETURN(const std::string output, shell.Run(StrCat("LD_LIBRARY_PATH=", ShellWord(folder), " ", ldd)));
    const std::vector<std::string> missing = MissingIn(ParseLdd(output));
    if (missing.empty()) return true;
    std::vector<std::string> arguments = {"--copy-links", "--times", "--perms", "--ignore-existing", "--compress"};
    for (const std::string& name : missing) {
      const auto path = here.find(name);
      if (path == here.end() || path->second.empty() || IsOfGlibc(name)) {
        return absl::FailedPreconditionError(StrCat(program, " needs ", name,
                                                    ", which is not there and cannot be brought ",
                                                    "from here: install its package there"));
      }
      if (std::find(brought->begin(), brought->end(), name) != brought->end()) {
        return absl::FailedPreconditionError(
            StrCat("the loader there does not take ", name, " of this machine: install its package there"));
      }
      arguments.push_back(path->second);
      brought->push_back(name);
    }
    TF_ASSIGN_OR_RETURN(
        const std::string is_link,
        shell.Run(StrCat("f=", ShellWord(folder), "; if [ -L \"$f\" ]; then echo link; else mkdir -p \"$f\"; fi")));
    if (!is_link.empty()) {
      return FailedPrecondition("'", folder, "' is a link there, so nothing is written to it: remove the link there");
    }
    arguments.push_back(folder + "/");
    TF_RETURN_IF_ERROR(shell.Rsync(arguments).status());
  }
  return absl::FailedPreconditionError(StrCat(program, " needs libraries that need each other: install them there"));
}

}  // namespace

std::map<std::string, std::string> ParseLdd(const std::string& output) {
  // "\tlibz.so.1 => /lib/libz.so.1 (0x00007f...)", "\tlibz.so.1 => not found"; other lines have no arrow.
  Libraries libraries;
  for (std::string_view line : StrSplit(output, '\n')) {
    while (line.starts_with('\t') || line.starts_with(' ')) line.remove_prefix(1);
    const size_t arrow = line.find(" => ");
    if (arrow == std::string_view::npos || line.find(' ') != arrow) continue;
    const std::string_view found = line.substr(arrow + 4);
    const size_t address = found.rfind(" (0x");
    const bool is_path = found.starts_with('/') && address != std::string_view::npos;
    if (!is_path && found != "not found") continue;
    libraries[std::string(line.substr(0, arrow))] = is_path ? std::string(found.substr(0, address)) : "";
  }
  return libraries;
}

bool IsOfGlibc(const std::string& library) {
  static constexpr std::array<std::string_view, 14> kNames = {
      "libBrokenLocale", "libanl",  "libc",       "libc_malloc_debug", "libdl", "libm",         "libmvec",
      "libnsl",          "libnss_", "libpthread", "libresolv",         "librt", "libthread_db", "libutil"};
  if (library.starts_with("ld-linux") || library.starts_with("ld64")) return true;
  return std::any_of(kNames.begin(), kNames.end(), [&library](std::string_view name) {
    return name.ends_with('_') ? library.starts_with(name) : library.starts_with(StrCat(name, ".so"));
  });
}

StatusOr<std::string> BringLibraries(const std::vector<AgentNode>& nodes, const std::vector<std::string>& ssh,
                                     const std::string& program, int err_fd) {
  const auto output = RunCommand({"ldd", program});
  if (!output.ok()) return "";  // a script, or linked statically
  const Libraries here = ParseLdd(*output);
  const std::string folder = std::filesystem::path(program).parent_path() / kLibrariesFolder;
  std::atomic<bool> needed{false};
  std::vector<std::vector<std::string>> brought(nodes.size());
  TF_RETURN_IF_ERROR(ForEachMachine(nodes.size(), [&](size_t i) -> Status {
    const auto needs = BringTo(RemoteShell(nodes[i], ssh), program, folder, here, &brought[i]);
    TF_RETURN_IF_ERROR(Annotate(needs.status(), StrCat("--sync: ", nodes[i].name)));
    if (*needs) needed = true;
    return OkStatus();
  }));
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (brought[i].empty()) continue;
    WriteAll(err_fd, StrCat("launch: ", nodes[i].name, " has ", StrJoin(brought[i], ", "), " of this machine in ",
                            folder, "\n"));
  }
  return needed ? folder : "";
}

}  // namespace tensorbraid
