"""Rows about places: regions, zones, what is offered where, and their energy."""

from dataclasses import dataclass

from gpukit.catalog.fact import Fact, Filled


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """One AWS region."""

    name: Filled
    title: str
    partition: str
    opt_in: bool | None
    """Whether an account must switch it on first."""
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone:
    """
    One availability zone or local zone.

    The id is the same for everybody; the name is an account's own, so a name in this table is an example for regions
    where AWS shuffles names.
    """

    region: Filled
    name: Filled
    id: Filled
    kind: Filled
    """availability-zone | local-zone"""
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offering:
    """An instance type offered in a region, in the zones with these ids."""

    instance_type: Filled
    region: Filled
    zone_ids: tuple[str, ...]
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionEnergy:
    """
    Carbon per energy and efficiency of a region, by basis. Annual averages.

    Bases differ by half and more for one place: compare two regions within one column only.
    """

    provider: str
    region: Filled
    location: str
    country: str
    grid_gco2_kwh: float | None
    """The finest figure found: the provider's, a regional grid, or for new regions the nation."""
    grid_year: int | None
    grid_basis: str
    alt_gco2_kwh: float | None
    """A second figure, or the only one: a state's or a nation's average. See `alt_basis`."""
    alt_year: int | None
    alt_basis: str
    ccf_gco2_kwh: float | None
    provider_cfe_share: float | None
    pue: float | None
    pue_year: int | None
    pue_basis: str
    wue_l_per_kwh: float | None
    source: Filled
    as_of: Filled
    doubts: str = ""

    def carbon(self) -> Fact | None:
        """Return the finest known factor in gCO2e/kWh, its basis in `doubts`; None where nothing is known."""
        for value, year, basis in (
            (self.grid_gco2_kwh, self.grid_year, self.grid_basis),
            (self.alt_gco2_kwh, self.alt_year, self.alt_basis),
        ):
            if value is not None:
                told = f"{basis}, {year}" if year else basis
                doubts = f"{told} ; {self.doubts}" if self.doubts else told
                return Fact(value=value, unit="gCO2e/kWh", source=self.source, as_of=self.as_of, doubts=doubts)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class FacilityFigure:
    """A published figure on data-centre efficiency: PUE, renewable share, heat to liquid."""

    id: Filled
    scope: str
    metric: str
    value: float
    unit: Filled
    year: str
    kind: Filled
    confidence: str
    source: Filled
    as_of: Filled
    doubts: str = ""
