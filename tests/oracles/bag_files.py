"""Bags of joint states, written as recorders write them."""

import sqlite3
import struct
from itertools import pairwise


def joint_state(stamp, names, *fields):
    """A little-endian CDR sensor_msgs/JointState."""
    out = bytearray(struct.pack("<iI", int(stamp), round((stamp % 1) * 1e9)))

    def pad(size):
        out.extend(b"\0" * (-len(out) % size))

    def text(word):
        pad(4)
        out.extend(struct.pack("<I", len(word) + 1) + word.encode() + b"\0")

    text("world")
    pad(4)
    out.extend(struct.pack("<I", len(names)))
    for name in names:
        text(name)
    for field in fields:
        pad(4)
        out.extend(struct.pack("<I", len(field)))
        if len(field):
            pad(8)
        out.extend(struct.pack(f"<{len(field)}d", *field))
    return b"\0\1\0\0" + bytes(out)


def db3(path, made, index=True):
    with sqlite3.connect(path) as base:
        base.execute(
            "create table topics(id integer primary key, name text, type text, serialization_format text, "
            "offered_qos_profiles text)"
        )
        base.execute(
            "create table messages(id integer primary key, topic_id integer, timestamp integer, data blob)"
        )
        if index:
            base.execute("create index timestamp_idx on messages(timestamp)")
        base.execute(
            "insert into topics values (1, '/joint_states', 'sensor_msgs/msg/JointState', 'cdr', '')"
        )
        base.execute("insert into topics values (2, '/odd', 'std_msgs/msg/String', 'cdr', '')")
        rows = [(1, stamp, data) for stamp, data in made]
        rows += [(2, stamp + 1, b"odd") for stamp, _ in made[::3]]
        base.executemany("insert into messages(topic_id, timestamp, data) values (?, ?, ?)", rows)
    base.close()
    return path


def mcap(path, made, zstd=True):
    """A bag of the rosbags package; its folder."""
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    writer = Writer(path, version=9, storage_plugin=StoragePlugin.MCAP)
    if zstd:
        writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    with writer:
        kind = "sensor_msgs/msg/JointState"
        connection = writer.add_connection("/joint_states", kind, typestore=store)
        for stamp, data in made:
            writer.write(connection, stamp, data)
    return path


def split(path, made, edges):
    """A bag of several .db3 files."""
    files = []
    path.mkdir()
    for k, (low, high) in enumerate(pairwise(edges)):
        files.append(db3(path / f"bag_{k}.db3", made[low:high]).name)
    stamps = [stamp for stamp, _ in made]
    listed = "\n".join(f"    - {name}" for name in files)
    (path / "metadata.yaml").write_text(f"""rosbag2_bagfile_information:
  version: 5
  storage_identifier: sqlite3
  relative_file_paths:
{listed}
  duration:
    nanoseconds: {stamps[-1] - stamps[0]}
  starting_time:
    nanoseconds_since_epoch: {stamps[0]}
  message_count: {len(made)}
  topics_with_message_count:
    - topic_metadata:
        name: /joint_states
        type: sensor_msgs/msg/JointState
        serialization_format: cdr
        offered_qos_profiles: ""
      message_count: {len(made)}
  compression_format: ""
  compression_mode: ""
""")
    return path
