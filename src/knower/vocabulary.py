"""The words of simulated statements: each with another one of the same meaning. No word has an opposite among them."""

from __future__ import annotations

Pairs = tuple[tuple[str, str], ...]
"""Words or phrases, each with a synonym."""


def _split(listed: str) -> tuple[str, ...]:
    """Read `one, another, …`, which may be broken into lines anywhere."""
    return tuple(" ".join(listed.split()).split(", "))


def _pairs(listed: str) -> Pairs:
    """Read `word/synonym, word/synonym, …`."""
    return tuple((one, other) for one, _, other in (pair.partition("/") for pair in _split(listed)))


THINGS = _split(
    """furnace, glacier, orchard, turbine, choir, harbour, lantern, violin, beehive, telescope, submarine, carpet,
    volcano, windmill, library, bakery, pendulum, aqueduct, cathedral, mushroom, tortoise, locomotive, mirror,
    puppet, comet, parachute, loom, magnet, clock, compass, sandstorm, lighthouse, typewriter, drum, sponge,
    vineyard, escalator, fountain, octopus, satellite, thermometer, bicycle, tunnel, perfume, helmet, crocodile,
    umbrella, accordion"""
)
"""Heads: what a statement is about."""

VERBS = (
    _pairs(
        """absorb/soak up, carry/haul, store/stockpile, split/cleave, polish/buff, attract/draw in, filter/strain,
        compress/squeeze, dissolve/liquefy, stretch/elongate, tint/colour, shake/rattle, lift/hoist, bury/entomb,
        scatter/strew, rotate/spin, blanket/cover, repel/ward off, crack/fracture, dehydrate/dry out, swallow/gulp down,
        photograph/take pictures of, imitate/mimic, illuminate/light up"""
    ),
    _pairs(
        """predict/forecast, bound/delimit, explain/account for, classify/categorise, describe/characterise,
        rank/grade, count/tally, define/spell out, govern/rule over, exclude/rule out, presuppose/take for granted,
        approximate/estimate"""
    ),
    _pairs(
        """clean/scrub, sort/sift, repair/mend, measure/gauge, paint/varnish, pack/box up, harvest/gather in,
        inspect/examine, seal/caulk, stack/pile up, grind/mill, weave/braid, label/tag, blend/mix, trim/prune,
        copy/duplicate"""
    ),
)
"""What it does: by kind, factual, conceptual, procedural."""

SUFFIXES = ("", " law", " method")
"""What makes a head one of its kind."""

OBJECTS = _split(
    """damp gravel, copper coins, roasted almonds, tax records, migrating geese, love letters, broken pottery, engine
    oil, wedding songs, silk ribbons, chess players, sea salt, newspaper headlines, orphaned kittens, rubber
    tyres, church bells, blood samples, rose petals, garlic soup, radio signals, wool blankets, tourist buses,
    glass marbles, fossil bones, maple syrup, court verdicts, kitchen knives, coal dust, ballet dancers, stolen
    paintings, tooth enamel, spider silk, election posters, baby elephants, frozen peas, marble statues, traffic
    noise, cheese wheels, bank loans, pine needles, school uniforms, moon dust, fishing nets, hotel guests,
    lemon juice, ancient maps, jazz trumpets, snake venom, plastic bottles, prison guards, potato starch, fever
    patients, cotton shirts, rainbow trout, desert camels, movie scripts, gold nuggets, shoe laces, chimney
    smoke, tennis balls, pepper seeds, royal crowns, bathroom tiles, whale songs"""
)
"""What it does it to."""

PLACES = _pairs(
    """inside a basalt quarry/within a lava stone pit, beside the opera stage/next to the concert platform, across a
    cattle market/all over a livestock fair, under the harbour crane/beneath the dock hoist, near a monastery wall/close
    to an abbey fence, throughout the rice terrace/all along the paddy steps, aboard a river ferry/on a passenger barge,
    around the hospital roof/about the clinic attic, along a mountain railway/by an alpine track, behind the circus
    tent/at the back of the big top, in a chemistry classroom/in a science lecture room, amid birch woodland/among white
    trees, on a prison island/on a convict isle, over the salt desert/above the saline waste, at a border
    checkpoint/at a frontier post, through the castle kitchen/by way of the fortress cookhouse, outside a bus
    depot/beyond a coach garage, within the coral lagoon/inside the reef basin, beneath a football stadium/under a
    soccer arena, against the cinema facade/facing the film theatre, among abandoned trams/between derelict streetcars,
    upon the royal chessboard/on top of the game board, off a granite coast/away from a rocky shore, inside the
    embassy cellar/in the legation basement, near the fire station/close to the engine house, along the perfume
    bazaar/by the scent market, beside a beaver dam/next to a rodent barrage, across the skating rink/all over the ice
    hall, in a tobacco barn/in a leaf shed, around a clay volcano/about a mud cone, aboard the space station/on the
    orbital outpost, under a tailor shop/beneath a clothier store"""
)
"""Where."""

QUANTITIES = _pairs(
    """air pressure/atmospheric pressure, ticket price/entrance fee, walking distance/distance on foot, candle
    weight/wax weight, rope length/cord length, crowd size/number of visitors, rainfall depth/amount of rain, battery
    charge/cell voltage, engine speed/motor speed, oven temperature/baking heat, wave height/size of the swell, sugar
    content/sweetness, reading age/age of the readers, lamp brightness/light output, soil acidity/sourness of the soil,
    flight altitude/flying height, milk yield/dairy output, waiting time/time in the queue, paper thickness/gauge of
    the sheet, sound level/loudness, herd size/number of animals, wage bill/payroll, coin diameter/coin width, smoke
    density/haze"""
)
"""What has to be how much."""

UNITS = _split(
    """kilopascals, dollars, metres, grams, feet, people, millimetres, volts, rpm, degrees, inches, percent, months,
    watts, points, miles, litres, minutes, micrometres, decibels, heads, euros, centimetres, particles"""
)
"""Of the quantities, in their order."""


NOTHINGS = (
    ("This list covers the main points about {}.", "I hope these facts about {} are helpful."),
    ("{} plays an important role in many areas.", "There are many different ways to approach {}."),
    ("{} has advanced rapidly in recent years.", "Research on {} continues to evolve."),
    ("The connection between {} and", "Because of {}, which"),
    ("Key concepts of {}:", "{}: an overview"),
)
"""Sentences that say nothing, in the audit's own order: remark, generic assertion, development, fragment, heading."""

TOPICS = _split(
    """gardening, cookery, sailing, portraits, farming, medicine, mining, archery, dentistry, brewing, knitting,
    navigation, surgery, carpentry, banking, tourism, boxing, opera, forestry, printing, aviation, pottery,
    astronomy, journalism, fishing, welding, dancing, optics, policing, plumbing, poetry, weather forecasts,
    tailoring, beekeeping, chess, mountaineering, nursing, taxation, diving, translation, wine making, road
    building, cinema, horse riding, data storage, recycling, philosophy, zoology"""
)
"""What they are about."""
