"""The U-shaped backbone (supplement B.1): EdgeConvs at four resolutions, farthest points down, interpolation up."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from cmnet.geometry.neighbors import nearest_features
from cmnet.model.config import CMNetConfig
from cmnet.model.pyramid import LEVELS, Pyramid, build_pyramid
from cmnet.model.vector_neurons import PlainLayer, VectorLayer, take


class Backbone(nn.Module):
    """Features of every point of one part: equivariant ones (n, 3, D), or plain ones (n, 1, 3D).

    Turning the part turns the equivariant features; the order of the points is irrelevant.

    Shapes: points (n, 3) in network units, normals (n, 3) or None → (n, 3, D)
    """

    def __init__(self, config: CMNetConfig) -> None:
        super().__init__()
        self.config = config
        self.fold = 1 if config.equivariant else 3  # a vector channel counts as three plain ones
        inputs = 2 if config.normals else 1
        w = config.widths
        self.first = self._layer(2 * inputs if config.positions else 2 * inputs - 1, w[0])
        self.encode = nn.ModuleList(
            [self._layer(2 * w[0], w[1]), self._layer(2 * w[1], w[2]), self._layer(2 * w[2], w[3])]
        )
        self.bottom = self._layer(2 * w[3], w[3])
        self.down = nn.ModuleList([self._layer(c, c) for c in w[:3]])
        self.skip = nn.ModuleList([self._layer(c, c) for c in w[:3]])
        self.up = nn.ModuleList([self._layer(w[i + 1], w[i]) for i in range(LEVELS - 1)])
        self.decode = nn.ModuleList([self._layer(2 * c, c) for c in w[:3]])
        self.last = self._layer(w[0], config.features, shared_direction=True)

    def _layer(self, inputs: int, outputs: int, shared_direction: bool = False) -> VectorLayer | PlainLayer:
        make = VectorLayer if self.config.equivariant else PlainLayer
        return make(inputs * self.fold, outputs * self.fold, self.config.norm, shared_direction)

    def forward(self, points: Tensor, normals: Tensor | None = None) -> Tensor:
        points = points - points.mean(0)
        config = self.config
        in_space = config.graph == "coordinates"
        pyramid = build_pyramid(points, config.neighbors, config.down_neighbors, all_graphs=in_space)
        x = self.first.edges(self._inputs(points, normals), pyramid.graph[0])
        fine = []
        for level in range(LEVELS - 1):
            fine.append(x)
            x = _layer_at(self.down, level).gather(x, pyramid.down[level])
            x = _layer_at(self.encode, level).edges(x, self._graph(x, pyramid, level + 1))
        x = self.bottom.edges(x, self._graph(x, pyramid, LEVELS - 1))
        for level in reversed(range(LEVELS - 1)):
            x = self.skip[level](fine[level]) + _interpolate(self.up[level](x), pyramid, level)
            x = _layer_at(self.decode, level).edges(x, self._graph(x, pyramid, level))
        return self.last(x)

    def _inputs(self, points: Tensor, normals: Tensor | None) -> Tensor:
        """(n, 3, c), or plain (n, 1, 3c); positions first, in steps between samples where only differences are seen."""
        if not self.config.positions:
            points = points / self.config.radii()[0]
        given = [points] if normals is None else [points, normals]
        return torch.stack(given, dim=-1) if self.config.equivariant else torch.cat(given, dim=1).unsqueeze(1)

    def _graph(self, x: Tensor, pyramid: Pyramid, level: int) -> Tensor:
        if self.config.graph == "coordinates":
            return pyramid.graph[level]
        return nearest_features(x.flatten(1), self.config.neighbors)


def _layer_at(layers: nn.ModuleList, i: int) -> VectorLayer | PlainLayer:
    """For the type checker, which takes a list's modules for anything."""
    layer = layers[i]
    assert isinstance(layer, VectorLayer | PlainLayer)
    return layer


def _interpolate(x: Tensor, pyramid: Pyramid, level: int) -> Tensor:
    """Coarse features (n_{l+1}, s, c) at the fine points → (n_l, s, c)"""
    rows = take(x, pyramid.up[level])
    return (rows * pyramid.weight[level][:, :, None, None]).sum(1)
