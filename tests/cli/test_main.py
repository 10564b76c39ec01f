import json

import pytest

from cmnet import __version__
from cmnet.cli import VERBS, main


def test_version_and_help(capsys):
    for arguments in (["--version"], ["--help"], *([verb, "--help"] for verb in VERBS)):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 0
    assert __version__ in capsys.readouterr().out


def test_info_tells_versions_and_extras(capsys):
    assert main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["cmnet"] == __version__
    assert "missing" not in {facts["torch"], facts["numba"], facts["numpy"]}
    assert "gtsam" in facts
    assert main(["info"]) == 0
    assert "torch threads" in capsys.readouterr().out
