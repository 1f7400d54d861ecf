#include "cfile/parts/table/manifest/common_type.h"

namespace cfile::internal {
namespace {

// True for an integer type without parameters. A decimal's precision is such a parameter.
bool IsPlainInteger(const ColumnType& type) {
  return type == ColumnType{.data_type = type.data_type} &&
         (type.data_type <= DataType::kInt64 || type.data_type == DataType::kInt128);
}

bool IsExactOrWider(const ColumnType& from, const ColumnType& to) {
  return IsWider(from, to) ||
         (to == ColumnType::Double() && IsPlainInteger(from) && from != ColumnType::Int128());
}

}  // namespace

bool IsWider(const ColumnType& from, const ColumnType& to) {
  if (IsPlainInteger(from) && IsPlainInteger(to)) {
    return from != to && VisitType(from, [&]<typename From>(std::type_identity<From>) {
             return VisitType(
                 to, []<typename To>(std::type_identity<To>) { return Holds<From, To>(); });
           });
  }
  if (from.decimal_precision > 0) {
    return to.decimal_precision > from.decimal_precision && to.decimal_scale == from.decimal_scale;
  }
  return (from == ColumnType::Float() && to == ColumnType::Double()) ||
         (from == ColumnType::Varchar() && to == ColumnType::String());
}

bool IsStorable(const ColumnType& from, const ColumnType& to) {
  return from == to || IsExactOrWider(from, to) ||
         (from == ColumnType::String() &&
          (to == ColumnType::Varchar() || to == ColumnType::Binary()));
}

std::optional<ColumnType> CommonType(const ColumnType& old, const ColumnType& added) {
  if (IsStorable(added, old)) return old;
  const auto holds_both = [&](const ColumnType& type) {
    return type == added ? IsExactOrWider(old, added)
                         : IsWider(old, type) && IsExactOrWider(added, type);
  };
  const bool has_float = old == ColumnType::Float() || added == ColumnType::Float();
  for (const ColumnType& type :
       {added, ColumnType::Int16(), ColumnType::Int32(), ColumnType::Int64()}) {
    if (holds_both(type)) return type;
  }
  if (has_float && IsStorable(old, ColumnType::Double()) &&
      IsStorable(added, ColumnType::Double())) {
    return ColumnType::Double();
  }
  return std::nullopt;
}

}  // namespace cfile::internal
