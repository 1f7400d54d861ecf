//! Copies Parquet files with the crates parquet and arrow: reads each value and writes it again.
//!
//!   copy_parquet VERSION CODEC DICTIONARY [IN OUT]...
//!
//! VERSION: 1 or 2, of the pages. DICTIONARY: true or false. A file that cannot be copied is reported; the exit code is then 1.
use std::error::Error;
use std::fs::File;

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{WriterProperties, WriterVersion};

fn copy(options: &[String], from: &str, to: &str) -> Result<(), Box<dyn Error>> {
    let version = if options[0] == "2" { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
    let codec = match options[1].as_str() {
        "uncompressed" => Compression::UNCOMPRESSED,
        "snappy" => Compression::SNAPPY,
        "gzip" => Compression::GZIP(Default::default()),
        "brotli" => Compression::BROTLI(Default::default()),
        "zstd" => Compression::ZSTD(Default::default()),
        "lz4_raw" => Compression::LZ4_RAW,
        other => return Err(format!("unknown codec {other}").into()),
    };
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_compression(codec)
        .set_dictionary_enabled(options[2] == "true")
        .build();
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(from)?)?;
    let mut writer = ArrowWriter::try_new(File::create(to)?, reader.schema().clone(), Some(properties))?;
    for batch in reader.build()? {
        writer.write(&batch?)?;
    }
    writer.close()?;
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut failures = 0;
    for files in arguments[3..].chunks(2) {
        if let Err(error) = copy(&arguments, &files[0], &files[1]) {
            failures += 1;
            println!("FAILED {}: {error}", files[0]);
        }
    }
    std::process::exit(if failures == 0 { 0 } else { 1 });
}
