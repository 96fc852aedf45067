"""The page in headless Chromium: paste, drop, form, errors beside the line, compare, keyboard alone."""

from __future__ import annotations

from base64 import b64encode

import pytest
from validation.server.attack_sources import MARKUP

from tests.render.report.browsing import CHECKS
from tests.server.web.test_api import SAXPY, STRIDED

pytestmark = [pytest.mark.browser, pytest.mark.toolchain]
STILL = "#s=" + b64encode(
    b'{"sources": [], "gpus": ["NVIDIA H200"], "comparing": false, "live": false}'
).decode().rstrip("=")
"""A link to an empty page that predicts only when it is asked to."""
PATIENCE = 60_000
"""Milliseconds: a busy machine is no failure."""


@pytest.fixture(scope="module")
def context(browser):
    found = browser.new_context(viewport={"width": 1280, "height": 900})
    found.set_default_timeout(PATIENCE)
    yield found
    found.close()


@pytest.fixture
def page(context, url):
    """Return the page, freshly loaded; anything on the console but refusals fails the test."""
    found = context.new_page()
    said: list[str] = []
    found.on("console", lambda message: said.append(message.text))
    found.on("pageerror", lambda error: said.append(str(error)))

    def dismiss(dialog) -> None:
        said.append(f"dialog {dialog.message}")
        dialog.dismiss()

    found.on("dialog", dismiss)
    found.goto(f"{url}/{STILL}")
    found.locator("#gpu-list input").first.wait_for()
    yield found
    found.close()
    assert [text for text in said if "422" not in text] == []


def compiled(page, text, side="before"):
    page.fill(f"#source-{side}", text)
    page.locator(f".side:has(#source-{side}) .state", has_text="compiled for").wait_for()


def predicted(page):
    page.locator("#results:not([hidden], .stale, [aria-busy=true])").wait_for()
    frame = page.frame_locator("#report")
    frame.locator("h1").wait_for()
    return frame


def test_paste_predict_and_read_the_report(page):
    compiled(page, SAXPY)
    page.click("#predict")
    frame = predicted(page)
    assert "saxpy" in frame.locator("h1").inner_text()
    row = page.locator("#summary tbody tr").first.inner_text()
    assert "NVIDIA H200" in row
    assert "µs" in row


def test_it_starts_with_an_example_answered_and_a_link_holds_everything(context, url):
    page = context.new_page()
    page.goto(url)
    predicted(page)
    assert "saxpy" in page.input_value("#source-before")
    page.uncheck("#live")
    page.fill("#source-before", STRIDED)
    page.locator("#stale:not([hidden])").wait_for()
    page.click("#link")
    page.wait_for_function("() => location.hash.startsWith('#s=')")
    other = context.new_page()
    other.goto(page.url)
    other.wait_for_function("text => document.querySelector('#source-before').value === text", arg=STRIDED)
    assert not other.is_checked("#live")
    page.close()
    other.close()


def test_the_report_is_a_stranger_to_the_page(context, url, client):
    """An origin of its own, which reaches nothing, framed or in a tab."""
    answer = client.post("/api/v1/predict", json={"source": SAXPY, "advice": False})
    page = context.new_page()
    page.goto(url + answer.headers["link"].partition(">")[0].removeprefix("<"))
    assert page.evaluate("() => self.origin") == "null"
    assert page.evaluate("() => fetch('/healthz').then(() => 'reached', () => 'refused')") == "refused"
    page.close()


def test_the_form_grows_from_the_kernel_and_says_the_launch(page):
    compiled(page, SAXPY.partition("\n")[2])
    labels = page.locator(".launch .row > span").all_inner_texts()
    assert [label.split("\n")[0] for label in labels] == ["Grid", "Block", "Shared", "n", "a", "x", "y"]
    for key, value in (("grid", "4096"), ("saxpy/n", "1048576"), ("saxpy/a", "2")):
        page.fill(f'[data-key="{key}"]', value)
    compiled(page, SAXPY.partition("\n")[2] + "\n")
    assert page.input_value('[data-key="saxpy/n"]') == "1048576"  # what was typed survives an edit
    page.click("#predict")
    predicted(page)


def test_an_error_stands_beside_its_line(page):
    page.fill("#source-before", SAXPY.replace("x[i]", "z[i]"))
    said = page.locator(".said").first
    said.wait_for()
    assert "Line 4" in said.inner_text()
    assert "z" in said.inner_text()
    band = page.locator(".band").first.bounding_box()
    top = page.locator("#source-before").bounding_box()["y"]
    assert abs(band["y"] - (top + 8 + 3 * 20)) < 2
    page.get_by_role("button", name="Go to line 4").click()
    chosen = "() => document.activeElement.value.slice(document.activeElement.selectionStart)"
    assert page.evaluate(chosen).startswith("    if (i < n) y[i] += a * z[i];")


def test_a_dropped_file_is_read(page):
    page.evaluate(
        """([text]) => {
          const data = new DataTransfer();
          data.items.add(new File([text], "dropped.cu"));
          const target = document.querySelector("#source-before");
          target.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
        }""",
        [SAXPY],
    )
    page.locator(".state", has_text="compiled for").first.wait_for()
    assert page.input_value("#source-before") == SAXPY


def test_the_keyboard_alone_is_enough(page):
    """From the top of the page: skip link, source, GPU, prediction."""
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("#source-before").press("Control+a")
    page.keyboard.insert_text(SAXPY)
    page.locator(".state", has_text="compiled for").first.wait_for()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.id") == "gpu-search":
            break
    page.keyboard.type("tesla t4")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+Enter")
    predicted(page)
    names = page.locator("#summary tbody th").all_inner_texts()
    assert [name.split("\n")[0] for name in names] == ["NVIDIA H200", "Tesla T4"]


def test_two_kernels_side_by_side(page):
    page.check("#comparing")
    compiled(page, STRIDED)
    compiled(page, SAXPY, "after")
    page.uncheck("#advice")
    page.click("#predict")
    predicted(page)
    assert "−" in page.locator("#summary td").first.inner_text()


def test_markup_in_a_source_stays_text(page):
    hostile = f'#line 1 "{MARKUP}"\n// {MARKUP}\n' + SAXPY.replace("y[i] +=", f"/* {MARKUP} */ y[i] +=")
    compiled(page, hostile)
    page.uncheck("#advice")
    page.click("#predict")
    frame = predicted(page)
    assert frame.locator("img").count() == 0
    page.fill("#source-before", f"#error {MARKUP}\n{SAXPY}")
    page.locator(".said", has_text="onerror").first.wait_for()
    assert page.locator("main img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_narrow_screens_need_no_sideways_scrolling(browser, url, scheme):
    context = browser.new_context(color_scheme=scheme, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(url)
    page.locator("#gpu-list input").first.wait_for()
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390
    context.close()


def test_every_control_has_a_name(page):
    compiled(page, SAXPY)
    page.locator(".which").first.select_option(index=1)
    nameless = """() => [...document.querySelectorAll("input, select, textarea, button")].filter((c) =>
      !c.closest("[hidden]") && !c.getAttribute("aria-label") && !c.title && !c.textContent.trim()
      && !(c.labels && [...c.labels].some((l) => l.textContent.trim()))).map((c) => c.outerHTML)"""
    assert page.evaluate(nameless) == []


def test_page_passes_the_checks_of_names_and_contrast(page):
    page.set_viewport_size({"width": 390, "height": 900})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(CHECKS) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
