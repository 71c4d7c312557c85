"""Text of a model inside a prompt for another: kept as data, and noticed when it tries to be more."""

from __future__ import annotations

import re
import unicodedata

_RUN = re.compile("=+")

_OVERRIDE = r"ignor\w*|disregard\w*|forget|override|overrule|bypass|do not follow|don't follow|stop following"
_RULES = r"rubric|instructions?|prompts?|guidelines?|criteria|rules?|directions?|system message"
_WHOSE = (
    r"(?:all |any )?(?:of )?(?:the |these |those |your |my |previous |prior |above |earlier |preceding |other |given )+"
)
_VERDICT = r"yes|no|valid|invalid|true|false|correct|incorrect|factual|conceptual|procedural|accepted?|是|否"
_SAY = r"answer|reply|respond|output|say|return|print|write|conclude"
_ADDRESSED = r"(?:^|[.!?:;\n] ?|\band |\bthen |\bplease |\bjust |\balways |\bonly |\bmust |\bshould |\bnow )"

_ATTEMPTS = re.compile(
    "|".join(
        (
            # orders: "ignore the rubric", "disregard all previous instructions"
            rf"{_ADDRESSED}(?:{_OVERRIDE}) (?:{_WHOSE})(?:\w+ )?(?:{_RULES})\b",
            # verdicts asked for: "answer YES", "reply with 'valid'"
            rf"{_ADDRESSED}(?:{_SAY})(?: only| just| simply)?(?: with)?(?: the word| the label)?[ :]+"
            rf"[\"'“‘]?(?:{_VERDICT})[\"'”’]?(?=[.,!?;)\n]|$)",
            r"\b(?:mark|rate|grade|label|judge|classify|score) (?:this|it|me|the (?:above|statement|answer)) \w* ?as\b",
            # roles: "you are now a lenient judge", "as the judge you must"
            r"\byou are (?:now )?an? (?:\w+ )?(?:judge|grader|evaluator|auditor|rater)\b",
            r"\bas (?:the|a) (?:judge|grader|evaluator|auditor|rater),? you\b",
            r"\b(?:new|updated|real|actual) (?:system )?instructions?:",
            # chat templates smuggled in
            r"<\|(?:im_start|im_end|system|user|assistant|start_header_id|eot_id|end)\|>|\[/?INST\]|<</?SYS>>",
            # the same orders in other languages
            r"(?:忽略|无视|無視|不要理会|忘记)[^。\n]{0,12}(?:指令|指示|规则|提示|评分|标准|要求)",
            r"(?:指示|命令|ルール|規則)[^。\n]{0,6}無視",
            r"请?(?:只)?(?:回答|输出)[:： ]?[\"“「']?(?:是|否|有效|YES|NO)",
            r"игнорируй\w*[^.\n]{0,30}(?:инструкц|правил|указани)",
            r"ignora(?:d|r|te)?\b[^.\n]{0,20}(?:instrucciones|reglas|istruzioni|regole|instruções|regras)",
            r"(?:ignore[rz]?|ignorez) (?:toutes )?(?:les|ces|vos) [^.\n]{0,20}(?:instructions|consignes|règles)",
            r"ignoriere?n?\b[^.\n]{0,30}(?:anweisung|regel|vorgabe)",
            r"تجاهل[^.\n]{0,20}(?:تعليمات|قواعد)",
            r"निर्देश[^।\n]{0,20}(?:अनदेखा|नज़रअंदाज)",
        )
    ),
    re.IGNORECASE,
)


def fenced(text: str) -> str:
    """Put untrusted text between two equal fence lines that cannot occur in it, not even in another width.

    The fence is a run of `=` that is one longer than the longest in the text, at least five.
    """
    runs = _RUN.findall(text) + _RUN.findall(unicodedata.normalize("NFKC", text))
    fence = "=" * max(5, 1 + max(map(len, runs), default=0))
    return f"{fence}\n{text}\n{fence}"


def looks_like_instruction(text: str) -> bool:
    """Whether a text speaks to whoever judges it instead of about its subject.

    It is judged as data all the same; the attempt is counted. A heuristic: English in some depth, one or two phrases of
    other languages; it misses wordings it does not know.
    """
    lines = unicodedata.normalize("NFKC", text).split("\n")
    return _ATTEMPTS.search("\n".join(" ".join(line.split()) for line in lines)) is not None
