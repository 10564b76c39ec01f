"""The report in a real browser: what a reader sees and can do. Skipped where there is no Chromium."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, find_chromium

from cmnet.report import viewer_mesh
from cmnet.report.viewer import write_report
from results import unmeasured

pytestmark = pytest.mark.skipif(find_chromium() is None, reason="needs Chromium or Chrome (set CMNET_CHROMIUM)")

SIZE = (920, 340)


@pytest.fixture(scope="module")
def report(vase, tmp_path_factory):
    assembly, parts = vase
    path = tmp_path_factory.mktemp("report with space & ü") / "report.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(viewer_mesh, "FACES", 6000)  # the processor draws
        write_report(path, assembly, parts, title="Find <b>7</b>", unit="mm")
    return path


@pytest.fixture(scope="module")
def browser():
    with Browser(patience=120) as running:
        yield running


@pytest.fixture(scope="module")
def shared(browser, report):
    """One page for the tests that leave it as they found it."""
    page = browser.open(report.as_uri(), SIZE, still=True)
    page.wait("cmnet.state().parts.length")
    return page


@pytest.fixture
def page(shared):
    yield shared
    for key in ("Escape", "r"):
        shared.press(key)
    shared.evaluate("document.querySelector('#explode').value = 0")
    slide(shared, 0)


def state(page):
    page.wait("!cmnet.state().moving")
    return page.evaluate("cmnet.state()")


def slide(page, value):
    script = "(e => { e.value = %s; e.dispatchEvent(new Event('input')); })(document.querySelector('#explode'))"
    page.evaluate(script % json.dumps(value))


def positions(seen):
    return np.array([part["position"] for part in seen["parts"]])


def text(page, selector):
    return page.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")


def pixels(page, folder):
    """The picture as the page drew it, (h, w, 3) int."""
    import matplotlib.image

    url = page.evaluate("document.querySelector('#view').toDataURL('image/png')")
    (folder / "view.png").write_bytes(base64.b64decode(url.split(",")[1]))
    return (255 * matplotlib.image.imread(folder / "view.png")[:, :, :3]).round().astype(int)


def test_it_opens_from_a_file_and_asks_for_nothing(browser, report):
    with browser.open(report.as_uri(), SIZE, still=True) as page:
        page.wait("!cmnet.state().moving && cmnet.state().parts.length")
        assert page.requests == [report.as_uri()]
        assert page.errors == []
        assert page.evaluate("document.querySelector('#trouble').hidden")
        assert page.evaluate("fetch('https://example.com/').then(() => 'sent', () => 'refused')") == "refused"
        assert page.requests == [report.as_uri()]


def test_names_titles_and_notes_are_text(page, vase):
    assembly, parts = vase
    assert page.evaluate("[...document.querySelectorAll('#parts .name')].map(e => e.textContent)") == [
        part.name for part in parts
    ]
    assert text(page, "#title") == page.evaluate("document.title") == "Find <b>7</b>"
    assert text(page, "#notes") == assembly.notes[0]
    assert page.evaluate("document.querySelectorAll('img, b, #parts script').length") == 0
    assert "4 of 5 parts placed in one group" in text(page, "#headline")


def test_parts_and_joins_wear_the_colours_and_percentages_of_the_facts(page):
    swatches = "[...document.querySelectorAll('#parts .swatch')].map(e => getComputedStyle(e).backgroundColor)"
    known = page.evaluate("JSON.parse(document.getElementById('facts').textContent)")
    wanted = [tuple(int(part["tone"][k : k + 2], 16) for k in (1, 3, 5)) for part in known["parts"]]
    assert page.evaluate(swatches) == [f"rgb({r}, {g}, {b})" for r, g, b in wanted]
    shown = page.evaluate("[...document.querySelectorAll('#joins .sure')].map(e => e.textContent)")
    assert shown == [join["sure"] for join in known["joins"]]


def test_lists_say_how_exactly_parts_and_joins_lie(page, vase):
    rows = "[...document.querySelectorAll('#parts .row, #joins .row')]"
    off = page.evaluate(f"{rows}.map(row => row.querySelector('.off') !== null)")
    parts, joins = len(vase[1]), len(vase[0].joins)
    assert off == [False, *[True] * (parts - 2), False, True, *[False] * (joins - 1)]


def test_a_picture_is_drawn(page, tmp_path):
    state(page)
    image = pixels(page, tmp_path)
    assert image.std(axis=(0, 1)).min() > 5
    saturation = image.max(axis=2) - image.min(axis=2)
    assert (saturation > 40).mean() > 0.02  # the parts have colours, the background none


def test_the_slider_takes_the_parts_apart_and_back(page):
    before = positions(state(page))
    slide(page, 1)
    apart = positions(state(page))
    moved = np.linalg.norm(apart - before, axis=1)
    assert (moved[:-1] > 1e-3).all()
    middle = before[:-1].mean(axis=0)
    assert np.linalg.norm(apart[:-1] - middle, axis=1).sum() > 1.3 * np.linalg.norm(before[:-1] - middle, axis=1).sum()
    slide(page, 0)
    assert np.allclose(positions(state(page)), before)


def test_choosing_a_join_isolates_it(page, vase):
    join = vase[0].joins[0]
    page.click("#joins li button")
    seen = state(page)
    assert seen["join"] == 0
    assert [k for k, part in enumerate(seen["parts"]) if part["alpha"] > 0] == sorted(join.parts)
    assert seen["colour"] == "gap"
    assert seen["lines"] == 40
    assert not page.evaluate("document.querySelector('#legend').hidden")
    card = text(page, "#card")
    assert f"{round(100 * join.confidence)}\u00a0%" in card
    assert "Shape score80\u00a0%" in card
    assert "Occupancy score60\u00a0%" in card
    assert "Exact to±\u00a00.2 mm · ±\u00a01.2°" in card
    slide(page, 0)
    i, j = join.parts
    closed = state(page)
    slide(page, 1)
    opened = state(page)
    assert not np.allclose(positions(closed)[[i, j]], positions(opened)[[i, j]])
    page.press("Escape")
    assert state(page)["join"] == -1
    assert all(part["visible"] for part in state(page)["parts"])
    assert page.evaluate("document.querySelector('#card').hidden")


def test_joins_without_matches_offer_no_lines(page):
    page.click("#joins li:nth-child(2) button")
    assert state(page)["lines"] == 0
    assert "score" not in text(page, "#card")
    assert page.evaluate("document.querySelectorAll('#card .lines').length") == 0


def test_parts_can_be_hidden_and_seen_alone(page):
    page.click("#parts li.part:nth-child(3) .eye")
    assert [part["visible"] for part in state(page)["parts"]] == [True, False, True, True, True]
    page.click("#parts li.part:nth-child(3) .eye")
    page.click("#parts li.part:nth-child(3) button")
    alone = state(page)
    assert alone["part"] == 1
    assert [part["visible"] for part in alone["parts"]] == [False, True, False, False, False]
    page.click("#show-all")
    assert all(part["visible"] for part in state(page)["parts"])


def test_keys(page):
    yaw, zoom = (state(page)[key] for key in ("yaw", "zoom"))
    for key in ("ArrowRight", "+", "e", "g"):
        page.press(key)
    seen = state(page)
    assert seen["yaw"] > yaw
    assert seen["zoom"] < zoom
    assert seen["explode"] > 0
    assert seen["colour"] == "gap"
    for key in ("e", "g", "3"):
        page.press(key)
    seen = state(page)
    assert (seen["explode"], seen["colour"], seen["part"]) == (0, "part", 2)
    page.press("j")
    assert state(page)["join"] == 0
    page.press("?")
    assert page.evaluate("document.querySelector('#help').open")
    page.press("Escape")
    assert not page.evaluate("document.querySelector('#help').open")
    page.press("Escape")
    assert state(page)["join"] == -1


def test_the_film_joins_the_parts_one_by_one(browser, report):
    with browser.open(report.as_uri(), SIZE, still=True) as page:
        before = positions(state(page))
        page.press(" ")
        page.wait("cmnet.state().playing && cmnet.state().caption.includes(' joins ')")
        assert not np.allclose(positions(page.evaluate("cmnet.state()")), before)
        page.press(" ")
        assert not page.evaluate("cmnet.state().playing")
        page.press("Escape")
        assert np.allclose(positions(state(page)), before)
        assert page.errors == []


def test_pointing_picks_the_part_under_the_pointer(page):
    state(page)
    x, y = page.evaluate(
        "(b => [b.x + b.width / 2, b.y + b.height / 2])(document.querySelector('#view').getBoundingClientRect())"
    )
    found = set()
    for dx in np.linspace(-0.3, 0.3, 13) * SIZE[1]:
        page.point_at(x + dx, y - 20)
        if not page.evaluate("document.querySelector('#tip').hidden"):
            found.add(text(page, "#tip b"))
    assert found <= {part["name"] for part in state(page)["parts"]}
    assert found
    page.point_at(x, 5)
    assert page.evaluate("document.querySelector('#tip').hidden")


def test_light_and_dark(browser, report, tmp_path):
    with browser.open(report.as_uri(), SIZE, scheme="dark", still=True) as page:
        assert state(page)["theme"] == "dark"
        assert pixels(page, tmp_path)[:20].mean() < 60
        page.press("d")
        assert state(page)["theme"] == "light"
        assert pixels(page, tmp_path)[:20].mean() > 180


def test_every_control_has_a_name(page):
    unnamed = "[...document.querySelectorAll('button, input')].filter(e => !(e.ariaLabel || e.textContent.trim()))"
    assert page.evaluate(f"{unnamed}.map(e => e.id)") == []
    assert page.evaluate("document.documentElement.lang") == "en"


def test_paper_has_tables_and_pictures(page, vase, tmp_path):
    page.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert page.evaluate("document.querySelectorAll('#paper canvas').length") == 2
    assert page.evaluate("document.querySelectorAll('#paper tbody tr').length") == len(vase[1]) + len(vase[0].joins)
    assert np.allclose(state(page)["explode"], 0)


def test_without_3d_the_lists_still_work(browser, report):
    blind = "HTMLCanvasElement.prototype.getContext = (get => function (kind, ...rest) {"
    blind += " return kind.startsWith('webgl') ? null : get.call(this, kind, ...rest); })"
    blind += "(HTMLCanvasElement.prototype.getContext)"
    with browser.open(report.as_uri(), SIZE, still=True, before=blind) as page:
        page.wait("cmnet.state().parts.length")
        assert "cannot be drawn" in text(page, "#trouble")
        page.click("#joins li button")
        assert page.evaluate("cmnet.state().join") == 0
        assert "sure" in text(page, "#card")
        assert page.errors == []


def test_what_was_not_measured_is_said_to_be_unknown(browser, vase, tmp_path):
    assembly, parts = vase
    write_report(tmp_path / "report.html", unmeasured(assembly), parts, title="x")
    page = browser.open((tmp_path / "report.html").as_uri(), SIZE, still=True)
    page.wait("cmnet.state().parts.length")
    assert "how sure that is, is unknown" in text(page, "#headline")
    assert text(page, "#joins .sure") == "unknown"
    assert text(page, "#parts").count("placed") >= 2
    page.evaluate("document.querySelector('#joins li:nth-child(2) button').click()")
    card = text(page, "#card")
    assert "unknown how sure it is" in card
    assert "Contact area–Gap (rms)–Penetration–" in card
    shown = card + text(page, "#headline") + text(page, "#joins") + text(page, "#parts")
    assert not any(word in shown for word in ("NaN", "null", "%"))
    assert page.errors == []


def test_printing_in_a_join_comes_back_to_it(page):
    page.press("j")
    state(page)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    seen = state(page)
    assert (seen["join"], seen["colour"]) == (0, "gap")
    page.press("Escape")
    assert state(page)["colour"] == "part"


def test_it_works_served_too(browser, report):
    import threading

    from cmnet.cli.view import server

    with server(Path(report).parent) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{serving.server_address[1]}/report.html"
        with browser.open(address, SIZE, still=True) as page:
            page.wait("cmnet.state().parts.length")
            assert page.requests == [address]
            serving.shutdown()
