"""The page of results says what the figures say."""

import json

import results_page


def test_the_page_is_made_of_the_committed_figures():
    assert results_page.PAGE.read_text(encoding="utf-8") == results_page.page(), "run benchmarks/results_page.py"
    readme = results_page.README.read_text(encoding="utf-8")
    assert readme == results_page.readme(readme), "run benchmarks/results_page.py"
    card = results_page.CARD.read_text(encoding="utf-8")
    assert card == results_page.card(card), "run benchmarks/results_page.py"


def test_what_was_not_measured_is_not_on_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(results_page, "RESULTS", tmp_path)
    assert "## " not in results_page.page()
    line = {"n": 5, "within 1°": 0.25, "within 5°": 0.5, "accepted": 0.75, "precision": None}
    (tmp_path / "pairs.json").write_text(json.dumps({"command": "measure them", "table": {"2 pieces": line}}))
    assert "| 2 pieces | 5 | 25.0 % | 50.0 % | 75.0 % | – |" in results_page.page()


def test_the_halves_of_breaking_bad_are_all_of_it():
    result = results_page.read("breaking_bad_all_base")
    every = results_page.row_of(result, "cmnet", "all")
    halves = [dict(zip(results_page.OVERALL, row, strict=True)) for row in results_page.rows_by_half(result)]
    counts = [int(half["n"]) for half in halves]
    assert min(counts) > 0
    assert sum(counts) == every["n"]
    means = [float(half["PA_CRD"].rstrip(" %")) for half in halves]
    mean = sum(n * share for n, share in zip(counts, means, strict=True)) / every["n"]
    assert abs(mean - every["pa_crd"]) < 0.1


def test_conditions_and_real_scans_are_told_where_they_were_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(results_page, "RESULTS", tmp_path)
    kind = {"joins": 4, "claimed": 0.875, "right": 0.75, "error": 0.125}
    claims = {"all": kind, "accepted": kind, "used": kind}
    line = {"n": 5, "pa_crd": 80, "in_place": 60, "in_place_low": 40, "in_place_high": None, "placed": 90}
    line |= {"foreign_out": None, "joins": 4, "claims": claims}
    result = {"command": "scan", "tolerance": {"degrees": 5, "size": 0.02}, "table": {"holes": line}}
    (tmp_path / "conditions.json").write_text(json.dumps(result))
    scan = {"path": "tuwien/cake/scan", "method": "cmnet", "pieces": 11, "in_place": 50, "placed": 60}
    scan |= {"joins": 7, "joins_right": 6, "seconds": 3}
    (tmp_path / "real_base.json").write_text(json.dumps({"command": "measure", "objects": [scan]}))
    page = results_page.page()
    assert "| holes | 5 | 80.0 % | 60.0 % | 40.0 – – | 90.0 % | – | 4 | 87.5 % | 75.0 % | 0.125 | 0.125 |" in page
    assert "less than 5° and 2 %" in page
    assert "| tuwien/cake: cmnet, with the network | 11 | 50.0 % | 60.0 % | 7 | 6 | 3.0 |" in page


def test_what_is_measured_again_comes_onto_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(results_page, "RESULTS", tmp_path)
    shares = dict.fromkeys(("pure", "exact", "foreign out", "precision", "PA_CRD", "placed"), 0.5)
    piles = {"2 objects": {"piles": 4, "pieces": 8.5, **shares}}
    counts = {"parts": 6, "believed": 5, "found": 4, "both": 3, "accepted": 2, "right": 1}
    rows = [{"method": name, "subset": "all", "pieces": "all", "n": 1} for name in ("all stages", "without loops")]
    rows = [row | dict.fromkeys(results_page.FIGURES.values(), 7) | {"seconds": 9} for row in rows]
    objects = [{"path": path, "method": "all stages", "cd": cd} for path, cd in (("a", 3), ("b", 1))]
    for name, table in {"piles": piles, "lost": {"all": counts}}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"command": "measure", "table": table}))
    (tmp_path / "stages.json").write_text(json.dumps({"command": "measure", "rows": rows, "objects": objects}))
    page = results_page.page()
    assert "| 2 objects | 4 | 8.5 | 50.0 % |" in page
    assert "| all | 6 | 5 | 4 | 3 | 2 | 1 |" in page
    assert "| without loops | 1 | 7.0 |" in page
    assert "75.0 % of the CD is that of one fracture, `a`" in page
    assert "the same parts are in place without loops" in page


def test_the_page_says_by_what_a_join_is_judged():
    def result(size):
        return {"protocol": {"choices": [f"precision is ... right: off by less than 5° and {size} of the object's"]}}

    assert "5° and 3 % of" in results_page.when_right([result(0.03)])
    assert "5° and 2 % or 5° and 3 % of" in results_page.when_right([result(0.03), result(0.02), result(0.03)])
