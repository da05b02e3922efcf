// Runs a fuzz target without a fuzzer: on every file of the folders and files named on the command line, and on a fixed
// number of variations of each, which are the same in every run. A fuzzer (libFuzzer) finds more bugs; this program
// checks that those found before stay fixed, and finds some new ones. -n N sets the number of variations, -s SEED
// selects others. An input that crashes the program is written to the file crash-input.
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
// libFuzzer's hook: replaces `data`, which has room for `max_size` bytes, by the target's own variation of it.
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                                                unsigned seed);

namespace {

// The most memory that the process may use. The inputs are so small that more would be a bug.
constexpr long kMaxResidentKilobytes = 3L << 20;

const std::string* current_input = nullptr;

extern "C" void KeepInput(int signal) {
  const int file = open("crash-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0 && current_input != nullptr) {
    [[maybe_unused]] const ssize_t written = write(file, current_input->data(), current_input->size());
    close(file);
  }
  raise(signal);  // the default action, which SA_RESETHAND has restored
}

void Run(const std::string& bytes) {
  current_input = &bytes;
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

// Makes a few changes as a fuzzer does: changes bytes, repeats or removes pieces, or truncates the input. If the target
// has its own mutator, mostly uses that.
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
#ifndef TENSORBRAID_ASAN  // AddressSanitizer reports these itself; with abort_on_error=1 it then aborts
  for (const int signal : {SIGSEGV, SIGFPE, SIGILL, SIGBUS}) sigaction(signal, &keep, nullptr);
#endif

  google::protobuf::SetLogHandler(nullptr);  // it would log every input that is not a valid message

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
  std::printf("%zu files, %d variations of each, peak memory %ld MB\n", files.size(), variations, used.ru_maxrss >> 10);
  if (used.ru_maxrss <= kMaxResidentKilobytes) return 0;
  std::fprintf(stderr, "used more than the limit of %ld MB of memory\n", kMaxResidentKilobytes >> 10);
  return 1;
}
