"""Artifacts that come one after the other."""

from stretto.engine.outcome import merged_artifacts
from stretto.model.artifact import Artifacts, DefaultArtifact, HttpArtifact


def test_free_artifacts_are_merged_and_typed_ones_replaced() -> None:
    known: Artifacts = {
        "free": DefaultArtifact(data={"a": 1, "b": 1}),
        "http": HttpArtifact(status_code=200, body="x"),
        "same": DefaultArtifact(),
        "other": DefaultArtifact(data={"a": 1}),
    }
    update: Artifacts = {
        "free": DefaultArtifact(data={"b": 2, "c": 2}),
        "http": HttpArtifact(status_code=404),
        "new": DefaultArtifact(),
        "other": HttpArtifact(),
    }
    assert merged_artifacts(known, update) == {
        "free": DefaultArtifact(data={"a": 1, "b": 2, "c": 2}),
        "http": HttpArtifact(status_code=404),
        "same": DefaultArtifact(),
        "other": HttpArtifact(),
        "new": DefaultArtifact(),
    }
    assert known["free"] == DefaultArtifact(data={"a": 1, "b": 1})
