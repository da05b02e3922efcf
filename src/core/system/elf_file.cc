#include "core/system/elf_file.h"

#include <elf.h>

#include <cstring>
#include <memory>
#include <vector>

#include "core/system/env.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

#if defined(__aarch64__)
constexpr int kElfMachine = EM_AARCH64;
#else
constexpr int kElfMachine = EM_X86_64;
#endif

}  // namespace

Status CheckSharedLibrary(const std::string& path) {
  TF_ASSIGN_OR_RETURN(const auto file, RandomAccessFile::Open(path));
  Elf64_Ehdr header;
  if (file->size() < sizeof(header)) return InvalidArgument("it is not a shared library");
  TF_RETURN_IF_ERROR(file->Read(0, sizeof(header), &header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return InvalidArgument("it is not a shared library");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kElfMachine ||
      header.e_phentsize != sizeof(Elf64_Phdr)) {
    return InvalidArgument("it is not a shared library for this machine");
  }
  const auto has = [&](uint64_t offset, uint64_t size) {
    return offset <= file->size() && size <= file->size() - offset;
  };
  const uint64_t bytes = uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (!has(header.e_phoff, bytes)) return InvalidArgument("the file is incomplete");
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  TF_RETURN_IF_ERROR(file->Read(header.e_phoff, bytes, segments.data()));
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD && !has(segment.p_offset, segment.p_filesz)) {
      return InvalidArgument("the file is incomplete");
    }
  }
  return OkStatus();
}

}  // namespace tensorbraid
