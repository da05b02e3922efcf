#include "checkpoint/bundle_files.h"

#include <set>
#include <utility>

#include "checkpoint/bundle_reader.h"
#include "checkpoint/bundle_writer.h"
#include "checkpoint/files.h"
#include "checkpoint/table_writer.h"
#include "checkpoint/tensor_bundle.pb.h"
#include "core/text/logging.h"
#include "core/threads/mutex.h"

namespace tensorbraid {
namespace {

// The prefixes whose files get their names at present.
struct Publishing {
  Mutex mu;
  CondVar changed;
  std::set<std::string> prefixes TB_GUARDED_BY(mu);
};
Publishing& publishing() {
  static Publishing& publishing = *new Publishing;
  return publishing;
}

// The number of data files of the bundle at `prefix`; 0 if there is none that can be read.
int DataFilesOf(const std::string& prefix) {
  const auto bundle = BundleReader::Open(prefix);
  return bundle.ok() ? (*bundle)->num_shards() : 0;
}

}  // namespace

BundleLock::BundleLock(std::string prefix) : prefix_(std::move(prefix)) {
  Publishing& p = publishing();
  MutexLock lock(p.mu);
  p.changed.Wait(p.mu, [&]() TB_REQUIRES(p.mu) { return !p.prefixes.contains(prefix_); });
  p.prefixes.insert(prefix_);
}

BundleLock::~BundleLock() {
  Publishing& p = publishing();
  MutexLock lock(p.mu);
  p.prefixes.erase(prefix_);
  p.changed.NotifyAll();
}

BundleFiles::BundleFiles(std::string prefix, int num_data_files)
    : prefix_(std::move(prefix)),
      given_(num_data_files),
      replaced_(DataFilesOf(prefix_)),
      num_shards_(replaced_ == given_ ? given_ + 1 : given_) {}

BundleFiles::~BundleFiles() {
  for (int i = 0; i < added_ && !has_index_; ++i) RemoveFile(DataName(i)).IgnoreError();
}

std::string BundleFiles::DataName(int i) const { return BundleDataName(prefix_, i, num_shards_); }

Status BundleFiles::WriteIndex(const BundleEntries& entries) {
  TF_ASSIGN_OR_RETURN(const auto file, AtomicFile::Create(BundleIndexName(prefix_)));
  TableWriter table(file.get());
  proto::BundleHeaderProto header;
  header.set_num_shards(num_shards_);
  header.mutable_version()->set_producer(kBundleVersion);
  TF_RETURN_IF_ERROR(table.Add("", header.SerializeAsString()));
  for (const auto& [key, entry] : entries) TF_RETURN_IF_ERROR(table.Add(key, entry.SerializeAsString()));
  TF_RETURN_IF_ERROR(table.Finish());
  const Status committed = file->Commit();
  has_index_ = file->renamed();  // true even if the sync after the rename has failed
  return committed;
}

Status BundleFiles::Commit(const BundleEntries& entries) {
  TB_CHECK(added_ == given_);
  if (num_shards_ > given_) {
    Added();
    TF_RETURN_IF_ERROR(WriteFileAtomically(DataName(given_), ""));
  }
  TF_RETURN_IF_ERROR(WriteIndex(entries));
  for (int i = 0; i < replaced_; ++i) {
    const std::string old = BundleDataName(prefix_, i, replaced_);
    if (!FileExists(old)) break;  // the old index may name more files than exist
    if (const Status removed = RemoveFile(old); !removed.ok()) {
      TB_LOG(Warning, "checkpoint") << "a file of a replaced checkpoint stays: " << ToString(removed);
    }
  }
  return OkStatus();
}

}  // namespace tensorbraid
