"""Form of a proposition: what the deterministic rules judge looks at. It checks form, not truth.

Covered in depth: English. For other languages in Latin letters, and for other scripts, only checks that need no
grammar apply: emptiness, questions, headings, chatter in a few languages and extreme shortness. So a fragment in
Chinese or German passes as a proposition more often than one in English does.
"""

from __future__ import annotations

import re

from src.text.chatter import is_meta
from src.text.guards import difference
from src.text.verbs import has_finite_verb
from src.text.words import CJK, content, plain, words

_QUESTION = re.compile(r"[?？؟]\W*\Z")
_HEADING = re.compile(r"#{1,6}\s|.*[:：]\W*\Z", re.DOTALL)
_BOLD_ONLY = re.compile(r"\s*(\*\*|__)(?:(?!\1).)+\1[.:]?\s*\Z", re.DOTALL)
# A sentence does not end in an article, a conjunction, a comma or an open bracket.
_CUT = re.compile(
    r"(?:\b(?:the|an?|and|or|but|of|because|than|whose|its|their|such as|including)|[,(\[（「，、]|[(（][^)）]*)\s*\Z",
    re.IGNORECASE,
)
# "Kalman filter: an estimator of hidden states" stands for "A Kalman filter is an estimator …".
_DEFINITION = re.compile(
    r"[^:]{2,80}?(?::| [-–—]) (?:an?|the|any|one of|another) (?:\S+ ){2,}\S+", re.IGNORECASE | re.DOTALL
)

_SUBJECT = r"(?:(?!is |are |has |have |can |that |which )[\w'()-]+ ){1,7}"
_VERY = r"(?:very |extremely |highly |incredibly |quite |really |most |also |often |generally |particularly )*"
_PRAISE = (
    r"(?:important|essential|crucial|critical|vital|useful|helpful|powerful|popular|fundamental|key|central|complex"
    r"|interesting|effective|efficient|versatile|challenging|significant|valuable|common|core|major|basic|great|well-known)"
)
_THING = (
    r"(?:tool|technique|concept|field|method|part|aspect|topic|area|approach|component|element|role|step|skill|factor"
    r"|task|subject|process|practice|feature|algorithm)s?"
)
_WHERE = r"(?: (?:in|of|for|to|across|within) (?:[\w-]+ ?(?:and |, )?){1,5})?"
_MANY = (
    r"(?:many|numerous|various|several|different|a lot of|a (?:wide |large )?(?:range|variety|number) of)"
    r" (?:different )?"
)
_KINDS = r"(?:types|kinds|ways|methods|techniques|applications|approaches|forms)"
_GENERIC = re.compile(
    # "X is an important and useful tool in Y"
    rf"{_SUBJECT}(?:is|are|remains?|has become|have become) (?:an? |the |one of the )?{_VERY}"
    rf"{_PRAISE}(?:,? and {_PRAISE}| {_PRAISE})? ?(?:{_THING})?{_WHERE}"
    rf"|{_SUBJECT}plays? an? {_VERY}{_PRAISE} (?:role|part){_WHERE}"
    rf"|{_SUBJECT}(?:has|have) {_MANY}(?:applications|uses|advantages|benefits|features|challenges|types|forms){_WHERE}"
    rf"|{_SUBJECT}(?:is|are) (?:widely |commonly |often |frequently |also )?(?:used|applied) in {_MANY}(?:\w+ )?"
    r"(?:fields|areas|applications|domains|industries|ways|tasks)"
    rf"|there (?:are|is) {_MANY}{_KINDS}(?: of [\w -]+)?"
)
_FAST = r"(?:constantly|rapidly|continuously|continually|quickly|ever|fast)"
_GROWING = r"(?:evolving|growing|changing|advancing|developing|expanding)"
_ATTENTION = r"(?:popularity|attention|traction|interest)"
_DEVELOPMENT = re.compile(
    rf"\b{_FAST}[ -]{_GROWING}\b"
    rf"|\bin recent years,? .*\b(?:has|have) (?:become|gained|seen|emerged|grown|attracted|been {_GROWING})"
    rf"|\b(?:has|have) (?:revolutioni[sz]ed|come a long way|(?:gained|attracted) (?:\w+ )?{_ATTENTION})"
    r"|\b(?:has|have) become (?:more and more|increasingly) \w+"
    r"|\b(?:has|have) (?:also )?(?:experienced|seen|made) (?:\w+ )?(?:growth|progress|advances|advancements)\b"
    r"|\b(?:active|ongoing|emerging|growing) (?:area|field|topic|subject) of (?:\w+ )?(?:research|study)"
    r"|\bresearch(?:ers)? (?:is|are|continues?) (?:ongoing|to (?:explore|improve|develop|investigate|work)"
    r"|(?:still |actively |constantly )?(?:exploring|working|developing|investigating))"
    r"|\bcontinues? to (?:evolve|grow|advance|improve|expand)\b|\bfuture of [\w -]+ (?:is|looks|will)\b"
)


def form_fault(text: str) -> str:
    """Name what keeps a text from being a complete, substantive proposition, as far as form shows it.

    Returns:
        "" for none, else the first of: "empty", "meta" (about the answer), "question", "heading", "cut" (breaks off),
        "fragment" (no finite verb, too short), "development" (talk about a field's progress), "generic" (an assertion
        without content). A missing final stop is no fault.
    """
    bare = plain(text).strip()
    if not words(bare):
        return "empty"
    if is_meta(text):
        return "meta"
    if _QUESTION.search(bare):
        return "question"
    if _HEADING.match(bare):
        return "heading"
    if _CUT.search(bare):
        return "cut"
    if _is_fragment(bare):
        return "heading" if _BOLD_ONLY.match(text) else "fragment"
    sentence = bare.lower().rstrip(" .!")
    if _DEVELOPMENT.search(sentence):
        return "development"
    return "generic" if _GENERIC.fullmatch(sentence) else ""


def same_content(a: str, b: str) -> bool:
    """Whether two texts use the same content words and :func:`difference` finds nothing between them.

    Inflection and stop words do not count, and order only as far as it says who does what. Texts without content words
    are the same only if they are equal.
    """
    if difference(a, b):
        return False
    words_a = content(a)
    if words_a:
        return words_a == content(b)
    return bool(a.strip()) and plain(a).casefold().strip() == plain(b).casefold().strip()


def _is_fragment(text: str) -> bool:
    if re.search(rf"[{CJK}]", text):
        return len(words(text)) < 4
    return len(words(text)) < 2 or not (_DEFINITION.match(text) or has_finite_verb(text))
