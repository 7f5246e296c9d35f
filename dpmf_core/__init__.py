"""What differential privacy costs a matrix factorisation, exactly accounted.

Notation, as in the cited papers; words at the door, letters inside:

| letter | word | shape or unit |
|---|---|---|
| n, m | users, items | |
| r | rank | |
| M | ratings | (n, m), observed on Ω |
| U, V | user and item factors | (n, r), (m, r) |
| Ω′, k | the ratings that enter item statistics, at most k a user | |
| H_j, w_j | item j's Gram matrix and right-hand side | (r, r), (r,) |
| K | second moment of users' factors | (r, r) |
| Γ_u, Γ_M | clip norm of a user's factor, clip of a centred rating | rating units for Γ_M |
| λ, λ₀ | ridge, weight of unobserved cells | |
| T | steps | |
| a, b | user and item offsets | rating units |
| S, C | noisy weighted item sums and counts | |
| σ, z | noise standard deviation, noise multiplier = σ / sensitivity | |
| ε, δ, μ | privacy loss, its failure probability, Gaussian-DP parameter | |
| X, W, H, R | samples, parts, coefficients, outliers: X ~ H W + R | N x D, K x D, N x K, N x D |
| A, B | sums of h hᵀ and of h xᵀ over samples | (K, K), (K, D) |
| level | noise over sensitivity that scales a whole plan | |
"""

__version__ = "0.1.0"
