// What the handles of a growing table say about it, and how the descriptions of two programs differ.
#ifndef TENSORBRAID_RUNTIME_TABLES_ROWS_DESCRIPTION_H_
#define TENSORBRAID_RUNTIME_TABLES_ROWS_DESCRIPTION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/tables/eviction.h"
#include "runtime/tables/small_table.h"

namespace tensorbraid {

// Where the first values of rows come from. Tables with equal ones have equal rows.
struct FirstValues {
  std::string distribution = "";        // "random_uniform(-1, 1)"; "" if there is a matrix
  std::optional<int64_t> seed = {};     // empty if nothing is drawn
  bool seed_of_graph = false;           // otherwise the initializer has the seed
  int64_t matrix_rows = 0;              // how many different rows there are; 0: one for each key
  std::optional<uint64_t> matrix = {};  // a fingerprint of the numbers of the matrix
};

// What the handle of a table, or of a part of it, says about the rows.
struct RowsDescription {
  std::string whole = "";  // the name of the whole table, from which initial values follow
  int part = 0;
  int parts = 1;
  std::shared_ptr<const FirstRows> rows = nullptr;  // the first values of rows
  // An update makes the row of a key when the key has occurred so many times in updates, this one included. Until then
  // the updates of the key only count. 0: the first update makes the row, and nothing is counted.
  int64_t filter_freq = 0;
  float no_permission = 0;  // what a lookup gives in column 0 for a key that is not admitted
  // With a filter: the keys that a Bloom filter is made for, and how often it may count too high. 0: counts are exact.
  int64_t filter_keys = 0;
  double filter_error = 0;
  EvictionRule evict = {};
  // Whether updates leave out rows whose gradient has a number that is not finite (kernels/cpu/embedding/update.cc).
  bool skip_not_finite = false;
  int64_t max_rows = 0, max_bytes = 0;  // the limits of the whole table, of which `evict` has the part's share
  FirstValues first = {};               // how `rows` is made
};

// What the handle of a column says: of column 0, `rows`; of a slot, the number with which it begins.
struct ColumnDescription {
  std::shared_ptr<const RowsDescription> rows = nullptr;
  float initial = 0;
};

// What a program does with a table.
enum class TableUse {
  kLookup,  // follows from first values and filter
  kUpdate,  // follows from the whole description
};

// What two descriptions say differently, in the words of a program.
struct TableDifferences {
  std::vector<std::string> ours, theirs;  // "CounterFilter(filter_freq=2)" and "no filter", for example
  // If not empty: which numbers the two would draw differently, and why, which no error need be, since programs may
  // have seeds of their own.
  std::string drawn = "";
};
// Adds the differences that count for `use`. The parts are not compared.
void FindDifferences(const RowsDescription& ours, const RowsDescription& theirs, TableUse use, TableDifferences* found);

// How to use or to change a table that another program has described otherwise: the end of an error.
extern const char* const kDescribeAlike;

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TABLES_ROWS_DESCRIPTION_H_
