#include "cfile/parts/c/scan.h"

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "cfile/filter.h"
#include "cfile/parts/c/call.h"
#include "cfile/parts/c/file.h"
#include "cfile/schema.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

#define CFILE_SAME(number, kind) static_assert((number) == static_cast<int>(PredicateKind::kind))
CFILE_SAME(CFILE_EQUAL, kEqual);
CFILE_SAME(CFILE_NOT_EQUAL, kNotEqual);
CFILE_SAME(CFILE_LESS, kLess);
CFILE_SAME(CFILE_LESS_OR_EQUAL, kLessOrEqual);
CFILE_SAME(CFILE_GREATER, kGreater);
CFILE_SAME(CFILE_GREATER_OR_EQUAL, kGreaterOrEqual);
CFILE_SAME(CFILE_BETWEEN, kBetween);
CFILE_SAME(CFILE_IN, kIn);
CFILE_SAME(CFILE_HAS_PREFIX, kHasPrefix);
CFILE_SAME(CFILE_IS_NULL, kIsNull);
CFILE_SAME(CFILE_IS_NOT_NULL, kIsNotNull);
CFILE_SAME(CFILE_LIKE, kLike);
CFILE_SAME(CFILE_ILIKE, kILike);
CFILE_SAME(CFILE_CONTAINS, kContains);
CFILE_SAME(CFILE_MATCHES, kMatches);
#undef CFILE_SAME

cfile_code Combine(Filter::Kind kind, const cfile_filter* const* operands, size_t num_operands,
                   cfile_filter** filter) {
  return Call({filter, ArrayOf(operands, num_operands)}, [&]() -> absl::Status {
    std::vector<Filter> copies;
    for (size_t i = 0; i < num_operands; ++i) {
      if (operands[i] == nullptr) return absl::InvalidArgumentError("a filter is null");
      copies.push_back(operands[i]->filter);
    }
    *filter = new cfile_filter{Filter(kind, std::move(copies))};
    return absl::OkStatus();
  });
}

// The column of a file.
std::vector<ColumnSchema> ColumnsOf(const cfile_file& file) {
  const FileInfo& info = file.reader.info();
  return {{.name = "value",
           .type = info.type,
           .levels = info.has_levels() ? info.levels : LevelLimits()}};
}

}  // namespace

absl::Status ParseFilter(const char* text, const Schema& schema, cfile_filter** filter) {
  CFILE_ASSIGN_OR_RETURN(Filter parsed, FilterOfText(text, schema));
  *filter = new cfile_filter{std::move(parsed)};
  return absl::OkStatus();
}

absl::StatusOr<TableScanOptions> OptionsOf(const cfile_scan_options* options) {
  TableScanOptions result;
  cfile_scan_options given;
  CFILE_RETURN_IF_ERROR(ReadStruct(options, given));
  if (given.reserved != 0) return absl::UnimplementedError("`reserved` is not 0");
  if (given.columns != nullptr) {
    CFILE_ASSIGN_OR_RETURN(result.columns, StringsOf(given.columns, given.num_columns));
  }
  if (given.filter != nullptr) result.where = given.filter->filter;
  if (given.end == 0) given.end = UINT64_MAX;
  if (given.begin > given.end) {
    return absl::InvalidArgumentError(
        absl::StrCat("the range begins at ", given.begin, " and ends at ", given.end));
  }
  result.range = {.begin = given.begin, .end = given.end};
  if (given.limit != 0) result.limit = given.limit;
  result.reverse = given.reverse != 0;
  return result;
}

absl::Status NewAnyScan(const cfile_scan_options* options, const std::vector<ColumnSchema>& schema,
                        absl::FunctionRef<absl::StatusOr<TableScan>(const TableScanOptions&)> begin,
                        cfile_scan** scan) {
  CFILE_ASSIGN_OR_RETURN(TableScanOptions scan_options, OptionsOf(options));
  auto result = std::make_unique<cfile_scan>();
  scan_options.cancelled = &result->cancelled;
  CFILE_ASSIGN_OR_RETURN(result->scan, begin(scan_options));
  for (const size_t column : result->scan->columns())
    result->columns.push_back({schema[column].type.physical(), schema[column].has_levels()});
  *scan = result.release();
  return absl::OkStatus();
}

}  // namespace cfile::internal

using namespace cfile::internal;  // NOLINT(google-build-using-namespace)

cfile_code cfile_filter_test(const char* column, int32_t test, const cfile_value* values,
                             size_t num_values, cfile_filter** filter) {
  return Call({column, ArrayOf(values, num_values), filter}, [&]() -> absl::Status {
    if (test < CFILE_EQUAL || test > CFILE_MATCHES)
      return absl::InvalidArgumentError(absl::StrCat("there is no test ", test));
    std::vector<cfile::Literal> literals;
    for (size_t i = 0; i < num_values; ++i) {
      CFILE_ASSIGN_OR_RETURN(cfile::Literal literal, LiteralOf(values[i]));
      literals.push_back(std::move(literal));
    }
    *filter = new cfile_filter{
        cfile::Filter(column, static_cast<cfile::PredicateKind>(test), std::move(literals))};
    return absl::OkStatus();
  });
}

cfile_code cfile_filter_columns(const char* column, int32_t test, const char* other_column,
                                cfile_filter** filter) {
  return Call({column, other_column, filter}, [&]() -> absl::Status {
    if (test < CFILE_EQUAL || test > CFILE_GREATER_OR_EQUAL)
      return absl::InvalidArgumentError(absl::StrCat("columns cannot be compared by test ", test));
    *filter = new cfile_filter{
        cfile::CompareColumns(column, static_cast<cfile::PredicateKind>(test), other_column)};
    return absl::OkStatus();
  });
}

cfile_code cfile_filter_and(const cfile_filter* const* operands, size_t num_operands,
                            cfile_filter** filter) {
  return Combine(cfile::Filter::Kind::kAnd, operands, num_operands, filter);
}

cfile_code cfile_filter_or(const cfile_filter* const* operands, size_t num_operands,
                           cfile_filter** filter) {
  return Combine(cfile::Filter::Kind::kOr, operands, num_operands, filter);
}

cfile_code cfile_filter_not(const cfile_filter* operand, cfile_filter** filter) {
  return Combine(cfile::Filter::Kind::kNot, &operand, 1, filter);
}

void cfile_filter_free(cfile_filter* filter) { delete filter; }

cfile_code cfile_file_filter(const cfile_file* file, const char* text, cfile_filter** filter) {
  return Call({file, text, filter},
              [&] { return ParseFilter(text, {.columns = ColumnsOf(*file)}, filter); });
}

cfile_code cfile_file_scan(const cfile_file* file, const cfile_scan_options* options,
                           cfile_scan** scan) {
  return Call({file, scan}, [&]() -> absl::Status {
    return NewAnyScan(
        options, ColumnsOf(*file),
        [&](const cfile::TableScanOptions& scan_options) {
          return cfile::NewTableScan(file->reader, scan_options);
        },
        scan);
  });
}

void cfile_scan_free(cfile_scan* scan) { delete scan; }

size_t cfile_scan_num_columns(const cfile_scan* scan) { return scan->columns.size(); }

cfile_code cfile_scan_next(cfile_scan* scan, size_t* num_rows) {
  return CallOn(scan, {num_rows}, [&]() -> absl::Status {
    scan->batch = {};
    CFILE_ASSIGN_OR_RETURN(scan->batch, scan->scan->Next());
    *num_rows = scan->batch.num_rows();
    return absl::OkStatus();
  });
}

cfile_code cfile_scan_column(cfile_scan* scan, size_t column, cfile_batch* batch) {
  return Call({scan, batch}, [&]() -> absl::Status {
    if (column >= scan->columns.size() || scan->batch.empty()) {
      return absl::OutOfRangeError(absl::StrCat("there are ", scan->batch.num_rows(), " rows of ",
                                                scan->columns.size(), " columns, but no column ",
                                                column));
    }
    auto& values = scan->columns[column];
    if (values.has_levels) {
      return absl::UnimplementedError(
          absl::StrCat("column ", column, " has levels, which cfile_scan_column cannot return"));
    }
    *batch = cfile::VisitType(values.type, [&]<typename T>(std::type_identity<T>) {
      return BatchOf(values.type, AnyBatch::Of(scan->batch.column<T>(column)), values.copies);
    });
    return absl::OkStatus();
  });
}

cfile_code cfile_scan_ordinals(const cfile_scan* scan, uint64_t* ordinals) {
  return Call({scan, ordinals}, [&] {
    for (size_t row = 0; row < scan->batch.num_rows(); ++row)
      ordinals[row] = scan->batch.ordinal(row);
    return absl::OkStatus();
  });
}

void cfile_scan_cancel(cfile_scan* scan) { scan->cancelled = true; }
