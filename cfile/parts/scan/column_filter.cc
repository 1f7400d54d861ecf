#include "cfile/parts/scan/column_filter.h"

#include <span>
#include <utility>

#include "cfile/core/read/reader_access.h"
#include "cfile/parts/scan/row_filter.h"
#include "cfile/parts/scan/text_matcher.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// Compares the values of two columns.
class ColumnsFilter final : public RowFilter {
 public:
  ColumnsFilter(PredicateKind test, bool negated) {
    // Bits of accepted_: the left value is less, equal, greater, or they have no order.
    constexpr uint8_t kAccepted[] = {0b0010, 0b1101, 0b0001, 0b0011, 0b0100, 0b0110};
    accepted_ = kAccepted[static_cast<size_t>(test)] ^ (negated ? 0b1111 : 0);
  }

  absl::Status Open(const Reader& left, const Reader& right,
                    std::span<const std::unique_ptr<RowFilter>> others) {
    CFILE_ASSIGN_OR_RETURN(sides_[0].rows,
                           OpenRows(ReaderAccess::File(left), others, sides_[0].judge));
    CFILE_ASSIGN_OR_RETURN(sides_[1].rows,
                           OpenRows(ReaderAccess::File(right), others, sides_[1].judge));
    return absl::OkStatus();
  }

  std::shared_ptr<void> RowsOf(const FileReader* file) const override {
    for (const Side& side : sides_) {
      if (file == &side.rows->file()) return side.rows;
    }
    return nullptr;
  }

  JudgedRows Judge(uint64_t row) const override {
    const JudgedRows left = sides_[0].judge.Judge(row);
    return left.verdict == Verdict::kNone ? left : sides_[1].judge.Judge(row);
  }
  bool reads_in_background() const override { return sides_[0].rows->file().reads_in_background(); }
  bool has_all_begun() const override {
    return sides_[0].rows->has_all_begun() && sides_[1].rows->has_all_begun();
  }
  void Expect(const OrdinalRange& rows, bool backward) override {
    for (const Side& side : sides_) side.rows->Expect(rows, backward);
  }
  double cost_per_row() const override {
    return CostPerRow(sides_[0].rows->file().info()) + CostPerRow(sides_[1].rows->file().info());
  }

  absl::StatusOr<size_t> Match(uint64_t begin, size_t count, uint8_t* bits) override {
    AnyBatch batches[2];
    for (size_t i = 0; i < 2; ++i) {
      CFILE_ASSIGN_OR_RETURN(const bool read, sides_[i].rows->Enter(begin));
      blocks_read_ += read;
      count = std::min<uint64_t>(count, sides_[i].rows->end() - begin);
    }
    for (size_t i = 0; i < 2; ++i) {
      const auto batch = sides_[i].rows->Values(begin, count);
      if (!batch.ok()) return sides_[i].rows->Failed(batch.status());
      batches[i] = *batch;
      count = std::min(count, batch->size());
    }
    rows_compared_ += count;
    encodings::VisitPhysicalType(
        sides_[0].rows->file().info().type.physical(), [&]<typename T>(std::type_identity<T>) {
          const T* const left = static_cast<const T*>(batches[0].values);
          const T* const right = static_cast<const T*>(batches[1].values);
          for (size_t i = 0; i < count; ++i) {
            unsigned order = 3;
            if (left[i] == right[i]) order = 1;
            if constexpr (!std::is_same_v<T, Int96>) {
              if (left[i] < right[i]) order = 0;
              if (right[i] < left[i]) order = 2;
            }
            const bool matches = (accepted_ >> order & 1) != 0;
            if (!matches || !batches[0].IsValid(i) || !batches[1].IsValid(i))
              bits[i / 8] &= static_cast<uint8_t>(~(1u << i % 8));
          }
        });
    return count;
  }

 private:
  struct Side {
    PredicateJudge judge{MatchSome()};
    std::shared_ptr<ConditionRows> rows = nullptr;
  };
  Side sides_[2];
  unsigned accepted_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RowFilter>> NewColumnsFilter(
    const Reader& left, const Reader& right, PredicateKind test, bool negated,
    std::span<const std::unique_ptr<RowFilter>> others) {
  auto filter = std::make_unique<ColumnsFilter>(test, negated);
  CFILE_RETURN_IF_ERROR(filter->Open(left, right, others));
  return filter;
}

absl::StatusOr<std::unique_ptr<RowFilter>> NewRowFilter(
    const Reader& reader, std::shared_ptr<const ValueMatcher> matcher, bool negated,
    std::span<const std::unique_ptr<RowFilter>> others) {
  auto filter = std::make_unique<ColumnFilter>(std::move(matcher), negated);
  CFILE_RETURN_IF_ERROR(filter->Open(ReaderAccess::File(reader), others));
  return filter;
}

}  // namespace cfile::internal
