"""Reading lines: any bytes, any size, plain or zstd, only what is new."""

import io
import subprocess
import sys

import pytest
from codexmem_hookspecs.errors import Rewritten, Unreadable
from hypothesis import given, settings
from hypothesis import strategies as st

from codexmem_core.safety.lines import LINE_CAP, ZSTD_MAGIC, read_lines, read_tail

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BOM = b"\xef\xbb\xbf"


class CountingFile(io.FileIO):
    """A file that counts what is read from it."""

    taken = 0

    def read(self, size=-1):
        data = super().read(size)
        self.taken += len(data)
        return data

    def readinto(self, buffer):
        count = super().readinto(buffer)
        self.taken += count
        return count


def lines_of(path, after=0, **options):
    with open(path, "rb", buffering=0) as file:
        return list(read_lines(file, after, name=path.name, **options))


def write(tmp_path, content, name="session.jsonl"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def naive(content):
    pieces = content.split(b"\n")
    lines, end = [], 0
    for number, piece in enumerate(pieces, start=1):
        last = number == len(pieces)
        if last and not piece:
            break
        end += len(piece) + (not last)
        lines.append((number, end, piece.removeprefix(BOM) if number == 1 else piece, ""))
    return lines


CONTENT = st.lists(st.binary(max_size=6) | st.sampled_from([b"\n", b"\r\n", b"\n\n", BOM, b"\xe6\x87", b"\0"])).map(
    b"".join
)


@settings(deadline=None)
@given(CONTENT, st.integers(1, 7), st.booleans())
def test_any_bytes_in_any_chunks_give_the_lines_of_a_plain_split(tmp_path_factory, content, chunk, compressed):
    folder = tmp_path_factory.getbasetemp()
    stored = content
    if compressed:
        stored = b"".join(zstd.compress(content[at : at + chunk * 5]) for at in range(0, len(content), chunk * 5))
    path = write(folder, stored)
    if stored.startswith(ZSTD_MAGIC) and not compressed:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("codexmem_core.safety.lines._CHUNK", chunk)
        patch.setattr("codexmem_core.safety.lines._COMPRESSED_CHUNK", chunk)
        expected = naive(content)
        assert lines_of(path) == expected
        for start, (_, end, _, _) in enumerate(expected, start=1):
            rest = [(number - start, end, data, problem) for number, end, data, problem in expected[start:]]
            assert lines_of(path, end) == rest


def test_a_cut_character_spoils_only_its_own_line(tmp_path):  # spec case 1
    path = write(tmp_path, b'{"a":1}\n{"message":"\xe6\x87\n{"b":2}\n')
    assert [line.data for line in lines_of(path)] == [b'{"a":1}', b'{"message":"\xe6\x87', b'{"b":2}']


def test_a_byte_order_mark_is_removed_on_the_first_line_only(tmp_path):  # spec case 3
    path = write(tmp_path, BOM + b"a\n" + BOM + b"b\n")
    assert lines_of(path) == [(1, 5, b"a", ""), (2, 10, BOM + b"b", "")]
    assert lines_of(path, 5) == [(1, 10, BOM + b"b", "")]


def test_lines_behind_a_broken_one_are_read_with_their_numbers(tmp_path):  # spec case 4
    content = [b'{"n":%d}' % number for number in range(1, 101)]
    content[39] = b'{"type":"attachment","attachment":{"type":"queued_comm'
    lines = lines_of(write(tmp_path, b"\n".join(content) + b"\n"))
    assert (lines[39].number, lines[39].data) == (40, content[39])
    assert lines[-1][:3] == (100, len(b"\n".join(content)) + 1, content[-1])


def test_a_last_line_without_its_end_is_given_and_continued_only_when_it_did_not_grow(tmp_path):
    path = write(tmp_path, b"a\nb")
    assert lines_of(path) == [(1, 2, b"a", ""), (2, 3, b"b", "")]
    assert lines_of(path, 3) == []
    path.write_bytes(b"a\nbc\n")
    with pytest.raises(Rewritten, match=r"session\.jsonl.*byte 3"):
        lines_of(path, 3)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("after", [1, 3, 6, 99])
def test_a_position_at_which_no_line_ends_any_more_means_rewritten(tmp_path, compressed, after):
    content = b"aa\nbb\n"
    path = write(tmp_path, zstd.compress(content) if compressed else content)
    if after in (3, 6):
        assert [line.data for line in lines_of(path, after)] == ([b"bb"] if after == 3 else [])
    else:
        with pytest.raises(Rewritten):
            lines_of(path, after)


def test_compressed_files_are_known_by_their_content_not_their_name(tmp_path):  # spec case 6
    content = b"".join(b'{"n":%d}\n' % number for number in range(5))
    plain, packed = write(tmp_path, content, "a.zst"), write(tmp_path, zstd.compress(content), "b.jsonl")
    assert lines_of(plain) == lines_of(packed)


def test_several_frames_are_one_content(tmp_path):
    path = write(tmp_path, zstd.compress(b"a\nb") + zstd.compress(b"") + zstd.compress(b"c\nd\n"))
    assert [line.data for line in lines_of(path)] == [b"a", b"bc", b"d"]


def big_text():
    return b"".join(b'{"number":%d,"text":"%x"}\n' % (number, number * 7919 * 104729) for number in range(30_000))


@pytest.mark.parametrize("damage", ["cut", "changed", "garbage behind"])
def test_a_damaged_zstd_file_gives_its_whole_lines_and_then_says_where(tmp_path, damage):  # spec case 6
    content = big_text()
    packed = bytearray(zstd.compress(content))
    half = len(packed) // 2
    if damage == "cut":
        packed = packed[:half]
    elif damage == "changed":
        packed[half : half + 64] = b"\xff" * 64
    else:
        packed += b"no frame"
    path = write(tmp_path, bytes(packed))
    lines = []
    with open(path, "rb", buffering=0) as file:
        reader = read_lines(file, name="s.zst")
        with pytest.raises(Unreadable, match=r"s\.zst.*after \d+ uncompressed bytes"):  # noqa: PT012 - what came before counts
            while True:
                lines.append(next(reader))
    assert len(lines) > 1_000
    whole = content.split(b"\n")
    assert all(line.data == whole[line.number - 1] for line in lines[:1_000])
    assert lines[-1].data.endswith(b"}") or damage == "changed"


def test_an_empty_file_and_a_single_line_end(tmp_path):
    assert lines_of(write(tmp_path, b"")) == []
    assert lines_of(write(tmp_path, b"\n")) == [(1, 1, b"", "")]


def test_a_line_over_the_cap_is_passed_over_and_said(tmp_path):  # spec case 9
    path = write(tmp_path, b"a\n" + b"x" * 101 + b"\nb\n" + b"y" * 100 + b"\n" + b"z" * 101)
    lines = lines_of(path, cap=100)
    assert [(line.number, line.end, len(line.data), bool(line.problem)) for line in lines] == [
        (1, 2, 1, False),
        (2, 104, 0, True),
        (3, 106, 1, False),
        (4, 207, 100, False),
        (5, 308, 0, True),
    ]
    assert lines_of(path, 104, cap=100)[0].data == b"b"


def test_only_what_is_new_is_read(tmp_path):  # spec case 13
    path = write(tmp_path, b"x" * 99 + b"\n")
    with open(path, "ab") as file:
        file.write((b"y" * 99 + b"\n") * 50_000)
    with CountingFile(path) as file:
        end = [line.end for line in read_lines(file)][-1]
        assert file.taken >= path.stat().st_size
    with open(path, "ab") as file:
        file.write(b"new\n")
    with CountingFile(path) as file:
        assert [line.data for line in read_lines(file, end)] == [b"new"]
        assert file.taken < 100
    with CountingFile(path) as file:
        assert read_tail(file, 10) == (b"yyyyy\nnew\n", end + 4)
        assert file.taken < 100


def test_the_tail_of_compressed_content_counts_uncompressed_bytes(tmp_path):
    content = big_text()
    with open(write(tmp_path, zstd.compress(content)), "rb", buffering=0) as file:
        assert read_tail(file, 50) == (content[-50:], len(content))
    with open(write(tmp_path, b"abc"), "rb", buffering=0) as file:
        assert read_tail(file, 0) == (b"", 3)


MEMORY_OF = """
import resource, sys
from codexmem_core.safety.lines import read_lines
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
count = size = bad = 0
with open(sys.argv[1], "rb", buffering=0) as file:
    for line in read_lines(file):
        count += 1; size += len(line.data); bad += bool(line.problem)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(count, bad, grown // (1024 if sys.platform == "linux" else 1024 * 1024))
"""


def read_in_a_process(path):
    done = subprocess.run([sys.executable, "-c", MEMORY_OF, str(path)], capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


def test_a_huge_transcript_needs_little_memory(tmp_path):  # spec case 13
    path = tmp_path / "big.jsonl"
    with open(path, "wb") as file:
        file.writelines((b'{"text":"' + b"x" * 187 + b'"}\n') * 5_000 for _ in range(200))
    count, bad, grown = read_in_a_process(path)
    path.unlink()
    assert (count, bad) == (1_000_000, 0)
    assert grown < 64


def test_a_line_of_four_times_the_cap_is_never_held(tmp_path):  # spec case 9
    path = tmp_path / "image.jsonl.zst"
    with zstd.open(path, "wb") as file:
        file.write(b'{"a":1}\n')
        for _ in range(4 * LINE_CAP // (1024 * 1024)):
            file.write(b"A" * 1024 * 1024)
        file.write(b'\n{"b":2}\n')
    count, bad, grown = read_in_a_process(path)
    assert (count, bad) == (3, 1)
    assert grown < 64
