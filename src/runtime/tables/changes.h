// What has changed in a small table, or in a stripe of a variable, since it was last saved.
#ifndef TENSORBRAID_RUNTIME_TABLES_CHANGES_H_
#define TENSORBRAID_RUNTIME_TABLES_CHANGES_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tensorbraid {

// Records which rows were made or changed, and which keys were deleted, since a save. Saves have numbers other than 0.
//
// A save takes what has changed. It may fail later, on this task or on another one, and nobody reports that here.
// Instead, a save names the one before it that was completed. If this is the last save that has taken changes, they are
// forgotten. If it is the save before, the last one has failed, and its changes are taken again. Not thread-safe: the
// lock of the small table or stripe is held during every call.
class Changes {
 public:
  // Everything up to the save `saved` is saved; 0 if there is none.
  explicit Changes(uint64_t saved = 0) : saved_(saved) {}

  // A row was made or changed.
  void Changed(uint32_t row) { now_.Add(row); }
  // A row was deleted, and its number can be used again.
  void Deleted(uint32_t row, int64_t key) {
    now_.Remove(row);
    taken_.Remove(row);
    deleted_.push_back(key);
  }

  // The save `save` takes all rows, whatever has changed. `predecessor` is the save before that was completed; 0 if
  // there is none.
  void TakeAll(uint64_t predecessor, uint64_t save) {
    if (!Settle(predecessor)) saved_ = 0;
    TakeRest(save);
  }
  // The save `save` takes what has changed since the save `predecessor`. Returns false, and takes nothing, if it is not
  // known what has changed since then.
  bool TakeSince(uint64_t predecessor, uint64_t save) {
    if (!Settle(predecessor)) return false;
    TakeRest(save);
    return true;
  }

  // Calls visit(row) for each row that the last save has taken, in the order of their numbers.
  template <typename Visit>
  void ForEachTaken(const Visit& visit) const {
    taken_.ForEach(visit);
  }
  // The keys that were deleted, also those that have a row again. A key may occur repeatedly.
  const std::vector<int64_t>& taken_deleted() const { return taken_deleted_; }

  int64_t bytes() const {
    return static_cast<int64_t>(sizeof(*this) + now_.bytes() + taken_.bytes() +
                                (deleted_.capacity() + taken_deleted_.capacity()) * sizeof(int64_t));
  }

 private:
  // A set of row numbers: a bit for each.
  class Rows {
   public:
    void Add(uint32_t row) {
      if (row / 64 >= words_.size()) words_.resize(row / 64 + 1);
      words_[row / 64] |= uint64_t{1} << row % 64;
    }
    void Remove(uint32_t row) {
      if (row / 64 < words_.size()) words_[row / 64] &= ~(uint64_t{1} << row % 64);
    }
    void Take(Rows& other) {
      if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
      for (size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
      other.Clear();
    }
    void Clear() { words_.assign(words_.size(), 0); }
    template <typename Visit>
    void ForEach(const Visit& visit) const {
      for (size_t i = 0; i < words_.size(); ++i) {
        for (uint64_t word = words_[i]; word != 0; word &= word - 1) {
          visit(static_cast<uint32_t>(i * 64) + static_cast<uint32_t>(std::countr_zero(word)));
        }
      }
    }
    size_t bytes() const { return words_.capacity() * sizeof(uint64_t); }

   private:
    std::vector<uint64_t> words_;
  };

  // Forgets what the last save has taken if it was completed. Returns whether it is known what has changed since
  // `predecessor`.
  bool Settle(uint64_t predecessor) {
    if (predecessor == 0) return false;
    if (predecessor == taken_by_) {
      saved_ = taken_by_;
      taken_by_ = 0;
      taken_.Clear();
      taken_deleted_.clear();
    }
    return predecessor == saved_;
  }
  void TakeRest(uint64_t save) {
    taken_by_ = save;
    taken_.Take(now_);
    taken_deleted_.insert(taken_deleted_.end(), deleted_.begin(), deleted_.end());
    deleted_.clear();
  }

  uint64_t saved_;         // the last save that is known to be complete; 0 if there is none
  uint64_t taken_by_ = 0;  // the last save that has taken changes, unless it is saved_
  Rows now_, taken_;       // what has changed since taken_by_, and before it since saved_
  std::vector<int64_t> deleted_, taken_deleted_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TABLES_CHANGES_H_
