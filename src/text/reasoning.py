"""What a model says after it has thought: reasoning is never read as an answer."""

from __future__ import annotations

import re

_NAMES = r"(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad)"
# One pair per way of marking: XML-like, square brackets (Magistral), triangles (Kimi), begin/end tokens, and channels
# (gpt-oss).
_OPEN = (
    rf"<(?:\w+:)?{_NAMES}(?:\s[^<>\n]*)?>|\[THINK\]|◁think▷|<\|begin_of_{_NAMES}\|>|<\|channel\|>analysis<\|message\|>"
)
_CLOSE = (
    rf"</(?:\w+:)?{_NAMES}\s*>|\[/THINK\]|◁/think▷|<\|end_of_{_NAMES}\|>"
    r"|(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>"
)
# A tag in back-ticks or quotes is spoken about, not used.
_TAG = re.compile(rf"(?<![`'\"])(?:(?P<opening>{_OPEN})|(?:{_CLOSE}))(?![`'\"])[ \t]*", re.IGNORECASE)
_BLANK_LINES = re.compile(r"(?:[ \t\r]*\n)+")


def strip_reasoning(text: str) -> str:
    """Return what remains of a reply when its reasoning is taken out.

    Closed blocks go. A closing tag without an opening one (that was part of the prompt) takes all before it. An opening
    tag that never closes takes all after it, if it starts a line; inside a sentence it is subject matter.
    Text without reasoning is returned as it came.
    """
    kept: list[str] = []
    position = 0
    opened: int | None = None
    for tag in _TAG.finditer(text):
        if tag["opening"] and opened is None:
            opened = tag.start()
        elif tag["opening"]:
            continue  # thinking about thinking
        elif opened is None:
            kept, position = [], tag.end()
        else:
            kept.append(text[position:opened])
            position, opened = tag.end(), None
    unclosed = opened is not None and not text[text.rfind("\n", 0, opened) + 1 : opened].strip()
    kept.append(text[position : opened if unclosed else len(text)])
    bare = "".join(kept)
    # Blank lines go, the indentation of the first line stays: it tells children from parents.
    blank = _BLANK_LINES.match(bare) if bare != text else None
    return bare[blank.end() :] if blank else bare
