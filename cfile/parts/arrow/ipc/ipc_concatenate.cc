#include "cfile/parts/arrow/ipc/ipc_body.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "cfile/parts/arrow/import_array.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::DataLoss;

// Some values of an array.
struct Piece {
  const IpcArray* array;
  int64_t begin;
  int64_t count;
};
using Pieces = std::vector<Piece>;

using Bytes = std::vector<uint8_t>;

HeldBytes Hold(Bytes bytes) {
  auto held = std::make_shared<const Bytes>(std::move(bytes));
  return {*held, held};
}

template <typename T>
void AppendNumber(T value, Bytes& out) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof(T));
}

// Appends bits; `size` is the number of bits in `out` before.
class Bits {
 public:
  void Append(bool bit) {
    if (size_ % 8 == 0) bytes_.push_back(0);
    if (bit) bytes_.back() = static_cast<uint8_t>(bytes_.back() | 1 << size_ % 8);
    ++size_;
  }
  HeldBytes Take() { return Hold(std::move(bytes_)); }

 private:
  Bytes bytes_;
  size_t size_ = 0;
};

class Concatenation {
 public:
  Concatenation(const IpcField& node, const Pieces& pieces)
      : node_(node), field_(*node.field), pieces_(pieces) {}

  absl::StatusOr<IpcArray> Make() {
    for (const Piece& piece : pieces_) out_.length += piece.count;
    if (field_.kind == ArrowKind::kNull) return std::move(out_);
    if (field_.kind == ArrowKind::kRunEnds) {
      return VisitIndex(field_.physical,
                        [&]<typename T>(std::type_identity<T>) { return JoinRuns<T>(); });
    }
    JoinValidity();
    switch (field_.kind) {
      case ArrowKind::kBits:
        JoinBits();
        return std::move(out_);
      case ArrowKind::kViews:
        JoinViews();
        return std::move(out_);
      case ArrowKind::kStrings32:
        return JoinStrings<int32_t>();
      case ArrowKind::kStrings64:
        return JoinStrings<int64_t>();
      case ArrowKind::kList32:
        return JoinLists<int32_t>();
      case ArrowKind::kList64:
        return JoinLists<int64_t>();
      case ArrowKind::kListViews32:
        return JoinListViews<int32_t>();
      case ArrowKind::kListViews64:
        return JoinListViews<int64_t>();
      case ArrowKind::kStruct:
        return JoinChildren(1);
      case ArrowKind::kFixedLists:
        return JoinChildren(field_.width);
      default:
        JoinFixed(ValueBits(field_) / 8);
        return std::move(out_);
    }
  }

 private:
  void JoinValidity() {
    Bits bits;
    for (const Piece& piece : pieces_) {
      for (int64_t i = piece.begin; i < piece.begin + piece.count; ++i) {
        const bool is_null = piece.array->IsNull(i);
        out_.null_count += is_null ? 1 : 0;
        bits.Append(!is_null);
      }
    }
    out_.buffers.push_back(out_.null_count == 0 ? HeldBytes() : bits.Take());
  }

  void JoinBits() {
    Bits bits;
    for (const Piece& piece : pieces_) {
      for (int64_t i = piece.begin; i < piece.begin + piece.count; ++i)
        bits.Append(BitAt(piece.array->buffers[1].bytes.data(), i));
    }
    out_.buffers.push_back(bits.Take());
  }

  void JoinFixed(uint64_t width) {
    Bytes bytes;
    for (const Piece& piece : pieces_) {
      const auto values = piece.array->buffers[1].bytes.subspan(
          static_cast<size_t>(piece.begin) * width, static_cast<size_t>(piece.count) * width);
      bytes.insert(bytes.end(), values.begin(), values.end());
    }
    out_.buffers.push_back(Hold(std::move(bytes)));
  }

  // Joins the views. The data buffers of all pieces follow each other, then come their sizes.
  void JoinViews() {
    constexpr size_t kEntryBytes = 16, kIndexAt = 8;
    constexpr int32_t kInlineBytes = 12;
    JoinFixed(kEntryBytes);
    auto views = Bytes(out_.buffers[1].bytes.begin(), out_.buffers[1].bytes.end());
    size_t at = 0;
    int32_t base = 0;
    std::vector<HeldBytes> data;
    Bytes sizes;
    for (const Piece& piece : pieces_) {
      for (int64_t i = 0; i < piece.count; ++i, at += kEntryBytes) {
        // Wrong indexes stay wrong: below 0, or above the number of all buffers.
        auto index = LoadAt<uint32_t>(views.data() + at + kIndexAt, 0);
        const auto buffers = static_cast<uint32_t>(piece.array->buffers.size() - 3);
        index = index < buffers ? index + static_cast<uint32_t>(base) : UINT32_MAX;
        if (LoadAt<int32_t>(views.data() + at, 0) > kInlineBytes)
          std::memcpy(views.data() + at + kIndexAt, &index, sizeof(index));
      }
      for (size_t i = 2; i + 1 < piece.array->buffers.size(); ++i, ++base) {
        data.push_back(piece.array->buffers[i]);
        AppendNumber(static_cast<int64_t>(data.back().bytes.size()), sizes);
      }
    }
    out_.buffers[1] = Hold(std::move(views));
    for (HeldBytes& buffer : data) out_.buffers.push_back(std::move(buffer));
    out_.buffers.push_back(Hold(std::move(sizes)));
  }

  // Joins offsets. Calls visit(piece, first, last) for the range of each piece.
  template <typename Offset, typename Visitor>
  absl::Status JoinOffsets(const Visitor& visit) {
    Bytes bytes;
    int64_t end = 0;
    for (const Piece& piece : pieces_) {
      if (piece.count == 0) continue;
      const uint8_t* const offsets = piece.array->buffers[1].bytes.data();
      const auto first = LoadAt<Offset>(offsets, piece.begin);
      const auto last = LoadAt<Offset>(offsets, piece.begin + piece.count);
      if (first < 0 || last < first) {
        return DataLoss(field_.InField(), ": values of a dictionary at the offsets ", first, " to ",
                        last);
      }
      if (last - first > std::numeric_limits<Offset>::max() - end) {
        return OutOfRange(field_.InField(),
                          ": a dictionary with deltas is too large for 32-bit offsets");
      }
      for (int64_t i = piece.begin; i < piece.begin + piece.count; ++i) {
        // A wrong offset stays wrong.
        const auto offset = LoadAt<Offset>(offsets, i);
        AppendNumber<Offset>(
            offset < first || offset > last ? -1 : static_cast<Offset>(offset - first + end),
            bytes);
      }
      end += last - first;
      CFILE_RETURN_IF_ERROR(visit(piece, int64_t{first}, int64_t{last}));
    }
    AppendNumber(static_cast<Offset>(end), bytes);
    out_.buffers.push_back(Hold(std::move(bytes)));
    return absl::OkStatus();
  }

  template <typename Offset>
  absl::StatusOr<IpcArray> JoinStrings() {
    Bytes data;
    CFILE_RETURN_IF_ERROR(
        JoinOffsets<Offset>([&](const Piece& piece, int64_t first, int64_t last) -> absl::Status {
          const std::span<const uint8_t> bytes = piece.array->buffers[2].bytes;
          if (static_cast<uint64_t>(last) > bytes.size()) {
            return DataLoss(field_.InField(), ": a string ends at ", last, " of ", bytes.size(),
                            " bytes");
          }
          data.insert(data.end(), bytes.begin() + first, bytes.begin() + last);
          return absl::OkStatus();
        }));
    out_.buffers.push_back(Hold(std::move(data)));
    return std::move(out_);
  }

  template <typename Offset>
  absl::StatusOr<IpcArray> JoinLists() {
    Pieces elements;
    CFILE_RETURN_IF_ERROR(JoinOffsets<Offset>([&](const Piece& piece, int64_t first, int64_t last) {
      elements.push_back({&piece.array->children[0], first, last - first});
      return absl::OkStatus();
    }));
    CFILE_RETURN_IF_ERROR(AddChild(0, elements));
    return std::move(out_);
  }

  template <typename Offset>
  absl::StatusOr<IpcArray> JoinListViews() {
    Bytes offsets, sizes;
    Pieces elements;
    int64_t base = 0;
    for (const Piece& piece : pieces_) {
      const IpcArray& child = piece.array->children[0];
      for (int64_t i = piece.begin; i < piece.begin + piece.count; ++i) {
        const auto offset = LoadAt<Offset>(piece.array->buffers[1].bytes.data(), i);
        const auto size = LoadAt<Offset>(piece.array->buffers[2].bytes.data(), i);
        const bool wrong = offset < 0 || size < 0 || offset > child.length ||
                           size > child.length - offset ||
                           offset > std::numeric_limits<Offset>::max() - base;
        AppendNumber<Offset>(wrong ? -1 : static_cast<Offset>(offset + base), offsets);
        AppendNumber<Offset>(size, sizes);
      }
      elements.push_back({&child, 0, child.length});
      base += child.length;
    }
    out_.buffers.push_back(Hold(std::move(offsets)));
    out_.buffers.push_back(Hold(std::move(sizes)));
    CFILE_RETURN_IF_ERROR(AddChild(0, elements));
    return std::move(out_);
  }

  // Joins the runs that the pieces touch.
  template <typename End>
  absl::StatusOr<IpcArray> JoinRuns() {
    IpcArray ends{.buffers = {{}, {}}};
    Bytes bytes;
    Pieces values;
    int64_t base = 0;
    for (const Piece& piece : pieces_) {
      const IpcArray& runs = piece.array->children[0];
      const int64_t last = piece.begin + piece.count;
      int64_t at = piece.begin;  // values before this position are joined
      for (int64_t i = 0; i < runs.length && at < last; ++i) {
        const int64_t end =
            std::min(last, static_cast<int64_t>(LoadAt<End>(runs.buffers[1].bytes.data(), i)));
        if (end <= at) continue;
        at = end;
        const int64_t joined = base + end - piece.begin;
        if (!std::in_range<End>(joined)) {
          return OutOfRange(field_.InField(),
                            ": a dictionary with deltas is too large for its run ends");
        }
        AppendNumber(static_cast<End>(joined), bytes);
        values.push_back({&piece.array->children[1], i, 1});
      }
      if (at < last) {
        return DataLoss(field_.InField(), ": the last run ends at ", at, ", expected ", last);
      }
      base += piece.count;
    }
    ends.length = static_cast<int64_t>(bytes.size() / sizeof(End));
    ends.buffers[1] = Hold(std::move(bytes));
    out_.children.push_back(std::move(ends));
    CFILE_RETURN_IF_ERROR(AddChild(0, values));
    return std::move(out_);
  }

  // Joins children that have `width` values for each value of this array.
  absl::StatusOr<IpcArray> JoinChildren(int64_t width) {
    for (size_t i = 0; i < node_.children.size(); ++i) {
      Pieces values;
      for (const Piece& piece : pieces_)
        values.push_back({&piece.array->children[i], piece.begin * width, piece.count * width});
      CFILE_RETURN_IF_ERROR(AddChild(i, values));
    }
    return std::move(out_);
  }

  absl::Status AddChild(size_t i, const Pieces& values) {
    for (const Piece& piece : values) {
      if (piece.begin > piece.array->length || piece.count > piece.array->length - piece.begin) {
        return DataLoss(field_.InField(), ": expected a child of ", piece.begin + piece.count,
                        " values or more, found ", piece.array->length);
      }
    }
    CFILE_ASSIGN_OR_RETURN(IpcArray child, Concatenation(node_.children[i], values).Make());
    out_.children.push_back(std::move(child));
    return absl::OkStatus();
  }

  const IpcField& node_;
  const ImportField& field_;
  const Pieces& pieces_;
  IpcArray out_;
};

}  // namespace

absl::StatusOr<IpcArray> ConcatenateIpc(const IpcField& field,
                                        const std::vector<IpcArray>& arrays) {
  Pieces pieces;
  for (const IpcArray& array : arrays) pieces.push_back({&array, 0, array.length});
  return Concatenation(field, pieces).Make();
}

}  // namespace cfile::internal
