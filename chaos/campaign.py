"""A campaign from its settings: the database, the disk below it, the scenario, the report."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Final

from chaos.arena import arena
from chaos.clock import LEFT_OUT, Clocks, library, remove_leftovers
from chaos.databases import Database, database
from chaos.disk import Disk, NoDisk, mounted
from chaos.report import Report
from chaos.scenarios import Scenario, changes, freezes, full_disks, kills, mixed, outages, storm
from chaos.settings import Campaign
from chaos.takeover import TakeOver, take_over

STORES: Final = ("sqlite", "postgresql", "mariadb")
SCENARIOS: Final = ("kills", "freezes", "outages", "changes", "mixed", "disk", "storm", "takeover")
DISK_SIZES: Final = {"sqlite": 64, "postgresql": 512, "mariadb": 512}  # MiB
STORM_DISK: Final = 1_536  # MiB, for half an hour


def fitting(store: str) -> list[str]:
    """The scenarios that a store can be put through; a file can not be stopped."""
    return [each for each in SCENARIOS if each != "outages" or store != "sqlite"]


def play(campaign: Campaign) -> Report | TakeOver:
    """Do it, in a folder of its own, and leave nothing behind."""
    with TemporaryDirectory(prefix="stretto-chaos-") as folder, _disk(campaign) as disk:
        place = disk.folder if disk is not None else Path(folder)
        clocks = _clocks(campaign, Path(folder))
        made = database(campaign.store, place, clocks.database if clocks else None)
        try:
            return asyncio.run(_played(campaign, Path(folder), made, disk, clocks))
        finally:
            made.close()
            remove_leftovers()
            if campaign.keep is not None:
                copytree(folder, campaign.keep, dirs_exist_ok=True)


async def _played(
    campaign: Campaign, folder: Path, made: Database, disk: Disk | None, clocks: Clocks | None
) -> Report | TakeOver:
    async with arena(folder, made, campaign, clocks) as scene:
        if campaign.scenario == "takeover":
            return await take_over(scene, campaign.waiting, campaign.working)
        if campaign.scenario == "storm" and disk is None:
            scene.left_out.append("full disks: only root may mount a small disk to be filled up")
        if campaign.scenario == "storm" and clocks is None:
            scene.left_out.append(LEFT_OUT)
        return await scene.play(campaign.scenario, _scenario(campaign, disk), campaign.nodes)


def _scenario(campaign: Campaign, disk: Disk | None) -> Scenario:
    match campaign.scenario:
        case "kills":
            return kills(campaign.times, campaign.nodes)
        case "freezes":
            return freezes(campaign.times)
        case "outages":
            return outages(campaign.times)
        case "changes":
            return changes(campaign.times)
        case "mixed":
            return mixed(campaign.times, campaign.nodes)
        case "storm":
            return storm(campaign.nodes, disk)
        case "disk" if disk is not None:
            return full_disks(campaign.times, disk)
        case _:
            raise ValueError(f"there is no scenario {campaign.scenario}")


def _clocks(campaign: Campaign, folder: Path) -> Clocks | None:
    """The storm sets them, where that can be had."""
    found = library()
    if campaign.scenario != "storm" or found is None:
        return None
    folder.chmod(0o711)  # a server that is not ours reads its clock there
    return Clocks(folder, found, campaign.store, campaign.nodes)


@contextmanager
def _disk(campaign: Campaign) -> Iterator[Disk | None]:
    with ExitStack() as stack:
        disk = None
        if campaign.scenario == "disk":
            disk = stack.enter_context(mounted(DISK_SIZES[campaign.store]))
        elif campaign.scenario == "storm":
            with suppress(NoDisk):  # the report says so
                disk = stack.enter_context(mounted(STORM_DISK))
        yield disk
