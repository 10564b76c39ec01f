"""CMNet written straight from the equations, on the weights of a `CMNet`: what the fast path must agree with and beat.

Straightforward on purpose: edge features are built, neighbours found by full distance matrices, one Python step per
farthest point, every transport round in the logarithmic domain, both parts described anew for every pair.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import instance_norm, leaky_relu, normalize

from cmnet.model.config import CMNetConfig
from cmnet.model.descriptors import gram_schmidt
from cmnet.model.network import CMNet
from cmnet.model.vector_neurons import VectorLayer


def layer(module: VectorLayer, x: Tensor) -> Tensor:
    """Vector linear → norm → vector leaky ReLU on (..., 3, c)."""
    p, d = module.linear(x), module.direction(x)
    length = p.norm(dim=-2, keepdim=True)
    lengths = length.flatten(0, -2)
    if module.norm.kind == "instance":
        spread = (lengths.var(0, unbiased=False) + 1e-5).sqrt()
        p = p / length * ((length - lengths.mean(0)) / spread * module.norm.gain + module.norm.bias)
    else:
        p = p / (lengths**2).mean(0).sqrt() * module.norm.gain
    dot = (p * d).sum(-2, keepdim=True)
    bent = p - (dot < 0) * dot / ((d * d).sum(-2, keepdim=True) + 1e-6) * d
    return 0.2 * p + 0.8 * bent


def nearest(query: Tensor, points: Tensor, k: int) -> Tensor:
    return torch.cdist(query, points).topk(min(k, len(points)), largest=False).indices


def edges(x: Tensor, index: Tensor) -> Tensor:
    centre = x.unsqueeze(1).expand(-1, index.shape[1], -1, -1)
    return torch.cat([x[index] - centre, centre], -1)


def farthest(points: Tensor, count: int, start: int) -> Tensor:
    order, distance = [start], (points - points[start]).norm(dim=1)
    for _ in range(count - 1):
        order.append(int(distance.argmax()))
        distance = torch.minimum(distance, (points - points[order[-1]]).norm(dim=1))
    return torch.tensor(order)


def backbone(net: CMNet, points: Tensor, normals: Tensor) -> Tensor:
    config, body = net.config, net.backbone
    points = points - points.mean(0)
    seen = points if config.positions else points / config.radii()[0]
    x = torch.stack([seen, normals] if config.normals else [seen], dim=-1)

    def convolve(module: VectorLayer, x: Tensor, where: Tensor, first: bool = False) -> Tensor:
        at = where if first or config.graph == "coordinates" else x.flatten(1)
        given = edges(x, nearest(at, at, config.neighbors))
        if first and not config.positions:  # a point's own position stands between the differences and its normal
            given = torch.cat([given[..., : x.shape[-1]], given[..., x.shape[-1] + 1 :]], -1)
        return layer(module, given).mean(1)

    levels, features = [points], [convolve(body.first, x, points, first=True)]
    for i in range(3):
        fine = levels[-1]
        start = int(fine.norm(dim=1).argmax()) if i == 0 else 0  # then the coarse points are in farthest-point order
        coarse = fine[farthest(fine, len(points) >> (i + 1), start)]
        x = layer(body.down[i], features[-1][nearest(coarse, fine, config.down_neighbors)]).mean(1)
        features.append(convolve(body.encode[i], x, coarse))
        levels.append(coarse)
    x = convolve(body.bottom, features[3], levels[3])
    for i in (2, 1, 0):
        distance, index = torch.cdist(levels[i], levels[i + 1]).topk(3, largest=False)
        weight = 1 / (distance + 1e-8)
        weight = (weight / weight.sum(1, keepdim=True))[..., None, None]
        x = layer(body.skip[i], features[i]) + (layer(body.up[i], x)[index] * weight).sum(1)
        x = convolve(body.decode[i], x, levels[i])
    return layer(body.last, x)


def head(module: torch.nn.Module, x: Tensor) -> Tensor:
    for i, linear in enumerate(module.layers):
        x = instance_norm(linear(x).T[None])[0].T
        x = torch.tanh(x) if i == 2 and module.last == "tanh" else leaky_relu(x, 0.2)
    return x


def assignment(net: CMNet, p: tuple[Tensor, Tensor], q: tuple[Tensor, Tensor]) -> Tensor:
    """(points, normals) of two parts → log assignment (n + 1, m + 1)"""
    invariant = []
    for points, normals in (p, q):
        features = backbone(net, points, normals)
        frames = gram_schmidt(net.orientation(features).transpose(1, 2))
        invariant.append((frames @ features).flatten(1))
    both = torch.cat(invariant)
    attention = net.attention
    logits = sum(attention.out(leaky_relu(attention.hidden(pool), 0.2)) for pool in (both.mean(0), both.amax(0)))
    weigh_s, weigh_o = torch.sigmoid(normalize(logits, dim=0)).chunk(2)
    s_p, s_q = (head(net.shape_head, x) * weigh_s for x in invariant)
    o_p, o_q = (head(net.occupancy_head, x) * weigh_o for x in invariant)
    return transport((s_p @ s_q.T - o_p @ o_q.T) / net.config.descriptor**0.5, net.dustbin, net.config)


def transport(cost: Tensor, dustbin: Tensor, config: CMNetConfig) -> Tensor:
    n, m = cost.shape
    scores = torch.cat([torch.cat([cost, dustbin.expand(n, 1)], 1), dustbin.expand(1, m + 1)], 0)
    norm = -torch.log(cost.new_tensor(float(n + m)))
    rows = torch.cat([norm.expand(n), (norm + torch.log(cost.new_tensor(float(m)))).view(1)])
    columns = torch.cat([norm.expand(m), (norm + torch.log(cost.new_tensor(float(n)))).view(1)])
    u, v = torch.zeros_like(rows), torch.zeros_like(columns)
    for _ in range(config.transport_rounds):
        u = rows - torch.logsumexp(scores + v, 1)
        v = columns - torch.logsumexp(scores + u[:, None], 0)
    return scores + u[:, None] + v - norm
