"""Break anything: any watertight mesh into 2 to 50 pieces along rough, curved cracks.

fracture(mesh, pieces, rng) → Fracture with the pieces in their assembled places and the exact contact areas
"""

from cmnet.data.fracture.break_mesh import Fracture, fracture
from cmnet.data.fracture.engine import MECHANISMS
from cmnet.data.fracture.intake import Intact, prepare

__all__ = ["MECHANISMS", "Fracture", "Intact", "fracture", "prepare"]
