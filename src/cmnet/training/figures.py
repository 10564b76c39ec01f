"""What a validation says: poses, matches and breaks of pairs that were not trained on."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from cmnet.geometry.pose import Pose
from cmnet.model.network import CMNet
from cmnet.training.batches import ExerciseTensors


@dataclass
class Figures:
    """Collects the pairs of one validation."""

    errors: list[float] = field(default_factory=list)  # of the rotation by plain weighted SVD, degrees
    inliers: list[float] = field(default_factory=list)  # share of the strongest matches that lie together in truth
    precision: list[float] = field(default_factory=list)  # average precision of the break head, by part

    def add(self, net: CMNet, exercise: ExerciseTensors) -> None:
        """Describe, match and place the pairs of an exercise."""
        described = [net.describe(f.points, f.normals) for f in exercise.fragments]
        for pair in exercise.pairs:
            p, q = described[pair.p], described[pair.q]
            matches = net.match(p, q)
            self.errors.append(net.pose(p, q, matches).angle_to(Pose.from_matrix(pair.T_q_p.cpu().numpy())))
            i, j = matches.indices.unbind(1)
            gap = p.points[i] @ pair.T_q_p[:3, :3].T + pair.T_q_p[:3, 3] - q.points[j]
            # Twice the label's radius: the match next to the true one is as good for a pose.
            self.inliers.append(float((gap.norm(dim=1) < 2 * net.config.radii()[0]).float().mean()))
        for d, fragment in zip(described, exercise.fragments, strict=True):
            if d.breaking is not None and fragment.breaking.any():
                self.precision.append(average_precision(d.breaking, fragment.breaking))

    def summary(self) -> dict[str, Tensor]:
        errors = torch.tensor(self.errors)
        figures = {
            "within_5": 100 * (errors < 5).float().mean(),
            "within_10": 100 * (errors < 10).float().mean(),
            "geodesic": errors.mean(),
            "inliers": 100 * torch.tensor(self.inliers).mean(),
        }
        if self.precision:
            figures["break_precision"] = 100 * torch.tensor(self.precision).mean()
        return figures


def average_precision(scores: Tensor, truth: Tensor) -> float:
    """Area under precision over recall of a ranking: the mean, over the true ones, of the precision down to each.

    scores : (n,) float, truth : (n,) bool with at least one true
    """
    ranked = truth[scores.argsort(descending=True, stable=True)].double()
    precision = ranked.cumsum(0) / torch.arange(1, len(ranked) + 1, device=ranked.device)
    return float((precision * ranked).sum() / ranked.sum())
