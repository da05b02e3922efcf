#include "checkpoint/table_reader.h"

#include "checkpoint/coding.h"
#include "checkpoint/table_writer.h"
#include "core/text/gzip_magic.h"
#include "core/text/strings.h"
#include "core/values/crc32c.h"

namespace tensorbraid {

BlockIterator::BlockIterator(std::string_view block) {
  constexpr size_t kNumber = sizeof(uint32_t);
  if (block.size() >= kNumber) num_restarts_ = GetFixed<uint32_t>(block, block.size() - kNumber);
  if (num_restarts_ == 0 || num_restarts_ > block.size() / kNumber - 1) {
    Fail("it has an invalid number of restart points");
    return;
  }
  const size_t end = block.size() - kNumber * (size_t{num_restarts_} + 1);
  entries_ = block.substr(0, end);
  restarts_ = block.substr(end, kNumber * num_restarts_);
}

void BlockIterator::Fail(const char* why) {
  valid_ = false;
  if (status_.ok()) status_ = DataLoss("a block is damaged: ", why);
}

void BlockIterator::SeekToFirst() {
  if (!status_.ok()) return;
  next_ = 0;
  key_.clear();
  Parse(/*first=*/true);
}

void BlockIterator::GoToRestart(uint32_t i) {
  next_ = GetFixed<uint32_t>(restarts_, i * sizeof(uint32_t));
  key_.clear();
  if (next_ > entries_.size() || (next_ == entries_.size() && !entries_.empty()))
    return Fail("a restart point is outside of it");
  Parse(/*first=*/true);
}

void BlockIterator::Seek(std::string_view key) {
  // Find the last restart point whose key is less than `key`.
  uint32_t low = 0;
  uint32_t high = num_restarts_;
  while (status_.ok() && high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    GoToRestart(middle);
    if (!valid_) return;
    (key_ < key ? low : high) = middle;
  }
  if (!status_.ok()) return;
  GoToRestart(low);
  while (valid_ && key_ < key) Next();
}

void BlockIterator::Next() { Parse(/*first=*/false); }

void BlockIterator::Parse(bool first) {
  valid_ = false;
  if (next_ >= entries_.size()) return;
  std::string_view rest = entries_.substr(next_);
  uint32_t shared, added, value_size;
  if (!GetVarint32(&rest, &shared) || !GetVarint32(&rest, &added) || !GetVarint32(&rest, &value_size)) {
    return Fail("the sizes of an entry are truncated or too large");
  }
  if (added > rest.size() || value_size > rest.size() - added) return Fail("an entry extends beyond its end");
  if (shared > key_.size()) return Fail("a key shares more bytes with the key before it than that key has");
  if (size_t{shared} + added > kMaxKeySize) return Fail("a key is too long");
  const std::string_view tail = rest.substr(0, added);
  if (!first && tail <= std::string_view(key_).substr(shared)) return Fail("its keys are out of order");
  key_.resize(shared);
  key_.append(tail);
  value_ = rest.substr(added, value_size);
  next_ = static_cast<size_t>(value_.data() + value_.size() - entries_.data());
  valid_ = true;
}

StatusOr<std::unique_ptr<TableReader>> TableReader::Open(std::string bytes, std::string path) {
  std::unique_ptr<TableReader> table(new TableReader(std::move(bytes), std::move(path)));
  const std::string_view all = table->bytes_;
  if (all.size() < kTableFooterSize) {
    return DataLoss(table->path_, " is not a table: it has only ", all.size(), " bytes", GzipHint(all));
  }
  std::string_view footer = all.substr(all.size() - kTableFooterSize);
  if (GetFixed<uint64_t>(footer, kTableFooterSize - sizeof kTableMagic) != kTableMagic) {
    return DataLoss(table->path_, " is not a table: it does not end with the magic number", GzipHint(all));
  }
  footer.remove_suffix(sizeof kTableMagic);
  uint64_t ignored;
  if (!GetVarint(&footer, &ignored) || !GetVarint(&footer, &ignored)) {
    return DataLoss(table->path_, " is damaged: its footer has no valid block handles");
  }
  TF_ASSIGN_OR_RETURN(table->index_, table->Block(&footer));
  return table;
}

StatusOr<std::string_view> TableReader::Block(std::string_view* handle, uint64_t* end) {
  uint64_t offset, size;
  if (!GetVarint(handle, &offset) || !GetVarint(handle, &size)) {
    return DataLoss(path_, " is damaged: a block handle is malformed");
  }
  const uint64_t available = bytes_.size() - kTableFooterSize;
  if (offset > available || size > available - offset || kBlockTrailerSize > available - offset - size) {
    return DataLoss(path_, " is damaged: a block of ", size, " bytes at offset ", offset, " is outside of the file");
  }
  const std::string_view block = std::string_view(bytes_).substr(offset, size);
  if (end != nullptr) *end = offset + size + kBlockTrailerSize;
  if (checked_.contains({offset, size})) return block;
  const std::string_view with_type = std::string_view(bytes_).substr(offset, size + 1);
  if (UnmaskCrc(GetFixed<uint32_t>(bytes_, offset + size + 1)) != Crc32c(with_type)) {
    return DataLoss(path_, " is damaged: the block at offset ", offset, " has a wrong checksum");
  }
  if (with_type.back() != '\0') return DataLoss(path_, " is damaged or compressed; checkpoints are never compressed");
  checked_.insert({offset, size});
  return block;
}

TableReader::Iterator::Iterator(TableReader* table) : table_(table), index_(table->index_) {}

bool TableReader::Iterator::Check(const Status& status) {
  if (status_.ok() && !status.ok()) {
    status_ = absl::IsDataLoss(status) && status.message().find(absl::string_view(table_->path_)) != std::string::npos
                  ? status
                  : Annotate(status, table_->path_);
  }
  return status_.ok();
}

bool TableReader::Iterator::OpenBlock() {
  data_ = BlockIterator();
  if (!Check(index_.status()) || !index_.valid()) return false;
  std::string_view handle = index_.value();
  const uint64_t after = end_of_last_;
  auto block = table_->Block(&handle, &end_of_last_);
  if (!Check(block.status())) return false;
  if (static_cast<uint64_t>(block->data() - table_->bytes_.data()) < after) {
    return Check(DataLoss("its blocks are out of order"));
  }
  data_ = BlockIterator(*block);
  return Check(data_.status());
}

void TableReader::Iterator::SkipEmptyBlocks() {
  while (Check(data_.status()) && !data_.valid() && index_.valid()) {
    index_.Next();
    if (OpenBlock()) data_.SeekToFirst();
  }
}

void TableReader::Iterator::SeekToFirst() {
  status_ = OkStatus();
  end_of_last_ = 0;
  index_.SeekToFirst();
  if (OpenBlock()) data_.SeekToFirst();
  SkipEmptyBlocks();
}

void TableReader::Iterator::Seek(std::string_view key) {
  status_ = OkStatus();
  end_of_last_ = 0;
  index_.Seek(key);
  if (OpenBlock()) data_.Seek(key);
  SkipEmptyBlocks();
}

void TableReader::Iterator::Next() {
  data_.Next();
  SkipEmptyBlocks();
}

}  // namespace tensorbraid
