"""Point clouds as .xyz and .pcd."""

import numpy as np
import pytest
import trimesh

from cmnet.errors import InputError
from cmnet.parts.load import load_part, load_parts
from cmnet.parts.lzf import decompress
from cmnet.parts.part import Part

BALL = trimesh.creation.icosphere(3)
POINTS = np.asarray(BALL.vertices, dtype=np.float32).astype(np.float64) + 3
NORMALS = np.asarray(BALL.vertices, dtype=np.float32).astype(np.float64)
COLORS = np.random.default_rng(0).integers(0, 256, (len(POINTS), 3)).astype(np.uint8)
PACKED = (COLORS.astype(np.uint32) @ np.array([65536, 256, 1], dtype=np.uint32)).astype("<u4")


def literal(data):
    """LZF without any repetition: runs of at most 32 bytes."""
    return b"".join(bytes([len(run) - 1]) + run for run in (data[k : k + 32] for k in range(0, len(data), 32)))


def pcd(data, points=None, values=POINTS):
    rows = np.concatenate([values, NORMALS], axis=1).astype("<f4")
    header = (
        "VERSION 0.7\nFIELDS x y z normal_x normal_y normal_z rgb\nSIZE 4 4 4 4 4 4 4\nTYPE F F F F F F F\n"
        f"COUNT 1 1 1 1 1 1 1\nWIDTH {len(rows)}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\n"
        f"POINTS {len(rows) if points is None else points}\nDATA {data}\n"
    ).encode()
    if data == "ascii":
        lines = [f"{' '.join(f'{x:.9g}' for x in row)} {c.view('<f4'):.9g}" for row, c in zip(rows, PACKED)]
        return header + "\n".join(lines).encode()
    if data == "binary":
        return header + np.concatenate([rows.view("<u4"), PACKED[:, None]], axis=1).tobytes()
    block = rows.T.tobytes() + PACKED.tobytes()
    packed = literal(block)
    return header + np.array([len(packed), len(block)], dtype="<u4").tobytes() + packed


@pytest.mark.parametrize("data", ["ascii", "binary", "binary_compressed"])
def test_every_kind_of_pcd_gives_the_same_cloud(tmp_path, data):
    (tmp_path / "a.pcd").write_bytes(pcd(data))
    part = load_part(tmp_path / "a.pcd")
    assert part.faces is None
    assert np.allclose(part.vertices, POINTS, atol=1e-6)
    assert np.allclose(part.normals, NORMALS, atol=1e-5)
    assert np.array_equal(part.colors[:, :3], COLORS)


def test_points_that_were_not_measured_are_left_out(tmp_path):
    values = POINTS.copy()
    values[::7] = np.nan
    (tmp_path / "a.pcd").write_bytes(pcd("binary", values=values))
    part = load_part(tmp_path / "a.pcd")
    assert len(part.vertices) == np.isfinite(values[:, 0]).sum() == len(part.normals) == len(part.colors)


def test_a_cloud_of_nothing_that_was_measured_is_refused(tmp_path):
    (tmp_path / "a.pcd").write_bytes(pcd("binary", values=np.full_like(POINTS, np.nan)))
    with pytest.raises(InputError, match="is empty"):
        load_part(tmp_path / "a.pcd")


def test_points_measured_somewhere_else_altogether_are_left_out_and_it_is_said(tmp_path, caplog):
    values = POINTS.copy()
    values[[7, 40]] = [[1e9, 0, 0], [0, -1e4, 0]]
    (tmp_path / "a.pcd").write_bytes(pcd("binary", values=values))
    part = load_part(tmp_path / "a.pcd")
    assert np.array_equal(part.vertices, np.delete(POINTS, [7, 40], axis=0).astype(np.float32))
    assert len(part.normals) == len(part.vertices)
    assert "a: 2 points far away from all others are left out" in caplog.text


@pytest.mark.parametrize("data", ["ascii", "binary", "binary_compressed"])
@pytest.mark.parametrize("points", [10**9, 2**62, -5, 700])
def test_a_pcd_that_claims_more_than_it_holds_is_refused(tmp_path, data, points):
    (tmp_path / "a.pcd").write_bytes(pcd(data, points))
    with pytest.raises(InputError, match=r"truncated|damaged"):
        load_part(tmp_path / "a.pcd")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"FIELDS x", b"FIELDS w"),
        (b"SIZE 4", b"SIZE 3"),
        (b"TYPE F", b"TYPE Q"),
        (b"COUNT 1", b"COUNT 1000000000"),
        (b"COUNT 1", b"COUNT 0"),
        (b"DATA", b"DOTO"),
        (b"DATA binary", b"DATA zipped"),
        (b"SIZE 4 4", b"SIZE 4"),
    ],
)
def test_damaged_headers(tmp_path, old, new):
    (tmp_path / "a.pcd").write_bytes(pcd("binary").replace(old, new, 1))
    with pytest.raises(InputError, match=r"a\.pcd"):
        load_part(tmp_path / "a.pcd")


def test_lzf_repetitions():
    assert decompress(b"\x02abc\x20\x02", 6) == b"abcabc"
    assert decompress(b"\x00a\xe0\x10\x00", 1 + 7 + 16 + 2) == b"a" * 26  # reaches into what it appends
    for bad in (b"\x20\x00", b"\xe0", b"\x05ab", b"\x00a\xe0\xff\x00"):
        with pytest.raises(ValueError):
            decompress(bad, 6)


@pytest.mark.parametrize("mark", [" ", ",", ";", "\t"])
@pytest.mark.parametrize("extra", ["", "normals", "colors", "normals colors", "colors normals"])
def test_xyz_columns_are_told_by_their_values(tmp_path, mark, extra):
    columns = [POINTS, *({"normals": NORMALS, "colors": COLORS}[word] for word in extra.split())]
    lines = [mark.join(f"{x:.7g}" for x in row) for row in np.concatenate(columns, axis=1)]
    (tmp_path / "a.xyz").write_text("\n".join(["// X Y Z and more", *lines]))
    part = load_part(tmp_path / "a.xyz")
    assert np.allclose(part.vertices, POINTS, atol=1e-5)
    assert (part.normals is not None) == ("normals" in extra)
    assert (part.colors is not None) == ("colors" in extra)
    if part.colors is not None:
        assert np.array_equal(part.colors[:, :3], COLORS)


def test_xyz_with_intensity_or_opacity(tmp_path):
    for name, columns in (
        ("pts", [np.full((len(POINTS), 1), -500), COLORS]),
        ("rgba", [COLORS, 0 * COLORS[:, :1] + 255]),
    ):
        np.savetxt(tmp_path / f"{name}.xyz", np.concatenate([POINTS, *columns], axis=1))
        assert np.array_equal(load_part(tmp_path / f"{name}.xyz").colors[:, :3], COLORS)


@pytest.mark.parametrize(
    "text", ["hello\nworld\n", "1 2\n3 4\n", "1 2 3\n4 5\n", "1 2 3\na b c\n", "\0\0\0", "1 2 3\n" * 10]
)
def test_xyz_that_is_none(tmp_path, text):
    (tmp_path / "a.xyz").write_text(text)
    with pytest.raises(InputError, match=r"a\.xyz"):
        load_part(tmp_path / "a.xyz")


@pytest.mark.parametrize("sign", [1, -1])
def test_normals_that_point_inwards_are_turned_round(tmp_path, sign):
    np.savetxt(tmp_path / "a.xyz", np.concatenate([POINTS, sign * NORMALS], axis=1))
    part = load_part(tmp_path / "a.xyz")
    assert np.allclose(part.normals, NORMALS, atol=1e-6)
    assert bool(part.repairs) == (sign < 0)


@pytest.mark.parametrize("between", [" ", ";", "; ", "\t"])
def test_xyz_with_decimal_commas(tmp_path, between):
    lines = [between.join(f"{x:.6f}".replace(".", ",") for x in row) for row in np.hstack([POINTS, NORMALS])]
    (tmp_path / "a.xyz").write_text("\n".join(["X Y Z", *lines]))
    part = load_part(tmp_path / "a.xyz")
    assert np.allclose(part.vertices, POINTS, atol=1e-5)
    assert np.allclose(part.normals, NORMALS, atol=1e-2)


def test_points_in_the_air_are_left_out_and_the_rest_stays(caplog):
    rng = np.random.default_rng(0)
    ball = rng.standard_normal((4000, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    air = ball.copy()
    air[::100] *= rng.uniform(1.4, 1.8, (40, 1))
    (part,) = load_parts([Part("ball", air, normals=ball)])
    gone = {*map(tuple, air)} - {*map(tuple, part.vertices)}
    assert gone <= {*map(tuple, air[::100])}
    assert len(gone) > 36
    assert np.allclose(part.normals, part.vertices / np.linalg.norm(part.vertices, axis=1, keepdims=True))
    assert "lie off the surface" in caplog.text
    assert len(load_parts([Part("ball", ball)])[0].vertices) == 4000
    assert np.array_equal(load_parts([part])[0].vertices, part.vertices)


def test_uneven_clouds_keep_their_points():
    grid = np.stack(np.meshgrid(np.geomspace(0.01, 1, 80), np.geomspace(0.01, 1, 80), [0.0]), axis=-1).reshape(-1, 3)
    assert len(load_parts([Part("uneven", grid)])[0].vertices) == len(grid)
