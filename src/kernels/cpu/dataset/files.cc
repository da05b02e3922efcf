// Datasets at the start of a pipeline: the elements are the records of files, or the names of files.
#include <algorithm>

#include "core/system/env.h"
#include "core/text/gzip_magic.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "io/record.h"
#include "kernels/cpu/dataset/util.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/parsing/csv.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The strings in input 0, a scalar or a vector.
StatusOr<std::vector<std::string>> StringsInput(const KernelContext& ctx, const char* what) {
  const Tensor& t = ctx.input(0);
  if (t.shape().rank() > 1) return InvalidArgument(what, " must be a scalar or a vector, got shape ", t.shape());
  const auto names = t.data<std::string>();
  return std::vector<std::string>(names.begin(), names.end());
}

// The buffer size in input i; 0 for the default. `least` is the smallest valid input: -1 for ops where -1 also selects
// the default, else 0.
StatusOr<int64_t> BufferSize(const KernelContext& ctx, int i, int64_t least = 0) {
  TF_ASSIGN_OR_RETURN(const int64_t size, NumberInput(ctx, i, "buffer_size"));
  if (size < least)
    return InvalidArgument("buffer_size must be ", least, " or more (0 selects the default), got ", size);
  if (size < 0) return 0;
  return std::min<int64_t>(size, 64 << 20);
}

// Reads the records of files, one after the other. Calls Reader::Open(file number), then Reader::Next(std::string*)
// until it returns OutOfRange at the end of the file.
template <typename Reader>
class Records {
 public:
  Records(std::shared_ptr<Reader> reader, size_t files) : reader_(std::move(reader)), files_(files) {}

  StatusOr<bool> Next(const IteratorContext& ctx, std::string* record) {
    while (true) {
      TF_RETURN_IF_ERROR(ctx.cancellation->status());
      if (!open_) {
        if (next_ >= files_) return false;
        TF_RETURN_IF_ERROR(reader_->Open(next_));
        open_ = true;
        records_ = 0;
      }
      const Status status = reader_->Next(record);
      if (status.ok()) {
        ++records_;
        return true;
      }
      if (!absl::IsOutOfRange(status)) return status;
      open_ = false;
      ++next_;
    }
  }
  const Reader& reader() const { return *reader_; }

  // A restore reads the open file again, up to the saved record.
  void Fields(IteratorState& state) {
    state(next_, open_, records_);
    if (!state.restores() || !state.status().ok() || !open_) return;
    if (next_ >= files_) {
      return state.Fail(InvalidArgument("the saved state is in file ", next_, " of the input, which has ", files_));
    }
    Status status = reader_->Open(next_);
    std::string record;
    for (int64_t i = 0; i < records_ && status.ok(); ++i) {
      status = state.context().cancellation->status();
      if (status.ok()) status = reader_->Next(&record);
    }
    if (absl::IsOutOfRange(status)) {
      status = DataLoss("file ", next_, " of the input has fewer records than when the state was saved");
    }
    if (!status.ok()) state.Fail(status);
  }

 private:
  const std::shared_ptr<Reader> reader_;
  const size_t files_;
  size_t next_ = 0;
  bool open_ = false;
  int64_t records_ = 0;  // the number of records that have been read from the open file
};

struct FileOptions {
  std::vector<std::string> names;
  Compression compression = Compression::kNone;
  int64_t buffer_size = 0;
};

struct LineReader {
  FileOptions options;
  std::shared_ptr<InputStream> stream;
  Status Open(size_t i) {
    TF_ASSIGN_OR_RETURN(stream, InputStream::Open(options.names[i], options.compression, options.buffer_size));
    return OkStatus();
  }
  Status Next(std::string* out) { return stream->ReadLine(out); }
};

// Reads records of comma-separated values. A line feed within quotes belongs to the record.
struct CsvReader {
  FileOptions options;
  cpu::CsvFormat format;
  bool header = false;
  std::shared_ptr<InputStream> stream;
  int64_t lines = 0, first_line = 0;  // how many lines have been read, and the line where the last record begins

  Status Open(size_t i) {
    TF_ASSIGN_OR_RETURN(stream, InputStream::Open(options.names[i], options.compression, options.buffer_size));
    lines = 0;
    std::string line;
    const Status skipped = header ? Next(&line) : OkStatus();
    return absl::IsOutOfRange(skipped) ? InvalidArgument("Can't read header of file ", options.names[i]) : skipped;
  }
  std::string Where() const { return StrCat(stream->path(), ":", first_line); }
  Status Next(std::string* out) {
    TF_RETURN_IF_ERROR(stream->ReadLine(out));
    first_line = ++lines;
    std::string line;
    while (format.quotes && std::count(out->begin(), out->end(), '"') % 2 != 0) {
      const Status more = stream->ReadLine(&line);
      if (absl::IsOutOfRange(more)) break;  // CsvFormat::Split reports the missing quote
      TF_RETURN_IF_ERROR(more);
      ++lines;
      *out += "\n" + line;
    }
    return OkStatus();
  }
};

struct TfRecordReader {
  FileOptions options;
  std::vector<int64_t> offsets;
  std::shared_ptr<RecordReader> reader;
  Status Open(size_t i) {
    TF_ASSIGN_OR_RETURN(reader, RecordReader::Open(options.names[i], options.compression, options.buffer_size));
    return i < offsets.size() && offsets[i] > 0 ? reader->SkipTo(offsets[i]) : OkStatus();
  }
  Status Next(std::string* out) { return reader->Read(out); }
};

struct FixedLengthReader {
  FileOptions options;
  int64_t header = 0, record = 0, footer = 0;
  std::shared_ptr<InputStream> stream;
  std::string ahead;  // the last `footer` bytes read, which may be the footer

  Status Open(size_t i) {
    const std::string& name = options.names[i];
    if (options.compression == Compression::kNone) {
      const auto info = Env::Default().Stat(name);
      const auto size = info.ok() ? static_cast<int64_t>(info->size) : 0;
      if (info.ok() && info->is_regular && (size - header - footer < 0 || (size - header - footer) % record != 0)) {
        std::string begin;
        const auto file = InputStream::Open(name);
        if (file.ok()) (void)(*file)->Read(2, &begin);
        return InvalidArgument(name, " has ", size, " bytes, which is not a header of ", header, " bytes, records of ",
                               record, " bytes and a footer of ", footer, " bytes", GzipHint(begin));
      }
    }
    TF_ASSIGN_OR_RETURN(stream, InputStream::Open(name, options.compression, options.buffer_size));
    const Status skipped = stream->Skip(header);
    if (!skipped.ok())
      return absl::IsOutOfRange(skipped) ? InvalidArgument(name, " is shorter than its header") : skipped;
    ahead.clear();
    const Status read = stream->Read(footer, &ahead);
    return absl::IsOutOfRange(read) ? OkStatus() : read;
  }

  Status Next(std::string* out) {
    std::string more;
    const Status read = stream->Read(record, &more);
    if (!read.ok() && !absl::IsOutOfRange(read)) return read;
    if (static_cast<int64_t>(more.size()) < record) {
      if (more.empty()) return OutOfRange("the file is at its end");
      return InvalidArgument(stream->path(), " ends within a record: it has only ", more.size(), " of ", record,
                             " bytes");
    }
    *out = ahead + more;
    ahead = out->substr(static_cast<size_t>(record));
    out->resize(static_cast<size_t>(record));
    return OkStatus();
  }
};

// Readers hold open files, so each iterator gets its own copy of `fresh`, which has not opened any file.
template <typename Reader>
Status EmitFiles(KernelContext& ctx, const Reader& fresh) {
  return EmitDataset(ctx, {}, [fresh](const IteratorContext&) -> StatusOr<Iterator> {
    return MakeStateful(
        Records(std::make_shared<Reader>(fresh), fresh.options.names.size()),
        [](Records<Reader>& records, const IteratorContext& c, std::string* out) { return records.Next(c, out); });
  });
}

StatusOr<Compression> CompressionInput(const KernelContext& ctx, int i) {
  TF_ASSIGN_OR_RETURN(const std::string name, StringInput(ctx, i, "compression_type"));
  return CompressionFromName(name);
}

Status TextLineDataset(KernelContext& ctx) {
  LineReader reader;
  TF_ASSIGN_OR_RETURN(reader.options.names, StringsInput(ctx, "filenames"));
  TF_ASSIGN_OR_RETURN(reader.options.compression, CompressionInput(ctx, 1));
  TF_ASSIGN_OR_RETURN(reader.options.buffer_size, BufferSize(ctx, 2));
  return EmitFiles(ctx, reader);
}

// Inputs: filenames, compression_type, buffer_size, header, field_delim, use_quote_delim, na_value, select_cols,
// record_defaults and, in V2, exclude_cols.
template <bool kHasExcluded>
Status CsvDataset(KernelContext& ctx) {
  CsvReader reader;
  TF_ASSIGN_OR_RETURN(reader.options.names, StringsInput(ctx, "filenames"));
  TF_ASSIGN_OR_RETURN(reader.options.compression, CompressionInput(ctx, 1));
  TF_ASSIGN_OR_RETURN(reader.options.buffer_size, BufferSize(ctx, 2));
  TF_ASSIGN_OR_RETURN(reader.header, BoolInput(ctx, 3, "header"));
  TF_ASSIGN_OR_RETURN(reader.format.delimiter, StringInput(ctx, 4, "field_delim"));
  TF_ASSIGN_OR_RETURN(reader.format.quotes, BoolInput(ctx, 5, "use_quote_delim"));
  TF_ASSIGN_OR_RETURN(reader.format.missing, StringInput(ctx, 6, "na_value"));
  TF_ASSIGN_OR_RETURN(const IntVector selected, IntegersOf(ctx.input(7), "select_cols"));
  reader.format.columns.assign(selected.begin(), selected.end());
  const auto& types = ctx.node().attr<std::vector<DType>>("output_types");
  Element defaults;
  for (size_t i = 0; i < types.size(); ++i) {
    const Tensor& t = ctx.input(8 + static_cast<int>(i));
    if (t.num_elements() > 1 || t.shape().rank() > 1) {
      return InvalidArgument("Each record default should be at most rank 1 and have at most one element, got shape ",
                             t.shape());
    }
    defaults.push_back(t);
  }
  if (kHasExcluded) {
    const int last = 8 + static_cast<int>(types.size());
    TF_ASSIGN_OR_RETURN(const IntVector excluded, IntegersOf(ctx.input(last), "exclude_cols"));
    if (!selected.empty() && !excluded.empty()) {
      return InvalidArgument("Either select_cols or exclude_cols should be empty");
    }
    if (!excluded.empty()) reader.format.columns.assign(excluded.begin(), excluded.end());
    reader.format.excludes = !excluded.empty();
  }
  TF_RETURN_IF_ERROR(reader.format.Check(static_cast<int>(types.size())));
  const auto decode = [format = reader.format, types, defaults](const std::string& record) -> StatusOr<Element> {
    std::vector<std::string> fields;
    TF_RETURN_IF_ERROR(format.Split(record, &fields));
    if (fields.size() != types.size()) {
      return InvalidArgument("Expect ", types.size(), " fields but have ", fields.size(), " in record");
    }
    Element out;
    for (size_t i = 0; i < types.size(); ++i) {
      Tensor t(types[i], {});
      TF_RETURN_IF_ERROR(format.Store(fields[i], defaults[i], static_cast<int>(i), "record", 0, &t));
      out.push_back(std::move(t));
    }
    return out;
  };
  using CsvRecords = Records<CsvReader>;
  const auto pull = [decode](CsvRecords& records, const IteratorContext& c, Element* out) -> StatusOr<bool> {
    std::string record;
    TF_ASSIGN_OR_RETURN(const bool more, records.Next(c, &record));
    if (!more) return false;
    StatusOr<Element> decoded = decode(record);
    if (!decoded.ok()) return Annotate(decoded.status(), records.reader().Where());
    *out = *std::move(decoded);
    return true;
  };
  return EmitDataset(ctx, {}, [reader, pull](const IteratorContext&) -> StatusOr<Iterator> {
    return MakeStateful(CsvRecords(std::make_shared<CsvReader>(reader), reader.options.names.size()), pull);
  });
}

template <bool kHasOffsets>
Status TfRecordDataset(KernelContext& ctx) {
  TfRecordReader reader;
  TF_ASSIGN_OR_RETURN(reader.options.names, StringsInput(ctx, "filenames"));
  TF_ASSIGN_OR_RETURN(reader.options.compression, CompressionInput(ctx, 1));
  TF_ASSIGN_OR_RETURN(reader.options.buffer_size, BufferSize(ctx, 2, /*least=*/-1));
  if (kHasOffsets) {
    TF_ASSIGN_OR_RETURN(const IntVector offsets, IntegersOf(ctx.input(3), "byte_offsets"));
    if (!offsets.empty() && offsets.size() != reader.options.names.size()) {
      return InvalidArgument("there are ", offsets.size(), " byte_offsets for ", reader.options.names.size(),
                             " filenames");
    }
    reader.offsets.assign(offsets.begin(), offsets.end());
  }
  return EmitFiles(ctx, reader);
}

template <bool kHasCompression>
Status FixedLengthRecordDataset(KernelContext& ctx) {
  FixedLengthReader reader;
  constexpr int64_t kMaxBytes = int64_t{1} << 31;
  TF_ASSIGN_OR_RETURN(reader.options.names, StringsInput(ctx, "filenames"));
  TF_ASSIGN_OR_RETURN(reader.header, NumberInput(ctx, 1, "header_bytes"));
  TF_ASSIGN_OR_RETURN(reader.record, NumberInput(ctx, 2, "record_bytes"));
  TF_ASSIGN_OR_RETURN(reader.footer, NumberInput(ctx, 3, "footer_bytes"));
  if (reader.header < 0) return InvalidArgument("header_bytes must not be negative, got ", reader.header);
  if (reader.record <= 0) return InvalidArgument("record_bytes must be positive, got ", reader.record);
  if (reader.footer < 0) return InvalidArgument("footer_bytes must not be negative, got ", reader.footer);
  if (reader.header > kMaxBytes || reader.record > kMaxBytes || reader.footer > kMaxBytes) {
    return InvalidArgument("header_bytes, record_bytes and footer_bytes must not exceed ", kMaxBytes);
  }
  TF_ASSIGN_OR_RETURN(reader.options.buffer_size, BufferSize(ctx, 4));
  if (kHasCompression) {
    TF_ASSIGN_OR_RETURN(reader.options.compression, CompressionInput(ctx, 5));
  }
  return EmitFiles(ctx, reader);
}

// The files that match the first pattern, in the order of their names, then the files that match the next, and so on.
// Directories are left out.
Status MatchingFilesDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::vector<std::string> patterns, StringsInput(ctx, "patterns"));
  struct State {
    size_t next_pattern = 0;
    std::vector<std::string> paths;  // the paths that match the last pattern
    size_t next = 0;
    bool found = false;
    void Fields(IteratorState& state) { state(next_pattern, paths, next, found); }
  };
  return EmitDataset(ctx, {}, [patterns](const IteratorContext&) -> StatusOr<Iterator> {
    return MakeStateful(State(), [patterns](State& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
      while (true) {
        TF_RETURN_IF_ERROR(c.cancellation->status());
        if (s.next < s.paths.size()) {
          const std::string& path = s.paths[s.next++];
          const auto info = Env::Default().Stat(path);
          if (info.ok() && info->is_directory) continue;
          s.found = true;
          *out = {Tensor::Scalar(path)};
          return true;
        }
        if (s.next_pattern == patterns.size()) break;
        TF_ASSIGN_OR_RETURN(s.paths, MatchingPaths(patterns[s.next_pattern++]));
        s.next = 0;
      }
      if (!s.found) return NotFound("Don't find any matched files: ", StrJoin(patterns, ", "));
      return false;
    });
  });
}

}  // namespace

void RegisterDatasetFilesKernels(KernelRegistry& r) {
  r.Add("TextLineDataset", {}, TextLineDataset);
  r.Add("CSVDataset", {}, CsvDataset</*kHasExcluded=*/false>);
  r.Add("CSVDatasetV2", {}, CsvDataset</*kHasExcluded=*/true>);
  r.Add("TFRecordDataset", {}, TfRecordDataset</*kHasOffsets=*/false>);
  r.Add("TFRecordDatasetV2", {}, TfRecordDataset</*kHasOffsets=*/true>);
  r.Add("FixedLengthRecordDataset", {}, FixedLengthRecordDataset</*kHasCompression=*/false>);
  r.Add("FixedLengthRecordDatasetV2", {}, FixedLengthRecordDataset</*kHasCompression=*/true>);
  r.Add("MatchingFilesDataset", {}, MatchingFilesDataset);
}

}  // namespace tensorbraid::cpu
