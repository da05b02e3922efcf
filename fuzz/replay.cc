// Runs a fuzz target without a fuzzer: on every file of the folders and files named on the command line, and on a fixed
// number of variations of each, which come out alike every time. A fuzzer (libFuzzer) finds more; this holds what it
// found and notices what has become brittle since. -n N and -s SEED make it try more, and others. What ends the program
// is left in the file crash-input.
#include <fcntl.h>
#include <google/protobuf/stubs/logging.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// libFuzzer's: a variation that the target knows how to make, in the place of `data`, which has room for `max_size`.
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                                                unsigned seed);

namespace {

// No input of these sizes accounts for more.
constexpr long kMaxResidentKilobytes = 3L << 20;

const std::string* current_input = nullptr;

extern "C" void KeepInput(int signal) {
  const int file = open("crash-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0 && current_input != nullptr) {
    [[maybe_unused]] const ssize_t written = write(file, current_input->data(), current_input->size());
    close(file);
  }
  raise(signal);  // the default action, which SA_RESETHAND has brought back
}

void Run(const std::string& bytes) {
  current_input = &bytes;
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

// A few changes as a fuzzer makes them: other bytes, pieces repeated or left out, an early end; mostly the target's own
// ones, where it has some.
std::string Vary(std::string bytes, std::mt19937& random) {
  if (LLVMFuzzerCustomMutator != nullptr && random() % 8 != 0) {
    const size_t size = bytes.size();
    bytes.resize(2 * size + 4096);
    for (unsigned left = 1 + random() % 4, now = size; left > 0; --left) {
      now = LLVMFuzzerCustomMutator(reinterpret_cast<uint8_t*>(bytes.data()), now, bytes.size(), random());
      if (left == 1) bytes.resize(now);
    }
    return bytes;
  }
  const auto at = [&] { return bytes.empty() ? 0 : random() % bytes.size(); };
  for (int i = 1 + static_cast<int>(random() % 4); i > 0 && !bytes.empty(); --i) {
    constexpr unsigned char kEdges[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    switch (random() % 5) {
      case 0:
        bytes[at()] ^= static_cast<char>(1 << (random() % 8));
        break;
      case 1:
        bytes[at()] = static_cast<char>(kEdges[random() % std::size(kEdges)]);
        break;
      case 2:
        bytes.erase(at(), 1 + random() % 8);
        break;
      case 3:
        bytes.insert(at(), bytes.substr(at(), 1 + random() % 16));
        break;
      default:
        bytes.resize(at());
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  int variations = 100;
  unsigned seed = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (i + 1 < argc && word == "-n") {
      variations = std::atoi(argv[++i]);
    } else if (i + 1 < argc && word == "-s") {
      seed = static_cast<unsigned>(std::atoi(argv[++i]));
    } else if (!std::filesystem::is_directory(word)) {
      files.emplace_back(word);
    } else {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(word)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
      }
    }
  }
  if (files.empty()) {
    std::fprintf(stderr, "usage: %s [-n VARIATIONS] [-s SEED] CORPUS...\n", argv[0]);
    return 1;
  }
  struct sigaction keep = {};
  keep.sa_handler = KeepInput;
  keep.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  sigaction(SIGABRT, &keep, nullptr);
#ifndef __SANITIZE_ADDRESS__  // which reports these; abort_on_error=1 makes it abort then
  for (const int signal : {SIGSEGV, SIGFPE, SIGILL, SIGBUS}) sigaction(signal, &keep, nullptr);
#endif

  google::protobuf::SetLogHandler(nullptr);  // which would tell of every input that is no message

  std::sort(files.begin(), files.end());
  std::mt19937 random(seed);
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    Run(bytes);
    for (int i = 0; i < variations; ++i) Run(Vary(bytes, random));
  }
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  std::printf("%zu files, %d variations of each, at most %ld MB\n", files.size(), variations, used.ru_maxrss >> 10);
  if (used.ru_maxrss <= kMaxResidentKilobytes) return 0;
  std::fprintf(stderr, "more than %ld MB were in use\n", kMaxResidentKilobytes >> 10);
  return 1;
}
