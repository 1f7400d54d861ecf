#include "cfile/reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/internal/block_cursor.h"
#include "cfile/internal/data_block.h"
#include "cfile/internal/file_reader.h"
#include "cfile/internal/index_tree.h"
#include "cfile/internal/key_codec.h"
#include "encodings/key_order.h"
#include "encodings/registry.h"
#include "encodings/status.h"

namespace cfile {

using internal::FileReader;
using internal::IndexPath;

template <typename T>
class Cursor<T>::Impl {
 public:
  Impl(std::shared_ptr<FileReader> file, std::shared_ptr<const encodings::Dictionary> dictionary)
      : file_(std::move(file)),
        block_(file_->info().type, std::move(dictionary)),
        paths_{IndexPath(file_.get(), IndexKind::kPositional),
               IndexPath(file_.get(), IndexKind::kValue)} {}

  absl::Status SeekToOrdinal(uint64_t ordinal) {
    const uint64_t end = file_->info().num_values;
    if (ordinal > end) {
      return absl::OutOfRangeError(absl::StrCat(file_->source().name(), ": ordinal ", ordinal,
                                                ", the file has ", end, " values"));
    }
    if (InBlock(ordinal)) return SeekInBlock(ordinal);
    if (ordinal == end) return GoToEnd();
    Unload();
    // The value index alone knows where the file begins.
    const bool first_by_key = ordinal == 0 && !file_->info().positional_index_root;
    path_ = &paths_[first_by_key ? 1 : 0];
    CFILE_RETURN_IF_ERROR(first_by_key ? path_->SeekToKey("") : path_->SeekToOrdinal(ordinal));
    if (!path_->valid()) return Damage("the index is empty, the footer says ", end, " values");
    CFILE_RETURN_IF_ERROR(LoadBlock());
    if (!InBlock(ordinal)) {
      Unload();
      return Damage("no block holds ordinal ", ordinal, "; the one the index names begins at ",
                    first_ordinal_, " and has ", block_.num_rows(), " rows");
    }
    return SeekInBlock(ordinal);
  }

  absl::StatusOr<KeyPosition> SeekToKey(const T& key) {
    if (!encodings::IsKey(key)) return absl::InvalidArgumentError("NaN cannot be a key");
    search_key_.clear();
    internal::AppendKey(key, search_key_);
    IndexPath& path = paths_[1];
    if (absl::Status status = path.SeekToKey(search_key_); !status.ok()) {
      Unload();
      return status;
    }
    if (!path.valid()) {
      if (num_values() > 0)
        return Damage("the value index is empty, the footer says ", num_values(), " values");
      CFILE_RETURN_IF_ERROR(GoToEnd());
      return KeyPosition{};
    }
    if (file_->info().holds_bloom_filters()) {
      return absl::FailedPreconditionError(
          absl::StrCat(file_->source().name(), ": the file holds Bloom filters, not values"));
    }
    // The block that the cursor is in may be the one.
    if (!(loaded_ && path_ == &path && path.leaf_entry() == loaded_entry_)) {
      Unload();
      path_ = &path;
      CFILE_RETURN_IF_ERROR(LoadBlock());
    }
    while (true) {
      auto bound = block_.SeekToKey(key);
      if (!bound.ok()) return Failed(bound.status());
      if (bound->position < block_.num_rows()) {
        return KeyPosition{.ordinal = first_ordinal_ + bound->position, .exact = bound->exact};
      }
      // All values of this block are less: the first greater one begins the next block, or there is
      // none.
      CFILE_ASSIGN_OR_RETURN(const bool more, NextBlock());
      if (!more) return KeyPosition{.ordinal = num_values(), .exact = false};
    }
  }

  absl::StatusOr<Batch<T>> Next(size_t max_rows) {
    if (!loaded_) {
      if (ordinal_ >= num_values()) return Batch<T>{.first_ordinal = ordinal_};
      CFILE_RETURN_IF_ERROR(SeekToOrdinal(ordinal_));
    }
    while (block_.row() == block_.num_rows()) {
      CFILE_ASSIGN_OR_RETURN(const bool more, NextBlock());
      if (!more) return Batch<T>{.first_ordinal = ordinal_};
    }
    const uint64_t first_ordinal = first_ordinal_ + block_.row();
    auto batch = block_.Next(max_rows);
    if (!batch.ok()) return Failed(batch.status());
    batch->first_ordinal = first_ordinal;
    return batch;
  }

  absl::StatusOr<std::optional<T>> Get(uint64_t ordinal) {
    CFILE_RETURN_IF_ERROR(CheckOrdinal(ordinal));
    CFILE_RETURN_IF_ERROR(SeekToOrdinal(ordinal));
    CFILE_ASSIGN_OR_RETURN(const Batch<T> batch, Next(1));
    return batch.IsValid(0) ? std::optional<T>(batch.values[0]) : std::nullopt;
  }

  absl::Status Take(std::span<const uint64_t> ordinals, OwnedBatch<T>& out) {
    out.Reset(ordinals.size());
    for (size_t i = 0; i < ordinals.size(); ++i) {
      CFILE_ASSIGN_OR_RETURN(const std::optional<T> value, Get(ordinals[i]));
      if (value) {
        out.Set(i, *value);
      } else {
        out.SetNull(i);
      }
    }
    return absl::OkStatus();
  }

  uint64_t ordinal() const { return loaded_ ? first_ordinal_ + block_.row() : ordinal_; }

 private:
  uint64_t num_values() const { return file_->info().num_values; }

  absl::Status CheckOrdinal(uint64_t ordinal) const {
    if (ordinal < num_values()) return absl::OkStatus();
    return absl::OutOfRangeError(absl::StrCat(file_->source().name(), ": ordinal ", ordinal,
                                              ", the file has ", num_values(), " values"));
  }

  template <typename... Parts>
  absl::Status Damage(const Parts&... parts) const {
    return encodings::DataLoss(file_->source().name(), ": ", parts...);
  }

  // An error inside the block in hand, which is let go.
  absl::Status Failed(const absl::Status& status) {
    ordinal_ = ordinal();
    loaded_ = false;
    return internal::InBlock(status, file_->source().name(), loaded_pointer_);
  }

  bool InBlock(uint64_t ordinal) const {
    return loaded_ && ordinal >= first_ordinal_ && ordinal - first_ordinal_ < block_.num_rows();
  }

  absl::Status SeekInBlock(uint64_t ordinal) {
    absl::Status status = block_.SeekToRow(static_cast<uint32_t>(ordinal - first_ordinal_));
    return status.ok() ? status : Failed(status);
  }

  absl::Status GoToEnd() {
    Unload();
    ordinal_ = num_values();
    return absl::OkStatus();
  }

  void Unload() {
    ordinal_ = ordinal();
    loaded_ = false;
  }

  // Opens the block that path_ stands at.
  absl::Status LoadBlock() {
    loaded_pointer_ = path_->pointer();
    CFILE_ASSIGN_OR_RETURN(const internal::FetchedBlock fetched,
                           file_->FetchDataBlock(path_->leaf(), path_->entry(), buffer_));
    const FileInfo& info = file_->info();
    std::optional<uint64_t> expected_ordinal;
    if (path_ == &paths_[0]) expected_ordinal = path_->leaf().ordinal(path_->entry());
    absl::Status status = [&] {
      CFILE_ASSIGN_OR_RETURN(const internal::DataBlock parts,
                             internal::ParseDataBlock(fetched.bytes, info.nullable,
                                                      info.has_extended_blocks(), info.encoding));
      CFILE_RETURN_IF_ERROR(block_.Open(parts, expected_ordinal));
      first_ordinal_ = block_.first_ordinal();
      if (block_.num_rows() > info.num_values - std::min(first_ordinal_, info.num_values)) {
        return encodings::DataLoss("the block's rows ", first_ordinal_, " to ",
                                   first_ordinal_ + block_.num_rows(), " are beyond the footer's ",
                                   info.num_values, " values");
      }
      return absl::OkStatus();
    }();
    if (!status.ok()) return internal::InBlock(status, file_->source().name(), loaded_pointer_);
    loaded_ = true;
    loaded_entry_ = path_->leaf_entry();
    return absl::OkStatus();
  }

  // Goes to the front of the next block; false, and to the end of the file, if there is none.
  absl::StatusOr<bool> NextBlock() {
    const uint64_t expected = first_ordinal_ + block_.num_rows();
    Unload();
    ordinal_ = expected;
    CFILE_RETURN_IF_ERROR(path_->Next());
    if (!path_->valid()) {
      if (expected == num_values()) return false;
      return Damage("the blocks end at ordinal ", expected, ", the footer says ", num_values(),
                    " values");
    }
    CFILE_RETURN_IF_ERROR(LoadBlock());
    if (first_ordinal_ != expected) {
      Unload();
      ordinal_ = expected;
      return internal::InBlock(encodings::DataLoss("expected the block of ordinal ", expected,
                                                   ", found that of ordinal ", first_ordinal_),
                               file_->source().name(), loaded_pointer_);
    }
    return true;
  }

  std::shared_ptr<FileReader> file_;
  internal::BlockCursor<T> block_;
  internal::BlockBuffer buffer_;
  IndexPath paths_[2];  // by IndexKind
  IndexPath* path_ = nullptr;
  std::string search_key_;

  bool loaded_ = false;          // block_ is open, at path_
  BlockPointer loaded_pointer_;  // of block_, or of the one that failed
  // Of block_: a key search moves path_ before it is known whether the block stays.
  IndexPath::LeafEntry loaded_entry_;
  uint64_t first_ordinal_ = 0;  // of block_
  uint64_t ordinal_ = 0;        // where to go on if no block is loaded
};

template <typename T>
Cursor<T>::Cursor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
template <typename T>
Cursor<T>::Cursor(Cursor&&) noexcept = default;
template <typename T>
Cursor<T>& Cursor<T>::operator=(Cursor&&) noexcept = default;
template <typename T>
Cursor<T>::~Cursor() = default;
template <typename T>
absl::Status Cursor<T>::SeekToOrdinal(uint64_t ordinal) {
  return impl_->SeekToOrdinal(ordinal);
}
template <typename T>
absl::StatusOr<KeyPosition> Cursor<T>::SeekToKey(const T& key) {
  return impl_->SeekToKey(key);
}
template <typename T>
absl::StatusOr<Batch<T>> Cursor<T>::Next(size_t max_rows) {
  return impl_->Next(max_rows);
}
template <typename T>
absl::StatusOr<std::optional<T>> Cursor<T>::Get(uint64_t ordinal) {
  return impl_->Get(ordinal);
}
template <typename T>
absl::Status Cursor<T>::Take(std::span<const uint64_t> ordinals, OwnedBatch<T>& out) {
  return impl_->Take(ordinals, out);
}
template <typename T>
uint64_t Cursor<T>::ordinal() const {
  return impl_->ordinal();
}

Reader::Reader(std::shared_ptr<FileReader> file) : file_(std::move(file)) {}

absl::StatusOr<Reader> Reader::Open(const std::string& path, const ReaderOptions& options) {
  CFILE_ASSIGN_OR_RETURN(auto source, options.access == ReaderOptions::Access::kMap
                                          ? OpenMappedSource(path)
                                          : OpenPreadSource(path));
  return Open(std::move(source), options);
}

absl::StatusOr<Reader> Reader::Open(std::shared_ptr<const Source> source,
                                    const ReaderOptions& options) {
  CFILE_ASSIGN_OR_RETURN(auto file, FileReader::Open(std::move(source), options));
  return Reader(std::move(file));
}

const FileInfo& Reader::info() const { return file_->info(); }

template <typename T>
absl::StatusOr<Cursor<T>> Reader::NewCursor() const {
  const FileInfo& info = file_->info();
  const std::string& name = file_->source().name();
  if (!HoldsType<T>(info.type)) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": a column of type ",
                                                   info.type.ToString(),
                                                   " does not give values of this C++ type"));
  }
  absl::Status status = CheckCompressionBuiltIn(info.compression);
  if (status.ok()) {
    status = encodings::MakeDecoder<T>(info.encoding, info.type.physical(), info.type.type_length)
                 .status();
  }
  if (!status.ok()) return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
  CFILE_ASSIGN_OR_RETURN(auto dictionary, file_->Dictionary());
  return Cursor<T>(std::make_unique<typename Cursor<T>::Impl>(file_, std::move(dictionary)));
}

template <typename T>
absl::StatusOr<std::optional<Owned<T>>> Reader::Get(uint64_t ordinal) const {
  CFILE_ASSIGN_OR_RETURN(Cursor<T> cursor, NewCursor<T>());
  CFILE_ASSIGN_OR_RETURN(const std::optional<T> value, cursor.Get(ordinal));
  return value ? std::optional<Owned<T>>(*value) : std::nullopt;
}

template <typename T>
absl::Status Reader::Take(std::span<const uint64_t> ordinals, OwnedBatch<T>& out) const {
  CFILE_ASSIGN_OR_RETURN(Cursor<T> cursor, NewCursor<T>());
  return cursor.Take(ordinals, out);
}

#define CFILE_INSTANTIATE(T)                                                       \
  template class Cursor<T>;                                                        \
  template absl::StatusOr<Cursor<T>> Reader::NewCursor<T>() const;                 \
  template absl::StatusOr<std::optional<Owned<T>>> Reader::Get<T>(uint64_t) const; \
  template absl::Status Reader::Take<T>(std::span<const uint64_t>, OwnedBatch<T>&) const;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
