"""Does an English sentence have a finite verb? A lexicon and a few rules of order, no parser.

Built to tell noun phrases ("Convolutional neural networks", "Methods based on gradients") from sentences. Verbs that
are nouns at least as often (model, layer, function) count only with a determiner after them.
"""

from __future__ import annotations

import re

from src.text.words import plain, word_set

_AUXILIARIES = word_set(
    """
    am are can cannot could did do does had has have he's is it's may might must shall she's should that's
    there's was were will would
    """
)
_VERBS = word_set(
    """
    accelerate accept access accommodate accompany accomplish account accumulate accuse achieve acquire act
    adapt add address adjust admit adopt advance advocate affect aggregate aid aim align allocate allow alter
    alternate amplify analyse analyze announce answer appear apply approximate arise arrange arrest
    assassinate assess assign assist associate assume attach attend attract augment automate avoid award
    balance base become begin behave belong benefit bind block boost bridge bring broaden build calculate call
    campaign captain capture carry cause celebrate chair challenge change characterize choose cite claim
    classify cluster coach collaborate collect combine come command commit communicate compare compete
    complete compose compress comprise compute conceive concentrate conclude condemn condition conduct
    configure confirm connect conquer consider consist constitute constrain consult consume contain continue
    contribute control converge convert convey convict cooperate coordinate correct correlate correspond cost
    cover create criticize damage deal debut decide declare decode decompose decrease dedicate deepen defeat
    defend define deliver demonstrate denote deny depend deploy derive describe deserve design detect
    deteriorate determine develop deviate die differ differentiate diminish direct disable discard discover
    discretize dismiss display distinguish distribute diverge divide dominate donate draw drive drop earn edit
    eliminate embed emerge emigrate emphasize employ enable encode encounter encourage end enforce engage
    enhance enjoy enlarge enlist enrich ensure entail enter equal escape establish estimate evade evaluate
    evolve examine exceed exchange exclude execute exhibit exile exist expand expect experience explain
    exploit explore express extend extract face facilitate fail fall favor feature feed fill find finish fit
    fix flee focus follow force forget form formulate foster found fuse gain generalize generate get give go
    govern graduate grant grieve grow guarantee guide handle happen help hide highlight hinder hold host
    identify ignore illustrate implement imply impose impress improve include incorporate increase incur
    indicate induce infer influence inform inhabit inherit inhibit initialize inject injure insert inspire
    integrate intend interact interpret interview introduce invent invert investigate involve issue iterate
    join jump keep kidnap kill know lack last launch lead learn leave let leverage lie limit linearize link
    live load lobby locate look lose lower maintain make manage manipulate manufacture map marginalize mark
    marry match maximise maximize mean measure mention merge minimise minimize mirror mitigate mix model
    modify modulate monitor move multiply murder narrow need negotiate nominate normalise normalize obey
    object obtain occupy occur offer open operate oppose optimise optimize orchestrate organize originate
    outline outperform output overcome overfit overlap oversee own paint pardon participate partition pass
    patrol pay penalize perform permit persist pioneer place play plead point pool populate portray pose
    possess praise preach predict prefer premiere prepare present preserve preside prevent process proclaim
    produce prohibit project promote propagate propose protect prove provide prune publish pursue push put
    qualify quantify quantize raise randomize range reach react read realize recall receive recognize
    recommend reconstruct record recover rectify recur reduce refer refine reflect regularize regulate reign
    reinforce reject relate relax release rely remain remove render renounce repeat replace report represent
    require rescue resemble reset reside resign resize resolve respond restrict result retain retire retreat
    retrieve return reveal reverse reward rise rotate rule run sample satisfy save say scale schedule seek
    segment select send separate serve set settle shape share shift show shrink shuffle sign simplify simulate
    sing skip slow smooth solve span spark sparsify specialize specify speed spend split sponsor stabilize
    stack stand star start state stay stem stop store strengthen strive struggle study subtract succeed suffer
    suggest suit summarize support suppress surrender surround survive sustain switch synchronize tackle take
    target teach tell tend terminate test testify tour track train transfer transform translate transmit
    travel traverse treat truncate try tune turn tutor underfit undergo understand unify update upsample urge
    use utilize validate vanish vary verify view violate visit visualize voice volunteer wait want warn wed
    weigh win work wrap write yield
    """
)
_PAST = word_set(
    """
    appeared arrived became began belonged born brought built came chose competed consisted cost dealt
    depended developed died disappeared divorced drew drove emerged existed fell felt fled fought found gave
    got graduated grew happened held kept knew laid lasted lay led left lived lost made meant met occurred
    originated paid participated passed played put ran read remained resided resigned retired returned rose
    said sang sat saw sent set shot showed sold sought spent split spoke starred stood succeeded swam taught
    tended thought threw told took toured turned understood underwent vanished went won wore worked wrote
    """
)
# Followed by a noun phrase or an adverb, an -s or -ed word is the verb of it.
_OPENS_PHRASE = word_set(
    """
    a all an any as both by each every from her high him his how it its large less low many more most new no
    not only our several small that the their them these this those to us what when whether which your
    """
)
_BEFORE_NOUN = word_set(
    """
    a an another any as at by different each every for from her his in its many no of on our several such the
    their these those various with your
    """
)
# Nouns as often as verbs, and participles that stand before nouns.
_NOUNS_TOO = word_set(
    """
    awards causes changes claims costs covers drops falls features forms functions gains limits links looks
    maps marks matches measures models moves names places plays points processed processes ranges records
    reports results returns roles runs samples scores sets shares starts states steps stops studies tests
    trains works
    """
)
_ADJECTIVES = word_set(
    """
    advanced automated based biased bounded called connected directed distributed embedded entitled fixed
    gated guided known labeled learned limited masked named nested oriented pretrained regularized related
    shared stacked supervised titled trained united unlabeled unsupervised used weighted
    """
)
_SUBJECTS = word_set("both he i it many one she some that these they this those we which who you")
_PREPOSITIONS = word_set(
    """
    after among as at before between by during for from in into of on over through to under using with
    """
)
_NO_OBJECT = word_set("and as at by for in of or")
_PERSONS = word_set("he i it she they we you")
_RELATIVES = word_set("that which who")
_FOREIGN = word_set(
    """
    ao att av avec bir bu che con dans das del della dem den der des di die du een ein eine el es est et für
    gli het il ist için jest la las le les lo los mit nicht não och os para per por pour que sind się son sono
    sont são są um uma una und une van ve von werden wird zijn är
    """
)
_ENGLISH = word_set("a an and as by for from in of on or that the to which with")
_TOKEN = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*|\d[\d.,]*%?|[^\w\s]")


def has_finite_verb(text: str) -> bool:
    """Whether a sentence has a finite verb or is an order; True where the language cannot be judged."""
    tokens = _TOKEN.findall(plain(text))
    lower = [token.lower() for token in tokens]
    if not all(token.isascii() for token in lower if token.isalpha()) or not _FOREIGN.isdisjoint(lower):
        latin = [token for token in lower if token.isalpha()]
        if (
            not any("a" <= token[0] <= "z" for token in latin)
            or _ENGLISH.isdisjoint(latin)
            or not _FOREIGN.isdisjoint(latin)
        ):
            return True
    if lower[0] in _PERSONS and len(lower) > 1:
        return True
    finite = {place for place in range(len(tokens)) if _is_finite(tokens, lower, place)}
    # The verb of "a process that can model noise" belongs to the clause and makes no sentence.
    in_clauses = {place for place in finite if _RELATIVES.intersection(lower[max(1, place - 2) : place])}
    return bool(finite - in_clauses)


def _is_finite(tokens: list[str], lower: list[str], place: int) -> bool:
    word = lower[place]
    before = lower[place - 1] if place else ""
    after = lower[place + 1] if place + 1 < len(lower) else ""
    if word in _AUXILIARIES or word.endswith(("n't", "'re", "'ve", "'ll", "'d", "'m")):
        return place > 0 or len(lower) > 2
    if not _AUXILIARIES.isdisjoint(lower[max(0, place - 2) : place]):
        return False  # a participle or infinitive of the auxiliary
    starts = not before or not before[0].isalnum()
    if tokens[place][0].isupper() and place > 0:
        return False
    opens = after in _OPENS_PHRASE or after[:1].isdigit() or (bool(after) and tokens[place + 1][0].isupper())
    if word in _VERBS:
        # "Apply dropout", but not "Use of dropout"; "transformers use attention", but not "the use".
        if starts:
            ordered = after[:1].isalpha() and after not in _NO_OBJECT and not tokens[place + 1].istitle()
            return ordered and len(lower) > 2
        plural = before.endswith("s") or before in _SUBJECTS or "and" in lower[max(0, place - 4) : place - 1]
        return before not in _BEFORE_NOUN and plural and (opens or (after[:1].isalpha() and after not in _NO_OBJECT))
    if place == 0 or before in _BEFORE_NOUN:
        return False
    if word in _PAST:
        return True
    if word in _NOUNS_TOO or word in _ADJECTIVES:
        return opens or (tokens[place - 1][0].isupper() and after.isalpha() and word in _NOUNS_TOO)
    if _is_inflected(word):
        # "Methods proposed for vision" has a participle; "Einstein moved to Bern" a verb.
        return (
            not word.endswith("ed")
            or after not in _PREPOSITIONS
            or before in _SUBJECTS
            or tokens[place - 1][0].isupper()
        )
    return word.endswith(("s", "ed")) and not word.endswith(("ss", "us", "is")) and opens


def _is_inflected(word: str) -> bool:
    """Whether a word is the -s or -ed form of a known verb."""
    for ending, rest in (("ies", "y"), ("ied", "y"), ("es", ""), ("ed", ""), ("s", ""), ("d", "")):
        if word.endswith(ending) and word.removesuffix(ending) + rest in _VERBS:
            return True
    return word.endswith("ed") and word[-3:-2] == word[-4:-3] and word[:-3] in _VERBS
