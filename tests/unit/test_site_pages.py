"""What every page holds to: no script or style within, nothing from elsewhere, words in both languages, escaped text."""

import ast
import re
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.console.site import site as site_module
from bot.console.site.chart import bars
from bot.console.site.static_files import StaticFiles
from bot.console.site.views import account, overview
from bot.console.site.words import FOLDER, FRAME, LANGUAGES, Words
from bot.health import Finding, Verdict
from tests.console_fakes import HouseAtRest, app_for, browser, signed_in, site_for

SITE = Path(site_module.__file__).parent
TEMPLATES = sorted((SITE / "templates").glob("*.html"))
MODULES = sorted((SITE / "static").glob("*.js"))
HOSTILE = '<img src=x onerror="alert(1)">'
PLACE = re.compile(r"\{([a-z_]+)\}")
LITERAL = re.compile(r"""(?<![\w.])t\(\s*"([a-z0-9_]+)"\s*(\)|,|~)""")
JINJA = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)


class Tags(HTMLParser):
    """Every start tag with its attributes, and what stands within script and style."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.within: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside and data.strip():
            self.within.append(data)


def assert_plain(text: str, where: object) -> None:
    """No script or style within, no handler, no address of elsewhere."""
    tags = Tags(text)
    assert not tags.within, where
    for tag, attributes in tags.tags:
        assert tag not in ("style", "base", "iframe", "object", "embed"), (where, tag)
        assert tag != "script" or ("src" in attributes and attributes.get("type") == "module"), where
        for name, value in attributes.items():
            assert name != "style" and not name.startswith("on"), (where, tag, name)
            if name in ("src", "href", "action", "formaction", "data-live"):
                assert not re.match(r"\s*(?:[a-z][a-z0-9+.-]*:|//)", value or "", re.IGNORECASE), (
                    where,
                    value,
                )


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_has_a_script_or_style_within(template: Path) -> None:
    assert_plain(JINJA.sub("", template.read_text("utf-8")), template.name)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_switches_escaping_off(template: Path) -> None:
    assert not re.search(r"\|\s*safe\b|autoescape|Markup", template.read_text("utf-8"))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_every_form_that_posts_carries_its_token(template: Path) -> None:
    text = template.read_text("utf-8")
    for form in re.findall(r"<form\b.*?</form>", text, re.DOTALL):
        if re.search(r"""method=["']?post""", form, re.IGNORECASE):
            assert re.search(r"""\{%-?\s*include "csrf.html\"""", form), template.name


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_no_module_runs_text_or_asks_elsewhere(module: Path) -> None:
    text = module.read_text("utf-8")
    assert not re.search(r"\beval\(|new Function|document\.write|https?://|\bimport\(", text)


def test_the_stylesheet_asks_for_nothing_from_elsewhere() -> None:
    for sheet in sorted((SITE / "static").glob("*.css")):
        assert not re.search(r"@import|url\(|https?://", sheet.read_text("utf-8")), sheet.name


def words(language: str) -> dict[str, dict[str, str]]:
    return {path.stem: tomllib.loads(path.read_text("utf-8")) for path in (FOLDER / language).glob("*.toml")}


def test_both_languages_say_the_same_things() -> None:
    chinese, english = (words(language) for language in LANGUAGES)
    assert chinese.keys() == english.keys()
    for view, sentences in chinese.items():
        assert sentences.keys() == english[view].keys(), view
        for key, sentence in sentences.items():
            other = english[view][key]
            assert sentence.strip() and other.strip(), (view, key)
            assert set(PLACE.findall(sentence)) == set(PLACE.findall(other)), (view, key)
        assert view == FRAME or not sentences.keys() & chinese[FRAME].keys(), view


def spoken() -> Iterator[tuple[str, str, bool]]:
    """(view, key or its begin, whether it is the begin alone) of what templates and views say."""
    for template in TEMPLATES:
        view = template.name.partition(".")[0].partition("_")[0]
        for key, after in LITERAL.findall(template.read_text("utf-8")):
            yield view, key, after == "~"
    for module in sorted((SITE / "views").glob("*.py")):
        tree = ast.parse(module.read_text("utf-8"))
        names = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(attr="say"), args=[_, view, key]):
                    pass
                case _:
                    continue
            named = names.get(view.id) if isinstance(view, ast.Name) else getattr(view, "value", None)
            if isinstance(named, str) and isinstance(key, ast.Constant):
                yield named, str(key.value), False


def test_every_word_that_is_said_exists() -> None:
    catalogue = Words()
    all_words = words(LANGUAGES[0])
    seen = 0
    for view, key, is_begin in spoken():
        known = all_words[FRAME].keys() | all_words.get(view, {}).keys()
        assert any(each.startswith(key) for each in known) if is_begin else catalogue.has(view, key), (
            view,
            key,
        )
        seen += 1
    assert seen >= 40


async def test_text_of_people_is_text(tmp_path: Path) -> None:
    site = site_for(tmp_path)

    async def show(request: Request) -> Response:
        return site.render(request, "fault.html", number=HOSTILE, kind=404)

    async def act(request: Request) -> Response:
        await site.form(request)
        return site.see(request, "/show", HOSTILE)

    house = HouseAtRest()
    house.findings = {HOSTILE: Finding(verdict=Verdict.DEGRADED, detail=HOSTILE)}
    house.answers = {HOSTILE: 3}
    views = [Route("/show", show), Route("/act", act, methods=["POST"]), *overview.routes(site, house)]
    async with signed_in(site, views) as client:
        csrf = re.search(r'value="(\w{64})"', (await client.get("/show")).text)
        assert csrf
        assert (await client.post("/act", data={"csrf": csrf[1]})).status_code == 303
        pages = [(await client.get(path)).text for path in ("/show", "/show", "/", f"/nowhere/{HOSTILE}")]
    assert [page.count("&lt;img src=x") for page in pages[:2]] == [2, 1], "a line is said once"
    assert pages[2].count("&lt;img src=x") == 3
    for page in pages:
        assert HOSTILE not in page
        assert_plain(page, "page")


@pytest.mark.parametrize(
    ("asked", "lang"),
    [
        ({}, "zh-CN"),
        ({"Accept-Language": "en-GB,en;q=0.9,zh;q=0.8"}, "en"),
        ({"Accept-Language": "fr-FR,zh-TW;q=0.9,en;q=0.8"}, "zh-CN"),
        ({"Accept-Language": "fr"}, "zh-CN"),
        ({"Accept-Language": "en", "Cookie": "jide_language=zh"}, "zh-CN"),
        ({"Accept-Language": "zh", "Cookie": "jide_language=<b>"}, "zh-CN"),
    ],
)
async def test_a_page_speaks_the_readers_language(tmp_path: Path, asked: dict[str, str], lang: str) -> None:
    site = site_for(tmp_path)
    async with browser(app_for(site, account.routes(site))) as client:
        assert f'<html lang="{lang}">' in (await client.get("/login", headers=asked)).text


async def test_the_chosen_language_stays(tmp_path: Path) -> None:
    site = site_for(tmp_path)
    async with signed_in(site, overview.routes(site, HouseAtRest())) as client:
        page = (await client.get("/?a=1&b=<")).text
        link = re.search(r'href="([^"]+)" hreflang="en"', page)
        assert link and link[1] == "/?a=1&amp;b=%3C&amp;language=en"
        assert '<html lang="en">' in (await client.get("/?language=en")).text
        assert '<html lang="en">' in (await client.get("/")).text
        assert '<html lang="en">' in (await client.get("/?language=nonsense")).text


async def test_the_overview_tells_how_the_bot_is(tmp_path: Path) -> None:
    site, house = site_for(tmp_path), HouseAtRest()
    async with signed_in(site, overview.routes(site, house)) as client:
        page = (await client.get("/")).text
        assert "light-ok" in page and "light-off" in page and "一切正常" in page
        assert 'class="empty"' in page and "<svg" not in page
        house.findings = {"database": Finding(verdict=Verdict.UNREADY, detail="磁盘满了")}
        house.answers = {"model": 30, "faq": 3, "a stage of tomorrow": 1, "notice": 0}
        page = (await client.get("/")).text
    assert "light-unready" in page and "磁盘满了" in page and "badge-bad" in page
    assert "启动以来 34 条" in page
    drawn = page[page.index("<svg") : page.index("</svg>")]
    assert [drawn.index(name) for name in ("a stage of tomorrow", "常见问题", "大模型")]
    assert "提示" not in drawn


def test_a_chart_has_its_values_and_nothing_that_acts() -> None:
    drawn = str(bars({"大模型": 30, HOSTILE: 3}, "怎样回答的 <b>"))
    assert_plain(drawn, "chart")
    root = ElementTree.fromstring(drawn)
    assert (root.get("role"), root.get("aria-label")) == ("img", "怎样回答的 <b>")
    texts = [text.text for text in root.iter() if text.tag.endswith("text")]
    assert sorted(filter(None, texts)) == sorted(["大模型", HOSTILE, "30", "3"])
    widths = [float(rect.get("width", "0")) for rect in root.iter() if rect.tag.endswith("rect")]
    assert sorted(widths) == pytest.approx([max(widths) / 10, max(widths)])
    assert not any("style" in each.attrib or "id" in each.attrib for each in root.iter())


async def test_what_is_static_is_asked_for_once(tmp_path: Path) -> None:
    site = site_for(tmp_path)
    async with browser(app_for(site, account.routes(site))) as client:
        page = (await client.get("/login")).text
        for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', page):
            first = await client.get(address)
            tag = first.headers["etag"]
            assert first.status_code == 200 and re.fullmatch(r'"[0-9a-f]{32}"', tag), address
            again = await client.get(address, headers={"If-None-Match": f'"other", {tag}'})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
            assert (await client.get(address, headers={"If-None-Match": '"other"'})).status_code == 200
        types = [
            (await client.get(f"/static/{name}")).headers["content-type"] for name in ("style.css", "page.js")
        ]
        assert types == ["text/css; charset=utf-8", "text/javascript; charset=utf-8"]
        for path in ("/static/nothing.css", "/static/%2e%2e%2fsite.py", "/static/..%2fsite.py", "/static/"):
            assert (await client.get(path)).status_code in (401, 404), path


def test_another_content_is_another_tag(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text("a")
    (tmp_path / "secret.txt").write_text("x")
    before = StaticFiles(tmp_path).address("a.css")
    (tmp_path / "a.css").write_text("b")
    assert StaticFiles(tmp_path).address("a.css") != before
    with pytest.raises(KeyError):
        StaticFiles(tmp_path).address("secret.txt")


def test_a_value_is_inserted_as_it_is() -> None:
    said = Words().say("zh", "account", "wait", seconds="{seconds} {x}")
    assert "{seconds} {x} 秒" in said
    with pytest.raises(KeyError):
        Words().say("zh", "account", "wait")
    with pytest.raises(KeyError):
        Words().say("zh", "account", "no such key")


def test_the_pages_are_packed_with_the_program() -> None:
    project = tomllib.loads((SITE.parents[2] / "pyproject.toml").read_text("utf-8"))
    packed = project["tool"]["setuptools"]["package-data"]["bot.console.site"]
    files = {path for folder in ("templates", "static", "words") for path in (SITE / folder).rglob("*.*")}
    found = {path for pattern in packed for path in SITE.glob(pattern)}
    assert files and files == found
