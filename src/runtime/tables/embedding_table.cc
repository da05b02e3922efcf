#include "runtime/tables/embedding_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/background_thread.h"

namespace tensorbraid {
namespace {

Status Uninitialized(const std::string& name) {
  return FailedPrecondition("Attempting to use uninitialized value ", name, ". Growing table/", name,
                            " has no values yet: run its initializer, or the one of all global variables, or restore a "
                            "checkpoint first. An initializer covers the variables that exist when it is made, so make "
                            "it after all variables and after the optimizer's minimize, which adds slots");
}

StatusOr<std::shared_ptr<KeyCounts>> CountsFor(const RowsDescription& description) {
  if (description.filter_freq <= 0) return nullptr;
  if (description.filter_keys == 0) return std::make_shared<KeyCounts>();
  const BloomShape shape = BloomShape::For(description.filter_keys, description.filter_error, description.filter_freq);
  auto bloom = BloomCounts::Make(shape, description.filter_freq);
  if (bloom != nullptr) return std::make_shared<KeyCounts>(std::move(bloom));
  return ResourceExhausted("the system does not grant addresses for the Bloom filter of growing table '",
                           description.whole, "', which is made for ", description.filter_keys,
                           " keys: give it fewer, or a larger error");
}

}  // namespace

std::string EmbeddingTable::Title() const {
  return StrCat("growing table '", name_, "'", task_.empty() ? "" : " on ", task_);
}

Status EmbeddingTable::Undescribed() const {
  return FailedPrecondition("growing table '", name_,
                            "' is only known by a slot: run a step that uses the table itself");
}

Status EmbeddingTable::Describe(const std::shared_ptr<const RowsDescription>& description) {
  WriterLock lock(mu_);
  if (now_ == nullptr) {
    rows_ = NewRows(*description);
    TF_ASSIGN_OR_RETURN(counts_, CountsFor(*description));
    now_ = description;
  } else if (now_->part != description->part || now_->parts != description->parts) {
    return InvalidArgument(Title(), " holds part ", now_->part, " of ", now_->parts, ", and cannot become part ",
                           description->part, " of ", description->parts,
                           ": give it the same partitioner in all programs, or another name", kDescribeAlike);
  }
  return OkStatus();
}

Status EmbeddingTable::CheckDescribed(std::span<const int> columns, std::span<const ColumnDescription> said,
                                      TableUse use) const {
  static std::atomic<bool> logged{false};
  ReaderLock lock(mu_);
  TableDifferences found;
  for (size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns_[static_cast<size_t>(columns[i])];
    if (!column.initialized) return OkStatus();
    if (columns[i] == 0) {
      if (now_ != said[i].rows) FindDifferences(*now_, *said[i].rows, use, &found);
    } else if (column.initial != said[i].initial && !std::isnan(column.initial)) {
      found.ours.push_back(StrCat("slot '", column.name, "' that begins with ", column.initial));
      found.theirs.push_back(StrCat("slot '", column.name, "' that begins with ", said[i].initial));
    }
  }
  if (!found.drawn.empty() && !logged.exchange(true)) {
    TB_LOG(Warning, "runtime") << "a program describes " << Title()
                               << " with other initial rows than the program that has initialized or restored it: "
                               << found.drawn
                               << ". The initial rows of the latter are used for all programs. If each start is to "
                                  "have the same ones, give the initializer a seed. This is said of one table only";
  }
  if (found.ours.empty()) return OkStatus();
  return InvalidArgument(Title(), " was initialized or restored with ", StrJoin(found.ours, ", "),
                         ", but this program describes it with ", StrJoin(found.theirs, ", "), kDescribeAlike);
}

StatusOr<int> EmbeddingTable::AddColumn(const std::string& name, float initial, int64_t width) {
  if (width == 0) width = dim_;
  WriterLock lock(mu_);
  for (size_t column = 1; column < columns_.size(); ++column) {
    if (columns_[column].name != name) continue;
    if (columns_[column].width != width) {
      return InvalidArgument("slot '", name, "' of growing table '", name_, "' has ", columns_[column].width,
                             " numbers in a row, and cannot have ", width, ": give it another name");
    }
    return static_cast<int>(column);
  }
  if (columns_.size() == kMostColumns) {
    return InvalidArgument("growing table '", name_, "' cannot have slot '", name, "': it has ", kMostColumns - 1,
                           " slots already, which is the most");
  }
  if (rows_ != nullptr) rows_->SetWidth(columns_.size(), width);
  columns_.push_back({.name = name, .width = width, .initial = initial});
  return static_cast<int>(columns_.size() - 1);
}

std::shared_ptr<TableRows> EmbeddingTable::NewRows(const RowsDescription& description) const {
  auto rows = std::make_shared<TableRows>(dim_, description.part, description.parts);
  for (size_t column = 1; column < columns_.size(); ++column) rows->SetWidth(column, columns_[column].width);
  return rows;
}

int64_t EmbeddingTable::MostRows(const EvictionRule& rule) const {
  int64_t numbers = 0;
  for (const Column& column : columns_) numbers += column.width;
  return rule.MostRows(numbers);
}

int64_t EmbeddingTable::width(int column) const {
  ReaderLock lock(mu_);
  return columns_[static_cast<size_t>(column)].width;
}

std::vector<float> EmbeddingTable::Initials() const {
  std::vector<float> initial;
  for (const Column& column : columns_) initial.push_back(column.initial);
  return initial;
}

Status EmbeddingTable::Initialize(int column, const ColumnDescription& as) {
  std::shared_ptr<TableRows> rows;  // then the earlier ones, which are freed after the lock is released
  std::shared_ptr<KeyCounts> counts;
  WriterLock lock(mu_);
  auto& c = columns_[static_cast<size_t>(column)];
  if (column > 0) {
    c.initial = as.initial;
    if (rows_ != nullptr) TF_RETURN_IF_ERROR(rows_->FillColumn(static_cast<size_t>(column), Initials()));
  } else {
    if (as.rows == nullptr) return Undescribed();
    TF_ASSIGN_OR_RETURN(counts, CountsFor(*as.rows));
    now_ = as.rows;
    rows = NewRows(*now_);
    Exchange(rows, counts);
  }
  c.initialized = true;
  return OkStatus();
}

void EmbeddingTable::Exchange(std::shared_ptr<TableRows>& rows, std::shared_ptr<KeyCounts>& counts) {
  std::swap(rows_, rows);
  std::swap(counts_, counts);
  eviction_step_ = std::numeric_limits<int64_t>::min();
}

Status EmbeddingTable::Uninitialize(int column) {
  std::shared_ptr<TableRows> rows;  // then the earlier ones, which are freed after the lock is released
  std::shared_ptr<KeyCounts> counts;
  WriterLock lock(mu_);
  Column& c = columns_[static_cast<size_t>(column)];
  if (!c.initialized) return NotFound("the growing table or slot '", c.name, "' has no values");
  c.initialized = false;
  if (column > 0) return OkStatus();
  TF_ASSIGN_OR_RETURN(counts, CountsFor(*now_));
  rows = NewRows(*now_);
  Exchange(rows, counts);
  for (Column& slot : columns_) slot.initialized = false;
  return OkStatus();
}

bool EmbeddingTable::is_initialized(int column) const {
  ReaderLock lock(mu_);
  return columns_[static_cast<size_t>(column)].initialized;
}

std::string EmbeddingTable::ColumnName(int column) const {
  ReaderLock lock(mu_);
  return columns_[static_cast<size_t>(column)].name;
}

Status EmbeddingTable::NotInitialized(int column) const { return Uninitialized(ColumnName(column)); }

Status EmbeddingTable::CheckInitialized(std::span<const int> columns) const {
  for (const int column : columns) {
    const Column& c = columns_[static_cast<size_t>(column)];
    if (!c.initialized) return Uninitialized(c.name);
  }
  return columns_[0].initialized ? OkStatus() : Uninitialized(name_);  // there are rows only then
}

bool EmbeddingTable::skips_not_finite() const {
  ReaderLock lock(mu_);
  return now_ != nullptr && now_->skip_not_finite;
}

StatusOr<int64_t> EmbeddingTable::NumRows() const {
  ReaderLock lock(mu_);
  TF_RETURN_IF_ERROR(CheckInitialized({}));
  return rows_->NumRows();
}

TableMemory EmbeddingTable::Memory() const {
  ReaderLock lock(mu_);
  if (rows_ == nullptr) return {};
  TableMemory memory = rows_->Memory();
  if (counts_ != nullptr) memory.beside += counts_->bytes();
  return memory;
}

TableNumbers EmbeddingTable::Numbers() const {
  TableNumbers numbers{.growth_per_minute = growth_.Sum(MonotonicClock::now()),
                       .admissions = admissions_,
                       .evictions = evictions_,
                       .lookups = lookups_,
                       .hits = hits_};
  ReaderLock lock(mu_);
  if (rows_ == nullptr) return numbers;
  const TableMemory memory = rows_->Memory();
  numbers.rows = memory.rows;
  numbers.bytes = memory.total();
  if (counts_ == nullptr) return numbers;
  numbers.bytes += counts_->bytes();
  numbers.waiting = std::max<int64_t>(0, counts_->keys() - memory.rows);
  return numbers;
}

void EmbeddingTable::CountMade(int64_t rows) {
  admissions_ += rows;
  growth_.Add(rows, MonotonicClock::now());
}

Status EmbeddingTable::Lookup(ThreadPool& pool, int column, std::span<const int64_t> keys,
                              std::span<const int64_t> counts, const Defaults& defaults, float* out) const {
  ReaderLock lock(mu_);
  const int columns[] = {column};
  TF_RETURN_IF_ERROR(CheckInitialized(columns));
  const auto dim = static_cast<size_t>(columns_[static_cast<size_t>(column)].width);
  const FirstRows& first_values = *now_->rows;
  const float initial = columns_[static_cast<size_t>(column)].initial;
  const float no_permission = now_->no_permission;
  const KeyCounts* const known = counts_.get();
  const auto admits = [&, filter_freq = now_->filter_freq](size_t i) {
    return known == nullptr || known->CountOf(keys[i]) >= filter_freq - (counts.empty() ? 1 : counts[i]);
  };
  VisitCounts visited;
  const TableRows::Visit visit{.keys = keys,
                               .columns = columns,
                               .cost_ns = LookupNs(),
                               .counts = &visited,
                               .before_update = true,
                               .beside = {out, keys.size() * dim}};
  const Status status = rows_->VisitKeys(pool, visit, [&](std::span<const VisitedRow> rows) {
    for (const VisitedRow& row : rows) {
      float* const to = out + row.number * dim;
      if (row.info != nullptr) {
        std::copy_n(row.numbers[0], dim, to);
      } else if (defaults.rows != nullptr) {
        std::copy_n(defaults.rows + (defaults.one_for_all ? 0 : row.number * dim), dim, to);
      } else if (column == 0 && !admits(row.number)) {
        std::fill_n(to, dim, no_permission);
      } else if (column == 0) {
        first_values.Fill(keys[row.number], {to, dim});
      } else {
        std::fill_n(to, dim, initial);
      }
    }
  });
  if (status.ok()) {
    lookups_ += std::ssize(keys);
    hits_ += visited.found;
  }
  return status;
}

EmbeddingTable::ColumnList EmbeddingTable::InitializedColumns() const {
  ReaderLock lock(mu_);
  ColumnList list;
  for (const Column& column : columns_) {
    if (!column.initialized) continue;
    list.names.push_back(column.name);
    list.widths.push_back(column.width);
  }
  return list;
}

Status EmbeddingTable::ReadRows(ThreadPool& pool, std::span<const std::string> columns, std::span<const int64_t> keys,
                                absl::FunctionRef<void(const VisitedRow& row, int64_t frequency)> visit) const {
  ReaderLock lock(mu_);
  std::vector<int> numbers;
  for (const std::string& name : columns) {
    const auto at = std::ranges::find(columns_, name, &Column::name);
    if (at == columns_.end()) return NotFound("growing table '", name_, "' has no column '", name, "'");
    numbers.push_back(static_cast<int>(at - columns_.begin()));
  }
  TF_RETURN_IF_ERROR(CheckInitialized(numbers));
  const KeyCounts* const counts = counts_.get();
  Mutex one_at_a_time;
  return rows_->VisitKeys(pool, {.keys = keys, .columns = numbers}, [&](std::span<const VisitedRow> rows) {
    MutexLock visiting(one_at_a_time);
    for (const VisitedRow& row : rows) visit(row, counts == nullptr ? -1 : counts->CountOf(keys[row.number]));
  });
}

Status EmbeddingTable::Update(ThreadPool& pool, std::span<const int> columns, std::span<const int64_t> keys,
                              std::span<const int64_t> counts, int64_t version, double cost_ns,
                              const TableRows::Apply& apply) {
  bool eviction_is_due = false;
  TF_RETURN_IF_ERROR(UpdateRows(pool, columns, keys, counts, version, cost_ns, apply, &eviction_is_due));
  if (eviction_is_due) EvictInBackground(pool);
  return OkStatus();
}

Status EmbeddingTable::UpdateRows(ThreadPool& pool, std::span<const int> columns, std::span<const int64_t> keys,
                                  std::span<const int64_t> counts, int64_t version, double cost_ns,
                                  const TableRows::Apply& apply, bool* eviction_is_due) {
  ReaderLock lock(mu_);
  TF_RETURN_IF_ERROR(CheckInitialized(columns));
  const std::vector<float> initial = Initials();
  version = std::max(version, RowInfo::kFree + 1);
  VisitCounts visited;
  TableRows::Visit visit{.keys = keys,
                         .columns = columns,
                         .absent = TableRows::Absent::kAdd,
                         .rows = now_->rows.get(),
                         .initial = initial,
                         .cost_ns = cost_ns,
                         .write = true,
                         .counts = &visited};
  const auto update = [&](std::span<const VisitedRow> rows) {
    apply(rows);
    for (const VisitedRow& row : rows) row.info->version = version;
  };
  const auto visit_keys = [&](const TableRows::Apply& with) TB_NO_THREAD_SAFETY_ANALYSIS {
    const Status status = rows_->VisitKeys(pool, visit, with);
    CountMade(visited.made);
    if (status.ok()) rows_->ReachStep(version);
    *eviction_is_due = EvictionIsDue();
    return status;
  };
  if (counts_ == nullptr) return visit_keys(update);
  // All keys are counted before any is admitted, so that a key that occurs repeatedly is admitted as a whole. A key
  // that has a row was admitted before, so its count is high enough.
  for (const int64_t key : keys) {
    if (TableRows::ResidueOf(key) % now_->parts != now_->part) return visit_keys(update);  // an error
  }
  for (size_t i = 0; i < keys.size(); ++i) counts_->Add(keys[i], counts.empty() ? 1 : counts[i], version);
  std::vector<int64_t> admitted;
  std::vector<size_t> numbers;  // of the admitted keys among all
  for (size_t i = 0; i < keys.size(); ++i) {
    if (counts_->CountOf(keys[i]) < now_->filter_freq) continue;
    admitted.push_back(keys[i]);
    numbers.push_back(i);
  }
  visit.keys = admitted;
  return visit_keys([&](std::span<const VisitedRow> rows) TB_NO_THREAD_SAFETY_ANALYSIS {
    std::vector<VisitedRow> renumbered(rows.begin(), rows.end());
    for (VisitedRow& row : renumbered) {
      row.number = numbers[row.number];
      // The key may have been evicted, and its count with it, after it was counted.
      if (row.info->version == -1) counts_->RaiseTo(row.info->key, now_->filter_freq, version);
    }
    update(renumbered);
  });
}

bool EmbeddingTable::EvictionIsDue() const {
  constexpr int64_t kSteps = 1000;
  if (!now_->evict.any() || evicting_) return false;
  if (rows_->NumRows() > MostRows(now_->evict)) return true;
  const int64_t newest = rows_->newest_step(), last = eviction_step_.load(std::memory_order_relaxed);
  return now_->evict.by_age() && newest >= kSteps && last < newest - kSteps;
}

void EmbeddingTable::EvictTo(int64_t sixteenths) {
  MutexLock one_at_a_time(eviction_mu_);  // two would evict the rows that are too many twice
  std::shared_ptr<TableRows> rows;
  std::shared_ptr<KeyCounts> counts;
  EvictionRule rule;
  int64_t most = 0;
  {
    ReaderLock lock(mu_);
    if (rows_ == nullptr || !now_->evict.any()) return;
    rows = rows_;
    counts = counts_;
    rule = now_->evict;
    most = MostRows(rule);
    eviction_step_ = rows->newest_step();
  }
  // Without a limit there is none to divide. A table that is allowed few rows keeps all of these.
  if (rows->NumRows() > most) most -= most / 16 * (16 - sixteenths);
  evictions_ += EvictRows(*rows, rule, most, counts.get());
}

void EmbeddingTable::EvictInBackground(ThreadPool& pool) {
  if (evicting_.exchange(true)) return;
  if (pool.num_threads() == 0) return EvictWhileDue();
  // A pool that stops may drop the closure.
  struct Eviction {
    ~Eviction() {
      if (!ran) table->evicting_ = false;
    }
    const RefPtr<EmbeddingTable> table;
    bool ran = false;
  };
  pool.ScheduleBlocking([eviction = std::make_shared<Eviction>(RefPtr<EmbeddingTable>::Share(this))] {
    eviction->ran = true;
    RunAtLowPriority("tb-evict", [&eviction] { eviction->table->EvictWhileDue(); });
  });
}

void EmbeddingTable::EvictWhileDue() {
  const auto is_due = [this] {
    ReaderLock lock(mu_);
    return rows_ != nullptr && EvictionIsDue();
  };
  do {
    EvictTo(15);
    evicting_ = false;
    // An update may have left it to this call to evict its rows.
  } while (is_due() && !evicting_.exchange(true));
}

StatusOr<EmbeddingTable::Exported> EmbeddingTable::ForExport(std::span<const int> columns) const {
  ReaderLock lock(mu_);
  TF_RETURN_IF_ERROR(CheckInitialized(columns));
  return Exported{.rows = rows_, .counts = counts_, .initial = Initials()};
}

Status EmbeddingTable::Export(ThreadPool& pool, std::span<const int> columns, const Copy& copy) const {
  TF_ASSIGN_OR_RETURN(const Exported exported, ForExport(columns));
  return exported.rows->ForEachSmallTable(
      pool, exported.initial, [&](int residue, SmallTable& small) { copy(residue, small, exported.counts.get()); });
}

Status EmbeddingTable::ExportInOrder(std::span<const int> columns, const Copy& copy,
                                     absl::FunctionRef<Status()> after) const {
  TF_ASSIGN_OR_RETURN(const Exported exported, ForExport(columns));
  return exported.rows->ForEachInOrder(
      exported.initial, [&](int residue, SmallTable& small) { copy(residue, small, exported.counts.get()); }, after);
}

Status EmbeddingTable::Replace(std::span<const int> columns, std::span<const ColumnDescription> as, const Fill& fill) {
  const std::shared_ptr<const RowsDescription> described = as[0].rows;
  const RowsDescription& description = *described;
  std::vector<float> initial;
  std::shared_ptr<TableRows> rows;
  {
    ReaderLock lock(mu_);
    initial = Initials();
    rows = NewRows(description);
  }
  for (size_t i = 1; i < columns.size(); ++i) initial[static_cast<size_t>(columns[i])] = as[i].initial;
  TF_ASSIGN_OR_RETURN(std::shared_ptr<KeyCounts> counts, CountsFor(description));
  const TableRows::Visit visit{.keys = {},
                               .columns = {},
                               .absent = TableRows::Absent::kAdd,
                               .rows = description.rows.get(),
                               .initial = initial,
                               .write = true};
  TF_RETURN_IF_ERROR(fill(description, visit, *rows, counts.get()));
  WriterLock lock(mu_);
  for (size_t column = 0; column < initial.size(); ++column) columns_[column].initial = initial[column];
  // Columns may have been added meanwhile.
  for (size_t column = initial.size(); column < columns_.size(); ++column) {
    rows->SetWidth(column, columns_[column].width);
  }
  TF_RETURN_IF_ERROR(rows->EnsureColumns(Initials()));
  now_ = described;
  Exchange(rows, counts);  // the earlier ones are freed after the lock is released
  for (const int column : columns) columns_[static_cast<size_t>(column)].initialized = true;
  return OkStatus();
}

std::string EmbeddingTable::DebugString() const { return StrCat("growing table float32[-1,", dim_, "]"); }

std::string TableColumn::DebugString() const {
  return StrCat("column '", table_->ColumnName(column_), "' of ", table_->DebugString());
}

}  // namespace tensorbraid
