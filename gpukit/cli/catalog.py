"""`gpukit catalog`: what the toolkit knows about hardware, limits, prices and images, with sources."""

from typing import Any

import typer

from gpukit.cli.inputs import JsonOption, refuse
from gpukit.cli.output import console, number, print_json, usd

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help="List and show instance types, GPUs, limits, prices and images. Every row has a source and a date.",
)


@app.command("list")
def list_types(
    gpu: str | None = typer.Option(None, "--gpu", help="Only types with this GPU, such as H200.", show_default=False),
    family: str | None = typer.Option(None, "--family", help="Only this family, such as p5en.", show_default=False),
    region: str | None = typer.Option(None, "--region", help="Only types offered in this region.", show_default=False),
    as_json: JsonOption = False,
) -> None:
    """List GPU instance types with GPUs, memory, EFA, power and price."""
    from gpukit.catalog import load_catalog

    catalog = load_catalog()
    rows = [
        row
        for row in catalog.instance_types()
        if (gpu is None or row.gpu_model.lower() == gpu.lower())
        and (family is None or row.family == family)
        and (region is None or region in catalog.regions_offering(row.name))
    ]
    if not rows:
        models = ", ".join(sorted({row.gpu_model for row in catalog.instance_types()}))
        refuse("no instance type matches", f"GPUs are: {models}")
    if as_json:
        print_json(rows)
        return
    table = _table(
        "type", "GPUs>", "GPU", "GB each>", "vCPU>", "network Gbps>", "EFA>", "kW>", "$/hour>", "block $/h>", "status"
    )
    for row in rows:
        power = catalog.node_power_kw(row.name)
        block = catalog.capacity_block_usd_per_hour(row.name, region or "us-east-1")
        table.add_row(
            row.name,
            f"{row.gpu_count:g}",
            row.gpu_model,
            f"{row.gpu_memory_gb_each:g}",
            number(row.vcpu),
            number(row.network_gbps),
            number(row.max_efa_interfaces),
            number(power.value if power else None, 2),
            usd(row.usd_per_hour_on_demand),
            usd(block.value) if block else "",
            row.status,
        )
    console().print(table)


@app.command()
def show(
    name: str = typer.Argument(help="An instance type, such as p5en.48xlarge."), as_json: JsonOption = False
) -> None:
    """Show one instance type: every fact, its network cards, where it is offered, its source."""
    from gpukit.catalog import UnknownName, load_catalog
    from gpukit.decide.interfaces import lay_out_network_interfaces
    from gpukit.plan import to_jsonable

    catalog = load_catalog()
    try:
        row = catalog.instance_type(name)
    except UnknownName as unknown:
        near = ", ".join(f"`{item}`" for item in unknown.near)
        refuse(
            f"the catalogue has no instance type `{name[:64]}`", f"did you mean {near}?" if near else "see catalog list"
        )
    layout = lay_out_network_interfaces(name, efa=row.supports_efa, catalog=catalog)
    regions = catalog.regions_offering(name)
    zones = {region: catalog.zones_offering(name, region) for region in regions}
    facts: dict[str, Any] = {
        "instance_type": row,
        "gpu": catalog.gpu_model(row.gpu_model),
        "network_cards": catalog.network_cards(name),
        "network_interfaces": layout,
        "power": catalog.node_power(name),
        "zones": zones,
    }
    if as_json:
        print_json(facts)
        return
    out = console()
    table = _table("fact", "value")
    for key, value in to_jsonable(row).items():
        table.add_row(key, _shown(value))
    power = catalog.node_power_kw(name)
    table.add_row("node power", f"{power.value:g} kW ({power.doubts})" if power else "unknown")
    efa = sum(item.is_efa for item in layout)
    table.add_row("interfaces with EFA", f"{len(layout)}, {efa} of them EFA" if row.supports_efa else "no EFA")
    out.print(table)
    out.print(f"\noffered in {len(regions)} regions")
    for region, names in zones.items():
        out.print(f"  {region}: {', '.join(names) or 'zones unknown'}")


@app.command()
def gpus(as_json: JsonOption = False) -> None:
    """List GPU models: memory, dense rates, power, MIG, cooling."""
    from gpukit.catalog import load_catalog

    rows = load_catalog().gpu_models()
    if as_json:
        print_json(rows)
        return
    table = _table("GPU", "architecture", "GB>", "BF16 TFLOPS>", "FP8>", "FP4>", "W>", "MIG profiles", "cooling")
    for row in rows:
        table.add_row(
            row.model,
            row.architecture,
            f"{row.memory_gb:g}",
            number(row.dense_bf16_tflops, 1),
            number(row.dense_fp8_tflops),
            number(row.dense_fp4_tflops),
            number(row.tdp_w),
            " ".join(row.mig_profiles),
            "liquid only" if row.liquid_only else " or ".join(row.cooling),
        )
    console().print(table)


@app.command()
def limits(as_json: JsonOption = False) -> None:
    """List quotas and hard limits with their default, code and source."""
    from gpukit.catalog import load_catalog

    rows = load_catalog().limits()
    if as_json:
        print_json(rows)
        return
    table = _table("id", "limit", "default>", "unit", "quota", "source")
    for row in rows:
        value = number(row.value) if row.value is not None else (row.value_text or "unknown")
        table.add_row(row.id, row.what, value, row.unit, row.quota_code, row.source)
    console().print(table)


@app.command()
def prices(as_json: JsonOption = False) -> None:
    """List prices beside those of GPU instances, and Capacity Block prices."""
    from gpukit.catalog import load_catalog

    catalog = load_catalog()
    if as_json:
        print_json({"prices": catalog.prices(), "capacity_blocks": catalog.capacity_block_prices()})
        return
    table = _table("id", "what", "USD>", "per", "region", "source", "as of")
    for row in catalog.prices():
        usd_text = "unknown" if row.usd is None else f"{row.usd:g}"
        table.add_row(row.id, row.what, usd_text, row.unit, row.region, row.source, row.as_of)
    for block in catalog.capacity_block_prices():
        regions = ", ".join(block.regions)
        table.add_row(
            block.name,
            f"Capacity Block, {block.kind}",
            f"{block.usd_per_hour:g}",
            "hour",
            regions,
            block.source,
            block.as_of,
        )
    console().print(table)


@app.command()
def images(as_json: JsonOption = False) -> None:
    """List the AMIs and framework containers that the compatibility manifest knows."""
    from gpukit.images.listing import list_images

    rows = list_images()
    if as_json:
        print_json(rows)
        return
    table = _table("for", "pinned to", "architecture", "contents", "source", "as of")
    for row in rows:
        contents = ", ".join(f"{name} {version}" for name, version in row["contents"].items())
        table.add_row(row["for"], row["pin"], row["architecture"], contents, row["source"], row["as_of"])
    console().print(table)


def _table(*columns: str) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column.removesuffix(">"), justify="right" if column.endswith(">") else "left", overflow="fold")
    return table


def _shown(value: Any) -> str:
    if value is None or value == "":
        return "unknown"
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
