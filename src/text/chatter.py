"""Telling what a model says about its answer or itself from what it says about the subject."""

from __future__ import annotations

import re

from src.text.words import plain

_THINGS = r"(?:list|facts?|points?|bullets?|examples?|statements?|ideas?)"
# What a remark starts with. Openings that may also start a proposition ("The following holds", "Sure convergence",
# "If you have two classes") need the words that make them a remark.
_OPENINGS = (
    r"here (?:are|is)\b|here's\b|below (?:are|is)\b",
    r"(?:sure|certainly|of course|absolutely|great|okay|ok)[,!.:]",
    r"as an? (?:ai|large language|language) ",
    r"i (?:hope|can|cannot|can't|could not|think|will|would|don't|do not|apologi[sz]e|made)\b",
    r"i have (?:listed|tried|provided)\b",
    r"i am (?:an? (?:ai|language)|sorry|unable|not able)\b|i(?:'m|'ll|'d|'ve) ",
    r"let me\b|let us know\b|feel free\b|thank you\b|thanks for\b|hope (?:this|that) helps",
    r"if you (?:have any|need (?:any|more|further)|want (?:more|to know)|would like|'d like)\b",
    r"(?:please )?(?:note|keep in mind) that (?:these|this list|the (?:above|list|following))\b|note: these\b",
    r"please (?:let me|feel)\b",
    rf"these are (?:\w+ ){{0,5}}{_THINGS}\b|these (?:facts|bullets)\b|this list\b|this is (?:a|the) list\b",
    rf"the (?:above|following) (?:(?:are|is) (?:\w+ ){{0,4}})?{_THINGS}\b",
    rf"{_THINGS}(?: \d+)?:|in (?:summary|conclusion)[,:]|to summari[sz]e[,:]",
    # zh, ja, ko
    r"以下是|以下为|希望(?:这|以上|对)|(?:当然|好的)[，,！!。]|作为(?:一个|一名)?(?:ai|人工智能|语言模型)|请注意",
    r"以下は|もちろん[、，！!。]|お役に立|다음은|도움이 되",
    # es, fr, de, it, pt, ru, ar
    r"aquí (?:está|tien|hay|te)|espero que\b|claro[,!]|por supuesto\b|como (?:modelo de lenguaje|ia)\b",
    r"voici\b|j'espère\b|bien sûr\b|en tant que (?:modèle|ia)",
    r"hier (?:sind|ist eine liste|finden)\b|ich hoffe\b|natürlich[,!]|als (?:ki|sprachmodell)\b",
    r"ecco\b|spero che\b|aqui est",
    r"вот (?:список|несколько|\w+ фактов)|надеюсь|конечно[,!]|как языков|إليك|آمل أن|بالتأكيد",
)
_REMARK = re.compile("|".join(_OPENINGS), re.IGNORECASE)


def is_meta(text: str) -> bool:
    """Whether a text starts as a remark: "Here are…", "As an AI…", "I hope…", "以下是…"."""
    return _REMARK.match(plain(text).strip(' \t"#_')) is not None
