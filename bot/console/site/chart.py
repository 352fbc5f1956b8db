"""Charts as SVG elements of the page, drawn here by pygal.

Invariant: a chart has no script, no style and no address within: the stylesheet gives it the page's colours, so that
the policy of the pages holds and a dark page has a dark chart.
"""

import sys
from collections.abc import Collection, Mapping
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

WIDTH = 480
"""Units, with text of 15: readable where a phone shows two thirds of it."""
ROW_HEIGHT = 36
TEXT = 15
"""As the stylesheet has it."""
_LEFT_OUT = frozenset({"defs", "desc", "title"})
_LEFT_OUT_BY_CLASS = ("tooltip-overlay", "background", " line", "axis x")
"""What only pygal's script would use, and what would be noise beside the printed values."""
_WHERE_A_STEP_BEGINS = ("serie-0",)


def bars(values: Mapping[str, int], title: str) -> Markup:
    """One horizontal bar for each value, the first at the top. `title`: what it is, for who hears it.

    Takes 10 ms, the first one 150: for a thread.
    """
    shown = dict(reversed(list(values.items())))
    most = max(values.values(), default=1)
    _load_pygal()
    from pygal import HorizontalBar

    chart = HorizontalBar(**_shape(shown), range=(0, most * 1.12))
    chart.x_labels = list(shown)
    chart.add("", list(shown.values()))
    return _drawn(chart.render_tree(), title)


def one_after_another(values: Mapping[str, float], title: str) -> Markup:
    """One horizontal bar for each step in milliseconds, which begins where the one above it ends. As slow as `bars`."""
    shown = dict(reversed(list(values.items())))
    total = sum(values.values())
    _load_pygal()
    from pygal import HorizontalStackedBar

    chart = HorizontalStackedBar(
        **_shape(shown), range=(0, max(total, 1.0) * 1.2), value_formatter="{:.0f} ms".format
    )
    chart.x_labels = list(shown)
    ended, begins = float(total), list[float]()
    for milliseconds in shown.values():
        ended -= milliseconds
        begins.append(max(ended, 0.0))
    chart.add("", begins)
    chart.add("", list(shown.values()))
    root = chart.render_tree()
    _strip(root, _WHERE_A_STEP_BEGINS)
    return _drawn(root, title)


def _shape(shown: Collection[str]) -> dict[str, Any]:
    """By the labels, from below."""
    return {
        "css": (),
        "js": (),
        "width": WIDTH,
        "height": ROW_HEIGHT * len(shown) + 2,
        "margin": 1,
        "spacing": 2,
        "show_legend": False,
        "print_values": True,
        "print_values_position": "top",
        "show_x_guides": False,
        "margin_left": 1 + max(map(_excess, shown), default=0),
    }


def _drawn(root: ElementTree.Element, title: str) -> Markup:
    _strip(root)
    root.attrib = {"viewBox": root.attrib["viewBox"], "class": "chart", "role": "img", "aria-label": title}
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704 — serialised by ElementTree


def _load_pygal() -> None:
    """Without the finder that it hangs before all later imports: it has been of no use since Python 3.12, and Python
    3.11 warns of it."""
    import pygal

    sys.meta_path[:] = [each for each in sys.meta_path if not isinstance(each, pygal.PluginImportFixer)]


def _strip(element: ElementTree.Element, by_class: tuple[str, ...] = _LEFT_OUT_BY_CLASS) -> None:
    for child in list(element):
        # A comment has a function in place of its name.
        tag, name = str(child.tag).rpartition("}")[2], child.get("class", "")
        if callable(child.tag) or tag in _LEFT_OUT or any(each in name for each in by_class):
            element.remove(child)
        else:
            child.attrib.pop("style", None)
            child.attrib.pop("id", None)
            # Printed values begin beside their bar, however wide they are.
            child.attrib.pop("text-anchor", None)
            _strip(child, by_class)


def _excess(label: str) -> int:
    """Units by which it is wider than pygal thinks, which has 6 for any character."""
    return 8 + sum(3 if character.isascii() else TEXT - 6 for character in label)
