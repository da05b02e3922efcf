// Saves and restores a growing table, while steps update it, and saves an increment.
//
//   table_save_benchmark [ROWS [DIRECTORY [ROUNDS]]]
//
// Rows (default: 5 million) have 16 numbers and a slot. A round writes a full checkpoint to the directory (default:
// /tmp), and as many bytes to a file with O_DIRECT, which the checkpoint is compared with. The marks: a save is at
// least 0.6 times as fast; a restore makes 3 million rows a second; steps beside a save take at most 1.2 times as long;
// an increment after 1 % of the rows have changed has at most 2 % of the bytes, and takes at most 3 % of the time and
// 0.2 s.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/system/clock.h"
#include "core/text/strings.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kDim = 16, kBatch = 2048;

double SecondsSince(MonotonicClock::time_point begin) {
  return std::chrono::duration<double>(MonotonicClock::now() - begin).count();
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

int64_t BytesIn(const fs::path& directory) {
  int64_t bytes = 0;
  for (const auto& file : fs::recursive_directory_iterator(directory)) {
    if (file.is_regular_file()) bytes += static_cast<int64_t>(file.file_size());
  }
  return bytes;
}

// Writes a file past the page cache, as dd with oflag=direct bs=4M conv=fsync does.
StatusOr<double> DirectSeconds(const fs::path& path, int64_t bytes) {
  constexpr size_t kBlock = size_t{4} << 20;
  const std::unique_ptr<void, decltype(&std::free)> block(std::aligned_alloc(4096, kBlock), &std::free);
  std::fill_n(static_cast<char*>(block.get()), kBlock, 'x');
  const auto begin = MonotonicClock::now();
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT, 0644);
  if (file < 0) return Internal("cannot open ", path.string(), " with O_DIRECT");
  bool ok = true;
  for (int64_t written = 0; ok && written < bytes; written += kBlock) {
    ok = ::write(file, block.get(), kBlock) == static_cast<ssize_t>(kBlock);
  }
  ok = ::fsync(file) == 0 && ok;
  ::close(file);
  const double seconds = SecondsSince(begin);
  fs::remove(path);
  if (!ok) return Internal("cannot write ", path.string());
  return seconds;
}

// A table whose rows all steps update by Adagrad.
struct TrainedTable {
  TrainedTable() {
    ids = Placeholder(g, kInt64, {-1}, "ids");
    table = EmbeddingVariable(g, kDim, {.name = "ids", .initializer = RandomUniform(-0.25, 0.25)});
    const Output rows = nn::EmbeddingLookup(table, ids);
    train = AdagradOptimizer(0.1).Minimize(ReduceSum(Square(rows)), {.global_step = GetOrCreateGlobalStep(g)});
    count = table.NumRows();
    init = GlobalVariablesInitializer(g);
    saver = std::make_unique<Saver>(g, SaverOptions{.max_to_keep = 1, .incremental = true});
  }
  Status Start() {
    TF_RETURN_IF_ERROR(g.status());
    TF_ASSIGN_OR_RETURN(session, Session::Create(g));
    return session->Run({init}).status();
  }
  // Updates the rows of the keys from `first` to before `last`, which are far apart.
  Status Update(int64_t first, int64_t last) {
    constexpr int64_t kMost = 1 << 16;
    for (; first < last; first += kMost) {
      std::vector<int64_t> keys(static_cast<size_t>(std::min(kMost, last - first)));
      for (size_t i = 0; i < keys.size(); ++i) keys[i] = (first + static_cast<int64_t>(i)) * 1'000'003;
      TF_RETURN_IF_ERROR(session->Run({train}, {{ids, Tensor::Vector(keys)}}).status());
    }
    return OkStatus();
  }

  Graph g;
  EmbeddingVariable table;
  Output ids, count;
  Operation train, init;
  std::unique_ptr<Saver> saver;
  std::unique_ptr<Session> session;
};

// Steps that update rows that exist, on a thread of their own, until Stop.
class Steps {
 public:
  Steps(TrainedTable& table, int64_t rows)
      : thread_([this, &table, rows] {
          std::mt19937_64 random(3);
          while (!stop_) {
            const auto first = static_cast<int64_t>(random() % static_cast<uint64_t>(rows));
            const auto begin = MonotonicClock::now();
            status_ = table.Update(first, std::min(rows, first + kBatch));
            if (!status_.ok()) return;
            ms_.push_back(SecondsSince(begin) * 1e3);
          }
        }) {}
  StatusOr<std::vector<double>> Stop() {
    stop_ = true;
    thread_.join();
    TF_RETURN_IF_ERROR(status_);
    return ms_;
  }

 private:
  std::atomic<bool> stop_{false};
  Status status_;
  std::vector<double> ms_;
  std::thread thread_;
};

double Mean(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Status Measure(int64_t rows, const fs::path& directory, int rounds) {
  TrainedTable trained;
  TF_RETURN_IF_ERROR(trained.Start());
  TF_RETURN_IF_ERROR(trained.Update(0, rows));
  const std::string path = (directory / "model").string();
  std::vector<double> saves, directs;
  double bytes = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = MonotonicClock::now();
    TF_RETURN_IF_ERROR(trained.saver->Save(*trained.session, path, {.write_meta_graph = false}).status());
    saves.push_back(SecondsSince(begin));
    bytes = static_cast<double>(BytesIn(directory));
    TF_ASSIGN_OR_RETURN(const double direct, DirectSeconds(directory / "direct", static_cast<int64_t>(bytes)));
    directs.push_back(direct);
  }
  const double save = Median(saves), direct = Median(directs);
  std::printf("%lld rows of %lld numbers and a slot, %.2f GB, medians of %d rounds\n", static_cast<long long>(rows),
              static_cast<long long>(kDim), bytes * 1e-9, rounds);
  std::printf("  full save               %7.2f s, %.2f GB/s\n", save, bytes * 1e-9 / save);
  std::printf("  as many bytes, O_DIRECT %7.2f s, %.2f GB/s; the save has %.2f of this speed\n", direct,
              bytes * 1e-9 / direct, direct / save);

  TF_RETURN_IF_ERROR(trained.Update(0, rows / 100));
  const auto begin_increment = MonotonicClock::now();
  TF_ASSIGN_OR_RETURN(const std::string increment,
                      trained.saver->SaveIncrement(*trained.session, path, {.write_meta_graph = false}));
  const double increment_seconds = SecondsSince(begin_increment);
  const double increment_bytes = static_cast<double>(BytesIn(fs::path(increment).parent_path()));
  std::printf("  increment of 1 %%        %7.2f s, %.2f %% of the bytes; 3 %% of the full save and 0.2 s are %.2f s\n",
              increment_seconds, increment_bytes / bytes * 100, 0.03 * save + 0.2);

  std::vector<double> restores;
  for (int round = 0; round < rounds; ++round) {
    TrainedTable other;
    TF_RETURN_IF_ERROR(other.Start());
    const auto begin = MonotonicClock::now();
    TF_RETURN_IF_ERROR(other.saver->Restore(*other.session, path));
    restores.push_back(SecondsSince(begin));
    TF_ASSIGN_OR_RETURN(const auto count, other.session->Run({other.count}));
    if (count[0].scalar<int64_t>() != rows) return Internal("restored ", count[0].scalar<int64_t>(), " rows");
  }
  std::printf("  restore                 %7.2f s, %.2f million rows/s\n", Median(restores),
              static_cast<double>(rows) * 1e-6 / Median(restores));

  std::vector<double> alone, beside;
  for (int round = 0; round < rounds; ++round) {
    Steps idle(trained, rows);
    std::this_thread::sleep_for(std::chrono::duration<double>(std::max(save, 0.05)));
    TF_ASSIGN_OR_RETURN(const auto idle_ms, idle.Stop());
    alone.insert(alone.end(), idle_ms.begin(), idle_ms.end());
    Steps saving(trained, rows);
    TF_RETURN_IF_ERROR(trained.saver->Save(*trained.session, path, {.write_meta_graph = false}).status());
    TF_ASSIGN_OR_RETURN(const auto saving_ms, saving.Stop());
    beside.insert(beside.end(), saving_ms.begin(), saving_ms.end());
  }
  std::printf("  a step of %lld keys     %7.2f ms; beside a save %.2f ms, which is %.2f times as long (means)\n",
              static_cast<long long>(kBatch), Mean(alone), Mean(beside), Mean(beside) / Mean(alone));
  return OkStatus();
}

}  // namespace
}  // namespace tensorbraid

int main(int argc, char** argv) {
  const int64_t rows = std::max<int64_t>(argc > 1 ? std::atoll(argv[1]) : 5'000'000, 100);
  const std::filesystem::path directory = std::filesystem::path(argc > 2 ? argv[2] : "/tmp") / "table_save_benchmark";
  std::filesystem::create_directories(directory);
  const tensorbraid::Status status =
      tensorbraid::Measure(rows, directory, std::max(argc > 3 ? std::atoi(argv[3]) : 3, 1));
  std::filesystem::remove_all(directory);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
