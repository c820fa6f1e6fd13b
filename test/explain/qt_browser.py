"""QtWebEngine, the Chromium of PySide6, with an empty page: `browser` starts this, and talks to its developer tools."""

from __future__ import annotations

import sys

from PySide6.QtCore import QUrl
from PySide6.QtWebEngineWidgets import QWebEngineView
from PySide6.QtWidgets import QApplication

application = QApplication(["kopt"])
view = QWebEngineView()
view.load(QUrl("about:blank"))
view.show()
sys.exit(application.exec())
