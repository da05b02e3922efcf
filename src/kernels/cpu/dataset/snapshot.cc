// Datasets that are stored in files for later passes and for other programs: SnapshotDataset, SaveDataset and
// LoadDataset.
#include <optional>
#include <utility>

#include "core/text/strings.h"
#include "io/file.h"
#include "kernels/cpu/dataset/snapshot_files.h"
#include "kernels/cpu/dataset/util.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Chooses the shard of each element. Without a function, there is one shard.
class Sharder {
 public:
  Sharder() = default;
  explicit Sharder(CapturedFunction f) : f_(std::move(f)) {}

  StatusOr<int64_t> ShardOf(const IteratorContext& ctx, const Element& element) const {
    if (!f_) return 0;
    TF_ASSIGN_OR_RETURN(const Element result, f_->Run(ctx, element));
    if (result.size() != 1 || result[0].dtype() != kInt64 || result[0].num_elements() != 1) {
      return InvalidArgument("`shard_func` must return a scalar int64.");
    }
    return result[0].data<int64_t>()[0];
  }

 private:
  std::optional<CapturedFunction> f_;
};

// How a dataset writes a snapshot of its input.
struct WriteOptions {
  RefPtr<Dataset> input;
  std::string directory;
  std::string hash;
  Compression compression = Compression::kNone;
  Sharder sharder;
};

// Passes the elements of the input on and writes them to the snapshot. A restored iterator passes them on without
// writing.
struct Writing {
  Iterator pull;
  std::shared_ptr<SnapshotWriter> writer;  // null after the end and after a restore

  static StatusOr<Writing> Begin(const WriteOptions& options, const IteratorContext& ctx) {
    Writing writing;
    TF_ASSIGN_OR_RETURN(writing.writer, SnapshotWriter::Create(options.directory, options.hash, options.input->types(),
                                                               options.compression));
    TF_ASSIGN_OR_RETURN(writing.pull, options.input->MakeIterator(ctx));
    return writing;
  }
  StatusOr<bool> Next(const WriteOptions& options, const IteratorContext& ctx, Element* out) {
    TF_ASSIGN_OR_RETURN(const bool more, pull(ctx, out));
    if (writer == nullptr) return more;
    if (!more) {
      TF_RETURN_IF_ERROR(std::exchange(writer, nullptr)->Finish());
      return false;
    }
    TF_ASSIGN_OR_RETURN(const int64_t shard, options.sharder.ShardOf(ctx, *out));
    TF_RETURN_IF_ERROR(writer->Write(shard, *out));
    return true;
  }
  void Visit(IteratorState& state, const WriteOptions& options) {
    if (state.restores()) writer = nullptr;
    state.Reopen(pull, [&] { return options.input->MakeIterator(state.context()); });
  }
};

// Reads a snapshot. reader_func turns the dataset of the shards into the dataset that is read. A restore reads this
// dataset again up to the saved position, because the position within the shards cannot be saved.
struct Reading {
  Iterator pull;  // null if there is no snapshot
  int64_t read = 0;

  StatusOr<bool> Next(const IteratorContext& ctx, Element* out) {
    TF_ASSIGN_OR_RETURN(const bool more, pull(ctx, out));
    read += more ? 1 : 0;
    return more;
  }
  // `open` returns an iterator at the first element, or null if there is no snapshot.
  template <typename Open>
  void Visit(IteratorState& state, const Open& open) {
    bool reads = pull != nullptr;
    int64_t position = read;
    state(reads, position);
    if (!state.restores() || !state.status().ok()) return;
    *this = Reading();
    if (!reads) return;
    StatusOr<Iterator> opened = open(state.context());
    if (opened.ok() && *opened == nullptr) opened = NotFound("the snapshot that was read does not exist any more");
    if (!opened.ok()) return state.Fail(opened.status());
    pull = *std::move(opened);
    Element skipped;
    while (read < position) {
      const auto more = Next(state.context(), &skipped);
      if (!more.ok()) return state.Fail(more.status());
      if (!*more)
        return state.Fail(DataLoss("the snapshot has only ", read, " elements, but ", position, " were read"));
    }
  }
};

StatusOr<Iterator> OpenReader(const Snapshot& snapshot, Compression compression, const CapturedFunction& reader,
                              const std::vector<DType>& types, const std::vector<Shape>& shapes,
                              const IteratorContext& ctx) {
  TF_ASSIGN_OR_RETURN(auto shards, OpenSnapshot(snapshot, compression, types, shapes));
  return reader.RunToIterator(ctx, {MakeVariantTensor(std::move(shards))});
}

// The first complete pass over the input writes a snapshot, which later passes read.
Status SnapshotDataset(KernelContext& ctx) {
  const Node& node = ctx.node();
  WriteOptions options;
  TF_ASSIGN_OR_RETURN(options.input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const std::string path, StringInput(ctx, 1, "path"));
  TF_ASSIGN_OR_RETURN(options.compression, SnapshotCompression(node.attr<std::string>("compression")));
  const int shard_begin = 2 + static_cast<int>(node.attr<std::vector<DType>>("Treader_func_args").size());
  const auto reader = CapturedFunction::FromNode(ctx, "reader_func", 2, shard_begin);
  options.sharder = Sharder(CapturedFunction::FromNode(ctx, "shard_func", shard_begin, ctx.num_inputs()));
  options.hash = StrCat(node.attr<bool>("hash_valid") ? static_cast<uint64_t>(node.attr<int64_t>("hash"))
                                                      : options.input->Fingerprint());
  const std::string found_at = JoinPath(node.attr<std::string>("reader_prefix") + path, options.hash);
  options.directory = JoinPath(node.attr<std::string>("writer_prefix") + path, options.hash);
  struct State {
    Reading reading;
    Writing writing;  // unused if there is a snapshot
  };
  const auto open = [=](const IteratorContext& c) -> StatusOr<Iterator> {
    const auto& types = options.input->types();
    TF_ASSIGN_OR_RETURN(const auto snapshot, FindSnapshot(found_at, types));
    if (!snapshot) return Iterator();
    return OpenReader(*snapshot, options.compression, reader, types, options.input->shapes(), c);
  };
  return EmitDataset(
      ctx, {options.input},
      [=](const IteratorContext& c) -> StatusOr<Iterator> {
        State state;
        TF_ASSIGN_OR_RETURN(state.reading.pull, open(c));
        if (state.reading.pull == nullptr) {
          TF_ASSIGN_OR_RETURN(state.writing, Writing::Begin(options, c));
        }
        return MakeStateful(
            std::move(state),
            [options](State& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
              return s.reading.pull != nullptr ? s.reading.Next(c, out) : s.writing.Next(options, c, out);
            },
            [options, open](State& s, IteratorState& state) {
              s.reading.Visit(state, open);
              s.writing.Visit(state, options);
            });
      },
      options.input->cardinality());
}

// The options of SaveDataset and SaveDatasetV2. Their inputs are the dataset, the path, and the arguments of
// shard_func.
StatusOr<WriteOptions> OptionsOfSave(const KernelContext& ctx) {
  WriteOptions options;
  TF_ASSIGN_OR_RETURN(options.input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(options.directory, StringInput(ctx, 1, "path"));
  TF_ASSIGN_OR_RETURN(options.compression, SnapshotCompression(ctx.node().attr<std::string>("compression")));
  if (ctx.node().attr<bool>("use_shard_func")) {
    options.sharder = Sharder(CapturedFunction::FromNode(ctx, "shard_func", 2, ctx.num_inputs()));
  }
  return options;
}

Status SaveDatasetV2(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const WriteOptions options, OptionsOfSave(ctx));
  return EmitDataset(
      ctx, {options.input},
      [options](const IteratorContext& c) -> StatusOr<Iterator> {
        TF_ASSIGN_OR_RETURN(Writing writing, Writing::Begin(options, c));
        return MakeStateful(
            std::move(writing),
            [options](Writing& w, const IteratorContext& c, Element* out) { return w.Next(options, c, out); },
            [options](Writing& w, IteratorState& state) { w.Visit(state, options); });
      },
      options.input->cardinality());
}

// The kernel of SaveDataset: writes the whole input in one call.
Status SaveAll(KernelContext& ctx, const IteratorContext& context, const Iterator& pull) {
  TF_ASSIGN_OR_RETURN(const WriteOptions options, OptionsOfSave(ctx));
  Writing writing;
  writing.pull = pull;
  TF_ASSIGN_OR_RETURN(writing.writer, SnapshotWriter::Create(options.directory, options.hash, options.input->types(),
                                                             options.compression));
  Element element;
  while (true) {
    TF_RETURN_IF_ERROR(context.cancellation->status());
    TF_ASSIGN_OR_RETURN(const bool more, writing.Next(options, context, &element));
    if (!more) return OkStatus();
  }
}

Status LoadDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string path, StringInput(ctx, 0, "path"));
  TF_ASSIGN_OR_RETURN(const Compression compression, SnapshotCompression(ctx.node().attr<std::string>("compression")));
  const auto reader = CapturedFunction::FromNode(ctx, "reader_func", 1, ctx.num_inputs());
  const auto& types = ctx.node().attr<std::vector<DType>>("output_types");
  const auto& shapes = ctx.node().attr<std::vector<Shape>>("output_shapes");
  TF_ASSIGN_OR_RETURN(const auto snapshot, FindSnapshot(path, types));
  if (!snapshot) return NotFound("Could not find metadata file [", path, "] of a complete snapshot");
  return EmitDataset(
      ctx, {},
      [=](const IteratorContext& c) -> StatusOr<Iterator> {
        const auto open = [=](const IteratorContext& c) {
          return OpenReader(*snapshot, compression, reader, types, shapes, c);
        };
        Reading reading;
        TF_ASSIGN_OR_RETURN(reading.pull, open(c));
        return MakeStateful(
            std::move(reading), [](Reading& r, const IteratorContext& c, Element* out) { return r.Next(c, out); },
            [open](Reading& r, IteratorState& state) { r.Visit(state, open); });
      },
      snapshot->elements);
}

}  // namespace

void RegisterDatasetSnapshotKernels(KernelRegistry& r) {
  r.Add("SnapshotDatasetV2", {}, SnapshotDataset);
  r.Add<PullKernel<SaveAll>>("SaveDataset");
  r.Add("SaveDatasetV2", {}, SaveDatasetV2);
  r.Add("LoadDataset", {}, LoadDataset);
}

}  // namespace tensorbraid::cpu
