"""What the library says about its arguments, in the words of the command line: `--tip tool0`, not `tip='tool0'`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..border.kinds import Maker


# What the library calls otherwise than the commands do, where a command has the option.
_OTHERWISE = {
    "t_end": "--time",
    "rate": "--control-rate",
    "reference": "--target",
    "share": "--hold-out",
}
# A list of one name, a table of one joint: what an option is given once for.
_ONE_OF = (
    (r"=\['([^']*)'(?:, \.\.\.)?\]", r" \1"),
    (r"=\{'([^']*)': '([^'}]*)'\}", r" \1=\2"),
    (r"=\{'([^']*)': ([^}]*)\}", r" \1=\2"),
)
_VERB = r"(?=(?: and [a-z0-9_]+)? (?:is|are|has|have|holds?|must|choose|cannot)\b)"
_LISTED = r"((?:--[a-z0-9-]+, )*)"
_NOT_HERE = (", or record less with every=",)  # advice that no option can follow


def spoken(message: str, options: Mapping[str, str]) -> str:
    """The message with the names of arguments as options. options: {name in Python: option, or option/its opposite}.

    An argument is recognised at the beginning of the message, as `name=value`, and after "for" and "and".
    """
    text = message
    for advice in _NOT_HERE:
        text = text.replace(advice, "")
    for name, declared in options.items():
        word = re.escape(name)
        option, _, opposite = declared.partition("/")
        if opposite:
            text = re.sub(rf"(?<![\w-]){word}=False\b", opposite, text)
        text = re.sub(rf"\bwith {word}=False\b", f"without {option}", text)
        for shape, words in _ONE_OF:
            text = re.sub(rf"(?<![\w-]){word}{shape}", rf"{option}{words}", text)
        text = re.sub(rf"\b{word}=True \({option}\)", option, text)
        text = re.sub(rf"(?<![\w-]){word}=(?:True|None)\b", option, text)
        text = re.sub(rf"(?<![\w-]){word}=(['\"])(.*?)\1", rf"{option} \2", text)
        text = re.sub(rf"(?<![\w-]){word}=(?=[,.;:)]|$)", option, text)
        text = re.sub(rf"(?<![\w-]){word}=(?=[^\s'\"])", rf"{option} ", text)
        text = re.sub(rf"^{word}\b{_VERB}", option, text)
        text = re.sub(rf"^{_LISTED}{word}(?=(?:, \w+)* and \w+ choose\b)", rf"\1{option}", text)
        text = re.sub(rf"^({_LISTED}--[a-z0-9-]+ and ){word}\b", rf"\1{option}", text)
        text = re.sub(rf"\bfor {word}(?= ')", f"for {option}", text)
    return text


def options_of(command: Maker) -> dict[str, str]:
    """{name in Python: option} of a command's function, and the library's other names for them.

    Of options with an opposite both: --snap/--no-snap.
    """
    named = {}
    for name, parameter in inspect.signature(command).parameters.items():
        words = getattr(parameter.default, "param_decls", None) or ()
        long = [word for word in words if word.startswith("--")]
        if long:
            named[name] = long[0]
    present = set(named.values())
    others = {name: option for name, option in _OTHERWISE.items() if option in present}
    return {**others, **named}
