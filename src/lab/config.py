"""A composed configuration as a cell: resolved, checked, its classes built; what is wrong is one sentence."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from omegaconf import DictConfig, OmegaConf
from pydantic import Field
from pydantic.dataclasses import dataclass as config_dataclass

from src.embed import EndpointModel, HashingModel, SentenceModel
from src.errors import ConfigError
from src.figures.captions import Title, at_rehearsal, title_of
from src.figures.drawings import Drawings
from src.figures.summary import Told
from src.identity import Identity, identity
from src.interfaces import Probe
from src.judge import RulesJudge
from src.lab.build import ROOT, build, resolved, without
from src.lab.options import OPTIONAL_ROLES, check_read, check_temperature, knobs_of, knobs_of_all
from src.ledger import Budgets, Mode
from src.llm.config import Endpoint, Model
from src.llm.local import Embedded
from src.llm.recorded import Recorded
from src.llm.simulated import Simulated
from src.oracle import OracleJudge
from src.recordings import read_recording, turns_of
from src.records import STRICT, Filled, Metrics, Role, Tables
from src.store import run_folder, slug, slug_of

LAB_KEYS = {"probe", "model", "endpoint", "judge", "embedder", "recorded"}
RECORDED = ("src.llm.recorded.Recorded", "src.strategies.recorded.Recorded")
TOGETHER = "model=recorded and strategy=recorded go together only, for answers that were collected elsewhere"
SIMULATED = "simulated"
"""How the name of a simulated model begins, so that nothing that is named after it is taken for that of a real one."""
OURS = ("kind", "name", "file", "endpoint")
"""Fields of a role that say who it is and where it is served; the rest describes the model."""

AnyJudge = Model | RulesJudge | OracleJudge


@config_dataclass(frozen=True, config=STRICT)
class LedgerPlace:
    """Which ledger, and whether it may be paid for what it lacks."""

    path: Filled
    mode: Mode


@config_dataclass(frozen=True, config=STRICT)
class Operation:
    """How a cell is run; of this only the seed changes what comes out."""

    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63)]
    phases: Annotated[tuple[Literal["extract", "process"], ...], Field(min_length=1)]
    run_dir: Filled | None
    sweep: Filled | None
    dry: Annotated[bool, Field(strict=True)]
    debug: Annotated[bool, Field(strict=True)]
    ledger: LedgerPlace
    budget: Budgets


@dataclass(frozen=True)
class Parts:
    """The classes that the lab is built of, checked before anything is opened or written."""

    model: Model | Recorded | Simulated
    endpoint: Endpoint | Embedded | None
    judge: AnyJudge
    judge_endpoint: Endpoint | Embedded | None
    embedder: SentenceModel | HashingModel | EndpointModel


class ShownProbe(Probe, Protocol):
    """A probe whose cells can be looked at, and held against the truth where that is known."""

    @property
    def roles(self) -> tuple[Role, ...]:
        """Who is asked besides the subject."""
        ...

    @property
    def overrides(self) -> tuple[str, ...]:
        """Values of the model that its prompts set themselves."""
        ...

    def found(self) -> Mapping[str, Mapping[str, str]]:
        """Section of the configuration → values that only its files tell, such as their hash."""
        ...

    def tell(self, title: Title, metrics: Metrics) -> Told:
        """A cell in lines."""
        ...

    def truth(self, model: Simulated, extracted: Tables, processed: Tables) -> Metrics:
        """What is true of a simulated model, as `truth_…` beside what was estimated."""
        ...

    def draw(self, extracted: Tables, processed: Tables, metrics: Metrics, title: Title) -> Drawings:
        """Figures, pages and curves of a cell."""
        ...


@dataclass(frozen=True)
class Cell:
    """One cell as configured: what it is, where it lies, how it is run and the parts of its lab."""

    config: dict[str, Any]
    identity: Identity
    folder: Path
    operation: Operation
    probe: ShownProbe
    parts: Parts


def read_cell(cfg: DictConfig) -> Cell:
    """Resolve and check a composed configuration; nothing is opened or written, but a recording is read.

    Raises:
        ConfigError: a value is missing, unknown, of the wrong kind or out of range.
    """
    _check_recorded(cfg)
    config = resolved(cfg)
    fields = {field.name for field in dataclasses.fields(Operation)}
    knobs = knobs_of(cfg.probe)
    if unknown := sorted(config.keys() - fields - LAB_KEYS - knobs - knobs_of_all()):
        raise ConfigError(f"{', '.join(unknown)}: neither the lab nor a probe reads such a value at the root")
    operation = build({"_target_": f"{__name__}.Operation", **{name: config[name] for name in fields}}, "")
    if operation.sweep:
        slug(operation.sweep, "sweep")
    for name in sorted(knobs):  # one by one first, so that a fault is told by the name it is set by
        if isinstance(config[name], dict) and "_target_" in config[name]:
            build(config[name], name)
    probe: ShownProbe = build(config["probe"], "probe")
    check_temperature(config, probe.overrides)
    config["model"] = without(config["model"], *probe.overrides)
    unread = config.keys() - fields - LAB_KEYS - knobs | OPTIONAL_ROLES - {*probe.roles}
    check_read(without(config, *unread), probe.overrides)
    _take_recording(config)
    _take_simulated(config)
    for section, values in probe.found().items():
        config[section] |= values
    parts = _parts(config)
    for role in ("model", "judge"):
        config[role]["name"] = name_of(config[role])
    if at_rehearsal(config):  # so that nothing that is named after the model can be taken for the model's own
        config["model"]["name"] = f"rehearsed-{config['model']['name']}"
    elif at_rehearsal(config["embedder"]):
        raise ConfigError(
            "embedder.endpoint is the rehearsal server, whose vectors mean nothing, but the model is a real one: "
            "choose endpoint=rehearsal too, or another embedder"
        )
    config = without(config, *unread)
    names, words = identity(config), title_of(config)
    folder = run_folder(
        ROOT,
        probe=config["probe"]["name"],
        topic=words.domain,
        model=words.model,
        strategy=words.strategy,
        seed=operation.seed,
        cell_key=names.cell_key,
    )
    return Cell(config, names, ROOT / operation.run_dir if operation.run_dir else folder, operation, probe, parts)


def _check_recorded(cfg: DictConfig) -> None:
    """Refuse recorded answers of a model that can be asked; before resolving, as the strategy refers to the model.

    Raises:
        ConfigError: strategy is `recorded` and model is not, or another probe would read what is recorded.
    """
    if cfg.probe["name"] != "boundary" and cfg.model["_target_"] == RECORDED[0]:
        raise ConfigError(
            f"model=recorded holds points for probe=boundary; probe={cfg.probe['name']} needs a model to ask"
        )
    if cfg.strategy["_target_"] == RECORDED[1] and cfg.model["_target_"] != RECORDED[0]:
        raise ConfigError(f"strategy={cfg.strategy['name']} with a model that can be asked: {TOGETHER}")


def _take_recording(config: dict[str, Any]) -> None:
    """Where a file of answers stands in the model's place, name it after the file and make its hash the revision.

    Raises:
        ConfigError: the strategy would ask; the file cannot be read or lacks the domain.
    """
    model, strategy = config["model"], config["strategy"]
    if model["_target_"] != RECORDED[0]:
        return
    if strategy["_target_"] != RECORDED[1]:
        raise ConfigError(f"strategy={strategy['name']} with model=recorded: {TOGETHER}")
    path = Path(model["file"])
    recording = read_recording(path)
    turns_of(recording.rows, build(config["domain"], "domain"), path)
    model["name"] = model["name"] or slug_of(path.stem)
    model["revision"] = f"sha256:{recording.sha256}"


def _take_simulated(config: dict[str, Any]) -> None:
    """Make the hash of a simulated model's parameters its revision.

    Raises:
        ConfigError: its name would pass for that of a real model; the oracle would judge a real one; it is tuned for a
            domain by the name that only options and folders have.
    """
    model, judge = config["model"], config["judge"]
    if title_of(config).subject != "simulated":
        if judge["kind"] == "oracle":
            raise ConfigError(
                f"judge=oracle knows the truth about simulated statements only, and model={model['name']} is not "
                "simulated: choose judge=rules or a judge that is a model, or model=simulated"
            )
        return
    if not str(model["name"]).startswith(SIMULATED):
        raise ConfigError(f"model.name={model['name']} is simulated: give it a name that begins with {SIMULATED}")
    built: Simulated = build(without(model, *OURS, "revision"), "model")
    domains = [OmegaConf.load(path) for path in sorted((ROOT / "conf" / "domain").glob("*.yaml"))]
    named = {str(domain["name"]): str(domain["query"]) for domain in (*domains, config["domain"])}
    for key in sorted(built.knower.tuned.keys() & named.keys() - {*named.values()}):
        raise ConfigError(
            f"model.knower.tuned.{key} is the name of a domain: give its query, which is what prompts say, as "
            f"model.knower.tuned={{{named[key]}: …}}"
        )
    model["revision"] = built.fingerprint


def _parts(config: Mapping[str, Any]) -> Parts:
    judge, judge_endpoint = build_judge(config["judge"])
    return Parts(
        model=build(without(config["model"], *OURS), "model"),
        endpoint=build(config["endpoint"], "endpoint") if config["endpoint"] else None,
        judge=judge,
        judge_endpoint=judge_endpoint,
        embedder=build(config["embedder"], "embedder"),
    )


def build_judge(node: Mapping[str, Any], what: str = "judge") -> tuple[AnyJudge, Endpoint | Embedded | None]:
    """The classes of a judge and, if it is a model, of its endpoint; `what` is how errors call it.

    Raises:
        ConfigError: a value does not fit, or `kind` is not what the judge is.
    """
    llm = "id" in node
    built = build(without(node, *OURS), what)
    kind = "llm" if llm else built.kind
    if node.get("kind") != kind:
        raise ConfigError(f"{what}.kind={node.get('kind')!r} is not what this judge is: it is {kind!r}")
    return built, build(node["endpoint"], f"{what}.endpoint") if llm else None


def name_of(role: Mapping[str, Any]) -> str:
    """The name of a model, or of a judge: as given, or the last part of its id."""
    return str(role.get("name") or slug_of(str(role.get("id"))))


def title(cell: Cell) -> Title:
    """What the cell is about, for people."""
    return title_of(cell.config)
