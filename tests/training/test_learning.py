"""It learns: the slow proof that network, losses, data and optimiser fit together."""

import pytest

from cmnet.cli import main
from cmnet.data.toy import ToySizes, build_toy


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_few_hundred_steps_on_eight_objects_bring_most_of_them_within_5_degrees(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    build_toy(tmp_path / "data", seed=0, sizes=ToySizes(train=8, val=1, test=1))
    split = tmp_path / "data" / "data_split"
    eight = (split / "toy.train.txt").read_text().splitlines()[::3][:8]
    for name in ("train", "val"):
        (split / f"toy.{name}.txt").write_text("\n".join(eight) + "\n")
    settings = ["points=2000", "accumulate=1", "validate_every=300", "warmup=20", "variants=1"]
    sets = [word for setting in settings for word in ("--set", setting)]
    run = tmp_path / "run"
    assert main(["train", "--data", str(tmp_path / "data"), "-o", str(run), "--steps", "300", "--quiet", *sets]) == 0
    last = (run / "validation.csv").read_text().splitlines()[-1].split(",")
    assert float(last[1]) > 50, f"only {last[1]} % within 5 degrees"
