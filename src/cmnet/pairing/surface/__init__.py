"""What the pair stage knows of a part, or of several that hold together: samples, edges, breaks, inside and outside."""
