#include "cfile/parts/table/filter_tree.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "encodings/core/status.h"
#include "encodings/kernels/count_ones.h"

namespace cfile::internal {
namespace {

constexpr size_t kMaxBytes = RowFilter::kMaxRows / 8;
// The operands of And are sorted again after this many windows.
constexpr size_t kWindowsPerOrder = 64;

OrdinalRange Intersection(const OrdinalRange& a, const OrdinalRange& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

// Combines the judgements of operands, which all contain one row. `decisive` is the verdict that
// one operand suffices for: kNone for And, kAll for Or.
template <typename Operands, typename Judge>
auto Combine(Verdict decisive, const Operands& operands, const Judge& judge) {
  FilterTree::Judgement combined;
  combined.rows.verdict = decisive == Verdict::kNone ? Verdict::kAll : Verdict::kNone;
  combined.rows.rows = kAllRows;
  for (const auto& operand : operands) {
    const FilterTree::Judgement one = judge(operand);
    if (one.rows.verdict == decisive) return one;
    if (one.rows.verdict == Verdict::kSome) combined.rows.verdict = Verdict::kSome;
    combined.rows.rows = Intersection(combined.rows.rows, one.rows.rows);
    combined.rows.by = one.rows.by;
    combined.condition = one.condition;
  }
  return combined;
}

// Opens all conditions that are not open.
absl::Status OpenAll(const BoundFilter& filter, const ScanSource& source, const ManifestPart& part,
                     const OrdinalRange& rows, FilterTree::OpenConditions& opened) {
  for (const BoundFilter& operand : filter.operands)
    CFILE_RETURN_IF_ERROR(OpenAll(operand, source, part, rows, opened));
  if (filter.kind != Filter::Kind::kColumn) return absl::OkStatus();
  opened.resize(std::max(opened.size(), filter.number + 1));
  if (opened[filter.number] != nullptr) return absl::OkStatus();
  CFILE_ASSIGN_OR_RETURN(const Reader reader, source.OpenColumn(part, filter.column));
  if (filter.other_column) {
    CFILE_ASSIGN_OR_RETURN(const Reader other, source.OpenColumn(part, *filter.other_column));
    CFILE_ASSIGN_OR_RETURN(opened[filter.number], NewColumnsFilter(reader, other, filter.predicate,
                                                                   filter.negated, opened));
    return absl::OkStatus();
  }
  CFILE_ASSIGN_OR_RETURN(opened[filter.number],
                         NewRowFilter(reader, filter.matcher, filter.negated, rows, opened));
  return absl::OkStatus();
}

// Matches the rows whose bits are set.
class BitFilter final : public RowFilter {
 public:
  explicit BitFilter(RowBits bits) : bits_(std::move(bits)) {}

  JudgedRows Judge(uint64_t) const override {
    return {.verdict = Verdict::kSome, .rows = kAllRows};
  }
  void Expect(const OrdinalRange&, bool) override {}
  bool reads_in_background() const override { return false; }
  bool has_all_begun() const override { return true; }
  absl::StatusOr<size_t> Match(uint64_t begin, size_t count, uint8_t* bits) override {
    const size_t from = static_cast<size_t>(begin / 8);
    const auto byte = [&](size_t i) { return i < bits_->size() ? (*bits_)[i] : 0; };
    for (size_t i = 0; i < (count + 7) / 8; ++i)
      bits[i] &= static_cast<uint8_t>((byte(from + i) | byte(from + i + 1) << 8) >> begin % 8);
    return count;
  }
  double cost_per_row() const override { return 0; }
  std::shared_ptr<void> RowsOf(const FileReader*) const override { return nullptr; }

 private:
  const RowBits bits_;
};

}  // namespace

FilterTree FilterTree::OfBits(RowBits bits, std::optional<FilterTree> tree) {
  FilterTree leaf;
  leaf.kind_ = Filter::Kind::kColumn;
  leaf.leaf_ = std::make_unique<BitFilter>(std::move(bits));
  leaf.number_ = SIZE_MAX;
  if (!tree) return leaf;
  FilterTree both;
  both.operands_.push_back(std::move(leaf));
  both.operands_.push_back(*std::move(tree));
  return both;
}

absl::StatusOr<FilterTree> FilterTree::Open(const BoundFilter& filter, const ScanSource& source,
                                            const ManifestPart& part, const OrdinalRange& rows,
                                            OpenConditions& opened) {
  CFILE_RETURN_IF_ERROR(OpenAll(filter, source, part, rows, opened));
  return FilterTree(filter, opened);
}

FilterTree::FilterTree(const BoundFilter& filter, OpenConditions& opened)
    : kind_(filter.kind), number_(filter.number) {
  if (kind_ == Filter::Kind::kColumn) {
    leaf_ = std::move(opened[number_]);
    return;
  }
  for (const BoundFilter& operand : filter.operands)
    operands_.push_back(FilterTree(operand, opened));
  SortOperands();
}

FilterTree::Judgement FilterTree::Judge(uint64_t row) const {
  if (leaf_ != nullptr) return {leaf_->Judge(row), number_};
  return Combine(kind_ == Filter::Kind::kAnd ? Verdict::kNone : Verdict::kAll, operands_,
                 [&](const FilterTree& operand) { return operand.Judge(row); });
}

absl::StatusOr<size_t> FilterTree::Match(uint64_t begin, size_t count, uint8_t* bits) {
  const size_t asked = encodings::CountOnes({bits, (count + 7) / 8}, 0, count);
  if (asked == 0) return count;
  auto examined = leaf_ != nullptr              ? MatchLeaf(begin, count, bits)
                  : kind_ == Filter::Kind::kAnd ? MatchAnd(begin, count, bits)
                                                : MatchOr(begin, count, bits);
  if (examined.ok()) {
    rows_asked_ += asked;
    rows_matched_ += encodings::CountOnes({bits, (*examined + 7) / 8}, 0, *examined);
  }
  return examined;
}

absl::StatusOr<size_t> FilterTree::MatchLeaf(uint64_t begin, size_t count, uint8_t* bits) {
  const JudgedRows judged = leaf_->Judge(begin);
  count = std::min<uint64_t>(count, judged.rows.end - begin);
  if (judged.verdict == Verdict::kAll) return count;
  if (judged.verdict == Verdict::kSome) return leaf_->Match(begin, count, bits);
  std::memset(bits, 0, (count + 7) / 8);
  return count;
}

absl::StatusOr<size_t> FilterTree::MatchAnd(uint64_t begin, size_t count, uint8_t* bits) {
  if (++windows_ % kWindowsPerOrder == 0) SortOperands();
  for (FilterTree& operand : operands_) {
    CFILE_ASSIGN_OR_RETURN(count, operand.Match(begin, count, bits));
  }
  return count;
}

absl::StatusOr<size_t> FilterTree::MatchOr(uint64_t begin, size_t count, uint8_t* bits) {
  uint8_t matched[kMaxBytes] = {};
  uint8_t left[kMaxBytes];
  for (FilterTree& operand : operands_) {
    const size_t bytes = (count + 7) / 8;
    for (size_t i = 0; i < bytes; ++i) left[i] = static_cast<uint8_t>(bits[i] & ~matched[i]);
    CFILE_ASSIGN_OR_RETURN(count, operand.Match(begin, count, left));
    for (size_t i = 0; i < (count + 7) / 8; ++i) matched[i] |= left[i];
  }
  std::memcpy(bits, matched, (count + 7) / 8);
  return count;
}

double FilterTree::cost_per_row() const {
  if (leaf_ != nullptr) return leaf_->cost_per_row();
  double cost = 0;
  for (const FilterTree& operand : operands_) cost += operand.cost_per_row();
  return cost;
}

void FilterTree::SortOperands() {
  // The best order of independent operands is by the cost for each row that they exclude (And) or
  // accept (Or). Before the first rows, half of the rows are assumed to match.
  const auto rank = [&](const FilterTree& operand) {
    const double matched = (static_cast<double>(operand.rows_matched_) + 1) /
                           (static_cast<double>(operand.rows_asked_) + 2);
    const double decided = kind_ == Filter::Kind::kAnd ? 1 - matched : matched;
    return operand.cost_per_row() / decided;
  };
  std::stable_sort(operands_.begin(), operands_.end(),
                   [&](const FilterTree& a, const FilterTree& b) { return rank(a) < rank(b); });
}

FilterTree::Judgement JudgeBounds(const BoundFilter& filter, ScanSource::BoundsOfColumn bounds_of) {
  if (filter.kind != Filter::Kind::kColumn) {
    return Combine(filter.kind == Filter::Kind::kAnd ? Verdict::kNone : Verdict::kAll,
                   filter.operands,
                   [&](const BoundFilter& operand) { return JudgeBounds(operand, bounds_of); });
  }
  FilterTree::Judgement judgement{.condition = filter.number};
  // The matcher of a comparison of columns only excludes nulls, on both sides.
  const bool negated = filter.negated && !filter.other_column;
  judgement.rows.verdict = JudgeStatistics(*filter.matcher, negated, bounds_of(filter.column));
  if (filter.other_column && judgement.rows.verdict != Verdict::kNone) {
    judgement.rows.verdict =
        JudgeStatistics(*filter.matcher, negated, bounds_of(*filter.other_column));
  }
  return judgement;
}

}  // namespace cfile::internal
