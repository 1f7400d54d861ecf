// Writes Parquet files with parquet-java, and the values of each file as JSON lines in NAME.values. Prints the names.
//
//   java -cp ... WriteParquet.java FOLDER
//
// The files have types and forms of lists that other writers do not have. tests/golden/parquet-files/make_peers.py says what the values
// look like.
import java.io.PrintWriter;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.StringJoiner;
import org.apache.hadoop.conf.Configuration;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.Type;

public class WriteParquet {
  static final int ROWS = 60;
  static final String TYPES = """
      message types {
        REPETITION boolean flag;
        REPETITION int32 int32; REPETITION int64 int64; REPETITION int96 int96; REPETITION float float; REPETITION double double;
        REPETITION binary binary; REPETITION fixed_len_byte_array(5) fixed;
        REPETITION int32 int8 (INTEGER(8,true)); REPETITION int32 int16 (INTEGER(16,true)); REPETITION int32 int32a (INTEGER(32,true));
        REPETITION int64 int64a (INTEGER(64,true));
        REPETITION int32 uint8 (INTEGER(8,false)); REPETITION int32 uint16 (INTEGER(16,false));
        REPETITION int32 uint32 (INTEGER(32,false)); REPETITION int64 uint64 (INTEGER(64,false));
        REPETITION int32 date (DATE); REPETITION int32 time_ms (TIME(MILLIS,true)); REPETITION int64 time_us (TIME(MICROS,false));
        REPETITION int64 time_ns (TIME(NANOS,true)); REPETITION int64 timestamp_ms (TIMESTAMP(MILLIS,true));
        REPETITION int64 timestamp_us (TIMESTAMP(MICROS,false)); REPETITION int64 timestamp_ns (TIMESTAMP(NANOS,true));
        REPETITION int32 decimal9 (DECIMAL(9,2)); REPETITION int64 decimal18 (DECIMAL(18,3));
        REPETITION fixed_len_byte_array(5) decimal11 (DECIMAL(11,2)); REPETITION fixed_len_byte_array(16) decimal38 (DECIMAL(38,4));
        REPETITION binary decimal20 (DECIMAL(20,3)); REPETITION binary decimal7 (DECIMAL(7,1));
        REPETITION binary string (STRING); REPETITION binary enum (ENUM); REPETITION binary json (JSON); REPETITION binary bson (BSON);
        REPETITION fixed_len_byte_array(16) uuid (UUID); REPETITION fixed_len_byte_array(2) float16 (FLOAT16);
      }""";
  static final String INTERVAL = "message interval { REPETITION fixed_len_byte_array(12) interval (INTERVAL); }";
  static final String NESTED = """
      message nested {
        required int64 id;
        repeated int32 plain;
        repeated group plain_groups { required int32 x; repeated binary names (STRING); }
        optional group three_levels (LIST) { repeated group list { optional int32 element; } }
        required group two_levels (LIST) { repeated int32 array; }
        optional group two_levels_of_groups (LIST) { repeated group array { required int32 x; optional binary y (STRING); } }
        optional group of_tuples (LIST) { repeated group of_tuples_tuple { optional int64 x; } }
        optional group bag (LIST) { repeated group bag { optional binary array_element (STRING); } }
        optional group lists (LIST) { repeated group list { optional group element (LIST) { repeated group list { required double element; } } } }
        optional group map (MAP) { repeated group key_value { required binary key (STRING); optional int32 value; } }
        optional group old_map (MAP_KEY_VALUE) { repeated group map { required int32 key; required group value { optional int96 at; } } }
        optional group deep { optional group a { required group b { optional group c { repeated int64 d; } } } }
      }""";

  int row;       // the number of the current row
  int value;     // counts values, also nulls
  int every;     // each value with this distance is null; 0: none

  byte[] bytes(int size) {
    byte[] made = new byte[size];
    for (int i = 0; i < size; ++i) made[i] = (byte) (row % 9 * 31 + i * i * 7);
    return made;
  }

  static String hex(byte[] bytes) {
    StringBuilder text = new StringBuilder("\"0x");
    for (byte b : bytes) text.append(String.format("%02x", b));
    return text.append('"').toString();
  }

  // Adds a value to the group. Returns it as JSON.
  String add(Group group, PrimitiveType type) {
    String name = type.getName();
    LogicalTypeAnnotation logical = type.getLogicalTypeAnnotation();
    long number = (row * 37L) % 101 - 50;
    if (logical instanceof LogicalTypeAnnotation.IntLogicalTypeAnnotation integer) {
      int bits = integer.getBitWidth();
      if (!integer.isSigned()) {  // the largest one, stored as a negative number if it has 32 or 64 bits
        long most = bits == 64 ? -1 : (1L << bits) - 1;
        number = row % 5 == 0 ? most : number + 50;
      } else if (row % 5 == 0) {
        number = -1L << (bits - 1);
      }
    }
    if (logical instanceof LogicalTypeAnnotation.DecimalLogicalTypeAnnotation decimal) {
      BigInteger digits = BigInteger.TEN.pow(decimal.getPrecision() - 2).multiply(BigInteger.valueOf(number)).add(BigInteger.valueOf(row));
      byte[] large = digits.toByteArray();
      switch (type.getPrimitiveTypeName()) {
        case INT32 -> group.add(name, digits.intValueExact());
        case INT64 -> group.add(name, digits.longValueExact());
        case BINARY -> group.add(name, Binary.fromConstantByteArray(large));
        default -> {
          byte[] fixed = new byte[type.getTypeLength()];
          if (digits.signum() < 0) Arrays.fill(fixed, (byte) -1);
          System.arraycopy(large, 0, fixed, fixed.length - large.length, large.length);
          group.add(name, Binary.fromConstantByteArray(fixed));
        }
      }
      return "\"" + digits + "\"";
    }
    switch (type.getPrimitiveTypeName()) {
      case BOOLEAN -> {
        group.add(name, row % 3 == 0);
        return String.valueOf(row % 3 == 0);
      }
      case INT32 -> {
        group.add(name, (int) number);
        boolean unsigned = logical instanceof LogicalTypeAnnotation.IntLogicalTypeAnnotation integer && !integer.isSigned();
        return unsigned ? Long.toString(number & 0xffffffffL) : Long.toString(number);
      }
      case INT64 -> {
        group.add(name, number);
        boolean unsigned = logical instanceof LogicalTypeAnnotation.IntLogicalTypeAnnotation integer && !integer.isSigned();
        return unsigned ? Long.toUnsignedString(number) : Long.toString(number);
      }
      case INT96 -> {  // nanoseconds of the day, then the Julian day
        long nanos = 86_399_999_999_999L - row;
        ByteBuffer int96 = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN).putLong(nanos).putInt((int) (2_440_588 + number));
        group.add(name, Binary.fromConstantByteArray(int96.array()));
        return Long.toString(number * 86_400_000_000_000L + nanos);
      }
      case FLOAT -> {
        group.add(name, number / 8f);
        return Float.toString(number / 8f);
      }
      case DOUBLE -> {
        group.add(name, number / 7d);
        return Double.toString(number / 7d);
      }
      case BINARY -> {
        if (logical == null || logical instanceof LogicalTypeAnnotation.BsonLogicalTypeAnnotation) {
          byte[] made = bytes(row % 6);
          group.add(name, Binary.fromConstantByteArray(made));
          return hex(made);
        }
        String text = logical instanceof LogicalTypeAnnotation.JsonLogicalTypeAnnotation ? "[" + number + "]" : "näme " + row % 7;
        group.add(name, Binary.fromConstantByteArray(text.getBytes(StandardCharsets.UTF_8)));
        return "\"" + text + "\"";
      }
      default -> {
        byte[] made = bytes(type.getTypeLength());
        group.add(name, Binary.fromConstantByteArray(made));
        return hex(made);
      }
    }
  }

  boolean isList(GroupType type) {
    return type.getLogicalTypeAnnotation() instanceof LogicalTypeAnnotation.ListLogicalTypeAnnotation;
  }

  boolean isMap(GroupType type) {
    LogicalTypeAnnotation logical = type.getLogicalTypeAnnotation();
    return logical instanceof LogicalTypeAnnotation.MapLogicalTypeAnnotation || logical instanceof LogicalTypeAnnotation.MapKeyValueTypeAnnotation;
  }

  // Adds one value of the field, whatever its repetition. Returns it as JSON.
  String addOne(Group group, Type field) {
    if (field.isPrimitive()) return add(group, field.asPrimitiveType());
    GroupType type = field.asGroupType();
    Group inner = group.addGroup(field.getName());
    if (!isList(type) && !isMap(type)) return fields(inner, type);
    Type repeated = type.getType(0);
    boolean isElement = isMap(type) || repeated.isPrimitive() || repeated.getName().equals("array") ||
        repeated.getName().equals(field.getName() + "_tuple");
    StringJoiner list = new StringJoiner(",", "[", "]");
    for (int count = row % 4; count > 0; --count) {
      if (isElement) {
        list.add(addOne(inner, repeated));
      } else {
        Group wrapper = inner.addGroup(repeated.getName());
        list.add(value(wrapper, repeated.asGroupType().getType(0)));
      }
    }
    return list.toString();
  }

  // Adds the values of a field: none, one or several. Returns them as JSON.
  String value(Group group, Type field) {
    ++value;
    if (field.isRepetition(Type.Repetition.REPEATED)) {
      StringJoiner list = new StringJoiner(",", "[", "]");
      for (int count = value % 3; count > 0; --count) list.add(addOne(group, field));
      return list.toString();
    }
    if (field.isRepetition(Type.Repetition.OPTIONAL) && every > 0 && value % every == 0) return "null";
    return addOne(group, field);
  }

  String fields(Group group, GroupType type) {
    StringJoiner object = new StringJoiner(",", "{", "}");
    for (Type field : type.getFields()) object.add("\"" + field.getName() + "\":" + value(group, field));
    return object.toString();
  }

  static void write(Path folder, String name, String schema, int every, int version, CompressionCodecName codec, boolean dictionary,
                    boolean split) throws Exception {
    MessageType type = MessageTypeParser.parseMessageType(schema.replace("REPETITION", every == 0 ? "required" : "optional"));
    WriteParquet made = new WriteParquet();
    made.every = every;
    Path file = folder.resolve(name + ".parquet");
    try (PrintWriter values = new PrintWriter(folder.resolve(name + ".values").toFile(), StandardCharsets.UTF_8);
         ParquetWriter<Group> writer = ExampleParquetWriter.builder(new org.apache.hadoop.fs.Path(file.toUri()))
             .withType(type)
             .withConf(new Configuration())
             .withWriteMode(ParquetFileWriter.Mode.OVERWRITE)
             .withWriterVersion(version == 2 ? WriterVersion.PARQUET_2_0 : WriterVersion.PARQUET_1_0)
             .withCompressionCodec(codec)
             .withDictionaryEncoding(dictionary)
             .withByteStreamSplitEncoding(split)
             .withPageSize(256)
             .withPageRowCountLimit(25)
             .withMinRowCountForPageSizeCheck(1)
             .withPageWriteChecksumEnabled(version == 2)
             .build()) {
      SimpleGroupFactory groups = new SimpleGroupFactory(type);
      for (made.row = 0; made.row < ROWS; ++made.row) {
        Group group = groups.newGroup();
        values.println(made.fields(group, type));
        writer.write(group);
      }
    }
    System.out.println(name);
  }

  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]).toAbsolutePath();
    write(folder, "java_types_v1", TYPES, 0, 1, CompressionCodecName.UNCOMPRESSED, true, false);
    write(folder, "java_types_v1_plain", TYPES, 4, 1, CompressionCodecName.SNAPPY, false, false);
    write(folder, "java_types_v2", TYPES, 5, 2, CompressionCodecName.ZSTD, true, false);
    write(folder, "java_types_v2_delta", TYPES, 0, 2, CompressionCodecName.GZIP, false, false);
    write(folder, "java_types_v2_split", TYPES, 5, 2, CompressionCodecName.LZ4_RAW, false, true);
    write(folder, "java_interval", INTERVAL, 3, 2, CompressionCodecName.UNCOMPRESSED, true, false);
    write(folder, "java_nested_v1", NESTED, 5, 1, CompressionCodecName.SNAPPY, true, false);
    write(folder, "java_nested_v2", NESTED, 7, 2, CompressionCodecName.UNCOMPRESSED, false, false);
  }
}
