"""What a request costs: from genai-prices, or from the person's own prices. Unknown stays unknown.

Exact decimals throughout. Thread: any; the first look-up reads the price list, a few milliseconds.
"""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from models.metering import Used
from models.providers import RemoteModelId

_MILLION = Decimal(1_000_000)
LISTED_CURRENCY = "USD"
"""The currency of genai-prices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """An amount. `source` says whose price it is, with its date or version."""

    amount: Decimal
    currency: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPrice:
    """A price that the person gave, per million tokens. `cached` None: as input."""

    model_id: str
    input: Decimal
    output: Decimal
    cached: Decimal | None = None
    currency: str = LISTED_CURRENCY
    date: str = ""

    def of(self, used: Used) -> Money:
        """What `used` costs."""
        cached = self.input if self.cached is None else self.cached
        fresh = used.input_tokens - used.cached_tokens
        amount = fresh * self.input + used.cached_tokens * cached
        amount += used.output_tokens * self.output
        return Money(
            amount=amount / _MILLION,
            currency=self.currency,
            source=f"your own price of {self.date}" if self.date else "your own price",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """What the price list says of a model, for choosing. Money per million tokens."""

    name: str
    input: Decimal | None
    output: Decimal | None
    context_tokens: int | None


def cost_of(model: RemoteModelId, used: Used, own: Sequence[OwnPrice] = ()) -> Money | None:
    """What `used` costs at `model`; None: nobody knows. The person's own price comes first."""
    for price in own:
        if price.model_id == model.text:
            return price.of(used)
    if not model.provider.prices:
        return None
    from genai_prices import Usage, calc_price

    usage = Usage(
        input_tokens=used.input_tokens,
        cache_read_tokens=used.cached_tokens or None,
        cache_write_tokens=used.cache_write_tokens or None,
        output_tokens=used.output_tokens,
    )
    try:
        found = calc_price(usage, model.name, provider_id=model.provider.prices)
    except (LookupError, ValueError):
        return None
    return Money(amount=found.total_price, currency=LISTED_CURRENCY, source=_list_version())


def listed(model: RemoteModelId) -> Listed | None:
    """What the price list says of `model`; None: it does not know it."""
    if not model.provider.prices:
        return None
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, info = get_snapshot().find_provider_model(
            model.name, provider=None, provider_id=model.provider.prices, provider_api_url=None
        )
    except LookupError:
        return None
    million = Used(input_tokens=1_000_000)
    written = Used(output_tokens=1_000_000)
    incoming, outgoing = _per_million(model, million), _per_million(model, written)
    return Listed(
        name=info.name or info.id,
        input=incoming,
        output=outgoing,
        context_tokens=info.context_window,
    )


def _per_million(model: RemoteModelId, used: Used) -> Decimal | None:
    """The base price: that of many small requests, not of one that reaches a higher tier."""
    small = Used(input_tokens=used.input_tokens // 1000, output_tokens=used.output_tokens // 1000)
    found = cost_of(model, small)
    return None if found is None else found.amount * 1000


def known_names(provider_prices: str) -> list[str]:
    """Names of a provider's models that the list knows and that are not on their way out."""
    from genai_prices.data_snapshot import get_snapshot

    for provider in get_snapshot().providers:
        if provider.id == provider_prices:
            return [model.id for model in provider.models if not model.deprecated]
    return []


@functools.cache
def _list_version() -> str:
    version = importlib.metadata.version("genai-prices")
    return f"genai-prices {version}"
