#include "core/system/env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include "core/system/direct_block.h"
#include "core/system/env_testutil.h"
#include "core/system/timer.h"
#include "core/threads/mutex.h"

namespace tensorbraid {
namespace {

using std::chrono::hours;

TEST(EnvTest, AWaitGivesUpWhenTheInstalledClockPassesItsDeadline) {
  ManualClockEnv env;
  const ScopedEnv scoped(&env);
  Mutex mu;
  CondVar cv;
  const auto start = MonotonicClock::now();
  bool held = true;
  Thread waiter("waiter", [&] {
    MutexLock lock(mu);
    held = cv.WaitFor(mu, hours(2), [] { return false; });
  });
  env.WaitForWaiter(start + hours(2));
  env.Advance(hours(1));
  env.WaitForWaiter(start + hours(2));
  env.Advance(hours(1));
  waiter.Join();
  EXPECT_FALSE(held);
  EXPECT_EQ(MonotonicClock::now() - start, hours(2));
}

TEST(EnvTest, ANotifiedWaitEndsWhileTheClockStandsStill) {
  ManualClockEnv env;
  const ScopedEnv scoped(&env);
  Mutex mu;
  CondVar cv;
  bool ready = false;
  bool held = false;
  Thread waiter("waiter", [&] {
    MutexLock lock(mu);
    held = cv.WaitFor(mu, hours(1), [&] { return ready; });
  });
  env.WaitForWaiter(env.MonotonicNow() + hours(1));
  {
    MutexLock lock(mu);
    ready = true;
  }
  cv.NotifyAll();
  waiter.Join();
  EXPECT_TRUE(held);
}

TEST(EnvTest, TimersRunInTheOrderOfTheInstalledClock) {
  ManualClockEnv env;
  const ScopedEnv scoped(&env);
  Mutex mu;
  CondVar cv;
  std::vector<int> ran;
  const auto start = MonotonicClock::now();
  Timer timer;
  const auto record = [&](int number) {
    MutexLock lock(mu);
    ran.push_back(number);
    cv.NotifyAll();
  };
  timer.RunAfter(hours(2), [&] { record(2); });
  timer.RunAfter(hours(1), [&] { record(1); });
  env.WaitForWaiter(start + hours(1));
  env.Advance(hours(1));
  env.WaitForWaiter(start + hours(2));  // the first closure has run
  {
    MutexLock lock(mu);
    EXPECT_THAT(ran, testing::ElementsAre(1));
  }
  env.Advance(hours(1));
  MutexLock lock(mu);
  cv.Wait(mu, [&] { return ran.size() == 2; });
  EXPECT_THAT(ran, testing::ElementsAre(1, 2));
}

TEST(EnvTest, ASleepTakesNoRealTimeUnderAnInstalledClock) {
  ManualClockEnv env;
  const ScopedEnv scoped(&env);
  const auto end = MonotonicClock::now() + hours(24 * 365);
  Thread sleeper("sleeper", [] { SleepFor(hours(24 * 365)); });
  env.WaitForWaiter(end);
  env.Advance(hours(24 * 365));
  sleeper.Join();
}

TEST(EnvTest, SeedsComeFromTheInstalledEnv) {
  class Counting final : public ForwardingEnv {
   public:
    uint64_t RandomSeed() override { return ++last_; }

   private:
    uint64_t last_ = 0;
  };
  Counting env;
  const ScopedEnv scoped(&env);
  EXPECT_EQ(RandomSeed(), 1u);
  EXPECT_EQ(RandomSeed(), 2u);
}

TEST(EnvTest, TheSystemIsRestoredWhenAScopedEnvEnds) {
  ManualClockEnv env;
  { const ScopedEnv scoped(&env); }
  EXPECT_EQ(&Env::Default(), &Env::System());
  EXPECT_NE(RandomSeed(), RandomSeed());
}

TEST(ThreadTest, HasTheFirstFifteenCharactersOfItsName) {
  char name[32] = "";
  Thread thread("tb-a-name-that-is-long", [&] { pthread_getname_np(pthread_self(), name, sizeof name); });
  thread.Join();
  EXPECT_STREQ(name, "tb-a-name-that-");
  EXPECT_FALSE(thread.joinable());
}

// A task that may use one core must not compute on several threads, which would alternate and evict each other's data
// from the cache.
TEST(ThreadTest, NumCoresIsTheNumberOfCoresThatTheThreadMayUse) {
  int cores = 0;
  Thread thread("on-one-core", [&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    if (sched_setaffinity(0, sizeof set, &set) == 0) cores = NumCores();
  });
  thread.Join();
  EXPECT_EQ(cores, 1);
}

// Appends `bytes` in pieces of growing odd sizes.
void AppendInPieces(std::string_view bytes, WritableFile& file) {
  for (size_t piece = 1; !bytes.empty(); piece = piece * 3 + 2) {
    ASSERT_TRUE(file.Append(bytes.substr(0, piece)).ok());
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
}

// Bytes that do not repeat.
std::string Pseudorandom(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 2654435761u >> 13);
  return bytes;
}

std::string ContentOf(const std::string& path) {
  const auto file = RandomAccessFile::Open(path).value();
  std::string bytes(file->size(), '\0');
  EXPECT_TRUE(file->Read(0, bytes.size(), bytes.data()).ok());
  return bytes;
}

TEST(WritableFileTest, AFileHasAllBytesInOrderAfterBypassPageCache) {
  const std::string bytes = Pseudorandom((9 << 20) + 123);
  const std::string path = ::testing::TempDir() + "/much" + std::to_string(RandomSeed());
  for (const size_t before : {size_t{0}, size_t{1}, size_t{4096}, size_t{5} << 20}) {
    const std::string_view all = bytes;
    const auto file = Env::System().OpenWritable(path, Env::WriteMode::kReplace).value();
    ASSERT_TRUE(file->Append(all.substr(0, before)).ok());
    file->BypassPageCache();
    const size_t middle = bytes.size() / 2 + 77;
    AppendInPieces(all.substr(before, middle - std::min(before, middle)), *file);
    ASSERT_TRUE(file->Sync().ok());
    EXPECT_EQ(ContentOf(path).size(), std::max(before, middle));
    AppendInPieces(all.substr(std::max(before, middle)), *file);
    ASSERT_TRUE(file->Close().ok());
    EXPECT_TRUE(ContentOf(path) == bytes) << before;
  }
  ASSERT_TRUE(Env::System().RemoveFile(path).ok());
}

TEST(WritableFileTest, BypassPageCacheWorksOnAFileThatHasAnUnevenSize) {
  const std::string path = ::testing::TempDir() + "/uneven" + std::to_string(RandomSeed());
  const std::string much((8 << 20) + 5, 'm');
  const auto start = Env::System().OpenWritable(path, Env::WriteMode::kReplace).value();
  ASSERT_TRUE(start->Append("uneven").ok() && start->Close().ok());
  const auto file = Env::System().OpenWritable(path, Env::WriteMode::kAppend).value();
  file->BypassPageCache();
  ASSERT_TRUE(file->Append(much).ok() && file->Close().ok());
  EXPECT_TRUE(ContentOf(path) == "uneven" + much);
  ASSERT_TRUE(Env::System().RemoveFile(path).ok());
}

TEST(WritableFileTest, BypassPageCacheWorksOnAFileInMemory) {
  const std::string path = "/dev/shm/much" + std::to_string(RandomSeed());
  const std::string much((8 << 20) + 5, 'm');
  auto file = Env::System().OpenWritable(path, Env::WriteMode::kCreate);
  if (!file.ok()) GTEST_SKIP() << "there is no /dev/shm";
  (*file)->BypassPageCache();
  ASSERT_TRUE((*file)->Append(much).ok() && (*file)->Close().ok());
  EXPECT_TRUE(ContentOf(path) == much);
  ASSERT_TRUE(Env::System().RemoveFile(path).ok());
}

TEST(RandomAccessFileTest, ReadsOfAnyPlaceAndSizeAreRightPastThePageCache) {
  const std::string bytes = Pseudorandom((5 << 20) + 123);
  for (const std::string& directory : {::testing::TempDir(), std::string("/dev/shm")}) {
    const std::string path = directory + "/read" + std::to_string(RandomSeed());
    auto written = Env::System().OpenWritable(path, Env::WriteMode::kCreate);
    if (!written.ok()) continue;  // there is no /dev/shm
    ASSERT_TRUE((*written)->Append(bytes).ok() && (*written)->Close().ok());
    const auto file = RandomAccessFile::Open(path).value();
    file->BypassPageCache();
    constexpr size_t kAlign = kDirectAlignment;
    const std::unique_ptr<char, void (*)(void*)> memory(
        static_cast<char*>(std::aligned_alloc(kAlign, bytes.size() / kAlign * kAlign + 2 * kAlign)), &std::free);
    for (const size_t offset : {size_t{0}, size_t{1}, kAlign, 3 * kAlign + 7, bytes.size() - 5}) {
      for (const size_t size : {size_t{0}, size_t{1}, kAlign, 2 * kAlign + 1, size_t{3} << 20, bytes.size() - offset}) {
        if (size > bytes.size() - offset) continue;
        for (const size_t shift : {size_t{0}, size_t{3}}) {
          const Status read = file->Read(offset, size, memory.get() + shift);
          ASSERT_TRUE(read.ok()) << read;
          EXPECT_TRUE(std::string_view(memory.get() + shift, size) == std::string_view(bytes).substr(offset, size))
              << size << " bytes at " << offset << " to " << shift;
        }
      }
    }
    EXPECT_EQ(file->Read(bytes.size() - 5, 6, memory.get()).code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(file->Read(0, bytes.size() + 1, memory.get()).code(), absl::StatusCode::kDataLoss);
    ASSERT_TRUE(Env::System().RemoveFile(path).ok());
  }
}

}  // namespace
}  // namespace tensorbraid
