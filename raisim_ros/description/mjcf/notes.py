"""What a model asks for that does not exist here: collected, and told in one warning per file."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Notes:
    """Features that are left out, in the order of appearance."""

    features: dict[str, None] = field(default_factory=dict)

    def add(self, feature: str, when: bool = True) -> None:
        """Remember a feature; once is enough."""
        if when:
            self.features[feature] = None

    def warning(self, file: str) -> str:
        """The one text for all of them."""
        return f"{file}: not supported and left out: {', '.join(self.features)}"
