// Readers, which read records from files, and the kernels that create and use them.
#include <algorithm>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "io/file_origins.h"
#include "io/record.h"
#include "kernels/cpu/random/philox.h"
#include "kernels/cpu/scalar_input.h"
#include "runtime/kernel/handle_kernel.h"
#include "runtime/kernel/kernel.h"
#include "runtime/resources/reader_resource.h"

namespace tensorbraid::cpu {
namespace {

// Reads lines. Keys are "file:line"; lines are counted from 1.
class LineSource final : public RecordSource {
 public:
  explicit LineSource(int64_t skip) : skip_(skip) {}
  Status Start(const std::string& work) override {
    TF_ASSIGN_OR_RETURN(stream_, InputStream::Open(work));
    std::string header;
    for (line_ = 0; line_ < skip_; ++line_) {
      const Status status = stream_->ReadLine(&header);
      if (absl::IsOutOfRange(status)) break;
      TF_RETURN_IF_ERROR(status);
    }
    return OkStatus();
  }
  Status Read(Record* record) override {
    TF_RETURN_IF_ERROR(stream_->ReadLine(&record->value));
    record->key = StrCat(stream_->path(), ":", ++line_);
    return OkStatus();
  }
  void Reset() override { stream_.reset(); }

 private:
  const int64_t skip_;
  std::unique_ptr<InputStream> stream_;
  int64_t line_ = 0;
};

// Reads records of a fixed size between a header and a footer. Keys are "file:number"; records are counted from 0.
class FixedLengthSource final : public RecordSource {
 public:
  FixedLengthSource(int64_t header, int64_t record, int64_t footer, int64_t hop, Compression compression)
      : header_(header), record_(record), footer_(footer), hop_(hop), compression_(compression) {}
  Status Start(const std::string& work) override {
    TF_ASSIGN_OR_RETURN(stream_, InputStream::Open(work, compression_));
    window_.clear();
    number_ = 0;
    const Status status = stream_->Skip(header_);
    return absl::IsOutOfRange(status) ? OkStatus() : status;
  }
  Status Read(Record* record) override {
    // Reads ahead by the size of the footer, because data that overlaps the footer is not a record.
    const int64_t missing = record_ + footer_ - static_cast<int64_t>(window_.size());
    if (missing > 0) {
      std::string more;
      const Status status = stream_->Read(missing, &more);
      window_ += more;
      TF_RETURN_IF_ERROR(status);
    }
    record->value = window_.substr(0, static_cast<size_t>(record_));
    record->key = StrCat(stream_->path(), ":", number_++);
    const int64_t step = hop_ == 0 ? record_ : hop_;
    const int64_t beyond = step - static_cast<int64_t>(window_.size());
    window_.erase(0, static_cast<size_t>(std::min<int64_t>(step, static_cast<int64_t>(window_.size()))));
    if (beyond > 0) {
      const Status status = stream_->Skip(beyond);
      if (!status.ok() && !absl::IsOutOfRange(status)) return status;
    }
    return OkStatus();
  }
  void Reset() override { stream_.reset(); }

 private:
  const int64_t header_;
  const int64_t record_;
  const int64_t footer_;
  const int64_t hop_;
  const Compression compression_;
  std::unique_ptr<InputStream> stream_;
  std::string window_;  // data read so far, from the start of the next record on
  int64_t number_ = 0;
};

// Reads TFRecord files. Keys are "file:offset".
class TfRecordSource final : public RecordSource {
 public:
  explicit TfRecordSource(Compression compression) : compression_(compression) {}
  Status Start(const std::string& work) override {
    path_ = work;
    damage_ = OkStatus();
    TF_ASSIGN_OR_RETURN(reader_, RecordReader::Open(work, compression_));
    return OkStatus();
  }
  Status Read(Record* record) override {
    TF_RETURN_IF_ERROR(damage_);
    record->key = StrCat(path_, ":", reader_->offset());
    const Status status = reader_->Read(&record->value);
    if (!absl::IsDataLoss(status)) return status;
    if (!reader_->is_cut()) return damage_ = status;
    // TensorFlow's readers treat a truncated file as the end of the file, and programs continue with the next file.
    TB_LOG(Warning, "kernels") << std::string(status.message());
    return OutOfRange(std::string(status.message()));
  }
  void Reset() override { reader_.reset(); }

 private:
  const Compression compression_;
  std::string path_;
  std::unique_ptr<RecordReader> reader_;
  Status damage_;  // set if a record is corrupt; nothing after it can be read
};

// Produces one record per work item: the item itself or, if `is_file`, the contents of the file with that name.
class WholeSource final : public RecordSource {
 public:
  explicit WholeSource(bool is_file) : is_file_(is_file) {}
  Status Start(const std::string& work) override {
    work_ = work;
    done_ = false;
    return OkStatus();
  }
  Status Read(Record* record) override {
    if (done_) return OutOfRange("the record has been read");
    record->key = work_;
    if (is_file_) {
      TF_ASSIGN_OR_RETURN(record->value, ReadFile(work_));
      NoteFileContents(work_, record->value);  // so that errors of decoders can name the file
    } else {
      record->value = work_;
    }
    done_ = true;
    return OkStatus();
  }
  bool IsDone() const override { return done_; }
  void Reset() override { done_ = true; }
  bool KeepsState() const override { return true; }

 private:
  const bool is_file_;
  std::string work_;
  bool done_ = true;
};

// What the attributes of a node say about its reader: a description, to compare readers, and a function that makes the
// source of the records. `error` is set if the attributes are wrong.
struct ReaderKind {
  std::string description;
  Status error;
  std::function<std::unique_ptr<RecordSource>()> make;
};

ReaderKind KindOf(const KernelConstruction& c) {
  std::string type = c.node().type();
  if (type.ends_with("V2")) type.resize(type.size() - 2);
  if (type == "TextLineReader") {
    const int64_t skip = c.attr<int64_t>("skip_header_lines");
    const Status error = skip < 0 ? InvalidArgument("skip_header_lines must not be negative, got ", skip) : OkStatus();
    return {StrCat(type, " ", skip), error, [skip] { return std::make_unique<LineSource>(skip); }};
  }
  if (type == "FixedLengthRecordReader") {
    const int64_t header = c.attr<int64_t>("header_bytes");
    const int64_t record = c.attr<int64_t>("record_bytes");
    const int64_t footer = c.attr<int64_t>("footer_bytes");
    const int64_t hop = c.attr<int64_t>("hop_bytes");
    const AttrValue* encoding = c.node().FindAttr("encoding");
    const std::string name = encoding == nullptr ? "" : *encoding->get<std::string>();
    const auto compression = CompressionFromName(name);
    Status error = compression.status();
    constexpr int64_t kMost = int64_t{1} << 40;
    if (header < 0 || record <= 0 || footer < 0 || hop < 0 || std::max({header, record, footer, hop}) > kMost) {
      error =
          InvalidArgument("record_bytes must be positive, header_bytes, footer_bytes and hop_bytes not negative, got ",
                          record, ", ", header, ", ", footer, " and ", hop);
    }
    return {StrCat(type, " ", header, " ", record, " ", footer, " ", hop, " ", name), error,
            [=] { return std::make_unique<FixedLengthSource>(header, record, footer, hop, *compression); }};
  }
  if (type == "TFRecordReader") {
    const auto& name = c.attr<std::string>("compression_type");
    const auto compression = CompressionFromName(name);
    return {StrCat(type, " ", name), compression.status(),
            [compression] { return std::make_unique<TfRecordSource>(*compression); }};
  }
  const bool is_file = type == "WholeFileReader";
  return {type, OkStatus(), [is_file] { return std::make_unique<WholeSource>(is_file); }};
}

class ReaderKernel final : public HandleKernel<ReaderResource> {
 public:
  ReaderKernel(const KernelConstruction& c, ReaderKind kind)
      : HandleKernel(c, Sharing::kPrivate), node_name_(c.node().name()), kind_(std::move(kind)) {}

  static StatusOr<std::unique_ptr<Kernel>> Make(const KernelConstruction& c) {
    ReaderKind kind = KindOf(c);
    TF_RETURN_IF_ERROR(kind.error);
    return std::unique_ptr<Kernel>(std::make_unique<ReaderKernel>(c, std::move(kind)));
  }

 protected:
  RefPtr<ReaderResource> Create() const override {
    return MakeRef<ReaderResource>(node_name_, kind_.description, kind_.make());
  }
  Status Check(const ReaderResource& reader) const override {
    if (reader.description() == kind_.description) return OkStatus();
    return InvalidArgument("reader '", name(), "' already exists as '", reader.description(), "', requested is '",
                           kind_.description, "'");
  }

 private:
  const std::string node_name_;  // the name of the reader in messages
  const ReaderKind kind_;
};

template <bool kUpTo>
class ReaderReadKernel final : public AsyncKernel {
 public:
  explicit ReaderReadKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    auto reader = ctx.LookupResource<ReaderResource>(0);
    if (!reader.ok()) return done(reader.status());
    auto queue = ctx.LookupResource<QueueResource>(1);
    if (!queue.ok()) return done(queue.status());
    const auto count = kUpTo ? ScalarInput<int64_t>(ctx, 2, "num_records") : 1;
    if (!count.ok()) return done(count.status());
    (*reader)->Read(*count, *std::move(queue), ctx.env().cancellation, ctx.env().pool,
                    [&ctx, done = std::move(done)](StatusOr<ReaderResource::Records> records) {
                      done(records.ok() ? Emit(ctx, *std::move(records)) : records.status());
                    });
  }

 private:
  static Status Emit(KernelContext& ctx, ReaderResource::Records records) {
    const Shape shape = kUpTo ? Shape({static_cast<int64_t>(records.size())}) : Shape();
    TF_ASSIGN_OR_RETURN(Tensor keys, Tensor::Create(kString, shape));
    TF_ASSIGN_OR_RETURN(Tensor values, Tensor::Create(kString, shape));
    for (size_t i = 0; i < records.size(); ++i) {
      keys.inplace_data<std::string>()[i] = std::move(records[i].key);
      values.inplace_data<std::string>()[i] = std::move(records[i].value);
    }
    ctx.set_output(0, std::move(keys));
    ctx.set_output(1, std::move(values));
    return OkStatus();
  }
};

Status NumRecordsProduced(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto reader, ctx.LookupResource<ReaderResource>(0));
  ctx.set_output(0, Tensor::Scalar(reader->num_records_produced()));
  return OkStatus();
}

Status NumWorkUnitsCompleted(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto reader, ctx.LookupResource<ReaderResource>(0));
  ctx.set_output(0, Tensor::Scalar(reader->num_work_units_completed()));
  return OkStatus();
}

Status ResetReader(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto reader, ctx.LookupResource<ReaderResource>(0));
  return reader->Reset();
}

Status SerializeState(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto reader, ctx.LookupResource<ReaderResource>(0));
  TF_ASSIGN_OR_RETURN(std::string state, reader->SerializeState());
  ctx.set_output(0, Tensor::Scalar(std::move(state)));
  return OkStatus();
}

Status RestoreState(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto reader, ctx.LookupResource<ReaderResource>(0));
  if (ctx.input(1).shape().rank() != 0) {
    return InvalidArgument("the state must be a scalar, got shape ", ctx.input(1).shape());
  }
  return reader->RestoreState(ctx.input(1).data<std::string>()[0]);
}

// Outputs batches of the records of all files that match a pattern, epoch after epoch, without an end. An epoch has
// each record once. The seed decides the order of the files, and the order of the records that are in the buffer at the
// same time. An epoch begins when the buffer has been emptied.
class RecordInputKernel final : public AsyncKernel {
 public:
  explicit RecordInputKernel(const KernelConstruction& c)
      : pattern_(c.attr<std::string>("file_pattern")),
        shift_(c.attr<float>("file_shuffle_shift_ratio")),
        buffer_size_(c.attr<int64_t>("file_buffer_size")),
        batch_size_(c.attr<int64_t>("batch_size")),
        compression_(c.attr<std::string>("compression_type")),
        random_(cpu::Philox(static_cast<uint64_t>(c.attr<int64_t>("file_random_seed")), 0)) {}

  void ComputeAsync(KernelContext& ctx, Done done) override {
    ctx.pool().ScheduleBlocking([this, &ctx, done = std::move(done)] { done(Batch(ctx)); });
  }

 private:
  Status Batch(KernelContext& ctx) {
    constexpr int64_t kMostRecords = int64_t{1} << 24;
    if (batch_size_ < 0 || batch_size_ > kMostRecords || buffer_size_ < 1) {
      return InvalidArgument("batch_size must be in [0, ", kMostRecords, "] and file_buffer_size at least 1, got ",
                             batch_size_, " and ", buffer_size_);
    }
    if (!(shift_ >= 0 && shift_ < 1)) {
      return InvalidArgument("file_shuffle_shift_ratio must be in [0, 1), got ", shift_);
    }
    std::vector<std::string> batch;
    MutexLock lock(mu_);
    while (static_cast<int64_t>(batch.size()) < batch_size_) {
      TF_RETURN_IF_ERROR(ctx.env().cancellation->status());
      TF_RETURN_IF_ERROR(FillBuffer());
      std::swap(buffer_[Random(buffer_.size())], buffer_.back());
      batch.push_back(std::move(buffer_.back()));
      buffer_.pop_back();
    }
    ctx.set_output(0, Tensor::Vector(batch));
    return OkStatus();
  }

  Status FillBuffer() TB_REQUIRES(mu_) {
    if (next_file_ == files_.size() && reader_ == nullptr && buffer_.empty()) TF_RETURN_IF_ERROR(StartEpoch());
    while (static_cast<int64_t>(buffer_.size()) < buffer_size_) {
      if (reader_ == nullptr) {
        if (next_file_ == files_.size()) break;
        TF_ASSIGN_OR_RETURN(const Compression compression, CompressionFromName(compression_));
        TF_ASSIGN_OR_RETURN(reader_, RecordReader::Open(files_[next_file_++], compression));
      }
      std::string record;
      const Status status = reader_->Read(&record);
      if (status.ok()) {
        buffer_.push_back(std::move(record));
      } else if (absl::IsOutOfRange(status)) {
        reader_.reset();
      } else {
        return status;
      }
    }
    if (buffer_.empty()) return FailedPrecondition("the files at ", pattern_, " have no records");
    return OkStatus();
  }

  Status StartEpoch() TB_REQUIRES(mu_) {
    TF_ASSIGN_OR_RETURN(files_, MatchingPaths(pattern_));
    if (files_.empty()) return NotFound("Found no files at ", pattern_);
    for (size_t i = files_.size(); i > 1; --i) std::swap(files_[i - 1], files_[Random(i)]);
    const auto shift = static_cast<std::ptrdiff_t>(static_cast<float>(files_.size()) * shift_);
    std::rotate(files_.begin(), files_.begin() + shift, files_.end());
    next_file_ = 0;
    return OkStatus();
  }

  size_t Random(size_t below) TB_REQUIRES(mu_) { return random_.Next64() % below; }

  const std::string pattern_;
  const float shift_;
  const int64_t buffer_size_;
  const int64_t batch_size_;
  const std::string compression_;
  Mutex mu_;
  cpu::PhiloxReader random_ TB_GUARDED_BY(mu_);
  std::vector<std::string> files_ TB_GUARDED_BY(mu_);
  size_t next_file_ TB_GUARDED_BY(mu_) = 0;
  std::unique_ptr<RecordReader> reader_ TB_GUARDED_BY(mu_);
  std::vector<std::string> buffer_ TB_GUARDED_BY(mu_);
};

}  // namespace

void RegisterIoReadersKernels(KernelRegistry& r) {
  r.Add<RecordInputKernel>("RecordInput");
  for (const std::string version : {"", "V2"}) {
    for (const char* kind :
         {"WholeFileReader", "TextLineReader", "FixedLengthRecordReader", "TFRecordReader", "IdentityReader"}) {
      r.AddDef({.op = kind + version, .types = {}, .create = ReaderKernel::Make});
    }
    r.Add<ReaderReadKernel</*kUpTo=*/false>>("ReaderRead" + version);
    r.Add<ReaderReadKernel</*kUpTo=*/true>>("ReaderReadUpTo" + version);
    r.Add("ReaderNumRecordsProduced" + version, {}, NumRecordsProduced);
    r.Add("ReaderNumWorkUnitsCompleted" + version, {}, NumWorkUnitsCompleted);
    r.Add("ReaderReset" + version, {}, ResetReader);
    r.Add("ReaderSerializeState" + version, {}, SerializeState);
    r.Add("ReaderRestoreState" + version, {}, RestoreState);
  }
}

}  // namespace tensorbraid::cpu
