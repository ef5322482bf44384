"""Which module a definition stands in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .chance import Dice
from .naming import words
from .package import Package
from .scopes import Binding
from .source import Unit

MERGES = (2, 5)
"""How many pairs of modules are put together: from, to."""

MOVED = 45
"""Of a hundred helpers that only one other module uses, how many move there."""

APART = 30
"""Of a hundred modules with a backward pass, how many keep it in a module of its own."""


LONGEST = 170
"""Lines of code that two modules may have together."""


@dataclass(slots=True)
class Plan:
    """Where every definition goes, as long as no module would import itself in a circle."""

    place: dict[Unit, str]
    needs: Mapping[Unit, frozenset[Unit]]
    owner: Mapping[Binding, Unit]

    def homes(self) -> dict[Binding, str]:
        """Module of each name."""
        return {binding: self.place[unit] for binding, unit in self.owner.items()}

    def sound(self) -> bool:
        """Whether the modules can be imported one after another."""
        needs: dict[str, set[str]] = {}
        for unit, others in self.needs.items():
            here = self.place[unit]
            needs.setdefault(here, set()).update(self.place[o] for o in others)
        left = {module: others - {module} for module, others in needs.items()}
        while left:
            free = [module for module, others in left.items() if not others & left.keys()]
            if not free:
                return False
            for module in free:
                del left[module]
        return True

    def attempt(self, units: Iterable[Unit], module: str) -> bool:
        """Put definitions into a module, if that leaves no circle."""
        before = {unit: self.place[unit] for unit in units}
        self.place.update(dict.fromkeys(before, module))
        if self.sound():
            return True
        self.place.update(before)
        return False

    def within(self, module: str) -> list[Unit]:
        """What stands in a module."""
        return [unit for unit, place in self.place.items() if place == module]


def plan(package: Package) -> Plan:
    """Everything where it is."""
    place = {unit: module for module, source in package.sources.items() for unit in source.units}
    return Plan(place, package.needs, package.owner)


def move(chart: Plan, dice: Dice) -> None:
    """Helpers to those who use them, backward passes apart, modules together."""
    _helpers(chart, dice.part("helpers"))
    _backward(chart, dice.part("backward"))
    _together(chart, dice.part("together"))


def _helpers(chart: Plan, dice: Dice) -> None:
    users: dict[Unit, set[str]] = {unit: set() for unit in chart.place}
    for unit, others in chart.needs.items():
        for other in others:
            users[other].add(chart.place[unit])
    for unit in list(chart.place):
        outside = users[unit] - {chart.place[unit]}
        offered = any(binding.pinned for binding in unit.names)
        if len(outside) == 1 and not offered and unit.function and dice.maybe(MOVED):
            chart.attempt([unit], *outside)


def _backward(chart: Plan, dice: Dice) -> None:
    for module in list(dict.fromkeys(chart.place.values())):
        units = chart.within(module)
        names = {u.function.name for u in units if u.function}
        back = [
            u
            for u in units
            if u.function
            and u.function.name.endswith("_backward")
            and u.function.name.removesuffix("_backward") in names
        ]
        if back and dice.maybe(APART):
            chart.attempt(back, f"{module}_backward")


def _together(chart: Plan, dice: Dice) -> None:
    """A module and one that it needs."""
    wanted = MERGES[0] + dice.below(MERGES[1] - MERGES[0] + 1)
    for _ in range(4 * wanted):
        pairs = {
            (chart.place[unit], chart.place[other])
            for unit, others in chart.needs.items()
            for other in others
        }
        apart = sorted((one, other) for one, other in pairs if one != other)
        if wanted == 0 or not apart:
            return
        one, other = dice.choose(apart)
        together = chart.within(one) + chart.within(other)
        if sum(map(_size, together)) <= LONGEST and chart.attempt(together, one):
            wanted -= 1


def _size(unit: Unit) -> int:
    return (unit.body[-1].end_lineno or 0) - unit.body[0].lineno + 1


def module_names(modules: Iterable[str], dice: Dice) -> dict[str, str]:
    """A new name for each module."""
    new: dict[str, str] = {}
    used = {"__init__"}
    for module in modules:
        base = module.removesuffix("_backward")
        options = dice.shuffled(words()["modules"].get(base, [base]))
        if base != module:
            options = [f"{option}_backward" for option in options]
        name = next((o for o in options if o not in used), "")
        number = 2
        while not name or name in used:
            name = f"{base}{number}"
            number += 1
        used.add(name)
        new[module] = name
    return new


def ordered(units: list[Unit], dice: Dice) -> list[Unit]:
    """Constants and classes first, as they are; functions in any order, though a backward pass
    often stays below its forward pass."""
    first = [unit for unit in units if not unit.function]
    functions = {u.function.name: u for u in units if u.function}
    groups: list[list[Unit]] = []
    grouped: set[str] = set()
    for name, unit in functions.items():
        if name in grouped:
            continue
        pair = [unit]
        back = functions.get(f"{name}_backward")
        if back is not None and dice.maybe(50):
            pair.append(back)
            grouped.add(f"{name}_backward")
        groups.append(pair)
    flat = [u for group in groups for u in group]
    groups = [
        [u for i, u in enumerate(group) if u not in flat[: flat.index(u)]] for group in groups
    ]
    return first + [unit for group in dice.shuffled(groups) for unit in group]
