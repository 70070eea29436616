"""Ten answers to lesson 3, each written by itself: most right, some wrong, in different styles."""

import re

import nbformat

LESSON = "03-query-key-value"
ANSWERS = {}

ANSWERS["ada"] = """
#: project
    k = x @ W_k
    v = x @ W_v
#: attention_scores
    columns = k.transpose(-2, -1)
#: scaled_dot_product_attention
    scores = attention_scores(q, k) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
#: linear_to_matrix
    return linear.weight.T
#: __init__
        self.W_q = nn.Linear(d_in, d_out, bias=False)
        self.W_k = nn.Linear(d_in, d_out, bias=False)
        self.W_v = nn.Linear(d_in, d_out, bias=False)
#: forward
        q = self.W_q(x)
        k = self.W_k(x)
        v = self.W_v(x)
        context, weights = scaled_dot_product_attention(q, k, v)
        return context
#: look_left
    W_q = 10 * torch.eye(T).roll(-1, dims=1)
    W_k = torch.eye(T)
    return W_q, W_k
"""

ANSWERS["ben"] = """
#: project
    k, v = x @ W_k, x @ W_v
#: attention_scores
    columns = k.mT
#: scaled_dot_product_attention
    d_k = k.size(-1)
    scores = torch.matmul(q, k.mT) / d_k**0.5
    attn = scores.softmax(-1)
    return torch.matmul(attn, v), attn
#: linear_to_matrix
    # nn.Linear keeps it the other way round
    return linear.weight.t()
#: __init__
        self.q_proj = nn.Linear(d_in, d_out, bias=False)
        self.k_proj = nn.Linear(d_in, d_out, bias=False)
        self.v_proj = nn.Linear(d_in, d_out, bias=False)
#: forward
        out, _ = scaled_dot_product_attention(self.q_proj(x), self.k_proj(x), self.v_proj(x))
        return out
#: look_left
    W_q = torch.zeros(T, T)
    for i in range(1, T):
        W_q[i, i-1] = 20.
    return W_q, torch.eye(T)
"""

ANSWERS["cem"] = """
#: project
    k = torch.matmul(x, W_k)
    v = torch.matmul(x, W_v)
#: attention_scores
    columns = torch.transpose(k, -1, -2)   # swap the last two axes
#: scaled_dot_product_attention
    # 1. compare every query with every key
    s = q @ k.transpose(-1, -2)
    # 2. keep the variance at one
    s = s / (k.shape[-1] ** 0.5)
    # 3. every row has to add up to one
    a = s.softmax(dim=-1)
    # 4. take the weighted mean
    return a @ v, a
#: linear_to_matrix
    W = linear.weight
    return W.transpose(0, 1)
#: __init__
        self.query = nn.Linear(d_in, d_out, bias=False)
        self.key = nn.Linear(d_in, d_out, bias=False)
        self.value = nn.Linear(d_in, d_out, bias=False)
#: forward
        c, w = scaled_dot_product_attention(self.query(x), self.key(x), self.value(x))
        return c
#: look_left
    shift = torch.diag(torch.ones(T - 1), -1)
    return 30 * shift, torch.eye(T)
"""

ANSWERS["dina"] = """
#: project
    k=x@W_k
    v=x@W_v
#: attention_scores
    columns=k.swapaxes(-1,-2)
#: scaled_dot_product_attention
    scale=1/math.sqrt(k.shape[-1])
    weights=torch.softmax(q@k.swapaxes(-1,-2)*scale,dim=-1)
    context=weights@v
    return context,weights
#: linear_to_matrix
    return linear.weight.T
#: __init__
        self.Wq=nn.Linear(d_in,d_out,bias=False)
        self.Wk=nn.Linear(d_in,d_out,bias=False)
        self.Wv=nn.Linear(d_in,d_out,bias=False)
#: forward
        q,k,v=self.Wq(x),self.Wk(x),self.Wv(x)
        return scaled_dot_product_attention(q,k,v)[0]
#: look_left
    W_k=torch.eye(T)
    W_q=torch.roll(torch.eye(T),-1,dims=1)*8
    return W_q,W_k
"""

ANSWERS["eli"] = """
#: project
    k = torch.einsum("...ti,io->...to", x, W_k)
    v = torch.einsum("...ti,io->...to", x, W_v)
#: attention_scores
    columns = torch.einsum("...kd->...dk", k)
#: scaled_dot_product_attention
    scores = torch.einsum("...qd,...kd->...qk", q, k)
    weights = (scores / q.shape[-1] ** 0.5).softmax(-1)
    return torch.einsum("...qk,...kd->...qd", weights, v), weights
#: linear_to_matrix
    return linear.weight.T.clone()
#: __init__
        make = lambda: nn.Linear(d_in, d_out, bias=False)
        self.W_q, self.W_k, self.W_v = make(), make(), make()
#: forward
        return scaled_dot_product_attention(self.W_q(x), self.W_k(x), self.W_v(x))[0]
#: look_left
    eye = torch.eye(T)
    return 50 * eye.roll(1, dims=0), eye
"""

ANSWERS["fay"] = """
#: project
    k = x @ W_k  # (..., T, d_k)
    v = x @ W_v  # (..., T, d_v)
#: attention_scores
    columns = k.transpose(-2, -1)  # keys as columns
#: scaled_dot_product_attention
    scores = q @ k.transpose(-2, -1)
    scores = scores / k.shape[-1]
    weights = torch.softmax(scores, dim=-1)
    context = weights @ v
    return context, weights
#: linear_to_matrix
    return linear.weight
#: __init__
        self.W_q = nn.Linear(d_in, d_out, bias=False)
        self.W_k = nn.Linear(d_in, d_out, bias=False)
        self.W_v = nn.Linear(d_in, d_out, bias=False)
#: forward
        q = self.W_q(x)
        k = self.W_k(x)
        v = self.W_v(x)
        context, _ = scaled_dot_product_attention(q, k, v)
        return context
"""

ANSWERS["gil"] = """
#: project
    k = x @ W_k
    v = x @ W_v
#: attention_scores
    columns = k.permute(*range(k.dim() - 2), -1, -2)
#: scaled_dot_product_attention
    logits = attention_scores(q, k)
    logits = logits * (q.size(-1) ** -0.5)
    probs = torch.nn.functional.softmax(logits, dim=-1)
    ctx = torch.matmul(probs, v)
    return ctx, probs
#: linear_to_matrix
    d_in = linear.in_features
    return linear(torch.eye(d_in))
#: __init__
        self.to_q = nn.Linear(d_in, d_out, bias=False)
        self.to_k = nn.Linear(d_in, d_out, bias=False)
        self.to_v = nn.Linear(d_in, d_out, bias=False)
#: forward
        ctx, _ = scaled_dot_product_attention(self.to_q(x), self.to_k(x), self.to_v(x))
        return ctx
#: look_left
    W_q = torch.zeros((T, T))
    idx = torch.arange(1, T)
    W_q[idx, idx - 1] = 12.0
    W_k = torch.eye(T)
    return W_q, W_k
"""

ANSWERS["hana"] = """
#: project
    k = x @ W_k
    v = x @ W_v
#: attention_scores
    columns = k.transpose(-2, -1)
#: scaled_dot_product_attention
    scores = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
    scores = scores - scores.max(dim=-1, keepdim=True).values  # so that exp stays finite
    e = torch.exp(scores)
    weights = e / e.sum(dim=-1, keepdim=True)
    return weights @ v, weights
#: linear_to_matrix
    return linear.weight.transpose(-2, -1)
#: __init__
        self.W_q = nn.Parameter(torch.randn(d_in, d_out) / d_in ** 0.5)
        self.W_k = nn.Parameter(torch.randn(d_in, d_out) / d_in ** 0.5)
        self.W_v = nn.Parameter(torch.randn(d_in, d_out) / d_in ** 0.5)
#: forward
        q, k, v = project(x, self.W_q, self.W_k, self.W_v)
        return scaled_dot_product_attention(q, k, v)[0]
#: look_left
    rows = []
    for i in range(T):
        row = torch.zeros(T)
        row[(i - 1) % T] = 9
        rows.append(row)
    return torch.stack(rows), torch.eye(T)
"""

ANSWERS["ivo"] = """
#: project
    k = x @ W_k
    v = x @ W_v
#: attention_scores
    columns = k.T
#: scaled_dot_product_attention
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1]), dim=-1)
    return weights @ v, weights
#: linear_to_matrix
    return linear.weight.T
#: look_left
    W = torch.ones(T, T)
    return W, W
"""

ANSWERS["jun"] = """
#: project
    k = x @ W_k
    v = x @ W_v
#: attention_scores
    columns = k.transpose(-1, -2)
#: scaled_dot_product_attention
    dk = q.shape[-1]
    raw = q @ k.transpose(-1, -2)
    raw = raw / dk ** 0.5
    weights = torch.softmax(raw, dim=-1)
    context = weights @ v
    return context, weights
#: linear_to_matrix
    return linear.weight.T
#: __init__
        self.lin_q = nn.Linear(d_in, d_out, bias=False)
        self.lin_k = nn.Linear(d_in, d_out, bias=False)
        self.lin_v = nn.Linear(d_in, d_out, bias=False)
#: forward
        context, w = scaled_dot_product_attention(self.lin_q(x), self.lin_k(x), self.lin_v(x))
        return context
#: look_left
    big = 100.0
    W_q = big * torch.eye(T).roll(shifts=-1, dims=-1)
    W_k = torch.eye(T)
    return W_q, W_k
"""


def parts(answers: str) -> dict[str, str]:
    """By name, what was written: `parts("#: mix\\n    x\\n")["mix"]` -> "    x\\n"."""
    words = re.split(r"^#: (\w+)\n", answers.lstrip("\n"), flags=re.MULTILINE)[1:]
    return dict(zip(words[::2], words[1::2], strict=True))


def notebook(released: nbformat.NotebookNode, answers: str) -> nbformat.NotebookNode:
    """The released notebook as a learner hands it in, with what was written in the place of
    `raise NotImplementedError`."""
    written, made = parts(answers), nbformat.from_dict(released)
    for cell in made.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = filled(cell.source, written)
    return made


def filled(stub: str, written: dict[str, str]) -> str:
    """A stub with the bodies that were written for it, each after the `def` of its name."""
    lines, name = [], ""
    for line in stub.split("\n"):
        name = found[1] if (found := re.match(r" *(?:def|class) (\w+)", line)) else name
        if line.strip() == "raise NotImplementedError" and name in written:
            lines.append(written[name].rstrip("\n"))
        else:
            lines.append(line)
    return "\n".join(lines)
