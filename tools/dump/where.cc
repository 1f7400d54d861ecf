#include "tools/dump/where.h"

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/scan.h"
#include "tools/dump/rows.h"
#include "tools/value_text.h"

namespace cfile::tools {
namespace {

// A file of the column.
struct Part {
  Reader reader;
  uint64_t first_ordinal;
};

// The scans of all parts, one after the other.
template <typename T>
class ScanFinder final : public RowFinder {
 public:
  ScanFinder(std::vector<Part> parts, Predicate<T> predicate, uint64_t first_ordinal)
      : parts_(std::move(parts)), predicate_(std::move(predicate)), first_ordinal_(first_ordinal) {}

  absl::StatusOr<std::span<const uint64_t>> Next() override {
    ordinals_.clear();
    for (; part_ < parts_.size(); ++part_, scan_.reset()) {
      const Part& part = parts_[part_];
      if (!scan_) {
        const uint64_t before = std::max(first_ordinal_, part.first_ordinal) - part.first_ordinal;
        auto scan = Scan<T>::Open(part.reader, predicate_, {.first_ordinal = before});
        if (!scan.ok()) return scan.status();
        scan_.emplace(*std::move(scan));
      }
      const auto batch = scan_->Next();
      if (!batch.ok()) return batch.status();
      for (const uint64_t ordinal : batch->ordinals)
        ordinals_.push_back(part.first_ordinal + ordinal);
      if (!ordinals_.empty()) break;
    }
    return ordinals_;
  }

 private:
  std::vector<Part> parts_;
  Predicate<T> predicate_;
  uint64_t first_ordinal_;
  size_t part_ = 0;
  std::optional<Scan<T>> scan_;
  std::vector<uint64_t> ordinals_;
};

absl::Status NoCondition(const std::string& where) {
  return absl::InvalidArgumentError(
      absl::StrCat("--where '", where,
                   "': expected COLUMN, one of = != < <= > >= begins, and a value; or COLUMN is "
                   "null, COLUMN is not null"));
}

// Takes what stands before the next blank off the front of `text`.
std::string TakeWord(std::string& text) {
  const size_t end = std::min(text.find(' '), text.size());
  std::string word = text.substr(0, end);
  text.erase(0, std::min(text.find_first_not_of(' ', end), text.size()));
  return word;
}

// `condition`: what stands behind the column.
template <typename T>
absl::StatusOr<Predicate<T>> ParseCondition(const ColumnType& type, const std::string& where,
                                            std::string condition) {
  using P = Predicate<T>;
  const std::string word = TakeWord(condition);
  if (word == "is") {
    if (condition == "null") return P::IsNull();
    if (condition == "not null") return P::IsNotNull();
    return NoCondition(where);
  }
  if (word == "begins") {
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (type.physical() == PhysicalType::kBytes) {
        std::string scratch;
        const auto prefix = ParseText<T>(type, condition, scratch);
        if (!prefix.ok()) return prefix.status();
        return P::HasPrefix(*prefix);
      }
    }
    return absl::InvalidArgumentError(absl::StrCat("--where '", where, "': values of type ",
                                                   type.ToString(), " begin with nothing"));
  }
  P(*const make)
  (const T&) = word == "="    ? &P::Equal
               : word == "!=" ? &P::NotEqual
               : word == "<"  ? &P::Less
               : word == "<=" ? &P::LessOrEqual
               : word == ">"  ? &P::Greater
               : word == ">=" ? &P::GreaterOrEqual
                              : nullptr;
  if (make == nullptr) return NoCondition(where);
  std::string scratch;
  const auto value = ParseText<T>(type, condition, scratch);
  if (!value.ok()) return value.status();
  return make(*value);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RowFinder>> NewRowFinder(const Input& input,
                                                        const std::string& where,
                                                        uint64_t first_ordinal) {
  std::string condition = where;
  const std::string name = TakeWord(condition);
  std::vector<Part> parts;
  ColumnType type;
  if (input.file) {
    if (name != "value")
      return absl::InvalidArgumentError("--where: the column of a single file is called value");
    type = input.file->type();
    parts.push_back({*input.file, 0});
  } else {
    const auto column = FindColumn(*input.table, name);
    if (!column.ok()) return column.status();
    type = input.table->schema().columns[*column].type;
    for (size_t part = 0; part < input.table->num_parts(); ++part) {
      auto reader = input.table->OpenColumn(part, *column);
      if (!reader.ok()) return reader.status();
      parts.push_back({*std::move(reader), input.table->part_first_ordinal(part)});
    }
  }
  return encodings::VisitPhysicalType(
      type.physical(),
      [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<std::unique_ptr<RowFinder>> {
        auto predicate = ParseCondition<T>(type, where, condition);
        if (!predicate.ok()) return predicate.status();
        return std::make_unique<ScanFinder<T>>(std::move(parts), *std::move(predicate),
                                               first_ordinal);
      });
}

}  // namespace cfile::tools
