#include "kernels/cpu/dataset/snapshot_files.h"

#include "absl/strings/str_format.h"
#include "core/system/env.h"
#include "core/text/strings.h"
#include "graph/format/graph.pb.h"
#include "graph/format/tensor_proto.h"
#include "io/file.h"
#include "io/snapshot.pb.h"
#include "kernels/cpu/dataset/util.h"

namespace tensorbraid {
namespace {

constexpr int64_t kFormatVersion = 2;

std::string MetadataPath(const std::string& directory) { return JoinPath(directory, "snapshot.metadata"); }

// A pattern that matches this path only.
std::string Literally(const std::string& path) {
  std::string pattern;
  for (const char c : path) {
    if (c == '*' || c == '?' || c == '[') {
      pattern += StrCat("[", std::string(1, c), "]");
    } else {
      pattern += c;
    }
  }
  return pattern;
}

// Reads the files of a shard one after another.
struct ShardReader {
  std::vector<std::string> files;
  Compression compression = Compression::kNone;
  std::shared_ptr<RecordReader> reader;  // null between two files
  size_t next = 0;

  // Returns false at the end of the shard.
  StatusOr<bool> Read(std::string* record) {
    while (true) {
      if (reader == nullptr) {
        if (next == files.size()) return false;
        TF_ASSIGN_OR_RETURN(reader, RecordReader::Open(files[next], compression));
      }
      const Status status = reader->Read(record);
      if (status.ok()) return true;
      if (!absl::IsOutOfRange(status)) return status;
      reader = nullptr;
      ++next;
    }
  }

  // The next element, which has a record for each component.
  StatusOr<bool> Read(const std::vector<DType>& types, const std::vector<Shape>& shapes, Element* out) {
    out->clear();
    std::string record;
    for (size_t i = 0; i < types.size(); ++i) {
      TF_ASSIGN_OR_RETURN(const bool more, Read(&record));
      if (!more && i == 0) return false;
      if (!more) return DataLoss("'", files.back(), "' ends within an element");
      proto::TensorProto message;
      if (!message.ParseFromString(record)) return DataLoss("'", files[next], "' has a record that is not a tensor");
      TF_ASSIGN_OR_RETURN(Tensor t, FromProto(message));
      out->push_back(std::move(t));
    }
    TF_RETURN_IF_ERROR(CheckElement(*out, types, shapes));
    return true;
  }
};

StatusOr<RefPtr<Dataset>> DatasetOfShard(const std::string& directory, Compression compression,
                                         const std::vector<DType>& types, const std::vector<Shape>& shapes) {
  TF_ASSIGN_OR_RETURN(auto files, MatchingPaths(StrCat(Literally(directory), "/*.snapshot")));
  return Dataset::Create("SnapshotShard", types, shapes, {},
                         [=, files = std::move(files)](const IteratorContext&) -> StatusOr<Iterator> {
                           ShardReader fresh;
                           fresh.files = files;
                           fresh.compression = compression;
                           return MakeStateful(
                               std::move(fresh),
                               [=](ShardReader& reader, const IteratorContext& c, Element* out) -> StatusOr<bool> {
                                 TF_RETURN_IF_ERROR(c.cancellation->status());
                                 return reader.Read(types, shapes, out);
                               },
                               // An iterator over one shard cannot save its position. The iterator over the whole
                               // snapshot can (snapshot.cc).
                               [](ShardReader&, IteratorState& state) {
                                 state.Fail(Unimplemented("the position in a shard of a snapshot cannot be saved"));
                               });
                         });
}

}  // namespace

StatusOr<Compression> SnapshotCompression(const std::string& name) {
  if (name == "NONE" || name == "AUTO") return Compression::kNone;
  auto compression = CompressionFromName(name);
  if (compression.ok()) return compression;
  return InvalidArgument("a snapshot's compression must be AUTO, NONE, GZIP or ZLIB, got '", name, "'");
}

StatusOr<std::optional<Snapshot>> FindSnapshot(const std::string& directory, const std::vector<DType>& types) {
  const auto bytes = ReadFile(MetadataPath(directory));
  if (absl::IsNotFound(bytes.status())) return std::nullopt;
  TF_RETURN_IF_ERROR(bytes.status());
  proto::SnapshotMetadataRecord metadata;
  if (!metadata.ParseFromString(*bytes)) return DataLoss("'", MetadataPath(directory), "' is damaged");
  const std::string& run = metadata.run_id();
  if (run.find('/') != run.npos || run == "..") {
    return DataLoss("'", MetadataPath(directory), "' names the run '", run,
                    "', which must be a directory beside this file");
  }
  if (!metadata.finalized()) return std::nullopt;
  if (metadata.version() != kFormatVersion) {
    return InvalidArgument("the snapshot in '", directory, "' has version ", metadata.version(),
                           " of the format; only version ", kFormatVersion, " can be read");
  }
  bool same = static_cast<size_t>(metadata.dtype_size()) == types.size();
  for (int i = 0; same && i < metadata.dtype_size(); ++i) {
    same = metadata.dtype(i) == static_cast<int32_t>(types[static_cast<size_t>(i)]);
  }
  if (!same) {
    return InvalidArgument("the snapshot in '", directory, "' does not fit the dataset: its elements have ",
                           metadata.dtype_size(), " components, those of the dataset have ", types.size(),
                           ", and the dtypes must be equal, too");
  }
  return Snapshot{.run_directory = JoinPath(directory, run),
                  .elements = metadata.num_elements() > 0 ? metadata.num_elements() : Dataset::kUnknown};
}

StatusOr<RefPtr<Dataset>> OpenSnapshot(const Snapshot& snapshot, Compression compression,
                                       const std::vector<DType>& types, const std::vector<Shape>& shapes) {
  TF_ASSIGN_OR_RETURN(const auto directories, MatchingPaths(StrCat(Literally(snapshot.run_directory), "/*.shard")));
  Element shards;
  for (const std::string& directory : directories) {
    TF_ASSIGN_OR_RETURN(auto shard, DatasetOfShard(directory, compression, types, shapes));
    shards.push_back(MakeVariantTensor(std::move(shard)));
  }
  const auto count = static_cast<int64_t>(shards.size());
  return Dataset::Create(
      "SnapshotShards", {DType::kVariant}, {Shape()}, {},
      [shards = std::move(shards)](const IteratorContext&) -> StatusOr<Iterator> {
        return MakeStateful(size_t{0}, [shards](size_t& next, const IteratorContext&, Element* out) -> StatusOr<bool> {
          if (next == shards.size()) return false;
          *out = {shards[next++]};
          return true;
        });
      },
      count);
}

SnapshotWriter::SnapshotWriter(std::string directory, std::string hash, std::vector<DType> types,
                               Compression compression)
    : directory_(std::move(directory)),
      hash_(std::move(hash)),
      run_id_(StrCat(RandomSeed())),
      types_(std::move(types)),
      compression_(compression) {}

StatusOr<std::unique_ptr<SnapshotWriter>> SnapshotWriter::Create(const std::string& directory, const std::string& hash,
                                                                 const std::vector<DType>& types,
                                                                 Compression compression) {
  std::unique_ptr<SnapshotWriter> writer(new SnapshotWriter(directory, hash, types, compression));
  TF_RETURN_IF_ERROR(MakeDirectories(JoinPath(directory, writer->run_id_)));
  TF_RETURN_IF_ERROR(writer->WriteMetadata(/*finalized=*/false));
  return writer;
}

Status SnapshotWriter::Write(int64_t shard, const Element& element) {
  if (shard < 0) return InvalidArgument("the shard of an element must not be negative, got ", shard);
  std::unique_ptr<RecordWriter>& writer = shards_[shard];
  if (writer == nullptr) {
    const std::string folder = JoinPath(JoinPath(directory_, run_id_), absl::StrFormat("%08d.shard", shard));
    TF_RETURN_IF_ERROR(MakeDirectories(folder));
    TF_ASSIGN_OR_RETURN(writer, RecordWriter::Open(JoinPath(folder, "00000000.snapshot"), compression_));
  }
  for (const Tensor& t : element) {
    if (t.dtype() == DType::kVariant || t.dtype() == DType::kResource) {
      return InvalidArgument("a snapshot cannot store components of type ", t.dtype());
    }
    proto::TensorProto message;
    ToProto(t, &message);
    TF_RETURN_IF_ERROR(writer->Write(message.SerializeAsString()));
  }
  ++elements_;
  return OkStatus();
}

Status SnapshotWriter::Finish() {
  for (auto& [shard, writer] : shards_) TF_RETURN_IF_ERROR(writer->Close());
  shards_.clear();
  return WriteMetadata(/*finalized=*/true);
}

Status SnapshotWriter::WriteMetadata(bool finalized) {
  proto::SnapshotMetadataRecord metadata;
  metadata.set_graph_hash(hash_);
  metadata.set_run_id(run_id_);
  metadata.set_creation_timestamp(
      std::chrono::duration_cast<std::chrono::microseconds>(WallClock::now().time_since_epoch()).count());
  metadata.set_version(kFormatVersion);
  for (const DType type : types_) metadata.add_dtype(static_cast<int32_t>(type));
  metadata.set_num_elements(elements_);
  metadata.set_finalized(finalized);
  return WriteFile(MetadataPath(directory_), metadata.SerializeAsString());
}

}  // namespace tensorbraid
