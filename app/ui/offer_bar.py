"""A bigger model for a request that did not work: why, what it costs, what would leave.

It only offers; nothing is sent before the person says so. Thread: UI.
"""

from __future__ import annotations

from decimal import Decimal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from app.store.records import Offer
from app.ui import money_words, words
from app.ui.theme import SPACE_M, SPACE_XS
from app.ui.widgets import button, column, label, row


class OfferBar(QFrame):
    """`taken`: try it; `looked_at`: show exactly what would be sent."""

    taken = Signal()
    looked_at = Signal()

    def __init__(self, offer: Offer) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.setAccessibleName(self.tr("Offer of a bigger model"))
        layout = column(self, margin=SPACE_M, spacing=SPACE_XS)
        layout.addWidget(label(self._sentence(offer), "strong", wrap=True))
        layout.addWidget(label(self._reason(offer), "muted", wrap=True))
        buttons = row()
        buttons.addStretch(1)
        if offer.leaves:
            look = self.tr("Look at what would be sent")
            buttons.addWidget(button(look, on_click=self.looked_at.emit))
        text = self.tr("Send to {0}") if offer.leaves else self.tr("Try {0}")
        name = words.visible(offer.model_id.partition(":")[2])
        buttons.addWidget(button(text.format(name), on_click=self.taken.emit))
        layout.addLayout(buttons)

    def _sentence(self, offer: Offer) -> str:
        model = words.visible(offer.model_id)
        if not offer.leaves:
            return self.tr("{0} may do it, on this machine.").format(model)
        if offer.price is None:
            return self.tr("{0} may do it. What it costs is unknown.").format(model)
        price = money_words.amount(Decimal(offer.price), offer.currency)
        return self.tr("{0} may do it, for about {1}.").format(model, price)

    def _reason(self, offer: Offer) -> str:
        text = f"{offer.line}."
        if offer.leaves:
            text += " " + self.tr("The request, the listing and what programs print would leave "
                                  "this machine.")  # fmt: skip
        return text
