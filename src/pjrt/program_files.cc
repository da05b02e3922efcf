#include "pjrt/program_files.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "core/system/env.h"
#include "core/system/private_directory.h"
#include "core/text/strings.h"
#include "core/values/crc32c.h"
#include "core/values/fingerprint.h"
#include "io/file.h"

namespace tensorbraid {
namespace {

// A file: this, then the checksum of the rest (4 bytes), the size of the key (8 bytes), the key, the program.
constexpr std::string_view kMagic = "TBPROG01";
constexpr size_t kHeader = kMagic.size() + sizeof(uint32_t);

template <typename T>
std::string BytesOf(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Sets `value` to the next bytes and removes them. Returns false if there are too few.
template <typename T>
bool Take(std::string_view& bytes, T* value) {
  if (bytes.size() < sizeof(T)) return false;
  std::memcpy(value, bytes.data(), sizeof(T));
  bytes.remove_prefix(sizeof(T));
  return true;
}

StatusOr<uint32_t> ChecksumOfFile(const std::string& path) {
  TF_ASSIGN_OR_RETURN(const auto file, RandomAccessFile::Open(path));
  std::vector<char> block(size_t{1} << 20);
  uint32_t crc = 0;
  for (uint64_t at = 0; at < file->size(); at += block.size()) {
    const size_t size = std::min<uint64_t>(block.size(), file->size() - at);
    TF_RETURN_IF_ERROR(file->Read(at, size, block.data()));
    crc = Crc32c({block.data(), size}, crc);
  }
  return crc;
}

// The model and the instructions of this machine's processor.
StatusOr<std::string> Processor() {
  TF_ASSIGN_OR_RETURN(const std::string info, ReadFile("/proc/cpuinfo"));
  std::string processor;
  const std::string first = info.substr(0, info.find("\n\n"));
  for (const absl::string_view line : absl::StrSplit(first, '\n')) {
    for (const char* name : {"model name", "flags", "Features"}) {
      if (absl::StartsWith(line, name)) processor += StrCat(line, "\n");
    }
  }
  return processor;
}

}  // namespace

StatusOr<std::unique_ptr<ProgramFiles>> ProgramFiles::Open(const std::string& directory, std::string compiler) {
  TF_RETURN_IF_ERROR(MakePrivateDirectory(directory));
  return std::unique_ptr<ProgramFiles>(new ProgramFiles(directory, std::move(compiler)));
}

std::string ProgramFiles::PathOf(std::string_view key) const {
  return JoinPath(directory_, absl::StrFormat("%016x%016x.program", Fingerprint64(key), Hash64(key)));
}

StatusOr<std::string> ProgramFiles::Read(std::string_view text) const {
  const std::string key = StrCat(compiler_, text), path = PathOf(key);
  TF_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  std::string_view rest = bytes;
  uint32_t checksum = 0;
  uint64_t key_size = 0;
  if (!rest.starts_with(kMagic)) return DataLoss("'", path, "' is not a compiled program");
  rest.remove_prefix(kMagic.size());
  if (!Take(rest, &checksum) || UnmaskCrc(checksum) != Crc32c(rest) || !Take(rest, &key_size) ||
      key_size > rest.size()) {
    return DataLoss("the compiled program '", path, "' is damaged");
  }
  // Another program may have the same name of a file.
  if (rest.substr(0, key_size) != key) return NotFound("'", path, "' is another program");
  return bytes.substr(kHeader + sizeof(key_size) + key_size);
}

Status ProgramFiles::Write(std::string_view text, std::string_view compiled) const {
  const std::string key = StrCat(compiler_, text);
  const std::string rest = StrCat(BytesOf(uint64_t{key.size()}), key, compiled);
  return WritePrivateFile(PathOf(key), StrCat(kMagic, BytesOf(MaskCrc(Crc32c(rest))), rest));
}

StatusOr<std::string> CompilerOf(const pjrt::Client& client) {
  const pjrt::Plugin& plugin = client.plugin();
  TF_ASSIGN_OR_RETURN(const uint32_t checksum, ChecksumOfFile(plugin.path()));
  // Programs for the CPU may use all its instructions. GPUs of one maker have a file that says the driver's version.
  const StatusOr<std::string> machine =
      client.platform() == "cpu" ? Processor() : ReadFile("/proc/driver/nvidia/version");
  const char* const flags = std::getenv("XLA_FLAGS");
  std::string devices;
  for (int i = 0; i < client.num_devices(); ++i) {
    if (!devices.ends_with(client.device_kind(i))) devices += StrCat(" ", client.device_kind(i));
  }
  return StrCat("plugin ", plugin.major_version(), ".", plugin.minor_version(), " ", checksum, "\nplatform ",
                client.platform(), " ", client.platform_version(), "\ndevices", devices, "\nmachine ",
                machine.value_or(""), "\nflags ", flags == nullptr ? "" : flags, "\n");
}

void KeepPrograms(const std::string& directory) { ::setenv(ProgramFiles::kVariable, directory.c_str(), 1); }

}  // namespace tensorbraid
