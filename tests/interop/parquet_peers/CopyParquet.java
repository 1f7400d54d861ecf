// Copies Parquet files with parquet-java: reads each value and writes it again.
//
//   java -cp ... CopyParquet.java VERSION CODEC DICTIONARY [IN OUT]...
//
// VERSION: 1 or 2, of the pages. DICTIONARY: true or false. A file that cannot be copied is reported; the exit code is then 1.
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.ParquetReader;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.example.GroupReadSupport;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.parquet.schema.MessageType;

public class CopyParquet {
  public static void main(String[] arguments) throws Exception {
    Configuration configuration = new Configuration();
    int failures = 0;
    for (int i = 3; i + 1 < arguments.length; i += 2) {
      Path in = new Path(arguments[i]);
      try (ParquetFileReader file = ParquetFileReader.open(HadoopInputFile.fromPath(in, configuration))) {
        MessageType schema = file.getFooter().getFileMetaData().getSchema();
        try (ParquetReader<Group> reader = ParquetReader.builder(new GroupReadSupport(), in).build();
             ParquetWriter<Group> writer = ExampleParquetWriter.builder(new Path(arguments[i + 1]))
                 .withType(schema)
                 .withWriteMode(ParquetFileWriter.Mode.OVERWRITE)
                 .withWriterVersion(arguments[0].equals("2") ? WriterVersion.PARQUET_2_0 : WriterVersion.PARQUET_1_0)
                 .withCompressionCodec(CompressionCodecName.valueOf(arguments[1].toUpperCase()))
                 .withDictionaryEncoding(Boolean.parseBoolean(arguments[2]))
                 .build()) {
          for (Group row = reader.read(); row != null; row = reader.read()) writer.write(row);
        }
      } catch (Exception error) {
        ++failures;
        System.out.println("FAILED " + in + ": " + error);
      }
    }
    System.exit(failures == 0 ? 0 : 1);
  }
}
