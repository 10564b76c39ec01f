import numpy as np

from cmnet.data.augment import LEAST, Augmentation, kept, roughened

RNG = np.random.default_rng(0)
XYZ = RNG.uniform(-0.5, 0.5, (2000, 3))
NORMALS = XYZ / np.linalg.norm(XYZ, axis=1, keepdims=True)


def test_nothing_asked_for_changes_nothing():
    none = Augmentation()
    assert kept(XYZ, none, np.random.default_rng(1)).all()
    xyz, normals = roughened(XYZ, NORMALS, none, np.random.default_rng(1))
    assert np.array_equal(xyz, XYZ)
    assert np.allclose(normals, NORMALS)


def test_thinning_leaves_out_up_to_its_share_everywhere():
    shares = [kept(XYZ, Augmentation(thinning=0.6), np.random.default_rng(s)).mean() for s in range(60)]
    assert 0.37 < min(shares) < 0.5
    assert max(shares) > 0.9
    assert abs(np.mean(shares) - 0.7) < 0.06


def test_a_chip_is_a_ball_and_happens_as_often_as_asked():
    hurt = 0
    for seed in range(100):
        lost = ~kept(XYZ, Augmentation(chips=0.4, chip_radius=0.3), np.random.default_rng(seed))
        if lost.any():
            hurt += 1
            assert np.ptp(XYZ[lost], axis=0).max() <= 0.6
            centre = XYZ[lost].mean(axis=0)
            inner = np.linalg.norm(XYZ - centre, axis=1) < 0.02
            assert lost[inner].all()
    assert 25 < hurt < 55


def test_a_small_part_never_vanishes():
    few = XYZ[: LEAST + 4]
    assert all(
        kept(few, Augmentation(thinning=0.9, chips=1, chip_radius=9), np.random.default_rng(s)).sum() >= LEAST
        for s in range(20)
    )


def test_noise_has_at_most_the_asked_deviation_and_normals_stay_unit():
    worst = Augmentation(noise=0.01, tilt=0.2)
    deviations, angles = [], []
    for seed in range(40):
        xyz, normals = roughened(XYZ, NORMALS, worst, np.random.default_rng(seed))
        deviations.append((xyz - XYZ).std())
        assert np.allclose(np.linalg.norm(normals, axis=1), 1)
        angles.append(np.arccos(np.clip((normals * NORMALS).sum(1), -1, 1)).mean())
    assert 0.008 < max(deviations) < 0.0102
    assert min(deviations) < 0.002
    assert 0.18 < max(angles) < 0.27  # two directions of deviation 0.2: a mean of 0.25
