#include "runtime/tables/rows_description.h"

#include <cmath>
#include <utility>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

bool Same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::string FirstValuesText(const FirstValues& first) {
  if (first.matrix) return StrCat("a matrix of ", first.matrix_rows, " initial rows");
  std::string text = StrCat("the initializer ", first.distribution);
  if (first.matrix_rows > 0) text += StrCat(" with default_value_dim=", first.matrix_rows);
  return text;
}

std::string SeedText(const FirstValues& first) {
  return StrCat("seed ", *first.seed, first.seed_of_graph ? " of the graph" : " of its initializer");
}

std::string FilterText(const RowsDescription& table) {
  if (table.filter_freq <= 0) return "no filter";
  if (table.filter_keys == 0) return StrCat("CounterFilter(filter_freq=", table.filter_freq, ")");
  return StrCat("CBFFilter(filter_freq=", table.filter_freq, ", max_element_size=", table.filter_keys,
                ", false_positive_probability=", static_cast<float>(table.filter_error), ")");
}

std::string EvictionText(const RowsDescription& table) {
  std::vector<std::string> rules;
  if (table.evict.steps_to_live > 0) {
    rules.push_back(StrCat("GlobalStepEvict(steps_to_live=", table.evict.steps_to_live, ")"));
  }
  if (table.evict.l2_threshold >= 0) {
    rules.push_back(StrCat("L2WeightEvict(l2_weight_threshold=", table.evict.l2_threshold, ")"));
  }
  std::vector<std::string> limits;
  if (table.max_rows > 0) limits.push_back(StrCat("max_rows=", table.max_rows));
  if (table.max_bytes > 0) limits.push_back(StrCat("max_bytes=", table.max_bytes));
  if (!limits.empty()) rules.push_back(StrCat("SizeEvict(", StrJoin(limits, ", "), ")"));
  return rules.empty() ? "no eviction" : StrJoin(rules, " and ");
}

class Comparison {
 public:
  Comparison(const RowsDescription& ours, const RowsDescription& theirs, TableDifferences* found)
      : ours_(ours), theirs_(theirs), found_(*found) {}

  void Find(TableUse use) {
    if (ours_.whole != theirs_.whole) {
      Differ(StrCat("the name '", ours_.whole, "'"), StrCat("the name '", theirs_.whole, "'"));
    }
    CompareFirstValues();
    const bool same_filter = ours_.filter_freq == theirs_.filter_freq && ours_.filter_keys == theirs_.filter_keys &&
                             Same(ours_.filter_error, theirs_.filter_error);
    if (!same_filter) Differ(FilterText(ours_), FilterText(theirs_));
    // Without a filter, every key is admitted.
    const bool filtered = ours_.filter_freq > 0 && theirs_.filter_freq > 0;
    if (filtered && !Same(ours_.no_permission, theirs_.no_permission)) {
      Differ(StrCat("default_value_no_permission=", ours_.no_permission),
             StrCat("default_value_no_permission=", theirs_.no_permission));
    }
    if (use == TableUse::kUpdate) CompareUpdates();
  }

 private:
  void Differ(std::string ours, std::string theirs) {
    found_.ours.push_back(std::move(ours));
    found_.theirs.push_back(std::move(theirs));
  }

  void CompareFirstValues() {
    const FirstValues &ours = ours_.first, &theirs = theirs_.first;
    if (ours.distribution != theirs.distribution || ours.matrix_rows != theirs.matrix_rows ||
        ours.matrix.has_value() != theirs.matrix.has_value()) {
      Differ(FirstValuesText(ours), FirstValuesText(theirs));
    } else if (ours.matrix != theirs.matrix) {
      found_.drawn = "the numbers in its matrix of initial rows are others";
    } else if (ours.seed != theirs.seed) {
      if (ours.seed_of_graph && theirs.seed_of_graph) {
        found_.drawn = StrCat("the graph has seed ", *theirs.seed, " and not ", *ours.seed);
      } else {
        Differ(SeedText(ours), SeedText(theirs));
      }
    }
  }

  void CompareUpdates() {
    const EvictionRule &ours = ours_.evict, &theirs = theirs_.evict;
    if (ours.steps_to_live != theirs.steps_to_live || !Same(ours.l2_threshold, theirs.l2_threshold) ||
        ours_.max_rows != theirs_.max_rows || ours_.max_bytes != theirs_.max_bytes) {
      Differ(EvictionText(ours_), EvictionText(theirs_));
    }
    if (ours_.skip_not_finite != theirs_.skip_not_finite) {
      const auto text = [](bool skip) { return skip ? "skip_not_finite=True" : "skip_not_finite=False"; };
      Differ(text(ours_.skip_not_finite), text(theirs_.skip_not_finite));
    }
  }

  const RowsDescription &ours_, &theirs_;
  TableDifferences& found_;
};

}  // namespace

const char* const kDescribeAlike =
    ". All programs have to describe a table alike. To change a table, end them, and reset its container "
    "(tf.Session.reset) or restart the parameter servers. Then a program with the new description restores the "
    "checkpoint: filter, eviction, initial values and the number of parts may be others, embedding_dim may not";

void FindDifferences(const RowsDescription& ours, const RowsDescription& theirs, TableUse use,
                     TableDifferences* found) {
  Comparison(ours, theirs, found).Find(use);
}

}  // namespace tensorbraid
