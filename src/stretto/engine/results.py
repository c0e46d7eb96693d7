"""What a runtime's answer leaves behind: artifacts, merged into those that a step attempt has.

A free artifact is merged field by field, so that a runtime can report one thing after the other; one of a
known type is replaced, because its runtime always writes all of it.
"""

from collections.abc import Mapping

from stretto.model.artifact import Artifact, Artifacts, DefaultArtifact, RetryArtifact


def merged_artifacts(known: Mapping[str, Artifact], update: Mapping[str, Artifact]) -> Artifacts:
    """The artifacts after an answer; neither argument changes."""
    merged = dict(known)
    for key, artifact in update.items():
        before = merged.get(key)
        if isinstance(before, DefaultArtifact) and isinstance(artifact, DefaultArtifact):
            merged[key] = DefaultArtifact(data={**before.data, **artifact.data})
        else:
            merged[key] = artifact
    return merged


def forbids_retry(artifacts: Mapping[str, Artifact]) -> bool:
    """Whether the work itself says that another try is of no use."""
    return any(isinstance(each, RetryArtifact) and not each.retryable for each in artifacts.values())
