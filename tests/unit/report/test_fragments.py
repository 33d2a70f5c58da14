"""Tables, numbers and figures as every page uses them."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from dynarm.report import figures
from dynarm.report.counts import bars, cost_table
from dynarm.report.html import Cell, Markup, data_json, facts, figure, number, page, section, table
from dynarm.report.html import verdict as box
from oracles.page_numbers import read


def inside(fragment) -> object:
    """The section that a fragment stands in, read back."""
    return read(f"<section><h2>x</h2>{fragment}</section>")["x"]


# ---- numbers


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"), (float("nan"), "–"), (np.float64("nan"), "–"), (float("inf"), "∞"),
        (float("-inf"), "−∞"), (7, "7"), (np.int64(-3), "-3"), (123456, "123456"),
        (123456.0, "123456"), (3.7196e-5, "0.000037196"), (-6.94e-18, "−6.94·10⁻¹⁸"), (2.5e9, "2.5·10⁹"),
        (-0.5, "−0.5"), (1 / 3, "0.33333"), (0.0, "0"),
    ],
)  # fmt: skip
def test_a_number_as_people_read_it(value, shown):
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (2 / 3, 0.66667), (12345.678, 12346), (3.0, 3), (-2.0, -2), (1e9, 1e9), (5e8, 500000000),
        (True, True), (None, None), ("a", "a"), (np.int32(4), 4), (float("inf"), None),
        ((1, 2.5), [1, 2.5]), (np.array([[1.0, np.nan]]), [[1, None]]), (123456789, 123456789),
    ],
)  # fmt: skip
def test_a_figure_s_data_keep_five_digits_and_whole_numbers_short(value, kept):
    text = data_json({"v": value})
    assert json.loads(text) == {"v": kept}
    if isinstance(kept, int) and not isinstance(kept, bool):
        assert "." not in text and "e" not in text
    if kept == 1e9:
        assert text == '{"v":1000000000.0}'


# ---- tables


def cells(fragment) -> list[list[tuple[str, str]]]:
    """(attributes, text) of every cell, row by row."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", str(fragment).split("<tbody>")[1])
    return [re.findall(r"<td([^>]*)>(.*?)</td>", row) for row in rows]


def test_a_column_is_of_numbers_where_every_cell_is_one_or_empty():
    made = table(("n", "s", "gap"), [[1.5, "a", ""], [2, 3, None], [4.0, "b", 7.5]])
    heads = re.findall(r"<th [^>]*>", str(made))
    assert ['class="number"' in head for head in heads] == [True, False, True]
    first, second, third = cells(made)
    assert first == [
        (' class="number" data-value="1.5"', "1.5"), ("", "a"), (' class="number"', ""),
    ]  # fmt: skip
    assert second[1:] == [("", "3"), (' class="number"', "")]
    assert third[2] == (' class="number" data-value="7.5"', "7.5")
    assert "number" not in str(table(("a",), []))
    assert "number" not in str(table(("a",), [[True]]))


def test_a_cell_may_sort_by_another_value_than_it_shows():
    made = table(
        ("a", "b", "c"),
        [[Cell("low", 1, "bad"), Cell("3 / 4", 7, "number"), Cell("plain")], ["x", 5, "y"]],
        wide=("c",),
    )
    first, second = cells(made)
    assert first == [
        (' class="bad" data-value="1"', "low"),
        (' class="number" data-value="7"', "3 / 4"),
        (' class="wide"', "plain"),
    ]
    assert second == [
        ("", "x"), (' class="number" data-value="5"', "5"), (' class="wide"', "y"),
    ]  # fmt: skip
    sorted_by = table(("a",), [[Cell("word", "key")]])
    assert cells(sorted_by) == [[(' data-value="key"', "word")]]


def test_one_row_is_the_best_and_a_long_table_scrolls():
    rows = [["a"], ["b"], ["c"]]
    made = str(table(("x",), rows, "All of them", best=1, tall=True))
    assert re.findall(r"<tr( class=\"best\")?><td>(.)", made) == [
        ("", "a"), (' class="best"', "b"), ("", "c"),
    ]  # fmt: skip
    assert '<div class="scroll tall">' in made and "<span>All of them</span></caption>" in made
    plain = str(table(("x",), rows))
    assert "best" not in plain and "tall" not in plain and "caption" not in plain


def test_a_section_makes_paragraphs_of_text_and_leaves_out_what_is_not_there():
    made = section("A  Title: 2!", "one < two", None, Markup("<b>three</b>"))
    assert made.parts == ("<p>one &lt; two</p>", "<b>three</b>") and made.anchor == "a-title-2"
    assert section("!!!").anchor == "section"


def test_addresses_differ_and_the_first_keeps_its_own():
    sections = [section(title) for title in ("Joint", "Other", "Joint", "joint 2", "Joint")]
    ids = re.findall(r'<section id="([^"]*)"', page("t", sections))
    assert ids[:2] == ["joint", "other"] and len(set(ids)) == 5
    assert ids[2] == "joint-2"


def test_a_page_brings_the_plotting_script_only_for_figures():
    drawn = figure({"data": [], "layout": {}})
    assert "dynarmPlot.all" in page("t", [section("a", drawn)])
    plain = page("t", [section("a", "text")])
    assert len(plain) < 2e4 and "hands" not in plain


def test_facts_and_a_verdict_say_what_they_are_given():
    assert inside(facts({"a": 1, "b": "two"})).facts == {"a": "1", "b": "two"}
    assert str(box(True, [])) == '<div class="verdict pass"><strong>PASS</strong></div>'
    failed = str(box(False, ["why"], bad="no"))
    assert failed == ('<div class="verdict fail"><strong>no</strong><ul><li>why</li></ul></div>')


def test_a_figure_has_a_player_only_for_frames_and_a_caption_only_where_one_is_given():
    still = str(figure({"data": [], "layout": {}}, height=123))
    assert "player" not in still and "figcaption" not in still and "min-height:123px" in still
    assert inside(still).figures[0]["layout"]["height"] == 123
    moving = str(figure({"data": [], "layout": {"height": 5}, "frames": []}, "words"))
    assert 'class="player"' in moving and "<figcaption>words</figcaption>" in moving
    assert inside(moving).figures[0]["layout"]["height"] == 5


# ---- curves


def test_few_points_are_kept_as_they_are_and_many_as_extremes_of_stretches():
    x = np.arange(10.0)
    for most in (10, 11):
        kept, values = figures.thinned(x, x**2, most)
        assert kept.tolist() == x.tolist() and values.tolist() == (x**2).tolist()
    y = np.array([0.0, 5, -1, 2, 2, 2, 7, 8, 9, -3, np.nan, 1])
    kept, values = figures.thinned(np.arange(12.0), y, 8)  # four stretches of three points
    assert kept.tolist() == [1, 2, 3, 6, 8, 9, 11]
    np.testing.assert_array_equal(values, [5, -1, 2, 7, 9, -3, 1])
    kept, _ = figures.thinned(np.arange(13.0), np.arange(13.0), 8)  # the last stretch is short
    assert kept.tolist() == [0, 3, 4, 7, 8, 11, 12]


def plain_line():
    return figures.line([0, 1], [2, 3], "n")


def test_a_line_is_long_where_the_page_has_room_for_it():
    assert len(figures.line(range(1200), range(1200), "n")["x"]) == 1200
    assert len(figures.line(range(1201), range(1201), "n")["x"]) <= 1200
    assert "meta" not in figures.line(range(1200), range(1200), "n")
    short = figures.line(range(200), range(200), "n", most=100)
    assert len(short["x"]) == 100 and short["meta"] == {"samples": 200}
    assert "Of 200 samples the lowest and highest" in figure({"data": [short], "layout": {}})
    assert "stretch" not in figure({"data": [plain_line()], "layout": {}}, "words")
    plain = figures.line([0, 1], [2, 3], "a<b", dash=1)
    assert plain["name"] == "a<b" and "color" not in plain["line"] and plain["dash"] == 1
    styled = figures.line([0, 1], [2, 3], "n", "--c3", line={"width": 4})
    assert styled["line"] == {"width": 4, "color": "--c3"}


def test_curves_take_eight_colours_in_turn_and_one_needs_no_legend():
    many = figures.lines([0, 1], {f"s{k}": [k, k] for k in range(10)}, "x", "y", "Title")
    colours = [trace["line"]["color"] for trace in many["data"]]
    assert colours == [f"--c{k}" for k in (1, 2, 3, 4, 5, 6, 7, 8, 1, 2)]
    assert [trace["line"].get("dash") for trace in many["data"]] == [None] * 8 + ["dash"] * 2
    assert many["layout"]["showlegend"] is True
    assert many["layout"]["title"]["text"] == "Title"
    one = figures.lines([0, 1], {"s": [1, 2]}, "x", "y", hovermode="closest")
    assert one["layout"]["showlegend"] is False and "title" not in one["layout"]
    assert one["layout"]["hovermode"] == "closest"
    assert one["layout"]["xaxis"]["title"]["text"] == "x"


def test_levels_cross_the_whole_figure():
    drawn = figures.upright_bars(
        ["a", "b"], (1.0, 2.0), ("--c1", "--c2"), "y", "%{x}", [(1.5, "--bad"), (-2.0, "--good")],
        type="log",
    )  # fmt: skip
    (trace,) = drawn["data"]
    assert trace["x"] == ["a", "b"] and trace["y"] == [1.0, 2.0]
    assert trace["marker"]["color"] == ["--c1", "--c2"]
    assert drawn["layout"]["yaxis"] == {"title": {"text": "y"}, "type": "log"}
    for shape, level, colour in zip(
        drawn["layout"]["shapes"], (1.5, -2.0), ("--bad", "--good"), strict=True
    ):
        assert (shape["y0"], shape["y1"], shape["line"]["color"]) == (level, level, colour)
        assert (shape["xref"], shape["x0"], shape["x1"]) == ("paper", 0, 1)


def test_parts_of_bars_have_colours_of_their_own_and_bars_room():
    drawn = figures.stacked_bars(["n"], {"p": [1], "q": [2], "r": [3]}, "x")
    assert len({trace["marker"]["color"] for trace in drawn["data"]}) == 3
    assert [trace["x"] for trace in drawn["data"]] == [[1], [2], [3]]
    heights = [figures.bar_height(n) for n in range(1, 6)]
    assert heights == [134, 158, 182, 206, 230]  # each bar as high as a line of text and its gap


def test_one_map_is_shown_at_a_time():
    maps = {"a": [[1]], "b": [[2]], "c": [[3]]}
    drawn = figures.heat_maps([0], [0], maps, "x", "y")
    assert [trace["visible"] for trace in drawn["data"]] == [True, False, False]
    assert {trace["zsmooth"] for trace in drawn["data"]} == {"best"}
    (menu,) = drawn["layout"]["updatemenus"]
    chosen = [button["args"][0]["visible"] for button in menu["buttons"]]
    assert chosen == np.eye(3, dtype=bool).tolist()
    assert [button["label"] for button in menu["buttons"]] == ["a", "b", "c"]
    two = figures.heat_maps([0], [0], {"a": [[1]], "b": [[2]]}, "x", "y")
    assert "updatemenus" in two["layout"]
    one = figures.heat_maps([0], [0], {"a": [[1]]}, "x", "y", smooth=False)
    assert "updatemenus" not in one["layout"] and one["data"][0]["zsmooth"] is False
    places = [place for place, _ in figures.SHADES]
    assert places == [0, 0.25, 0.5, 0.75, 1]


# ---- counts


COSTS = [
    {"formulation": f, "paper": "p", "mul": m, "add": a, "path": 3, "mul as written": 9,
     "add as written": 8, "printed": p}
    for f, m, a, p in (("one", 10, 5, "12 / 6"), ("two", 20, 7, ""), ("three", "", "", "30 / 9"))
]  # fmt: skip


def test_the_chosen_formulation_is_marked_and_what_was_not_counted_has_no_bar():
    (drawn,) = inside(bars(COSTS, "two")).figures
    assert drawn["data"][0]["y"] == ["one", "▸ two"]
    assert drawn["data"][0]["x"] == [10, 20] and drawn["data"][1]["x"] == [5, 7]
    assert drawn["layout"]["height"] == figures.bar_height(2)


def test_printed_counts_sort_by_their_sum_and_their_column_needs_one():
    (rows,) = inside(cost_table(COSTS)).tables
    assert [row[rows.columns.index("printed")] for row in rows.rows] == [
        ("12 / 6", "18"), ("", None), ("30 / 9", "39"),
    ]  # fmt: skip
    assert [row[rows.columns.index("total")][0] for row in rows.rows] == ["15", "27", ""]
    (bare,) = inside(cost_table(COSTS[1:2])).tables
    assert "printed" not in bare.columns and rows.columns[0] == "formulation"


def test_numbers_among_words_are_written_as_numbers_and_dashes_are_none():
    mixed = str(table(("x",), [[0.9200566972306534], ["word"]]))
    assert ">0.92006<" in mixed and "0.920056697230" not in mixed.replace(
        'data-value="0.920056697"', ""
    )
    dashed = str(table(("x",), [["–"], [1.5]]))
    assert dashed.count('class="number"') == 3 and ">–<" in dashed and ">1.5<" in dashed
